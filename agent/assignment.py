"""Whose job a conversation is. Assigned is not taken over: the assistant goes on answering, and no customer is told."""

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext as translate

from agent import events
from agent.models import Conversation
from agent.people import PERMISSION
from orders import audit
from orders.actors import Actor
from orders.errors import InvalidInput, Refusal


def colleagues() -> QuerySet[User]:
    """Who may be given a conversation: whoever may answer in one."""
    # `with_perm` knows groups and superusers, and leaves out who has left.
    return User.objects.with_perm(
        PERMISSION, include_superusers=False, backend="django.contrib.auth.backends.ModelBackend"
    ).order_by("username")


def assign(*, conversation: Conversation, actor: Actor, to: User | None) -> None:
    """Give it to a colleague, to oneself, or to nobody in particular. Who answers in it does not change.

    `conversation` with the assignee that whoever decides has seen. Raises `NotAllowed`, `InvalidInput` for somebody who
    may not answer, Refusal `assigned_meanwhile` where it is another's by now: nobody takes it from them unawares.
    """
    actor.require_staff(PERMISSION)
    if to is not None and not (to.is_active and to.has_perm(PERMISSION)):
        raise InvalidInput(
            "to",
            translate("%(name)s may not answer customers.") % {"name": to.get_full_name() or to.username},
            hint=translate("Choose a colleague from the list."),
        )
    with events.writing(conversation.pk, "assigned") as locked:
        if locked.assignee == to:
            return
        if locked.assignee_id != conversation.assignee_id:
            raise _somebody_elses(locked.assignee)
        before, locked.assignee = locked.assignee, to
        # Nothing has happened between the shop and the customer: its place in the inbox stays.
        locked.save(update_fields=["assignee"])
        audit.record(
            action="conversation.assigned",
            actor=actor,
            subject_type="conversation",
            subject_id=str(locked.pk),
            order_id=locked.order_id,
            chosen={"to": to.username if to else None, "from": before.username if before else None},
        )
        events.tell_desk(locked.pk)


def _somebody_elses(now: User | None) -> Refusal:
    if now is None:
        message = translate("Nobody in particular looks after this conversation any more.")
    else:
        message = translate("A colleague has assigned this conversation to %(name)s meanwhile.") % {
            "name": now.get_full_name() or now.username
        }
    return Refusal(
        "assigned_meanwhile", message, hint=translate("Nothing was changed. Assign it again if it should be another's.")
    )
