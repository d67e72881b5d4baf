"""Words for what the history of conversations says."""

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext_lazy as _

from orders.words import Words

MACHINES: Final[Mapping[str, Words]] = {
    "agent": _("Assistant"),
    "program": _("a program of the customer"),
    "cards": _("system"),
    "mails": _("e-mails to customers"),
}
ACTIONS: Final[Mapping[str, Words]] = {
    "conversation.opened": _("conversation begun"),
    "conversation.person_asked": _("person asked for"),
    "conversation.taken_over": _("conversation taken over"),
    "conversation.given_back": _("conversation given back to the assistant"),
    "conversation.answered": _("answered by staff"),
    "conversation.closed": _("conversation ended"),
    "conversation.assigned": _("conversation assigned"),
    "conversation.noted": _("note for colleagues written"),
    "canned_reply.written": _("ready-made answer written"),
    "canned_reply.retired": _("ready-made answer no longer used"),
    "conversation.claim_taken_back": _("words of the assistant taken back"),
    "message.said": _("customer wrote"),
    "copilot.asked": _("copilot asked"),
    "copilot.drafted": _("answer drafted by the copilot"),
    "card.open": _("card shown"),
    "card.offered": _("card put on the page by staff"),
    "card.asked_outside": _("card put on the page by a program of the customer"),
    "card.confirmed": _("card confirmed"),
    "card.declined": _("card declined"),
    "card.declined:wrote_instead": _("card taken back: the customer wrote something else"),
    "card.expired": _("card expired"),
    "card.withdrawn": _("card withdrawn"),
    "mail.sent": _("e-mail to the customer sent"),
    "mail.failed": _("e-mail to the customer could not be sent"),
    "tool_token.issued": _("tool token issued"),
    "tool_token.revoked": _("tool token revoked"),
    "turn.queued": _("turn queued"),
    "turn.running": _("turn begun"),
    "turn.waiting": _("turn waits for the customer"),
    "turn.done": _("turn done"),
    "turn.failed": _("turn failed"),
}
KINDS_OF_EVENT: Final[Mapping[str, Words]] = {
    "message": _("message"),
    "work": _("tool call"),
    "card": _("confirmation card"),
    "status": _("outcome"),
    "conversation": _("conversation"),
    "turn": _("turn"),
}
# Why a person was asked for: as the tool names it, and what the desk itself calls a colleague for.
HAND_OFF_REASONS: Final[Mapping[str, Words]] = {
    "customer_asked": _("The customer asked for a person."),
    "rules_leave_it_open": _("The rules leave it open."),
    "cannot_help": _("The assistant cannot help."),
    "complaint": _("The customer complains."),
    "refund_failed": _("A refund was refused."),
    "false_claim": _("The assistant said what is not so."),
    "conversation_turns": _("The assistant has answered here as often as it may."),
    "conversation_spend": _("The assistant has cost here as much as it may."),
    "other": _("The assistant could not go on."),
}
