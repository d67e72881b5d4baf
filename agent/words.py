"""Words for what the history of conversations says."""

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext_lazy as _

from orders.words import Words

MACHINES: Final[Mapping[str, Words]] = {
    "agent": _("agent"),
    "cards": _("confirmation cards"),
    "mails": _("e-mails to customers"),
}
ACTIONS: Final[Mapping[str, Words]] = {
    "conversation.opened": _("conversation begun"),
    "conversation.person_asked": _("person asked for"),
    "conversation.taken_over": _("conversation taken over"),
    "conversation.given_back": _("conversation given back to the assistant"),
    "conversation.answered": _("answered by staff"),
    "conversation.closed": _("conversation ended"),
    "conversation.claim_taken_back": _("words of the assistant taken back"),
    "message.said": _("customer wrote"),
    "card.open": _("card shown"),
    "card.confirmed": _("card confirmed"),
    "card.declined": _("card declined"),
    "card.expired": _("card expired"),
    "card.withdrawn": _("card withdrawn"),
    "mail.sent": _("e-mail to the customer sent"),
    "mail.failed": _("e-mail to the customer could not be sent"),
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
