"""Words for colleagues beside a conversation. They are rows of their own: no message, no event, so that neither the
customer's page nor a request to the model can have them.
"""

from django.utils.translation import gettext as translate

from agent import events
from agent.models import Conversation, StaffNote
from agent.people import PERMISSION
from agent.text import readable
from orders import audit
from orders.actors import Actor
from orders.errors import Refusal

MAX_NOTE_CHARACTERS = 2000


def write(*, conversation: Conversation, actor: Actor, text: str, client_ref: str | None = None) -> StaffNote:
    """Keep a note, also in a closed conversation. The same `client_ref` (at most 64 characters) again gives the same.

    Raises `NotAllowed`, `InvalidInput`, and `Refusal` where the reference was that of other words.
    """
    user = actor.require_staff(PERMISSION)
    text = readable(text, limit=MAX_NOTE_CHARACTERS)
    with events.writing(conversation.pk, "note_written") as locked:
        if client_ref and (known := StaffNote.objects.filter(conversation=locked, client_ref=client_ref).first()):
            return _the_same(known, text)
        note = StaffNote.objects.create(conversation=locked, staff=user, text=text, client_ref=client_ref)
        audit.record(
            action="conversation.noted",
            actor=actor,
            subject_type="conversation",
            subject_id=str(locked.pk),
            order_id=locked.order_id,
            chosen={"note": note.pk, "text": text},
        )
        events.tell_desk(locked.pk)
        return note


def _the_same(known: StaffNote, text: str) -> StaffNote:
    if known.text != text:
        raise Refusal(
            "already_sent",
            translate("This form has kept another note already."),
            hint=translate("Your new words are in the field: keep them from here."),
        )
    return known
