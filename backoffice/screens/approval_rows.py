"""Approvals as staff see them: who asked, for how much and why, how the amount comes about, and who may decide."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from backoffice.words import FOUND
from orders.models import Order
from orders.money import format_money
from refunds import selectors
from refunds.models import Approval, RefundQuote
from refunds.present import quote_as_dict
from refunds.states import ApprovalKind, ApprovalState, Reason

# A customer waits for each of them: after a day it stands out, after three it is late.
LONG_WAIT: Final = timedelta(days=1)
LATE: Final = timedelta(days=3)
SHOWN = ("order__customer", "asked_by", "decided_by", "refund__return_request__quote")
_SET_ASIDE = {
    "return_window_over": gettext_lazy("the time for returns is over"),
    "excluded_category": gettext_lazy("goods of this kind are not taken back"),
}


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """`own`: whoever looks had a part in asking and must leave it to somebody else. `exceptions`: rules set aside.

    `refuted`: claims that let the goods come back and that they do not show, in sentences.
    `in_parts`: by itself it is below the policy's amount, and above it with what the order has given back before.
    """

    approval: Approval
    quote: dict[str, Any] | None
    promised: str
    refuted: list[str]
    exceptions: list[str]
    in_parts: bool
    own: bool

    @property
    def is_waiting(self) -> bool:
        return self.approval.state == ApprovalState.WAITING

    @property
    def wait_tone(self) -> str:
        """How the time that it has waited stands out."""
        waited = timezone.now() - self.approval.created_at
        if waited >= LATE:
            return "bad"
        return "wait" if waited >= LONG_WAIT else "info"

    @property
    def asker(self) -> str:
        """Who asked, as people call them."""
        asked = self.approval
        if asked.asked_by is None:
            return str(asked.get_asked_by_kind_display())
        return asked.asked_by.get_full_name() or asked.asked_by.get_username()

    @property
    def decider(self) -> str:
        """Who decided; empty while it waits, and where the days to decide ran out."""
        by = self.approval.decided_by
        return (by.get_full_name() or by.get_username()) if by else ""

    @property
    def ended(self) -> str:
        """Why nobody's decision ended it; empty otherwise."""
        if self.approval.state != ApprovalState.EXPIRED:
            return ""
        changed = self.approval.decision_reason == "order_changed"
        return _("the order had changed meanwhile") if changed else _("nobody decided in time")

    @property
    def why(self) -> str:
        refund = self.approval.refund
        return self.approval.reason or (refund.note if refund else "")


def waiting() -> QuerySet[Approval]:
    return _shown(Approval.objects.filter(state=ApprovalState.WAITING)).order_by("created_at", "pk")


def decided() -> QuerySet[Approval]:
    rows = Approval.objects.exclude(state=ApprovalState.WAITING).filter(decided_at__isnull=False)
    return _shown(rows).order_by("-decided_at", "-created_at", "-pk")


def everything() -> QuerySet[Approval]:
    return _shown(Approval.objects.all())


def of_order(order: Order) -> QuerySet[Approval]:
    return _shown(Approval.objects.filter(order=order))


def _shown(rows: QuerySet[Approval]) -> QuerySet[Approval]:
    lines = "refund__return_request__lines__line_item"
    return rows.select_related(*SHOWN).prefetch_related("order__customer_links", lines)


def rows_of(approvals: Iterable[Approval], user: User | AbstractBaseUser | AnonymousUser) -> list[ApprovalRow]:
    """With their quotes in one more query, however many there are."""
    rows = list(approvals)
    keys = {quote_id for row in rows if (quote_id := quote_of(row)) is not None}
    quotes = {quote.pk: quote for quote in selectors.quotes().filter(pk__in=keys)}
    return [_row(row, quotes.get(quote_of(row) or ""), user) for row in rows]


def quote_of(approval: Approval) -> str | None:
    """The quote that says how the amount comes about; none for compensation."""
    return approval.quote_id or (approval.refund.quote_id if approval.refund else None)


def _row(asked: Approval, quote: RefundQuote | None, user: User | AbstractBaseUser | AnonymousUser) -> ApprovalRow:
    return ApprovalRow(
        approval=asked,
        quote=quote_as_dict(quote) if quote else None,
        promised=_promised(asked),
        refuted=_refuted(asked, quote),
        exceptions=[str(_SET_ASIDE.get(code, code)) for code in (quote.overrides if quote else [])],
        in_parts=asked.kind == ApprovalKind.AMOUNT and not (quote and asked.amount > quote.policy.approval_above),
        own=user.pk in _concerned(asked, quote),
    )


def _concerned(asked: Approval, quote: RefundQuote | None) -> set[int | None]:
    """As `refunds.approvals` sees it: whoever asked, quoted or confirmed, the customer who would get the money, and
    whoever made a link for them.
    """
    people = {asked.asked_by_id, asked.order.customer.user_id, quote.asked_by_id if quote else None}
    people |= {link.created_by_id for link in asked.order.customer_links.all()}
    if asked.refund is not None:
        item = getattr(asked.refund, "return_request", None)
        people |= {asked.refund.confirmed_by_id, item.confirmed_by_id if item else None}
    return people


def _promised(asked: Approval) -> str:
    """What the customer was promised for goods that came back, where it is not what they come to; else empty."""
    if asked.kind not in {ApprovalKind.LESS_THAN_PROMISED, ApprovalKind.OVERRIDE} or asked.refund is None:
        return ""
    item = getattr(asked.refund, "return_request", None)
    quote = item.quote if item else None
    if quote is not None and quote.amount == asked.amount:
        return ""
    return format_money(quote.amount, quote.currency) if quote else _("more")


def _refuted(asked: Approval, quote: RefundQuote | None) -> list[str]:
    """What was claimed of goods that came back, and what they show instead."""
    item = getattr(asked.refund, "return_request", None) if asked.refund else None
    if item is None or quote is None:
        return []
    claimed: dict[str, list[str]] = {}
    for line in item.lines.all():
        claimed.setdefault(line.line_item.line_item_id, []).append(line.reason)
    said = []
    for line in quote.lines.all():
        reasons = claimed.get(line.line_item.line_item_id, [])
        if line.reason in FOUND and reasons and line.reason not in reasons:
            words = {"name": line.name, "claimed": Reason(reasons[0]).label, "found": FOUND[Reason(line.reason)]}
            said.append(_("“%(name)s” came back as “%(claimed)s”, and was found to be: %(found)s.") % words)
    return list(dict.fromkeys(said))
