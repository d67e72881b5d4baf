"""The page of numbers that Prometheus reads: complete, documented, and there whatever is away."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection, connections, transaction
from django.test import Client
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from agent.models import CopilotThread, Turn
from agent.states import CopilotState, TurnState
from agent.tests.helpers import hear, hold, until
from backoffice import heartbeat, metrics, tallies
from backoffice.models import KeptCount
from orders.models import Order
from orders.tests import cast
from tests.platform.past_work import many

pytestmark = pytest.mark.django_db
WATCHING = Path(__file__).resolve().parents[2] / "docs" / "watching.md"
TOKEN = {"Authorization": "Bearer scrape-me"}


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def shown(page: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Each sample of a page as a scraper reads it."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


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
    assert samples["refund_desk_queue_jobs", (("queue", "chat"),)] == 1
    assert samples["refund_desk_queue_jobs", (("queue", "money"),)] == 0
    assert samples["refund_desk_worker_up", (("queue", "chat"),)] == 0
    assert samples["refund_desk_numbers_up", (("source", "database"),)] == 1


@pytest.mark.django_db(transaction=True)
def test_turns_wait_also_where_a_worker_has_taken_their_jobs_into_its_memory() -> None:
    order = cast.order_5531()
    hear(order)
    CopilotThread.objects.create(user=cast.staff_user(), state=CopilotState.QUEUED, queued_at=timezone.now())
    with heartbeat.client() as connected:
        connected.delete("chat")
    waits = ("refund_desk_queue_jobs", (("queue", "chat"),))
    assert shown(page_of(metrics.DeskNumbers()))[waits] == 2
    hold(order)
    assert shown(page_of(metrics.DeskNumbers()))[waits] == 1


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
    assert ("refund_desk_queue_jobs", (("queue", "money"),)) in samples


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
    assert ("refund_desk_queue_jobs", (("queue", "money"),)) not in samples


def test_old_numbers_are_not_shown_as_if_they_were_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "STALE_SECONDS", -1)
    samples = shown(page_of(metrics.DeskNumbers()))
    assert samples["refund_desk_numbers_up", (("source", "database"),)] == 0
    assert [name for name, _ in samples if not name.startswith("refund_desk_numbers_")] == []
