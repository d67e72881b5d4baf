"""The desk's numbers for Prometheus: right by the rows, and the same from every process."""

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agent import people
from agent.models import Conversation, ModelCall, ToolCall, Turn
from agent.states import ToolCallState, TurnState
from agent.tests.helpers import asked, call, hear, hold, newest_turn, talk
from agent.tools import executor
from backoffice import metrics, tallies
from backoffice.models import KeptCount
from orders.models import Order
from orders.tests import cast
from refunds.redeem import redeem
from refunds.tests.ask import ask
from tests.pages.visiting import refund_card
from tests.platform.past_work import LONG_AGO, happened, many, model_call

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def read() -> tallies.Sums:
    """What a process that has just started reads."""
    return metrics.read_database(tallies.tallies())


def family(sums: tallies.Sums, name: str) -> Any:
    (found,) = [each for each in metrics.families(sums) if each.name == f"refund_desk_{name}"]
    return found


def test_a_turn_is_measured_from_its_queue_to_a_card_and_from_the_press_to_its_end(order: Order) -> None:
    turn, begin = newest_turn(order), LONG_AGO
    happened(
        turn,
        ("queued", begin),
        ("running", begin + timedelta(seconds=1)),
        ("waiting", begin + timedelta(seconds=4)),
        ("queued", begin + timedelta(minutes=10)),
        ("running", begin + timedelta(minutes=10, seconds=1)),
        ("done", begin + timedelta(minutes=10, seconds=2)),
    )
    model_call(turn, first_text_at=begin + timedelta(seconds=1, milliseconds=400))
    sums = read()
    assert sums["turn_duration_seconds", ("waiting",), "sum"] == pytest.approx(4)
    assert sums["turn_duration_seconds", ("done",), "sum"] == pytest.approx(2)
    assert sums["first_text_seconds", (), "sum"] == pytest.approx(1.4)
    assert family(sums, "first_text_seconds").samples[-2].value == 1, "the second part of the turn said nothing"


def test_a_card_that_nobody_pressed_is_no_work_of_the_agent(order: Order) -> None:
    moves = [("queued", 0), ("running", 1), ("waiting", 2), ("done", 900)]
    happened(newest_turn(order), *[(state, LONG_AGO + timedelta(seconds=after)) for state, after in moves])
    assert not [sample for sample in read() if sample[:2] == ("turn_duration_seconds", ("done",))]


def test_a_failed_turn_is_counted_by_what_it_failed_for(order: Order) -> None:
    happened(newest_turn(order), ("failed", LONG_AGO), error="limit")
    assert read()["turn_failures", ("limit",), ""] == 1


def test_a_bucket_holds_its_own_end_and_all_smaller_ones(order: Order) -> None:
    turn = newest_turn(order)
    for number, seconds in enumerate((0.5, 0.6, 400), 1):
        model_call(turn, number, ended_at=LONG_AGO + timedelta(seconds=seconds))
    histogram = family(read(), "model_call_duration_seconds")
    by_end = {sample.labels["le"]: sample.value for sample in histogram.samples if "le" in sample.labels}
    assert (by_end["0.5"], by_end["1.0"], by_end["180.0"], by_end["+Inf"]) == (1, 2, 2, 3)


def test_tokens_cost_and_endings_are_told_by_model(order: Order) -> None:
    turn = newest_turn(order)
    used = {"input_tokens": 10, "written_tokens": 20, "cached_tokens": 70, "output_tokens": 5, "cost_micro": 1500}
    model_call(turn, 1, **used)
    model_call(turn, 2, **used)
    model_call(turn, 3, ending="")
    sums = read()
    assert sums["model_cost_dollars", ("claude-sonnet-5-5",), ""] == pytest.approx(0.003)
    assert sums["model_tokens", ("claude-sonnet-5-5", "cache_read"), ""] == 140
    assert sums["model_calls", ("claude-sonnet-5-5", "end_turn"), ""] == 2
    assert sums["model_calls", ("claude-sonnet-5-5", "unfinished"), ""] == 1


def test_no_counter_falls_when_a_request_that_was_in_flight_ends(order: Order) -> None:
    turn, mine = newest_turn(order), tallies.tallies()
    begun = timezone.now() - timedelta(seconds=5)
    made = model_call(turn, ending="", model="", started_at=begun, first_text_at=begun + timedelta(seconds=1))
    before = counted(metrics.read_database(mine))
    ended = {"ending": "end_turn", "model": "claude-sonnet-5-5", "ended_at": timezone.now(), "cost_micro": 7}
    ModelCall.objects.filter(pk=made.pk).update(**ended)
    after = counted(metrics.read_database(mine))
    assert [sample for sample, value in before.items() if after.get(sample, 0) < value] == []
    assert after["model_calls", ("claude-sonnet-5-5", "end_turn"), ""] == 1


def test_tools_are_counted_by_name_and_errors_by_code_and_invented_names_are_one(order: Order) -> None:
    lease = hold(order)
    for each in asked(order, call("drop_tables"), call("rm_rf"), call("get_order")):
        executor.run_call(lease, each.pk)
    sums = read()
    assert sums["tool_calls", ("unknown",), ""] == 2
    assert sums["tool_errors", ("unknown", "unknown_tool"), ""] == 2
    assert sums["tool_calls", ("get_order",), ""] == 1
    assert sum(value for sample, value in sums.items() if sample[:2] == ("tool_errors", ("get_order",))) == 0
    assert family(sums, "tool_call_duration_seconds").samples


def test_the_time_a_customer_takes_to_press_is_not_the_tools(order: Order) -> None:
    card = refund_card(order)
    (tool_call,) = asked(order, call("refund_items", quote_id=card.quote_id))
    card.tool_call = tool_call
    card.save()
    ended = {"state": ToolCallState.ANSWERED, "result": {}, "started_at": LONG_AGO, "answered_at": timezone.now()}
    ToolCall.objects.filter(pk=tool_call.pk).update(**ended)
    assert not [sample for sample in read() if sample[0] == "tool_call_duration_seconds"]


def test_what_waits_is_told_as_it_stands_now(order: Order) -> None:
    (tool_call,) = asked(order, call("refund_items"))
    ToolCall.objects.filter(pk=tool_call.pk).update(state=ToolCallState.SUSPENDED)
    Turn.objects.update(queued_at=timezone.now() - timedelta(seconds=30))
    sums = read()
    assert (sums["turns", ("queued",), ""], sums["suspended_calls", (), ""]) == (1, 1)
    assert 30 <= sums["oldest_queued_turn_seconds", (), ""] < 90
    Turn.objects.update(state=TurnState.DONE)
    sums = read()
    assert (sums["turns", ("queued",), ""], sums["suspended_calls", (), ""]) == (0, 0)
    assert sums["oldest_queued_turn_seconds", (), ""] == 0


def test_who_asked_for_a_person_and_how_many_wait(order: Order) -> None:
    people.customer_asks_for_person(conversation=talk(order), actor=cast.shopper())
    sums = read()
    assert (sums["hand_offs", ("customer",), ""], sums["waiting_for_person", ("no",), ""]) == (1, 1)


def waits(owned: str) -> tuple[float, float]:
    sums = read()
    longest = sums["longest_wait_for_person_seconds", (owned,), ""]
    return sums["waiting_for_person", (owned,), ""], longest // 60


def test_whose_colleague_has_the_conversation_and_does_not_answer_still_waits(order: Order) -> None:
    assert (waits("no"), waits("yes")) == ((0, 0), (0, 0))
    people.customer_asks_for_person(conversation=talk(order), actor=cast.shopper())
    Conversation.objects.update(waiting_since=timezone.now() - timedelta(minutes=20))
    assert (waits("no"), waits("yes")) == ((1, 20), (0, 0))
    people.take_over(conversation=talk(order), actor=cast.staff())
    assert (waits("no"), waits("yes")) == ((0, 0), (1, 20))
    people.reply(conversation=talk(order), actor=cast.staff(), text="Here I am.")
    assert (waits("no"), waits("yes")) == ((0, 0), (0, 0))
    hear(order, "thank you, and one more thing")
    assert waits("yes")[0] == 1


def test_refunds_are_told_by_state_and_by_move(order: Order) -> None:
    redeem(quote_id=ask(order, (2, 1, "late_delivery")).pk, actor=cast.shopper())
    sums = read()
    assert (sums["refunds", ("pending",), ""], sums["refunds", ("failed",), ""]) == (1, 0)
    assert sums["refund_moves", ("pending",), ""] == 1


COUNTED = {*metrics.COUNTERS, *metrics.HISTOGRAMS}


def counted(sums: tallies.Sums) -> dict[tallies.Sample, float]:
    return {sample: round(value, 6) for sample, value in sums.items() if sample[0] in COUNTED}


def test_a_process_that_has_looked_often_and_one_that_has_just_started_say_the_same(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "BLOCK", 2)
    mine = tallies.tallies()
    metrics.read_database(mine)
    many(order, 5)
    metrics.read_database(mine)
    (late,) = asked(order, call("get_order"))
    ToolCall.objects.filter(pk=late.pk).update(created_at=LONG_AGO)
    assert counted(metrics.read_database(mine)) == counted(read())
    ended = {"state": ToolCallState.ANSWERED, "is_error": True, "result": {"code": "late"}}
    ToolCall.objects.filter(pk=late.pk).update(**ended)
    sums = metrics.read_database(mine)
    assert counted(sums) == counted(read())
    assert sums["tool_errors", ("get_order", "late"), ""] == 1


def test_what_cannot_change_any_more_is_not_read_again(order: Order) -> None:
    many(order, 5)
    mine = tallies.tallies()
    metrics.read_database(mine)
    newest = ModelCall.objects.order_by("-pk")[0].pk
    with CaptureQueriesContext(connection) as queries:
        metrics.read_database(mine)
    sums = [each["sql"] for each in queries if "SUM" in each["sql"] and "cost_micro" in each["sql"]]
    assert sums
    assert all(f'"agent_modelcall"."id" > {newest}' in sql for sql in sums)


def test_rows_that_are_too_many_for_one_look_are_counted_over_several(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(order, 5)
    monkeypatch.setattr(tallies, "BLOCK", 2)
    monkeypatch.setattr(metrics, "BLOCKS_SECONDS", 0)
    mine, looks = tallies.tallies(), 0
    sums = None
    while sums is None:
        looks += 1
        assert looks < 40
        with suppress(TimeoutError):
            sums = metrics.read_database(mine)
    assert looks > 2
    monkeypatch.undo()
    assert counted(sums) == counted(read())


def after_rows(table: str, sqls: list[str]) -> list[int]:
    """From which number on each statement that counts this table has read it."""
    found = [re.findall(rf'"{table}"."id" > (\d+)', sql) for sql in sqls if f'COUNT("{table}"."id")' in sql]
    return [int(numbers[0]) if numbers else 0 for numbers in found]


def test_a_process_that_starts_does_not_count_what_others_have_counted(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(order, 5)
    monkeypatch.setattr(tallies, "KEPT_EVERY", 10**9)  # numbers of rows go on from test to test
    alone = counted(read())
    assert not KeptCount.objects.exists(), "so few rows are not worth a row"
    monkeypatch.setattr(tallies, "KEPT_EVERY", 1)
    read()
    newest = ModelCall.objects.order_by("-pk")[0].pk
    with CaptureQueriesContext(connection) as queries:
        sums = read()
    assert set(after_rows("agent_modelcall", [each["sql"] for each in queries])) == {newest}
    assert counted(sums) == alone
    model_call(newest_turn(order), 6, ended_at=LONG_AGO)
    assert read()["model_calls", ("claude-sonnet-5-5", "end_turn"), ""] == 6


def test_what_is_counted_until_it_takes_too_long_is_kept(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    many(order, 5)
    monkeypatch.setattr(tallies, "BLOCK", 2)
    monkeypatch.setattr(tallies, "KEPT_EVERY", 1)
    monkeypatch.setattr(metrics, "BLOCKS_SECONDS", 0)
    looks, sums = 0, None
    while sums is None:
        looks += 1
        assert looks < 40, "each process has to go on where the one before had stopped"
        with suppress(TimeoutError):
            sums = read()
    assert looks > 2
    KeptCount.objects.all().delete()
    monkeypatch.undo()
    assert counted(sums) == counted(read())


def test_whoever_has_counted_less_takes_nothing_back(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, quick = tallies.tallies(), tallies.tallies()
    many(order, 1)
    metrics.read_database(slow)
    model_call(newest_turn(order), 2, ended_at=LONG_AGO)
    monkeypatch.setattr(tallies, "KEPT_EVERY", 1)
    metrics.read_database(quick)
    kept = list(KeptCount.objects.order_by("pk").values())
    for tally in slow:
        tally.keep()
    assert list(KeptCount.objects.order_by("pk").values()) == kept


def test_what_was_counted_in_another_way_counts_for_nothing(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    many(order, 5)
    monkeypatch.setattr(tallies, "KEPT_EVERY", 1)
    sums = read()
    KeptCount.objects.update(sums=[])
    monkeypatch.setattr(tallies, "VERSION", tallies.VERSION + 1)
    assert counted(read()) == counted(sums)


def test_a_block_that_is_too_much_for_the_database_is_made_smaller(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    def heavy(rows: tallies.Rows) -> Iterator[tuple[tallies.Sample, float]]:
        if rows.count() > 2:
            raise OperationalError("canceling statement due to statement timeout")
        yield ("model_calls", ("all", "of them"), ""), rows.count()

    many(order, 9)
    monkeypatch.setattr(tallies, "BLOCK", 8)
    monkeypatch.setattr(tallies, "SMALLEST_BLOCK", 1)
    tally = tallies.Tally(ModelCall, "started_at", heavy)
    for _ in range(2):
        with pytest.raises(OperationalError):
            tally.sums(until=time.monotonic() + 60)
    assert tally.sums(until=time.monotonic() + 60) == {("model_calls", ("all", "of them"), ""): 9}
