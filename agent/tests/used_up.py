"""What earlier turns have used up of the agent's limits, and the turn that meets one."""

from datetime import timedelta

from django.utils import timezone

from agent import loop
from agent.models import Conversation, Turn
from agent.states import ConversationState, TurnState
from agent.tests.helpers import texts, told
from orders.models import Order

CENT = 10_000


def past_turn(conversation: Conversation, *, steps: int = 1, cents: int = 0, hours: float = 1) -> Turn:
    """A turn that is over: how often the model was heard in it, what that cost, and how many hours ago it began."""
    return Turn.objects.create(
        conversation=conversation,
        state=TurnState.DONE,
        steps=steps,
        cost_micro=cents * CENT,
        queued_at=timezone.now() - timedelta(hours=hours),
    )


def work(order: Order) -> Turn:
    """What a worker does with the turn that waits for one, whatever turns were put beside it."""
    turn = Turn.objects.get(conversation__order=order, state=TurnState.QUEUED)
    loop.run(turn.pk)
    turn.refresh_from_db()
    return turn


def elsewhere(order: Order) -> Conversation:
    """An older conversation of the same customer."""
    return Conversation.objects.create(
        order=order, customer=order.customer, state=ConversationState.CLOSED, language="en"
    )


def ended(order: Order, why: str) -> str:
    """Work on what was said, which must end at this limit without asking the model; what the customer reads."""
    turn = work(order)
    assert (turn.state, turn.error, turn.steps) == (TurnState.FAILED, why, 0)
    assert told(order, "turn")[-1]["retry"] is True
    assert texts(order) == []
    return texts(order, "system")[-1]
