"""Where a refund stands, in words for everybody: page, API, chat and refusals say the same."""

from datetime import datetime
from typing import Final

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from refunds.models import Refund, RefundAllocation, RefundQuote
from refunds.states import AllocationState, Asker, QuoteState, RefundKind, RefundState

_TEXTS: Final = {
    RefundState.PENDING_APPROVAL: gettext_lazy("Waiting for a second person of the shop to approve it"),
    RefundState.PENDING: gettext_lazy("On its way to the payment provider"),
    RefundState.SUCCEEDED: gettext_lazy("Refunded"),
    RefundState.FAILED: gettext_lazy("The payment provider refused it; the shop is looking into it"),
    RefundState.UNKNOWN: gettext_lazy("Being checked with the payment provider"),
    RefundState.REJECTED: gettext_lazy("Not approved; nothing was refunded"),
    RefundState.EXPIRED: gettext_lazy("Not approved in time; nothing was refunded"),
}

_ELSEWHERE: Final = {
    RefundState.SUCCEEDED: gettext_lazy("Given back by the shop in another way"),
    RefundState.REJECTED: gettext_lazy("It did not take place; nothing was refunded"),
}


def state_text(refund: Refund) -> str:
    """One line without a full stop. What a part has come to shows where the whole failed or waits."""
    until = waits_until(refund)
    if until is not None:
        return _("The payment provider takes it from %(moment)s on") % {"moment": at_time(until)}
    if refund.state == RefundState.FAILED and _partly_paid(refund):
        return _("The payment provider refused a part of it; the shop is looking into it")
    if refund.same_as_id:
        return _("It has turned out to be %(number)s, which counts instead") % {"number": refund.same_as_id}
    if refund.kind == RefundKind.ELSEWHERE:
        return str(_ELSEWHERE[RefundState(refund.state)])
    return str(_TEXTS[RefundState(refund.state)])


def quote_state_words(quote: RefundQuote) -> str:
    """How the quote stands. Declined is what somebody said no to: what was taken back has words of its own."""
    return _("taken back") if quote.was_taken_back else str(QuoteState(quote.state).label)


def number_by_hand(refund: Refund, part: RefundAllocation) -> str:
    """Under which number a person has paid this part, in cash or by transfer; empty if a payment provider has.

    What a provider has reported by itself went back through it. A part that an attempt has paid has no such number.
    """
    if refund.kind == RefundKind.ELSEWHERE:  # also one that did not take place: its number has been freed since
        number = (refund.external_ref or "").removesuffix(f"~{refund.pk}")
        return number if refund.confirmed_by_kind == Asker.STAFF else ""
    return part.external_ref if part.state == AllocationState.SUCCEEDED else ""


def paid_by_hand(number: str) -> str:
    return _("paid by hand, number %(number)s") % {"number": number}


def waits_until(refund: Refund) -> datetime | None:
    """When the provider takes what waits for its closing; None if anything was sent or can be sent now."""
    if refund.state != RefundState.PENDING:
        return None
    parts, now = list(refund.allocations.all()), timezone.now()
    unsent = [part.not_before for part in parts if part.state == AllocationState.PENDING]
    later = [moment for moment in unsent if moment is not None and moment > now]
    return min(later) if later and len(later) == len(parts) else None


def at_time(moment: datetime) -> str:
    """A moment of the shop's day as the reader's language writes it."""
    return date_format(timezone.localtime(moment), "DATETIME_FORMAT")


def _partly_paid(refund: Refund) -> bool:
    return any(part.state == AllocationState.SUCCEEDED for part in refund.allocations.all())
