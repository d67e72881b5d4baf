"""One order as one story: goods, money, parcels and talk on a single time line, the newest first."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from backoffice.screens.audit_filters import tried_out
from orders.models import AuditEvent, Order, Payment, Shipment
from orders.money import format_money
from orders.prose import aside
from orders.states import ActorKinds
from orders.words import action_name, actor_name, told_as
from refunds.api.common import NO_NOTE
from refunds.explain import explain
from refunds.present import payment_label

LONGEST: Final = 200
SHOWN_AT_ONCE: Final = 10
GROUPS: Final[dict[str, str | Promise]] = {
    "goods": gettext_lazy("Goods"),
    "money": pgettext_lazy("time line", "Money"),
    "parcels": gettext_lazy("Parcels"),
    "talk": gettext_lazy("Conversations"),
}
# Which part of the story an event belongs to, and its colour. What is not named here is left to the records: steps of
# machines between two of these, and what the rows themselves tell better (parcels, the order, payments).
_SHOWN: Final[dict[str, tuple[str, str]]] = {
    "order.address_changed": ("parcels", "info"),
    "customer_link.issued": ("talk", ""),
    "customer_link.revoked": ("talk", ""),
    "store_credit.spent": ("money", ""),
    "store_credit.refunded": ("money", "good"),
    "quote.opened": ("money", ""),
    "quote.redeemed": ("money", "info"),
    "quote.declined": ("money", ""),
    "refund.pending_approval": ("money", "wait"),
    "refund.pending": ("money", "info"),
    "refund.succeeded": ("money", "good"),
    "refund.failed": ("money", "bad"),
    "refund.unknown": ("money", "wait"),
    "refund.rejected": ("money", "bad"),
    "refund.expired": ("money", ""),
    "refund.undone": ("money", "bad"),
    "refund.assigned": ("money", ""),
    "approval.waiting": ("money", "wait"),
    "approval.approved": ("money", "good"),
    "approval.rejected": ("money", "bad"),
    "approval.expired": ("money", ""),
    "allocation.waits": ("money", "wait"),
    "allocation.paid_by_hand": ("money", "good"),
    "allocation.undone": ("money", "bad"),
    "allocation.retried": ("money", "info"),
    "attempt.refused": ("money", "bad"),
    "attempt.paid_after_refusal": ("money", "wait"),
    "attempt.amount_differs": ("money", "bad"),
    "attempt.failed_after_paid": ("money", "bad"),
    "attempt.settled": ("money", ""),
    "alert.raised": ("money", "bad"),
    "alert.settled": ("money", ""),
    "return.requested": ("goods", "wait"),
    "return.received": ("goods", "info"),
    "return.accepted": ("goods", "good"),
    "return.refunded": ("goods", "good"),
    "return.exchanged": ("goods", "good"),
    "return.rejected": ("goods", "bad"),
    "return.withdrawn": ("goods", ""),
    "return.corrected": ("goods", ""),
    "replacement.reserved": ("goods", "info"),
    "replacement.reduced": ("goods", ""),
    "replacement.sent": ("goods", "good"),
    "replacement.released": ("goods", ""),
    "shipment.lost": ("parcels", "bad"),
    "shipment.corrected": ("parcels", ""),
    "conversation.opened": ("talk", ""),
    "conversation.person_asked": ("talk", "wait"),
    "conversation.taken_over": ("talk", "info"),
    "conversation.given_back": ("talk", ""),
    "conversation.noted": ("talk", ""),
    "conversation.closed": ("talk", ""),
    "card.open": ("talk", "info"),
    "card.offered": ("talk", "info"),
    "card.confirmed": ("talk", "good"),
    "card.declined": ("talk", ""),
    "card.expired": ("talk", ""),
    "card.withdrawn": ("talk", ""),
}
_WITH_ROWS: Final = frozenset({"shipment.packed", "shipment.shipped", "shipment.delivered", "order.taken_in"})
_PARCEL_TONES: Final = {"packed": "wait", "shipped": "info", "delivered": "good"}
# Where on this page, or on which other, the record stands.
_ANCHORED: Final = frozenset({"refund", "approval", "replacement", "shipment"})


@dataclass(frozen=True, slots=True)
class Entry:
    """`group` is a key of `GROUPS`; `tone` colours the dot; `more` says why, or what; `code` is the record's number."""

    at: datetime
    group: str
    tone: str
    what: str
    who: str = ""
    amount: str = ""
    more: str = ""
    code: str = ""
    link: str = ""
    is_older: bool = False


def story_of(order: Order) -> dict[str, Any]:
    """`entries`, the newest first, and the `groups` that have any: what the part of the page is drawn from."""
    told = AuditEvent.objects.filter(order=order, action__in=sorted(_WITH_ROWS | set(_SHOWN))).exclude(tried_out())
    events = list(told.order_by("-at", "-id")[: LONGEST + 1])
    cut = [_cut_off(events[LONGEST])] if len(events) > LONGEST else []
    del events[LONGEST:]
    in_time = sorted([*cut, *_facts(order, events), *_told(order, events[::-1])], key=lambda entry: entry.at)
    entries = in_time[::-1]  # what happened in one moment keeps its order
    older = [replace(entry, is_older=True) for entry in entries[SHOWN_AT_ONCE:]]
    there = {entry.group for entry in entries}
    return {
        "entries": [*entries[:SHOWN_AT_ONCE], *older],
        "groups": [(key, label) for key, label in GROUPS.items() if key in there],
        "is_long": len(entries) > SHOWN_AT_ONCE,
    }


def _cut_off(last: AuditEvent) -> Entry:
    """Stands where the line ends: `last` is the newest event that is not on it."""
    said = _("Only the newest %(count)s events are shown here.") % {"count": LONGEST}
    return Entry(last.at, "", "wait", said, more=_("The history has all of them, by the number of the order."))


def _facts(order: Order, events: Iterable[AuditEvent]) -> Iterator[Entry]:
    """What the rows say: when it was placed and paid, and where the parcels went."""
    who = {(event.subject_id, event.action): _who(event) for event in events if event.action in _WITH_ROWS}
    what = _(", ").join(f"{line.name} × {line.quantity}" for line in order.lines.all())
    yield Entry(order.placed_at, "goods", "", _("Order placed"), order.customer.name, more=what)
    for payment in order.payments.all():
        yield _payment(payment, order.currency)
    for parcel in order.shipments.prefetch_related("lines__line_item", "lines__product"):
        yield from _parcel(parcel, who)


def _payment(payment: Payment, currency: str) -> Entry:
    label = payment_label(payment.method, payment.last4)
    return Entry(
        payment.captured_at, "money", "good", _("Paid"), amount=format_money(payment.amount, currency), more=label
    )


def _parcel(parcel: Shipment, who: Mapping[tuple[str, str], str]) -> Iterator[Entry]:
    carrier = f"{parcel.carrier} {parcel.tracking_number}".strip()
    goods = _(", ").join(f"{line.name} × {line.quantity}" for line in parcel.lines.all())
    for state, at in (("packed", parcel.packed_at), ("shipped", parcel.shipped_at), ("delivered", parcel.delivered_at)):
        if at is not None:
            action = f"shipment.{state}"
            yield Entry(
                at,
                "parcels",
                _PARCEL_TONES[state],
                capfirst(action_name(action)),
                who.get((parcel.pk, action), ""),
                more=goods if state == "packed" else carrier,
                code=parcel.pk,
                link=f"#{parcel.pk}",
            )


def _told(order: Order, events: Iterable[AuditEvent]) -> Iterator[Entry]:
    """What the history says."""
    names = {line.line_item_id: line.name for line in order.lines.all()}
    for event in events:
        if event.action in _SHOWN:
            group, tone = _SHOWN[event.action]
            yield Entry(
                at=event.at,
                group=group,
                tone=tone,
                what=capfirst(action_name(told_as(event))),
                who=_who(event),
                amount=_amount(event),
                more=_more(event, names),
                code=event.subject_id if "_" in event.subject_id else "",
                link=_link(event),
            )


def _who(event: AuditEvent) -> str:
    """“王小明 (customer)”; a machine by its name alone."""
    name = actor_name(event)
    if event.actor_kind in {ActorKinds.CUSTOMER, ActorKinds.STAFF}:
        return str(aside(name, event.get_actor_kind_display()))
    return name or str(event.get_actor_kind_display())


def _amount(event: AuditEvent) -> str:
    amount, currency = event.computed.get("amount"), event.computed.get("currency")
    return format_money(amount, currency) if type(amount) is int and isinstance(currency, str) else ""


def _more(event: AuditEvent, names: Mapping[str, str]) -> str:
    """The note that somebody left, else how the amount of a quote comes about."""
    note = event.chosen.get("note") or event.outcome.get("note") or event.chosen.get("reason") or ""
    if note:
        return _("Confirmed through the API without a note.") if note == NO_NOTE else str(note)
    if event.subject_type == "quote" and event.action == "quote.opened":
        return explain(event.computed.get("steps", []), event.computed.get("currency", ""), names)
    return ""


def _link(event: AuditEvent) -> str:
    if event.subject_type in _ANCHORED:
        return f"#{event.subject_id}"
    if event.subject_type == "return":
        return reverse("staff-return", args=[event.subject_id])
    talk = event.correlation.get("conversation_id") if event.subject_type == "card" else None
    talk = event.subject_id if event.subject_type == "conversation" else talk
    return reverse("staff-conversation", args=[talk]) if talk and str(talk).isdigit() else ""
