"""What cards and the chat say around the data of an event: shared by the server's drawing and `static/js/chat.js`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.urls import reverse
from django.utils import formats, timezone
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from agent.states import CardKind
from refunds.states import Reason

# The shape of a card with nothing in it: drawn into a <template>, from which the script makes real ones.
BLANK_CARD: Final[Mapping[str, Any]] = {
    "card_id": "",
    "kind": "refund",
    "quote_id": None,
    "lines": [{"name": "", "quantity": 1, "reason": "", "becomes": ""}],
    "places": [{"label": "", "text": ""}],
    "steps": [{"code": "", "text": "", "display": ""}],
    "to": [{"label": "", "display": ""}],
    "title": "",
    "button": "",
    "display": "",
    "explanation": "",
    "expires_at": "",
    "state": "open",
}


def button_addresses(card: Mapping[str, Any], number: str) -> dict[str, str]:
    """Where the card's two buttons send their form: to the quote it stands for, else to the card itself."""
    if card.get("quote_id"):
        return {
            "confirm": reverse("quote-confirm", args=[card["quote_id"]]),
            "decline": reverse("quote-decline", args=[card["quote_id"]]),
        }
    if card.get("card_id"):
        return {
            "confirm": reverse("card-confirm", args=[number, card["card_id"]]),
            "decline": reverse("card-decline", args=[number, card["card_id"]]),
        }
    return {"confirm": "", "decline": ""}


def moment_said(at: datetime, *, now: datetime) -> str:
    """The time of day in the shop, and the day before it where that is not today; `static/js/chat/clock.js` alike."""
    local, today = timezone.localtime(at), timezone.localdate(now)
    time = formats.time_format(local, "H:i")
    if local.date() == today:
        return time
    this_year, another = ("n月j日", "Y年n月j日") if (get_language() or "").startswith("zh") else ("F j", "F j, Y")
    return f"{formats.date_format(local, this_year if local.year == today.year else another)} {time}"


def reason_words() -> dict[str, str]:
    """Why goods go back, as a card says it: “other” says nothing to whoever gave the reason."""
    return {value: "" if value == Reason.OTHER else str(label) for value, label in Reason.choices}


def chat_words() -> dict[str, Any]:
    """Everything the script may have to say by itself, in the page's language."""
    return {
        "reasons": reason_words(),
        "sending": _("Sending…"),
        "not_sent": _("Not sent."),
        "send_again": _("Send again"),
        "offline": _("The connection is interrupted. We keep trying; nothing is lost."),
        "unsure": _(
            "The connection broke off: we do not know yet whether it went through. Press again, it counts once."
        ),
        "unreached": _("We could not reach the shop. Look at your connection and press once more."),
        "signed_out": _(
            "You are signed out, or your link has ended. What you wrote is kept. If you came by a link, open it again."
        ),
        "sign_in": _("Sign in again"),
        "unreadable": _("The shop's answer could not be read. Reload the page to see where things stand."),
        "left": _("%(time)s left"),
        "too_long": [
            ngettext("%(count)s character too many", "%(count)s characters too many", number) for number in (1, 2)
        ],
        "quote_again": _("Please work it out again."),
        "work_out_again": {
            CardKind.REFUND.value: _("Please work out the refund again: %(goods)s."),
            CardKind.RETURN.value: _("Please work out the return and its refund again: %(goods)s."),
        },
        "goods_and_why": _("%(name)s × %(quantity)s (%(reason)s)"),
        "between": _(", "),
        "confirming": _("Being confirmed…"),
        "answered_by": _("%(name)s is answering you"),
        "sent_then": _("Your message is then sent by itself."),
    }
