"""E-mails to customers who have left the page: a person answered or will not, a card expires soon, money has moved.

What is to be told is a row, written in the transaction of what it tells of. A job sends it when its time has come, if
the customer does not look at the page, has not seen it there meanwhile, and it is still so. Nothing is locked while the
mail server is talked to: a worker that dies after the server has taken an e-mail lets it be sent once more, under the
same Message-ID.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPRecipientsRefused, SMTPResponseException
from typing import Final
from urllib.parse import urlsplit

import structlog
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as translate

from agent import presence
from agent.models import Card, Conversation, CustomerMail, Message
from agent.presence import Look
from agent.states import CardState, MailKind, MailState
from orders import audit, links
from orders.actors import system_actor

log = structlog.get_logger(__name__)
POSTMAN: Final = system_actor("mails")
# While a worker sends, nobody else does; it may die.
CLAIM: Final = timedelta(minutes=5)
# So long what is new must have stood before somebody's eyes, to count as seen.
READING: Final = timedelta(seconds=3)
PAUSES: Final = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240))
AT_ONCE: Final = 50
PERMANENT: Final = 500
BY_CARD: Final = "answered:card:"


@dataclass(frozen=True, slots=True)
class Letter:
    subject: str
    body: str


def answered(conversation: Conversation, message_id: int) -> None:
    """A person has answered; several answers in a row are one e-mail, of the newest. Inside `events.writing`."""
    _out_of_date(conversation, "answered:")
    _wait(conversation, MailKind.ANSWERED, f"answered:{message_id}", _soon())


def answered_by_card(card: Card) -> None:
    """A person has answered by putting a card on the page: as `answered`. Inside `events.writing`."""
    _out_of_date(card.conversation, "answered:")
    _wait(card.conversation, MailKind.ANSWERED, f"{BY_CARD}{card.pk}", _soon())


def expiring(card: Card) -> None:
    """A card is on the page: if it is still unanswered shortly before its end, say so. Inside `events.writing`."""
    before = timedelta(minutes=settings.CUSTOMER_MAIL_BEFORE_EXPIRY_MINUTES)
    _wait(card.conversation, MailKind.EXPIRING, f"expiring:{card.pk}", card.expires_at - before)


def outcome(conversation: Conversation, about: str, move_id: int, line: str) -> None:
    """Money's outcome is known. `about`: what it is of ("refund rf_…"), `line`: what the page says.

    What waits to be told of the same thing is out of date. Inside `events.writing`.
    """
    key = f"outcome:{about}:"
    _out_of_date(conversation, key)
    _wait(conversation, MailKind.OUTCOME, f"{key}{move_id}", _soon(), line)


def wait_over(conversation: Conversation, message: Message) -> None:
    """No person will answer whoever has waited for one; `message` says so on the page. Inside `events.writing`."""
    _wait(conversation, MailKind.WAIT_OVER, f"wait_over:{message.pk}", _soon(), message.text)


def _out_of_date(conversation: Conversation, key: str) -> None:
    """What waits has been overtaken. The page may have been seen since it came to be, and not since what is new."""
    waiting = conversation.mails.filter(key__startswith=key, state=MailState.WAITING)
    waiting.update(state=MailState.NOT_NEEDED, ended_at=timezone.now())


def _soon() -> datetime:
    """Later than a page that somebody looks at takes to say so."""
    return timezone.now() + timedelta(seconds=settings.CUSTOMER_MAIL_AFTER_SECONDS)


def _wait(conversation: Conversation, kind: MailKind, key: str, not_before: datetime, text: str = "") -> None:
    address = conversation.customer.email
    if address:
        row = {"conversation": conversation, "kind": kind, "address": address, "text": text, "not_before": not_before}
        CustomerMail.objects.get_or_create(key=key, defaults=row)


def send_due() -> int:
    """Send what is due; how many e-mails have left."""
    due = CustomerMail.objects.filter(state=MailState.WAITING, not_before__lte=timezone.now()).order_by("not_before")
    found = list(due.values_list("pk", "conversation__order_id", "conversation__customer_id")[:AT_ONCE])
    return sum(_send(mail_id, presence.last_seen(order, customer)) for mail_id, order, customer in found)


def _send(mail_id: int, look: Look | None) -> bool:
    mail = _claim(mail_id, look)
    if mail is None:
        return False
    try:
        _letter_as_email(mail).send()
    except Exception as error:
        # Whatever the mail server says, or how it breaks: the others still have to leave.
        # Not in the server's own words, here and in the row: they name addresses, and are read by more people.
        said = {"error": type(error).__name__, "code": _smtp_code(error)}
        log.warning("mail.not_sent", mail=mail.pk, attempt=mail.tries, **said)
        _try_later(mail, error)
        return False
    _end(mail, MailState.SENT)
    return True


def _claim(mail_id: int, look: Look | None) -> CustomerMail | None:
    """The mail, if it is ours to send now. One that is not needed any more ends here.

    `look`: the customer's last one at the page.
    """
    with transaction.atomic():
        rows = CustomerMail.objects.select_for_update(skip_locked=True, of=("self",))
        due = rows.filter(pk=mail_id, state=MailState.WAITING, not_before__lte=timezone.now())
        mail = due.select_related("conversation__order", "conversation__customer__user").first()
        if mail is None:
            return None
        # As it is now: the customer may have given another one since, or taken it back.
        mail.address = mail.conversation.customer.email
        if not mail.address or _told_otherwise(mail, look):
            _end(mail, MailState.NOT_NEEDED)
            return None
        if away := presence.away_from(look):
            # They will see it, or leave before they do.
            mail.not_before = away
            mail.save(update_fields=["not_before"])
            return None
        mail.tries, mail.not_before = mail.tries + 1, timezone.now() + CLAIM
        mail.save(update_fields=["address", "tries", "not_before"])
        return mail


def _told_otherwise(mail: CustomerMail, look: Look | None) -> bool:
    """Is there nothing left to tell? The page has been looked at since and showed it, or the card is over."""
    if mail.kind == MailKind.EXPIRING:
        card = Card.objects.filter(pk=mail.key.removeprefix("expiring:")).first()
        return card is None or card.state != CardState.OPEN or card.expires_at <= timezone.now()
    if look is None or look.at <= mail.created_at + READING:
        return False
    event = _event_of(mail)
    return event is None or (look.shown.conversation_id == mail.conversation_id and look.shown.number >= event)


def _event_of(mail: CustomerMail) -> int | None:
    """The number of the event by which the page shows what the e-mail tells of. None: there is none.

    Pages draw one conversation: that one is in a later conversation does not say that it has shown this one's end.
    """
    about = mail.key.rpartition(":")[2]
    events = mail.conversation.events
    if mail.kind == MailKind.OUTCOME:
        shows = events.filter(tells=int(about))
    elif mail.key.startswith(BY_CARD):
        shows = events.filter(kind="card", data__card_id=about)
    else:
        shows = events.filter(kind="message", data__message_id=int(about))
    return shows.values_list("number", flat=True).first()


def _try_later(mail: CustomerMail, error: Exception) -> None:
    mail.error = _kind_of(mail, error)
    if mail.tries > len(PAUSES) or _refused_for_good(error):
        _end(mail, MailState.FAILED)
        return
    mail.not_before = timezone.now() + PAUSES[mail.tries - 1]
    mail.save(update_fields=["error", "not_before"])


def _kind_of(mail: CustomerMail, error: Exception) -> str:
    """What went wrong and for whom, without a word of the server's: `SMTPRecipientsRefused 550 (m…@example.com)`."""
    code = _smtp_code(error)
    what = type(error).__name__ if code is None else f"{type(error).__name__} {code}"
    return f"{what} ({masked(mail.address)})"[:240]


def masked(address: str) -> str:
    """An address that its owner knows again and nobody else can write to."""
    name, _, host = address.rpartition("@")
    return f"{name[:1]}…@{host}"


def _smtp_code(error: Exception) -> int | None:
    """What the mail server answered: 4xx for now, 5xx for good. None where it has not answered."""
    if isinstance(error, SMTPRecipientsRefused):
        return next((code for code, _ in error.recipients.values()), None)
    return error.smtp_code if isinstance(error, SMTPResponseException) else None


def _refused_for_good(error: Exception) -> bool:
    """Does the server not take e-mail for this address? To ask again changes nothing."""
    return isinstance(error, SMTPRecipientsRefused) and (_smtp_code(error) or 0) >= PERMANENT


def _end(mail: CustomerMail, state: MailState) -> None:
    """The last of it; what was sent, or could not be, stands in the history."""
    mail.state, mail.ended_at = state, timezone.now()
    with transaction.atomic():
        mail.save(update_fields=["state", "ended_at", "error"])
        if state != MailState.NOT_NEEDED:
            audit.record(
                action=f"mail.{state}",
                actor=POSTMAN,
                subject_type="conversation",
                subject_id=str(mail.conversation_id),
                order=mail.conversation.order,
                outcome={"kind": mail.kind, "address": mail.address, "error": mail.error},
            )


def _letter_as_email(mail: CustomerMail) -> EmailMessage:
    with translation.override(mail.conversation.language):
        letter = letter_of(mail)
    # The same name each time: a server that gets it twice can tell.
    host = urlsplit(settings.SITE_URL).hostname or "localhost"
    return EmailMessage(
        letter.subject,
        letter.body,
        settings.DEFAULT_FROM_EMAIL,
        [mail.address],
        headers={"Message-ID": f"<customer-mail-{mail.pk}@{host}>"},
    )


def letter_of(mail: CustomerMail) -> Letter:
    """Subject and text in the language that is active."""
    order = mail.conversation.order
    subject, text = LETTERS[MailKind(mail.kind)](mail)
    hello = translate("Hello %(name)s,") % {"name": mail.conversation.customer.name}
    parts = [hello, text, _where(mail.conversation), settings.SHOP_NAME]
    # A line break in a name would be a header of its own, which Django refuses to send.
    heading = " ".join(f"{settings.SHOP_NAME} · {subject} ({order.number})".split())
    return Letter(heading, "\n\n".join(parts) + "\n")


def _answered_letter(mail: CustomerMail) -> tuple[str, str]:
    text = translate("A colleague has answered you in the chat about order %(order)s.")
    return translate("A colleague has answered you"), text % {"order": mail.conversation.order.number}


def _expiring_letter(mail: CustomerMail) -> tuple[str, str]:
    card = Card.objects.get(pk=mail.key.removeprefix("expiring:"))
    text = translate(
        "In the chat about order %(order)s a button waits for your confirmation. It can be pressed until %(time)s. "
        "Nothing happens if you leave it; you can ask for a new one at any time."
    )
    until = timezone.localtime(card.expires_at).strftime("%H:%M")
    return translate("Something waits for your confirmation"), text % {
        "order": mail.conversation.order.number,
        "time": until,
    }


def _line_letter(mail: CustomerMail) -> tuple[str, str]:
    return translate("News about your order"), mail.text


LETTERS: Final = {
    MailKind.ANSWERED: _answered_letter,
    MailKind.EXPIRING: _expiring_letter,
    MailKind.OUTCOME: _line_letter,
    MailKind.WAIT_OVER: _line_letter,
}


def _where(conversation: Conversation) -> str:
    """How to get back to the page: by the account, or by the newest link that the shop has given and still works."""
    if conversation.customer.user_id is not None:
        path: str | None = reverse("order", kwargs={"number": conversation.order.number})
    else:
        path = links.newest_address(conversation.order)
    if path is None:
        return translate("You find the chat on your order's page, by the link that you have from us.")
    return translate("To the chat: %(address)s") % {"address": f"{settings.SITE_URL.rstrip('/')}{path}"}
