"""The desk's numbers for Prometheus: right by the rows, the same from every process, and there whatever is away."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from agent import people
from agent.models import Conversation, ModelCall, ToolCall, Turn
from agent.states import ToolCallState, TurnState
from agent.tests.helpers import asked, call, hear, hold, newest_turn, talk, until
from agent.tools import executor
from backoffice import metrics, tallies
from backoffice.models import KeptCount
from orders.models import Order
from orders.tests import cast
from refunds.redeem import redeem
from refunds.tests.ask import ask
from tests.pages.visiting import refund_card

pytestmark = pytest.mark.django_db
WATCHING = Path(__file__).resolve().parents[2] / "docs" / "watching.md"
TOKEN = {"Authorization": "Bearer scrape-me"}
LONG_AGO = timezone.now() - timedelta(days=3)


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def read() -> tallies.Sums:
    """What a process that has just started reads."""
    return metrics.read_database(tallies.tallies())


def shown(page: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Each sample of a page as a scraper reads it."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


def family(sums: tallies.Sums, name: str) -> Any:
    (found,) = [each for each in metrics.families(sums) if each.name == f"refund_desk_{name}"]
    return found


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


def many(order: Order, number: int) -> None:
    turn = newest_turn(order)
    calls = asked(order, *[call("get_order") for _ in range(number)])
    answered = {"state": ToolCallState.ANSWERED, "result": {"code": "gone"}, "is_error": True}
    for index, each in enumerate(calls):
        happened(turn, ("failed", LONG_AGO), error=f"reason {index % 2}")
        model_call(turn, index + 1, ended_at=LONG_AGO + timedelta(seconds=index), cost_micro=7)
        ToolCall.objects.filter(pk=each.pk).update(created_at=LONG_AGO, **answered)


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


def registered(numbers: metrics.DeskNumbers) -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(numbers)
    return registry


def page_of(numbers: metrics.DeskNumbers) -> str:
    return generate_latest(registered(numbers)).decode()


def test_every_number_keeps_to_the_conventions_and_stands_in_the_documentation() -> None:
    told = WATCHING.read_text(encoding="utf-8")
    numbers = list(text_string_to_metric_families(page_of(metrics.DeskNumbers())))
    assert len(numbers) == len({each.name for each in numbers}) > 20
    for each in numbers:
        assert each.name.startswith("refund_desk_")
        assert each.documentation.endswith(".")
        assert each.type in {"counter", "gauge", "histogram"}
        assert "seconds" not in each.name or each.name.endswith("_seconds"), "the unit comes last"
        suffix = "_total" if each.type == "counter" else ""
        assert f"`{each.name}{suffix}" in told, f"docs/watching.md does not say what {each.name} is"


@pytest.mark.django_db(transaction=True)
def test_a_scraper_reads_both_the_process_and_the_desk(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "REGISTRY", registered(metrics.DeskNumbers()))
    settings.METRICS_TOKEN = "scrape-me"
    hear(cast.order_5531())
    answer = client.get("/metrics", headers=TOKEN)
    samples = shown(answer.content.decode())
    assert answer["Content-Type"].startswith("text/plain; version=")
    assert ("process_cpu_seconds_total", ()) in samples
    assert samples["refund_desk_turns", (("state", "queued"),)] == 1
    assert samples["refund_desk_queue_jobs", (("queue", "chat"),)] == 1, "nobody works here, so the job lies there"
    assert samples["refund_desk_queue_jobs", (("queue", "money"),)] == 0
    assert samples["refund_desk_worker_up", (("queue", "chat"),)] == 0
    assert samples["refund_desk_numbers_up", (("source", "database"),)] == 1


@contextmanager
def locked_table(table: str = "agent_turn", mode: str = "ACCESS EXCLUSIVE") -> Iterator[None]:
    """Somebody holds a table, as a migration may: whoever reads it waits, or in mode EXCLUSIVE whoever writes to it."""
    begun, released = threading.Event(), threading.Event()

    def hold_it() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {table} IN {mode} MODE")
            begun.set()
            released.wait(30)
        connections.close_all()

    holder = threading.Thread(target=hold_it)
    holder.start()
    try:
        assert begun.wait(10)
        yield
    finally:
        released.set()
        holder.join()


@pytest.mark.django_db(transaction=True)
def test_a_database_that_takes_too_long_costs_its_own_numbers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "STATEMENT_SECONDS", 0.2)
    with locked_table():
        began = time.monotonic()
        samples = shown(page_of(metrics.DeskNumbers()))
        assert time.monotonic() - began < 2, "the server was not told to give up"
    assert samples["refund_desk_numbers_up", (("source", "database"),)] == 0
    assert samples["refund_desk_numbers_up", (("source", "redis"),)] == 1
    assert ("refund_desk_turns", (("state", "queued"),)) not in samples, "missing, not wrong"
    assert ("refund_desk_queue_jobs", (("queue", "chat"),)) in samples


@pytest.mark.django_db(transaction=True)
def test_numbers_that_cannot_be_kept_are_shown_all_the_same(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    many(order, 2)
    monkeypatch.setattr(tallies, "KEPT_EVERY", 1)
    monkeypatch.setattr(metrics, "STATEMENT_SECONDS", 0.2)
    mine = tallies.tallies()
    with locked_table("backoffice_keptcount", "EXCLUSIVE"):
        sums = metrics.read_database(mine)
    assert sums["model_calls", ("claude-sonnet-5-5", "end_turn"), ""] == 2
    assert not KeptCount.objects.exists()
    metrics.read_database(mine)
    assert KeptCount.objects.count() == len(mine), "the next look keeps what this one could not"


@pytest.mark.django_db(transaction=True)
def test_a_look_that_hangs_does_not_hang_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "WAIT_SECONDS", 0.2)
    monkeypatch.setattr(metrics, "STATEMENT_SECONDS", 20)
    numbers = metrics.DeskNumbers()
    with locked_table():
        began = time.monotonic()
        pages = [shown(page_of(numbers)) for _ in range(2)]
        assert time.monotonic() - began < 2
    assert [page["refund_desk_numbers_up", (("source", "database"),)] for page in pages] == [0, 0]
    assert until(lambda: bool(shown(page_of(numbers))["refund_desk_numbers_up", (("source", "database"),)]))


@pytest.mark.django_db(transaction=True)
def test_several_scrapes_within_seconds_cost_one_look() -> None:
    numbers = metrics.DeskNumbers()
    hear(cast.order_5531())
    queued = ("refund_desk_turns", (("state", "queued"),))
    assert shown(page_of(numbers))[queued] == 1
    Turn.objects.update(state=TurnState.DONE)
    assert shown(page_of(numbers))[queued] == 1
    assert shown(page_of(metrics.DeskNumbers()))[queued] == 0


def test_redis_that_is_away_costs_its_own_numbers_alone(settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    samples = shown(page_of(metrics.DeskNumbers()))
    assert samples["refund_desk_numbers_up", (("source", "redis"),)] == 0
    assert samples["refund_desk_numbers_up", (("source", "database"),)] == 1
    assert ("refund_desk_queue_jobs", (("queue", "chat"),)) not in samples


def test_old_numbers_are_not_shown_as_if_they_were_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "STALE_SECONDS", -1)
    samples = shown(page_of(metrics.DeskNumbers()))
    assert samples["refund_desk_numbers_up", (("source", "database"),)] == 0
    assert [name for name, _ in samples if not name.startswith("refund_desk_numbers_")] == []
