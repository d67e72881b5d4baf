"""What may be there once is there once, whatever the code does: the database itself refuses the second."""

from collections.abc import Callable

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from agent.models import ConversationEvent, Message, ModelCall, ToolCall, Turn
from agent.states import Author, ToolCallState, TurnState
from agent.tests.helpers import asked, call, hear, newest_turn, talk
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order, client_ref="ref-1")
    asked(order, call("get_order"))
    return order


def another_turn(order: Order) -> None:
    Turn.objects.create(conversation=talk(order), state=TurnState.WAITING, queued_at=timezone.now())


def another_call(order: Order) -> None:
    _call(order, ToolCall.objects.get().tool_use_id)


def a_call_answered_with_nothing(order: Order) -> None:
    _call(order, "toolu_2", ToolCallState.ANSWERED)


def _call(order: Order, tool_use_id: str, state: str = ToolCallState.ASKED) -> None:
    first = ToolCall.objects.get()
    ToolCall.objects.create(
        conversation=talk(order),
        turn=first.turn,
        message=first.message,
        tool_use_id=tool_use_id,
        name="get_order",
        arguments={},
        state=state,
    )


def another_message(order: Order) -> None:
    Message.objects.create(conversation=talk(order), author=Author.CUSTOMER, content=[], client_ref="ref-1")


def another_request(order: Order) -> None:
    for _ in range(2):
        ModelCall.objects.create(
            conversation=talk(order), turn=newest_turn(order), number=1, attempt=1, started_at=timezone.now()
        )


def another_event(order: Order) -> None:
    ConversationEvent.objects.create(conversation=talk(order), number=1, kind="turn", data={})


@pytest.mark.parametrize(
    ("create", "name"),
    [
        (another_turn, "one_live_turn"),
        (another_call, "tool_call_once"),
        (a_call_answered_with_nothing, "answered_call_has_result"),
        (another_message, "message_once_per_client_ref"),
        (another_request, "one_model_call_per_attempt"),
        (another_event, "event_number_once"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_the_second_is_refused_by_name(order: Order, create: Callable[[Order], None], name: str) -> None:
    with pytest.raises(IntegrityError, match=f'"{name}"'), transaction.atomic():
        create(order)
