"""A remote tool asks somebody outside: nothing is locked meanwhile, it asks again within a limit, then it is told."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from pytest_django import Settings

from agent import calls, people
from agent.models import Conversation, ToolCall, Turn
from agent.states import ToolCallState
from agent.tests.helpers import asked, at_once, call, hear, hold, talk, told
from agent.tools import executor, registry
from agent.tools.base import Arguments, Context, Tool, closed
from agent.turns import Lease, LeaseLost
from orders.errors import InvalidInput, Refusal
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


@pytest.fixture
def lease(order: Order) -> Lease:
    return hold(order)


@pytest.fixture(autouse=True)
def at_once_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "PAUSE_SECONDS", 0)


def lock_without_waiting(conversation: Conversation) -> None:
    """Nobody is kept waiting: another connection may have the conversation in the middle of it, or this fails."""
    with transaction.atomic():
        Conversation.objects.select_for_update(nowait=True).get(pk=conversation.pk)


class Outside:
    """Somebody outside, who answers after so many refusals, and sees what was held meanwhile."""

    def __init__(self, refusal: Exception | None = None, *, times: int = 0) -> None:
        self.refusal, self.times, self.asked = refusal, times, 0
        self.in_transaction: set[bool] = set()

    def __call__(self, context: Context, arguments: Arguments) -> dict[str, Any]:
        self.asked += 1
        self.in_transaction.add(connection.in_atomic_block)
        at_once(lambda: lock_without_waiting(context.conversation))
        if self.refusal and self.asked <= self.times:
            raise self.refusal
        return {"fine": True}


def put(monkeypatch: pytest.MonkeyPatch, outside: Outside) -> Outside:
    tool = Tool(
        name="get_order",
        schema=closed(),
        handler=outside,
        reads=True,
        suspends=False,
        working="Asking the carrier",
        remote=True,
    )
    monkeypatch.setitem(registry.BY_NAME, "get_order", tool)
    return outside


def run(order: Order, lease: Lease, **arguments: Any) -> ToolCall:
    (made,) = asked(order, call("get_order", **arguments))
    executor.run_call(lease, made.pk)
    made.refresh_from_db()
    return made


def unavailable() -> Refusal:
    return Refusal("carrier_unavailable", "The carrier does not answer.", hint="Try again later.", retryable=True)


def test_nothing_is_locked_while_it_asks_and_the_answer_is_kept(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = put(monkeypatch, Outside())
    made = run(order, lease)
    assert outside.in_transaction == {False}
    assert (made.state, made.result, made.is_error) == (ToolCallState.ANSWERED, {"fine": True}, False)
    assert [line["state"] for line in told(order, "work")] == ["started", "done"]


def test_what_may_pass_is_asked_again_and_then_works(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = put(monkeypatch, Outside(unavailable(), times=executor.TRIES - 1))
    assert run(order, lease).result == {"fine": True}
    assert outside.asked == executor.TRIES


def test_after_so_many_tries_the_model_hears_that_it_may_be_asked_later(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = put(monkeypatch, Outside(unavailable(), times=99))
    made = run(order, lease)
    assert outside.asked == executor.TRIES
    assert made.is_error
    assert made.result is not None
    assert (made.result["code"], made.result["retryable"]) == ("carrier_unavailable", True)
    assert [line["state"] for line in told(order, "work")] == ["started", "failed"]


def test_a_refusal_that_stays_one_is_not_asked_for_again(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = put(monkeypatch, Outside(InvalidInput("product_id", "No such product."), times=99))
    made = run(order, lease)
    assert (outside.asked, (made.result or {})["code"]) == (1, "invalid_argument")


def test_a_fault_of_ours_is_one_plain_sentence(order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, Outside(KeyError("carrier_fault"), times=99))
    made = run(order, lease)
    assert (made.result or {})["code"] == "internal_error"
    assert "carrier_fault" not in str(made.result)


def test_a_database_that_is_lost_meanwhile_is_no_answer(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(monkeypatch, Outside(OperationalError("server closed the connection unexpectedly"), times=1))
    (made,) = asked(order, call("get_order"))
    with pytest.raises(OperationalError):
        executor.run_call(lease, made.pk)
    made.refresh_from_db()
    assert (made.state, made.result) == (ToolCallState.ASKED, None)


def test_wrong_arguments_are_refused_before_anybody_is_asked(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = put(monkeypatch, Outside())
    made = run(order, lease, customer_id=2)
    assert (outside.asked, (made.result or {})["field"]) == (0, "customer_id")


def test_a_call_too_many_is_refused_before_anybody_is_asked(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.AGENT_MAX_SAME_CALLS = 1
    outside = put(monkeypatch, Outside())
    assert run(order, lease).result == {"fine": True}
    made = run(order, lease)
    assert (outside.asked, (made.result or {})["code"]) == (1, "same_call_again")


def test_an_answer_that_came_in_another_way_meanwhile_stays_and_is_told_once(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Overtaken(Outside):
        def __call__(self, context: Context, arguments: Arguments) -> dict[str, Any]:
            calls.answer(ToolCall.objects.get(pk=context.call.pk), {"first": True})
            return {"fine": True}

    put(monkeypatch, Overtaken())
    assert run(order, lease).result == {"first": True}
    assert [line["state"] for line in told(order, "work")] == ["started"]


def test_an_answered_call_is_not_asked_again(order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = put(monkeypatch, Outside())
    made = run(order, lease)
    before = talk(order).last_event
    executor.run_call(lease, made.pk)
    assert (outside.asked, talk(order).last_event) == (1, before)


def test_an_answer_that_comes_after_the_lease_was_lost_is_not_kept(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Late(Outside):
        def __call__(self, context: Context, arguments: Arguments) -> dict[str, Any]:
            Turn.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
            return {"fine": True}

    put(monkeypatch, Late())
    (made,) = asked(order, call("get_order"))
    with pytest.raises(LeaseLost):
        executor.run_call(lease, made.pk)
    made.refresh_from_db()
    assert (made.state, made.result) == (ToolCallState.ASKED, None)


def test_a_person_who_took_over_meanwhile_has_the_last_word(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    class TakenOver(Outside):
        def __call__(self, context: Context, arguments: Arguments) -> dict[str, Any]:
            people.take_over(conversation=talk(order), actor=cast.staff())
            return {"fine": True}

    put(monkeypatch, TakenOver())
    (made,) = asked(order, call("get_order"))
    with pytest.raises(LeaseLost):
        executor.run_call(lease, made.pk)
    made.refresh_from_db()
    assert (made.result or {})["code"] == "no_answer"


def test_remote_tools_only_read() -> None:
    assert [tool.name for tool in registry.ORDER_PAGE if tool.remote and not (tool.reads and not tool.suspends)] == []
