"""What happened, in one sentence per event of the history. What a sentence names comes from `audit_facts.py`.

An action without a sentence here is told by its name; `tests/pages/test_audit_search.py` names those.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from orders.words import action_name

SENTENCES: Final[Mapping[str, str | Promise]] = {
    # Orders and parcels
    "order.taken_in": _("%(who)s sent the order: %(goods)s, %(amount)s."),
    "order.address_changed": _("%(who)s changed the shipping address."),
    "shipment.packed": _("%(who)s packed %(goods)s."),
    "shipment.shipped": _("%(who)s handed %(goods)s to the carrier."),
    "shipment.delivered": _("%(goods)s arrived, says %(who)s."),
    "shipment.lost": _("%(goods)s got lost on the way, says %(who)s."),
    "shipment.corrected": _("%(who)s corrected the parcel with %(goods)s."),
    "customer_link.issued": _("%(who)s made a customer's link to the order."),
    "customer_link.revoked": _("%(who)s revoked a customer's link to the order."),
    "store_credit.granted": _("%(who)s granted %(amount)s of store credit."),
    "store_credit.spent": _("%(who)s booked %(amount)s of store credit as spent."),
    "store_credit.refunded": _("%(amount)s went back to store credit."),
    "store_credit.corrected": _("%(who)s corrected store credit by %(amount)s."),
    # From the quote to the money
    "quote.opened": _("%(who)s asked what giving back %(goods)s comes to: %(amount)s."),
    "quote.redeemed": _("%(who)s confirmed the quote of %(amount)s."),
    "quote.expired": _("The quote of %(amount)s ran out unused."),
    "quote.superseded": _("The quote of %(amount)s no longer holds: %(because)s."),
    "quote.declined": _("The quote of %(amount)s was declined (%(who)s)."),
    "quote.declined:wrote_instead": _("The quote of %(amount)s was taken back: the customer wrote something else."),
    "quote.declined:closed": _("The quote of %(amount)s was taken back: the conversation ended."),
    "refund.pending_approval": _("The refund of %(amount)s waits for a second person."),
    "refund.pending": _("The refund of %(amount)s is on its way to %(to)s, set off by %(who)s."),
    "refund.succeeded": _("%(amount)s went back to the customer."),
    "refund.failed": _("The refund of %(amount)s failed."),
    "refund.unknown": _("It is not known yet whether %(amount)s was paid: the provider is being asked."),
    "refund.rejected": _("%(who)s rejected the refund of %(amount)s."),
    "refund.expired": _("Nobody approved the refund of %(amount)s in time."),
    "refund.undone": _("%(who)s said that a refund of %(amount)s made elsewhere did not take place."),
    "refund.assigned": _("%(who)s entered what a refund of %(amount)s made elsewhere was for: %(goods)s."),
    "allocation.waits": _("The provider takes %(amount)s only later: the refund waits."),
    "allocation.paid_by_hand": _("%(who)s paid %(amount)s back by hand, number %(external)s."),
    "allocation.undone": _("%(to)s has its %(amount)s again."),
    "allocation.retried": _("%(who)s had %(amount)s sent once more, to %(to)s."),
    "attempt.sending": _("%(amount)s was sent to %(provider)s."),
    "attempt.succeeded": _("The provider has paid, number %(external)s."),
    "attempt.refused": _("The provider refused: %(because)s."),
    "attempt.unknown": _("The provider gave no clear answer."),
    "attempt.settled": _("%(who)s settled with the provider what had been paid."),
    "attempt.amount_differs": _("The provider has paid something else than was asked for."),
    "attempt.failed_after_paid": _("The provider reports that what it had paid has failed after all."),
    "attempt.paid_after_refusal": _("The provider has paid after all, after it had refused."),
    "attempt.pending_after_no": _("The provider reports that what it had refused is under way."),
    # Decisions
    "approval.waiting": _("%(who)s asked for a second person: %(kind)s, %(amount)s."),
    "approval.approved": _("%(who)s approved it: %(kind)s, %(amount)s."),
    "approval.rejected": _("%(who)s rejected it: %(kind)s, %(amount)s."),
    "approval.expired": _("Nobody decided in time: %(kind)s, %(amount)s."),
    "policy.drafted": _("%(who)s drafted version %(version)s of the %(currency)s rules."),
    "policy.edited": _("%(who)s changed the draft of version %(version)s of the %(currency)s rules."),
    "policy.published": _("%(who)s published version %(version)s of the %(currency)s rules."),
    "policy.superseded": _("Version %(version)s of the %(currency)s rules was superseded."),
    "policy.withdrawn": _("%(who)s withdrew version %(version)s of the %(currency)s rules before it was in force."),
    "policy.discarded": _("%(who)s threw the draft of version %(version)s of the %(currency)s rules away."),
    # Goods that come back, and goods sent instead
    "return.requested": _("%(who)s asked to send %(goods)s back."),
    "return.received": _("%(who)s took in the parcel of the return: %(goods)s."),
    "return.accepted": _("%(who)s accepted the returned goods: %(goods)s."),
    "return.refunded": _("The refund of the returned goods was arranged."),
    "return.exchanged": _("The exchange of %(goods)s is complete."),
    "return.rejected": _("%(who)s rejected the return of %(goods)s."),
    "return.withdrawn": _("%(who)s withdrew the return of %(goods)s."),
    "return.corrected": _("%(who)s corrected what was found of the returned goods."),
    "replacement.reserved": _("%(who)s had a replacement reserved: %(goods)s."),
    "replacement.reduced": _("Fewer units are replaced than were asked for: %(goods)s."),
    "replacement.sent": _("%(who)s sent the replacement: %(goods)s."),
    "replacement.released": _("%(who)s gave the replacement up: %(goods)s."),
    # Conversations
    "conversation.opened": _("%(who)s began a conversation."),
    "conversation.person_asked": _("%(who)s called for a person. %(because)s"),
    "conversation.taken_over": _("%(who)s took the conversation over."),
    "conversation.given_back": _("%(who)s gave the conversation back to the assistant."),
    "conversation.answered": _("%(who)s answered the customer."),
    "conversation.closed": _("%(who)s ended the conversation."),
    "conversation.claim_taken_back": _("Words of the assistant that were not true were taken back."),
    "conversation.assigned": _("%(who)s settled who looks after the conversation: %(to)s."),
    "conversation.noted": _("%(who)s wrote a note for colleagues."),
    "copilot.asked": _("%(who)s asked the copilot."),
    "copilot.drafted": _("The copilot drafted an answer for %(who)s."),
    "message.said": _("%(who)s wrote."),
    "card.open": _("A card to press was shown to the customer."),
    "card.offered": _("%(who)s put a card on the customer's page: %(amount)s."),
    "card.asked_outside": _("A program of the customer put a card on their page."),
    "card.confirmed": _("The customer pressed the card."),
    "card.declined": _("The card was declined."),
    "card.declined:wrote_instead": _("The card was taken back: the customer wrote something else."),
    "card.expired": _("The card ran out without a press."),
    "card.withdrawn": _("The card was withdrawn."),
    "mail.sent": _("An e-mail was sent to the customer."),
    "mail.failed": _("An e-mail to the customer could not be sent."),
    "turn.failed": _("The assistant could not finish its answer."),
    # The desk itself
    "product.added": _("%(who)s added a product: %(goods)s."),
    "product.changed": _("%(who)s changed a product: %(goods)s."),
    "canned_reply.written": _("%(who)s wrote a ready-made answer."),
    "canned_reply.retired": _("%(who)s took a ready-made answer out of use."),
    "tool_token.issued": _("%(who)s issued a token for calling tools."),
    "tool_token.revoked": _("%(who)s revoked a token for calling tools."),
    "alert.raised": _("Staff were alerted: %(kind)s."),
    "alert.settled": _("%(who)s settled the alert: %(kind)s."),
    "export.made": _("%(who)s took a list away as a file: %(list)s, %(rows)s rows."),
}
# The provider's refusal, as a member of staff has found it out after a payment had been reported.
FAILED_AFTER_ALL: Final = _("%(who)s said that it had failed at the provider after all.")
GOOD: Final = frozenset({"refund.succeeded", "attempt.succeeded", "approval.approved", "allocation.paid_by_hand"})
BAD: Final = frozenset(
    {"refund.failed", "refund.rejected", "attempt.refused", "approval.rejected", "return.rejected", "turn.failed"}
)
WAITS: Final = frozenset({"refund.pending_approval", "refund.unknown", "approval.waiting", "alert.raised"})


def sentence(action: str, facts: Mapping[str, Any]) -> str:
    """What happened, in the active language. `facts`: every name that a sentence may use."""
    words = SENTENCES.get(action)
    if words is None:
        return gettext("%(who)s: %(action)s.") % {**facts, "action": action_name(action)}
    return (str(words) % facts).strip()


def tone(action: str) -> str:
    if action in GOOD:
        return "good"
    if action in BAD:
        return "bad"
    return "wait" if action in WAITS else ""
