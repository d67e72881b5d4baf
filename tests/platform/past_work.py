"""Work of the agent that lies days back: moves of turns, requests to the model, calls of tools."""

from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from agent.models import ModelCall, ToolCall, Turn
from agent.states import ToolCallState
from agent.tests.helpers import asked, call, newest_turn
from orders.models import Order

LONG_AGO = timezone.now() - timedelta(days=3)


def happened(turn: Turn, *moves: tuple[str, datetime], error: str = "") -> None:
    """The turn's moves as if they had been made then: the history takes no times and lets nothing be changed."""
    insert = (
        "INSERT INTO orders_auditevent (at, action, actor_kind, actor_name, subject_type, subject_id, chosen, "
        "computed, outcome, correlation) VALUES (%s, %s, 'system', 'agent', 'turn', %s, '{}', '{}', "
        "jsonb_build_object('error', %s::text), '{}')"
    )
    with connection.cursor() as cursor:
        for state, at in moves:
            cursor.execute(insert, [at, f"turn.{state}", str(turn.pk), error])


def model_call(turn: Turn, number: int = 1, **fields: Any) -> ModelCall:
    values = {"started_at": LONG_AGO, "model": "claude-sonnet-5-5", "ending": "end_turn", **fields}
    return ModelCall.objects.create(conversation_id=turn.conversation_id, turn=turn, number=number, attempt=1, **values)


def many(order: Order, number: int) -> None:
    """So many failed turns, requests and calls with an error, all of them over."""
    turn = newest_turn(order)
    calls = asked(order, *[call("get_order") for _ in range(number)])
    answered = {"state": ToolCallState.ANSWERED, "result": {"code": "gone"}, "is_error": True}
    for index, each in enumerate(calls):
        happened(turn, ("failed", LONG_AGO), error=f"reason {index % 2}")
        model_call(turn, index + 1, ended_at=LONG_AGO + timedelta(seconds=index), cost_micro=7)
        ToolCall.objects.filter(pk=each.pk).update(created_at=LONG_AGO, **answered)
