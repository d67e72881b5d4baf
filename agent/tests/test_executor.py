"""The one executor: every call is checked, run and answered; what goes wrong is a result in plain words."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, OperationalError, connection
from django.utils import translation

from agent import calls
from agent.models import Card, ToolCall
from agent.states import CardKind, CardState, ToolCallState
from agent.tests.helpers import CASE, EARPHONES, SAME_AGAIN, asked, call, hear, hold, quoted, talk, told
from agent.tools import executor, registry
from agent.tools.base import Arguments, Context, Tool, closed
from agent.turns import Lease
from orders.actors import NotAllowed
from orders.errors import InvalidInput
from orders.models import Order
from orders.tests import cast
from refunds import redeem
from refunds.models import RefundQuote
from refunds.tests.ask import ask

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


@pytest.fixture
def lease(order: Order) -> Lease:
    return hold(order)


def run(order: Order, lease: Lease, name: str, **arguments: Any) -> ToolCall:
    (made,) = asked(order, call(name, **arguments))
    executor.run_call(lease, made.pk)
    made.refresh_from_db()
    return made


def refused(made: ToolCall) -> dict[str, Any]:
    """The error object that the model hears."""
    assert made.is_error
    assert made.state == ToolCallState.ANSWERED
    assert made.result is not None
    assert made.result.keys() >= {"code", "message", "hint", "retryable"}
    return dict(made.result)


def without(values: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}


def exchange(line: dict[str, Any]) -> dict[str, Any]:
    return {"quote_id": None, "exchange_lines": [line]}


# --- argument missing, malformed, unknown id: the model, told which field and what to put there ---
@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("get_order", {"customer_id": 2}, "customer_id"),
        ("get_order", {"order_number": "5602"}, "order_number"),
        ("quote_refund", {}, "lines"),
        ("quote_refund", {"lines": "li_2"}, "lines"),
        ("quote_refund", {"lines": [{**CASE, "quantity": "1"}]}, "lines[0].quantity"),
        ("quote_refund", {"lines": [{**CASE, "quantity": 1.5}]}, "lines[0].quantity"),
        ("quote_refund", {"lines": [{**CASE, "quantity": True}]}, "lines[0].quantity"),
        ("quote_refund", {"lines": [{**CASE, "quantity": 0}]}, "lines[0].quantity"),
        ("quote_refund", {"lines": [{**CASE, "quantity": -1}]}, "lines[0].quantity"),
        ("quote_refund", {"lines": [CASE, {**CASE, "reason": "bored"}]}, "lines[1].reason"),
        ("quote_refund", {"lines": [{**CASE, "amount": 9999}]}, "lines[0].amount"),
        ("quote_refund", {"lines": [without(CASE, "reason")]}, "lines[0].reason"),
        ("quote_refund", {"lines": []}, "lines"),
        ("quote_refund", {"lines": [{**CASE, "line_item_id": "li_9"}]}, "lines[0].line_item_id"),
        ("quote_refund", {"lines": [{**CASE, "quantity": 2}]}, "lines[0].quantity"),
        ("quote_refund", {"lines": [CASE], "amount": 9999}, "amount"),
        ("refund_items", {"quote_id": 17}, "quote_id"),
        ("refund_items", {"quote_id": "rq_00000000000000000000"}, "quote_id"),
        ("refund_items", {"quote_id": "' OR 1=1 --"}, "quote_id"),
        ("create_return", {"quote_id": None, "exchange_lines": None}, "quote_id"),
        ("create_return", exchange({**SAME_AGAIN, "quantity": "1"}), "exchange_lines[0].quantity"),
        ("create_return", exchange({**SAME_AGAIN, "line_item_id": "li_9"}), "exchange_lines[0].line_item_id"),
        ("hand_off_to_human", {"reason": "bored", "summary": "x"}, "reason"),
        ("hand_off_to_human", {"reason": "complaint", "summary": "x" * 1001}, "summary"),
        ("get_order", {"x": "y" * 30_000}, "arguments"),
    ],
)
def test_a_wrong_argument_is_named(
    order: Order, lease: Lease, name: str, arguments: dict[str, Any], field: str
) -> None:
    error = refused(run(order, lease, name, **arguments))
    assert error["field"] == field
    assert error["code"] in {"invalid_argument", "not_found"}
    assert not RefundQuote.objects.exists()
    assert not Card.objects.exists()


# --- the rule says no: the model tells the customer, or uses what the hint names ---
def test_a_quote_that_has_ended_names_what_to_call(order: Order, lease: Lease) -> None:
    quote = quoted(order)
    redeem.decline(quote_id=quote.pk, actor=cast.shopper())
    error = refused(run(order, lease, "refund_items", quote_id=quote.pk))
    assert error["code"] == "quote_stale"
    assert "quote_refund" in error["hint"]


def test_the_wrong_card_for_a_quote_names_the_right_tool(order: Order, lease: Lease) -> None:
    cancel = run(order, lease, "quote_refund", lines=[CASE]).result or {}
    error = refused(run(order, lease, "create_return", quote_id=cancel["quote_id"], exchange_lines=None))
    assert (error["code"], "refund_items" in error["hint"]) == ("wrong_tool", True)
    back = run(order, lease, "quote_refund", lines=[{**EARPHONES, "action": None}]).result or {}
    error = refused(run(order, lease, "refund_items", quote_id=back["quote_id"]))
    assert (error["code"], "create_return" in error["hint"]) == ("wrong_tool", True)


def test_another_customers_quote_does_not_exist_word_for_word(order: Order, lease: Lease) -> None:
    other = cast.place("5602", who="ming2")
    hear(other)
    theirs = quoted(other)
    missing = refused(run(order, lease, "refund_items", quote_id="rq_00000000000000000000"))
    assert refused(run(order, lease, "refund_items", quote_id=theirs.pk)) == missing


def test_what_staff_only_look_at_is_no_quote_of_the_agents(order: Order, lease: Lease) -> None:
    of_staff = ask(order, (2, 1, "shop_cancelled"), actor=cast.staff())
    assert refused(run(order, lease, "refund_items", quote_id=of_staff.pk))["code"] == "not_found"
    assert not Card.objects.exists()


# --- temporary: the executor tries again, the model hears only the end ---
def test_a_lock_that_could_not_be_had_is_tried_again(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = standing_in(monkeypatch, failing(OperationalError("deadlock detected"), times=executor.TRIES - 1))
    assert run(order, lease, "get_order").result == {"fine": True}
    assert len(tries) == executor.TRIES


def test_a_lock_that_is_never_had_leaves_the_call_to_another_try(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(monkeypatch, failing(OperationalError("deadlock detected"), times=executor.TRIES))
    (made,) = asked(order, call("get_order"))
    with pytest.raises(OperationalError):
        executor.run_call(lease, made.pk)
    made.refresh_from_db()
    assert made.state == ToolCallState.ASKED


# --- not allowed: a human ---
def test_what_is_not_allowed_is_for_a_person(order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    standing_in(monkeypatch, failing(NotAllowed("refunds.approve_refund"), times=1))
    error = refused(run(order, lease, "get_order"))
    assert error["code"] == "not_allowed"
    assert "hand_off_to_human" in error["hint"]
    assert "approve_refund" not in json.dumps(error)


# --- ours: one plain sentence, nothing of the fault ---
@pytest.mark.parametrize(
    "fault",
    [
        KeyError("agent_toolcall"),
        DatabaseError('relation "agent_toolcall" does not exist'),
        RuntimeError("http://internal.example:8000/secret"),
        RecursionError(),
    ],
    ids=lambda fault: type(fault).__name__,
)
def test_a_fault_of_ours_is_one_plain_sentence(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    standing_in(monkeypatch, failing(fault, times=1))
    error = refused(run(order, lease, "get_order"))
    assert error["code"] == "internal_error"
    text = json.dumps(error)
    assert not [word for word in ("agent_toolcall", "relation", "secret", "http", "Error", "Traceback") if word in text]


def test_what_a_broken_handler_had_written_is_not_kept(
    order: Order, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(context: Context, arguments: Arguments) -> dict[str, Any]:
        context.conversation.hand_off_summary = "half"
        context.conversation.save(update_fields=["hand_off_summary"])
        raise KeyError

    standing_in(monkeypatch, half)
    refused(run(order, lease, "get_order"))
    assert talk(order).hand_off_summary == ""


@pytest.mark.django_db(transaction=True)
def test_where_an_answer_cannot_be_kept_its_effect_is_not_kept_either() -> None:
    order = cast.order_5531()
    hear(order)
    lease = hold(order)
    (made,) = asked(order, call("quote_refund", lines=[CASE]))
    with no_call_can_be_answered(), pytest.raises(IntegrityError):
        executor.run_call(lease, made.pk)
    assert not RefundQuote.objects.exists()
    executor.run_call(lease, made.pk)
    assert RefundQuote.objects.count() == 1


@contextmanager
def no_call_can_be_answered() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE agent_toolcall ADD CONSTRAINT no_answer CHECK (state <> 'answered') NOT VALID")
        try:
            yield
        finally:
            cursor.execute("ALTER TABLE agent_toolcall DROP CONSTRAINT no_answer")


def failing(error: Exception, *, times: int) -> Any:
    """A handler that fails so often, then works."""
    tries: list[int] = []

    def handler(context: Context, arguments: Arguments) -> dict[str, Any]:
        tries.append(1)
        if len(tries) <= times:
            raise error
        return {"fine": True}

    handler.tries = tries  # type: ignore[attr-defined]
    return handler


def standing_in(monkeypatch: pytest.MonkeyPatch, handler: Any) -> list[int]:
    """Put a tool with this handler in the place of get_order."""
    tool = Tool(
        name="get_order", schema=closed(), handler=handler, reads=True, suspends=False, working="Reading your order"
    )
    monkeypatch.setitem(registry.BY_NAME, "get_order", tool)
    return getattr(handler, "tries", [])


# --- what goes well ---
def test_a_call_is_run_once_however_often_it_is_asked_for(order: Order, lease: Lease) -> None:
    made = run(order, lease, "quote_refund", lines=[CASE])
    executor.run_call(lease, made.pk)
    assert RefundQuote.objects.count() == 1
    assert (made.result or {})["amount"] == 230


def test_a_call_that_waits_or_was_answered_is_left_alone(order: Order, lease: Lease) -> None:
    quote = quoted(order)
    waiting = run(order, lease, "refund_items", quote_id=quote.pk)
    answered = run(order, lease, "list_refunds")
    before = talk(order).last_event
    for made in (waiting, answered):
        executor.run_call(lease, made.pk)
    assert talk(order).last_event == before
    assert Card.objects.count() == 1


def test_the_first_answer_of_a_call_stays(order: Order, lease: Lease) -> None:
    made = run(order, lease, "list_refunds")
    assert calls.answer(made, {"status": "another"}) is False
    assert ToolCall.objects.get(pk=made.pk).result == made.result


def test_the_same_call_run_again_from_the_start_finds_its_quote(order: Order, lease: Lease) -> None:
    """As if the answer had been lost, which one transaction makes impossible: still one quote."""
    made = run(order, lease, "quote_refund", lines=[CASE])
    ToolCall.objects.filter(pk=made.pk).update(state=ToolCallState.ASKED, result=None)
    executor.run_call(lease, made.pk)
    assert RefundQuote.objects.count() == 1


def test_a_quote_says_how_much_why_and_what_comes_next(order: Order, lease: Lease) -> None:
    result = run(order, lease, "quote_refund", lines=[CASE]).result or {}
    assert (result["amount"], result["display"]) == (230, "NT$230")
    assert sum(step["amount"] for step in result["steps"]) == 230
    assert "refund_items" in result["next"]


@pytest.mark.parametrize(
    ("kind", "name", "line"),
    [(CardKind.REFUND, "refund_items", CASE), (CardKind.RETURN, "create_return", {**EARPHONES, "action": None})],
)
def test_a_quote_becomes_a_card_and_the_call_waits(
    order: Order, lease: Lease, kind: str, name: str, line: dict[str, Any]
) -> None:
    quote = quoted(order, line)
    more = {"exchange_lines": None} if name == "create_return" else {}
    made = run(order, lease, name, quote_id=quote.pk, **more)
    card = Card.objects.get()
    assert (made.state, card.kind, card.state, card.quote) == (ToolCallState.SUSPENDED, kind, CardState.OPEN, quote)
    (shown,) = told(order, "card")
    assert (shown["card_id"], shown["quote_id"], shown["amount"]) == (card.pk, quote.pk, quote.amount)
    assert shown["display"] in shown["button"]


def test_an_exchange_card_shows_its_goods_and_costs_nothing(order: Order, lease: Lease) -> None:
    run(order, lease, "create_return", quote_id=None, exchange_lines=[SAME_AGAIN])
    (shown,) = told(order, "card")
    assert (shown["kind"], shown["amount"], shown["quote_id"]) == (CardKind.EXCHANGE, None, None)
    assert [line["name"] for line in shown["lines"]] == ["藍牙耳機"]


def test_the_order_as_the_model_reads_it_says_what_can_be_asked_for(order: Order, lease: Lease) -> None:
    result = run(order, lease, "get_order").result or {}
    assert [(line["line_item_id"], line["units"][0]["can"]) for line in result["lines"]] == [
        ("li_1", ["return", "exchange"]),
        ("li_2", ["cancel"]),
    ]
    assert result["payments"][0]["last4"] == "4242"


def test_empty_results_say_that_they_are_empty(lease: Lease, order: Order) -> None:
    assert "No refund, return or replacement" in (run(order, lease, "list_refunds").result or {})["note"]
    plain = cast.place("7001")
    hear(plain)
    result = run(plain, hold(plain), "list_shipments").result or {}
    assert (result["shipments"], "Nothing" in result["note"]) == ([], True)


def test_handing_off_marks_the_conversation_with_a_summary(order: Order, lease: Lease) -> None:
    made = run(order, lease, "hand_off_to_human", reason="customer_asked", summary="Wants a person.")
    assert (made.result or {})["status"] == "handed_off"
    assert (talk(order).needs_person, talk(order).hand_off_summary) == (True, "Wants a person.")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"lines": [{**CASE, "quantity": "1"}]}, "'1' 不是 integer 型別"),
        ({"lines": [{**CASE, "reason": "because"}]}, "'because' 不在可用的值之內：changed_mind"),
        ({"lines": [without(CASE, "reason")]}, "缺少這個欄位"),
        ({"lines": [{**CASE, "amount": 9}]}, "沒有這個欄位"),
    ],
)
def test_what_does_not_fit_is_told_in_one_language(arguments: dict[str, Any], says: str) -> None:
    with translation.override("zh-hant"), pytest.raises(InvalidInput) as refusal:
        executor.check_arguments(registry.BY_NAME["quote_refund"], arguments, registry.HIDDEN_ON_ORDER_PAGE)
    assert says in refusal.value.message
