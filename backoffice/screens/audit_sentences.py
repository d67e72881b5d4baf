"""What happened, in one sentence per event of the history. What a sentence names comes from `audit_facts.py`.

An action without a sentence here is told by its name; `tests/pages/test_audit_search.py` lists those.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as say

from orders.words import action_name

SENTENCES: Final[Mapping[str, str | Promise]] = {
    # Orders and parcels
    "order.taken_in": say("%(who)s sent the order: %(goods)s, %(amount)s."),
    "order.address_changed": say("%(who)s changed the shipping address."),
    "shipment.packed": say("%(who)s packed %(goods)s."),
    "shipment.shipped": say("%(who)s handed %(goods)s to the carrier."),
    "shipment.delivered": say("%(goods)s arrived, says %(who)s."),
    "shipment.lost": say("%(goods)s got lost on the way, says %(who)s."),
    "shipment.corrected": say("%(who)s corrected the parcel with %(goods)s."),
    "customer_link.issued": say("%(who)s made a customer's link to the order."),
    "customer_link.revoked": say("%(who)s revoked a customer's link to the order."),
    "store_credit.granted": say("%(who)s granted %(amount)s of store credit."),
    "store_credit.spent": say("%(who)s booked %(amount)s of store credit as spent."),
    "store_credit.refunded": say("%(amount)s went back to store credit."),
    "store_credit.corrected": say("%(who)s corrected store credit by %(amount)s."),
    # From the quote to the money
    "quote.opened": say("%(who)s asked what giving back %(goods)s comes to: %(amount)s."),
    "quote.redeemed": say("%(who)s confirmed the quote of %(amount)s."),
    "quote.expired": say("The quote of %(amount)s ran out unused."),
    "quote.superseded": say("The quote of %(amount)s no longer holds: %(because)s."),
    "quote.declined": say("%(who)s declined the quote of %(amount)s."),
    "refund.pending_approval": say("The refund of %(amount)s waits for a second person."),
    "refund.pending": say("The refund of %(amount)s is on its way to %(to)s, set off by %(who)s."),
    "refund.succeeded": say("%(amount)s went back to the customer."),
    "refund.failed": say("The refund of %(amount)s failed."),
    "refund.unknown": say("It is not known yet whether %(amount)s was paid: the provider is being asked."),
    "refund.rejected": say("%(who)s rejected the refund of %(amount)s."),
    "refund.expired": say("Nobody approved the refund of %(amount)s in time."),
    "refund.undone": say("%(who)s said that a refund of %(amount)s made elsewhere did not take place."),
    "refund.assigned": say("%(who)s entered what a refund of %(amount)s made elsewhere was for: %(goods)s."),
    "allocation.waits": say("The provider takes %(amount)s only later: the refund waits."),
    "allocation.paid_by_hand": say("%(who)s paid %(amount)s back by hand, number %(external)s."),
    "allocation.undone": say("%(to)s has its %(amount)s again."),
    "allocation.retried": say("%(who)s had %(amount)s sent once more, to %(to)s."),
    "attempt.sending": say("%(amount)s was sent to %(provider)s."),
    "attempt.succeeded": say("The provider has paid, number %(external)s."),
    "attempt.refused": say("The provider refused: %(because)s."),
    "attempt.unknown": say("The provider gave no clear answer."),
    "attempt.settled": say("%(who)s settled with the provider what had been paid."),
    # Decisions
    "approval.waiting": say("%(who)s asked for a second person: %(kind)s, %(amount)s."),
    "approval.approved": say("%(who)s approved it: %(kind)s, %(amount)s."),
    "approval.rejected": say("%(who)s rejected it: %(kind)s, %(amount)s."),
    "approval.expired": say("Nobody decided in time: %(kind)s, %(amount)s."),
    "policy.drafted": say("%(who)s drafted version %(version)s of the rules."),
    "policy.edited": say("%(who)s changed the draft of version %(version)s of the rules."),
    "policy.published": say("%(who)s published version %(version)s of the rules."),
    "policy.superseded": say("Version %(version)s of the rules was superseded."),
    "policy.withdrawn": say("%(who)s withdrew version %(version)s of the rules before it was in force."),
    "policy.discarded": say("%(who)s threw the draft of version %(version)s of the rules away."),
    # Goods that come back, and goods sent instead
    "return.requested": say("%(who)s asked to send %(goods)s back."),
    "return.received": say("%(who)s took in the parcel of the return: %(goods)s."),
    "return.accepted": say("%(who)s accepted the returned goods: %(goods)s."),
    "return.refunded": say("The refund of the returned goods was arranged."),
    "return.exchanged": say("The exchange of %(goods)s is complete."),
    "return.rejected": say("%(who)s rejected the return of %(goods)s."),
    "return.withdrawn": say("%(who)s withdrew the return of %(goods)s."),
    "return.corrected": say("%(who)s corrected what was found of the returned goods."),
    "replacement.reserved": say("%(who)s had a replacement reserved: %(goods)s."),
    "replacement.reduced": say("Fewer units are replaced than were asked for: %(goods)s."),
    "replacement.sent": say("%(who)s sent the replacement: %(goods)s."),
    "replacement.released": say("%(who)s gave the replacement up: %(goods)s."),
    # Conversations
    "conversation.opened": say("%(who)s began a conversation."),
    "conversation.person_asked": say("%(who)s called for a person. %(because)s"),
    "conversation.taken_over": say("%(who)s took the conversation over."),
    "conversation.given_back": say("%(who)s gave the conversation back to the assistant."),
    "conversation.answered": say("%(who)s answered the customer."),
    "conversation.closed": say("%(who)s ended the conversation."),
    "conversation.claim_taken_back": say("Words of the assistant that were not true were taken back."),
    "message.said": say("%(who)s wrote."),
    "card.open": say("A card to press was shown to the customer."),
    "card.confirmed": say("%(who)s pressed the card."),
    "card.declined": say("%(who)s declined the card."),
    "card.expired": say("The card ran out without a press."),
    "card.withdrawn": say("The card was withdrawn."),
    "mail.sent": say("An e-mail was sent to the customer."),
    "mail.failed": say("An e-mail to the customer could not be sent."),
    "turn.failed": say("The assistant could not finish its answer."),
    # The desk itself
    "alert.raised": say("Staff were alerted: %(kind)s."),
    "alert.settled": say("%(who)s settled the alert: %(kind)s."),
    "export.made": say("%(who)s took a list away as a file: %(list)s, %(rows)s rows."),
}
GOOD: Final = frozenset({"refund.succeeded", "attempt.succeeded", "approval.approved", "allocation.paid_by_hand"})
BAD: Final = frozenset(
    {"refund.failed", "refund.rejected", "attempt.refused", "approval.rejected", "return.rejected", "turn.failed"}
)
WAITS: Final = frozenset({"refund.pending_approval", "refund.unknown", "approval.waiting", "alert.raised"})


def sentence(action: str, facts: Mapping[str, Any]) -> str:
    """What happened, in the active language. `facts`: every name that a sentence may use."""
    words = SENTENCES.get(action)
    if words is None:
        return _("%(who)s: %(action)s.") % {**facts, "action": action_name(action)}
    return (str(words) % facts).strip()


def tone(action: str) -> str:
    if action in GOOD:
        return "good"
    if action in BAD:
        return "bad"
    return "wait" if action in WAITS else ""
