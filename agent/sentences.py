"""What a status line in the chat says of money and goods: from rows alone, in the active language."""

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as translate
from django.utils.translation import gettext_lazy as _

from orders.models import Shipment
from orders.money import format_money
from orders.prose import sentences
from refunds.models import Approval, Refund, Replacement, Return
from refunds.present import goods_text, payment_label, refund_as_dict, return_as_dict
from refunds.refund_words import at_time, number_by_hand, waits_until
from refunds.states import AllocationState, ApprovalKind, ApprovalState, RefundKind, RefundState, ReplacementState

_PARTLY: Final = _(
    "%(paid)s is on its way, but the payment provider has refused the other %(rest)s. A colleague has been told and "
    "will see to it (%(number)s)."
)
_NOTHING: Final = _("Done. By the rules of this order there is nothing to pay back (%(number)s).")
_ELSEWHERE: Final = _("The shop has given you back %(amount)s in another way (%(number)s).")
_BY_HAND: Final = _("The shop has given you back %(amount)s in another way, under number %(reference)s (%(number)s).")
_ON_ITS_WAY: Final = _(
    "%(amount)s is on its way to %(to)s. It usually arrives within 7 to 14 working days (%(number)s)."
)
_ELSEWHERE_UNDONE: Final = _(
    "That %(amount)s was given back in another way was entered by mistake: it does not count (%(number)s)."
)
_SAME_AS: Final = _(
    "The %(amount)s that were given back in another way are your refund %(same)s: they count once (%(number)s)."
)
_WAITS: Final = _(
    "The payment provider takes your refund of %(amount)s from %(moment)s on. It is sent by itself then, to %(to)s "
    "(%(number)s)."
)
_OF_GOODS: Final[dict[str, Promise]] = {
    RefundState.PENDING_APPROVAL: _("Your refund of %(amount)s is waiting for a colleague's approval (%(number)s)."),
    RefundState.SUCCEEDED: _ON_ITS_WAY,
    RefundState.FAILED: _(
        "The payment provider has refused the refund of %(amount)s. A colleague has been told and will see to it "
        "(%(number)s)."
    ),
    RefundState.UNKNOWN: _(
        "The payment provider has not answered yet. We are checking what became of your %(amount)s and tell you here "
        "(%(number)s)."
    ),
    RefundState.REJECTED: _("The refund of %(amount)s was not approved (%(number)s)."),
    RefundState.EXPIRED: _("The refund of %(amount)s was not approved in time (%(number)s)."),
}
_OF_COMPENSATION: Final[dict[str, Promise]] = {
    **_OF_GOODS,
    RefundState.SUCCEEDED: _(
        "Your compensation of %(amount)s is on its way to %(to)s. It usually arrives within 7 to 14 working days "
        "(%(number)s)."
    ),
    RefundState.FAILED: _(
        "The payment provider has refused your compensation of %(amount)s. A colleague has been told and will see to "
        "it (%(number)s)."
    ),
}
_OF_PROPOSAL: Final[dict[str, Promise]] = {
    ApprovalState.APPROVED: _("A colleague has agreed to a compensation of %(amount)s (%(number)s)."),
    ApprovalState.REJECTED: _(
        "A colleague has looked at your request for a compensation of %(amount)s and cannot grant it (%(number)s)."
    ),
    ApprovalState.EXPIRED: _(
        "Your request for a compensation of %(amount)s was not decided in time (%(number)s). Write to us if you would "
        "still like an answer."
    ),
}


def of_refund(refund: Refund) -> str:
    paid = sum(part.amount for part in refund.allocations.all() if part.state == AllocationState.SUCCEEDED)
    shares = refund_as_dict(refund)["to"]
    words = {
        "amount": format_money(refund.amount, refund.currency),
        "paid": format_money(paid, refund.currency),
        "rest": format_money(refund.amount - paid, refund.currency),
        "to": ", ".join(to["label"] for to in shares),
        "number": refund.pk,
    }
    if refund.kind == RefundKind.ELSEWHERE and refund.state == RefundState.REJECTED:
        undone = _SAME_AS if refund.same_as_id else _ELSEWHERE_UNDONE
        return str(undone) % {**words, "same": refund.same_as_id}
    if refund.state in {RefundState.SUCCEEDED, RefundState.FAILED} and any(to["by"] == "hand" for to in shares):
        return _paid_by_hand(refund, words)
    if refund.kind == RefundKind.ELSEWHERE:
        return str(_ELSEWHERE) % words
    until = waits_until(refund)
    if until is not None:
        return str(_WAITS) % {**words, "moment": at_time(until)}
    if refund.state == RefundState.FAILED and paid:
        return str(_PARTLY) % words
    if refund.amount == 0:
        return str(_NOTHING) % words
    sentences = _OF_COMPENSATION if refund.kind == RefundKind.COMPENSATION else _OF_GOODS
    return str(sentences[RefundState(refund.state)]) % words


def _paid_by_hand(refund: Refund, words: dict[str, str]) -> str:
    """What is on its way to a payment, what a person has paid under which number, and what is refused still."""
    sums = {"machine": 0, "hand": 0, "refused": 0}
    numbers, labels = [], []
    for part in refund.allocations.all():
        number = number_by_hand(refund, part)
        paid = part.state == AllocationState.SUCCEEDED
        sums["hand" if number else "machine" if paid else "refused"] += part.amount
        if number:
            numbers.append(number)
        elif paid:
            labels.append(payment_label(part.payment.method, part.payment.last4))
    said = {name: {**words, "amount": format_money(amount, refund.currency)} for name, amount in sums.items()}
    said_of_each = [
        str(_ON_ITS_WAY) % {**said["machine"], "to": ", ".join(labels)} if sums["machine"] else "",
        str(_BY_HAND) % {**said["hand"], "reference": ", ".join(dict.fromkeys(numbers))},
        str(_OF_GOODS[RefundState.FAILED]) % said["refused"] if sums["refused"] else "",
    ]
    return sentences(*said_of_each)


def of_return(item: Return) -> str:
    """Of its goods, for its refund has lines of its own. An exchange whose goods were sent says by which parcel."""
    said = translate("Return %(number)s: %(state)s.") % {"number": item.pk, "state": goods_text(item)}
    replacement = Replacement.objects.filter(return_request=item).select_related("shipment").first()
    return sentences(said, _parcel(replacement.shipment if replacement else None))


def of_replacement(replacement: Replacement) -> str:
    """Of lost goods that are sent again. What becomes of an exchange is told of its return."""
    if replacement.state == ReplacementState.SENT:
        said = translate("Your goods have been sent again (%(number)s).") % {"number": replacement.pk}
        return sentences(said, _parcel(replacement.shipment))
    return translate(
        "The goods are not sent again after all (%(number)s). Write to us if you have questions about it."
    ) % {"number": replacement.pk}


def of_approval(approval: Approval) -> str:
    """Of a compensation that was asked for in the chat, or of an exception that was granted."""
    words = {"amount": format_money(approval.amount, approval.currency), "number": approval.pk}
    if approval.kind == ApprovalKind.OVERRIDE:
        made = return_as_dict(approval.quote.return_request)  # type: ignore[union-attr]
        said = translate("A colleague has made an exception for you: return %(number)s is open.")
        return sentences(said % {"number": made["return_id"]}, made["instructions"])
    return str(_OF_PROPOSAL[approval.state]) % words


def _parcel(shipment: Shipment | None) -> str:
    if shipment is None:
        return ""
    named = " ".join(filter(None, [shipment.carrier, shipment.tracking_number]))
    return translate("Parcel: %(parcel)s.") % {"parcel": named} if named else ""
