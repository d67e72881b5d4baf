"""Words for what the history of money says. One entry per move of a quote, a refund, an attempt or a return."""

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext_lazy as _

from orders.words import Words

MACHINES: Final[Mapping[str, Words]] = {
    "payments": _("refund sender"),
    "returns": _("returns"),
    "sweeper": _("regular clean-up"),
    "watch": _("watch over money"),
}
ACTIONS: Final[Mapping[str, Words]] = {
    "quote.opened": _("quote made"),
    "quote.redeemed": _("quote confirmed"),
    "quote.expired": _("quote expired"),
    "quote.superseded": _("quote superseded"),
    "quote.declined": _("quote declined"),
    "refund.pending_approval": _("refund waits for approval"),
    "refund.pending": _("refund ready to be sent"),
    "refund.succeeded": _("refund succeeded"),
    "refund.failed": _("refund failed"),
    "refund.unknown": _("refund being checked"),
    "refund.rejected": _("refund rejected"),
    "refund.expired": _("refund not approved in time"),
    "refund.undone": _("refund did not take place"),
    "refund.assigned": _("goods of a refund made elsewhere entered"),
    "approval.waiting": _("second person asked"),
    "approval.approved": _("approved by a second person"),
    "approval.rejected": _("rejected by a second person"),
    "approval.expired": _("not decided in time"),
    "allocation.waits": _("refund waits until the payment provider can take it"),
    "allocation.paid_by_hand": _("paid back by hand"),
    "allocation.undone": _("payment has its money again"),
    "allocation.retried": _("refund to be sent once more"),
    "attempt.sending": _("sent to the gateway"),
    "attempt.succeeded": _("paid by the gateway"),
    "attempt.refused": _("refused by the gateway"),
    "attempt.unknown": _("no answer from the gateway"),
    "attempt.paid_after_refusal": _("paid by the gateway after a refusal"),
    "attempt.pending_after_no": _("under way at the gateway after a refusal"),
    "attempt.amount_differs": _("the gateway paid something else than was asked"),
    "attempt.failed_after_paid": _("failed after it was paid by the gateway"),
    "attempt.settled": _("settled with the payment provider by a person"),
    "alert.raised": _("staff alert"),
    "alert.settled": _("staff alert settled"),
    "return.requested": _("return asked for"),
    "return.received": _("returned goods received"),
    "return.accepted": _("returned goods accepted"),
    "return.refunded": _("refund of the return arranged"),
    "return.exchanged": _("return exchanged"),
    "return.rejected": _("return rejected"),
    "return.withdrawn": _("return withdrawn"),
    "return.corrected": _("findings of a return corrected"),
    "replacement.reserved": _("replacement reserved"),
    "replacement.reduced": _("replacement of fewer units"),
    "replacement.sent": _("replacement sent"),
    "replacement.released": _("replacement not sent after all"),
    "policy.drafted": _("version of the rules drafted"),
    "policy.edited": _("draft of the rules changed"),
    "policy.published": _("version of the rules published"),
    "policy.superseded": _("version of the rules superseded"),
    "policy.withdrawn": _("version of the rules withdrawn before it was in force"),
    "policy.discarded": _("draft of the rules thrown away"),
}
