"""The desk's numbers for Prometheus, read from the database and from Redis. What each means: `docs/watching.md`.

Every process that is asked gives the same numbers: they are counted from rows, not by processes. A look takes place in
a thread of its own, at most every ten seconds and under a time limit, so that /metrics answers whatever is away: then
`refund_desk_numbers_up` says what could not be read, and the numbers of it are missing rather than wrong.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import redis
import structlog
from django.conf import settings
from django.db import Error, connection, connections, transaction
from django.db.models import Count, Min
from django.utils import timezone
from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from agent.doors import refusals
from agent.models import Card, Conversation, CopilotThread, CustomerMail, ToolCall, Turn
from agent.states import (
    LIVE_TURNS,
    CardKind,
    CardState,
    ConversationState,
    CopilotState,
    MailState,
    ToolCallState,
    TurnState,
)
from backoffice import heartbeat, tallies
from backoffice.tallies import BUCKETS, Sums
from refunds.models import Refund
from refunds.states import RefundState

log = structlog.get_logger(__name__)
PREFIX: Final = "refund_desk_"
FRESH_SECONDS: Final = 10
# Prometheus gives up after ten; a scrape that finds an older look unfinished shows what there was.
WAIT_SECONDS: Final = 2.5
STATEMENT_SECONDS: Final = 2
BLOCKS_SECONDS: Final = 5
# Numbers older than this say nothing about now, so they are not shown.
STALE_SECONDS: Final = 60

# Name: (help, labels). Prometheus adds `_total`, `_bucket`, `_sum` and `_count`.
COUNTERS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "turn_failures": ("Turns that ended in words of regret, by what they failed for.", ("why",)),
    "hand_offs": ("How often a person was asked for, by who asked.", ("by",)),
    "refund_moves": ("Refunds that came into a state.", ("state",)),
    "model_calls": ("Requests to the model, by how they ended.", ("model", "ending")),
    "model_tokens": ("Tokens by kind: fresh, cache_write, cache_read, output.", ("model", "kind")),
    "model_cost_dollars": ("What the model has cost in US dollars, by the price table.", ("model",)),
    "tool_calls": ("Tool calls that the model asked for.", ("tool",)),
    "tool_errors": ("Tool calls that were answered with an error, by its code.", ("tool", "code")),
    "token_refusals": ("Tool tokens that opened nothing, or not the order that was asked for.", ("reason",)),
}
HISTOGRAMS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "turn_duration_seconds": ("From queueing a turn to its end or to a card, by what it came to.", ("outcome",)),
    "first_text_seconds": ("From queueing a turn to the first words on the page.", ()),
    "model_call_duration_seconds": ("How long one request to the model took.", ("model",)),
    "model_first_text_seconds": ("From a request to the model to its first words.", ("model",)),
    "tool_call_duration_seconds": ("How long a tool took; calls that put up a card are left out.", ("tool",)),
}
GAUGES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "turns": ("Turns that are not over.", ("state",)),
    "oldest_queued_turn_seconds": ("How long the turn that has been queued the longest has waited; 0: none.", ()),
    "suspended_calls": ("Tool calls that wait for the customer's press.", ()),
    "open_cards": ("Cards that can be pressed.", ("kind",)),
    "waiting_for_person": ("Customers who wait for a person, by whether a colleague has the conversation.", ("owned",)),
    "longest_wait_for_person_seconds": ("How long the first of them has waited; 0: nobody waits.", ("owned",)),
    "refunds": ("Refunds by the state they are in.", ("state",)),
    "customer_mails": ("E-mails to customers that wait or could not be sent.", ("state",)),
    "queue_jobs": (
        "Work that waits in a queue: jobs in the broker; of chat, turns and runs in the database.",
        ("queue",),
    ),
    "unacknowledged_jobs": ("Jobs that workers have taken and not finished.", ()),
    "worker_up": ("1 where a worker has lately been heard of.", ("queue",)),
    "workers": ("Workers that have lately been heard of, one that has died among others is missing.", ("queue",)),
}


@dataclass
class Look:
    """What one look has found. `up`: which sources could be read. `at`: when, on the clock of `time.monotonic`."""

    sums: Sums
    up: dict[str, bool]
    at: float = field(default_factory=time.monotonic)


class DeskNumbers(Collector):
    """The collector. One look at a time; a scrape in between shows the last one."""

    def __init__(self) -> None:
        self._tallies = tallies.tallies()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="metrics")
        self._lock = threading.Lock()
        self._last: Look | None = None
        self._running: Future[Look] | None = None

    def describe(self) -> list[Metric]:
        return []  # nothing is read when it is registered

    def collect(self) -> Iterator[Metric]:
        look = self._newest()
        age = None if look is None else time.monotonic() - look.at
        usable = look is not None and age is not None and age <= STALE_SECONDS
        yield from _about_itself(look.up if look and usable else {}, age)
        if look and usable:
            yield from families(look.sums)

    def _newest(self) -> Look | None:
        with self._lock:
            if self._last and time.monotonic() - self._last.at < FRESH_SECONDS:
                return self._last
            if self._running is None or self._running.done():
                self._running = self._thread.submit(self._look)
            running = self._running
        try:
            self._last = running.result(timeout=WAIT_SECONDS)
        except TookTooLong:
            log.warning("metrics.slow", seconds=WAIT_SECONDS)
        return self._last

    def _look(self) -> Look:
        readings = {"database": lambda: read_database(self._tallies), "redis": read_redis}
        found = {source: _what_could_be_read(source, read) for source, read in readings.items()}
        sums = {sample: value for part in found.values() for sample, value in (part or {}).items()}
        return Look(sums, {source: part is not None for source, part in found.items()})


def _what_could_be_read(source: str, read: Callable[[], Sums]) -> Sums | None:
    try:
        return read()
    except (Error, TimeoutError, redis.RedisError) as error:
        log.warning("metrics.not_read", source=source, error=str(error))
    except Exception:
        # A fault in here may cost the desk's numbers, and not those of the process that stand on the same page.
        log.exception("metrics.broke", source=source)
    finally:
        connections.close_all()
    return None


def read_database(counted: list[tallies.Tally]) -> Sums:
    """Everything that rows say. Raises `Error` of the database, and TimeoutError while old rows are still counted."""
    try:
        return _read_in_time(counted)
    finally:
        for tally in counted:
            _keep(tally)


def _keep(tally: tallies.Tally) -> None:
    """What was counted is there whether or not it can be kept: at worst a later look keeps it."""
    try:
        with transaction.atomic():
            _limit_statements()
            tally.keep()
    except Error as error:
        log.warning("metrics.not_kept", table=tally.model._meta.db_table, error=str(error))


def _read_in_time(counted: list[tallies.Tally]) -> Sums:
    sums: Sums = {}
    until = time.monotonic() + BLOCKS_SECONDS
    with transaction.atomic():
        _limit_statements()
        for tally in counted:
            found = tally.sums(until=until)
            if found is None:
                raise TimeoutError("the rows of old are still being counted")
            sums |= found
        return sums | _now()


def _limit_statements() -> None:
    """Until the transaction ends, the server ends what takes longer: nobody may slow the desk down by looking at it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{STATEMENT_SECONDS}s"])


def _now() -> Sums:
    """How things stand: what may go down again."""
    now = timezone.now()
    sums: Sums = {}
    live = Turn.objects.filter(state__in=LIVE_TURNS)
    _by(sums, "turns", sorted(LIVE_TURNS), live.values_list("state"))
    oldest = live.filter(state=TurnState.QUEUED).aggregate(since=Min("queued_at"))["since"]
    # Workers take its jobs into their memory at once (`CELERY_TASK_QUEUES`): the broker's list is always short.
    runs = CopilotThread.objects.filter(state=CopilotState.QUEUED)
    sums["queue_jobs", ("chat",), ""] = live.filter(state=TurnState.QUEUED).count() + runs.count()
    sums["oldest_queued_turn_seconds", (), ""] = max((now - oldest).total_seconds(), 0) if oldest else 0
    suspended = ToolCall.objects.filter(turn__in=live, state=ToolCallState.SUSPENDED)
    sums["suspended_calls", (), ""] = suspended.count()
    cards = Card.objects.filter(state=CardState.OPEN, expires_at__gt=now)
    _by(sums, "open_cards", CardKind.values, cards.values_list("kind"))
    sums |= _waits(now)
    _by(sums, "refunds", RefundState.values, Refund.objects.values_list("state"))
    unsent = [MailState.WAITING, MailState.FAILED]
    _by(sums, "customer_mails", unsent, CustomerMail.objects.filter(state__in=unsent).values_list("state"))
    return sums


def _waits(now: datetime) -> Sums:
    """Who waits for a person: nobody has taken the conversation yet, or whoever has it does not answer."""
    sums: Sums = {}
    waiting = Conversation.objects.filter(state=ConversationState.OPEN, waiting_since__isnull=False)
    for owned in (True, False):
        found = waiting.filter(owner__isnull=not owned).aggregate(number=Count("pk"), since=Min("waiting_since"))
        label = ("yes" if owned else "no",)
        sums["waiting_for_person", label, ""] = found["number"]
        longest = max((now - found["since"]).total_seconds(), 0) if found["since"] else 0
        sums["longest_wait_for_person_seconds", label, ""] = longest
    return sums


def _by(sums: Sums, name: str, all_of_them: Sequence[str], groups: tallies.Rows) -> None:
    """One number per label, 0 where there is no row: a series that is missing looks like one that is fine."""
    found = dict(groups.annotate(number=Count("pk")).order_by())
    for label in all_of_them:
        sums[name, (str(label),), ""] = found.get(label, 0)


def read_redis() -> Sums:
    """Jobs per queue but `chat`, signs of life and refused tokens. Raises `redis.RedisError`."""
    queues = [*(each for each in settings.WORKER_QUEUES if each != "chat"), settings.CELERY_TASK_DEFAULT_QUEUE]
    with heartbeat.client() as connected:
        pipe = connected.pipeline(transaction=False)
        for queue in queues:
            pipe.llen(queue)
        pipe.hlen("unacked")  # where Celery keeps what was handed out
        *jobs, unacknowledged = pipe.execute()
        workers = heartbeat.workers(connected, settings.WORKER_QUEUES)
        refused = refusals.counted(connected)
    sums: Sums = {("queue_jobs", (queue,), ""): number for queue, number in zip(queues, jobs, strict=True)}
    sums |= {("worker_up", (queue,), ""): min(number, 1) for queue, number in workers.items()}
    sums |= {("workers", (queue,), ""): number for queue, number in workers.items()}
    sums |= {("token_refusals", (reason,), ""): number for reason, number in refused.items()}
    return sums | {("unacknowledged_jobs", (), ""): unacknowledged}


def families(sums: Sums) -> Iterator[Metric]:
    """The numbers as Prometheus wants them. Families without a sample are there too, so that a reader finds them."""
    for name, (text, labels) in COUNTERS.items():
        counter = CounterMetricFamily(PREFIX + name, text, labels=labels)
        for values in _labels_of(sums, name):
            counter.add_metric(values, sums[name, values, ""])
        yield counter
    for name, (text, labels) in GAUGES.items():
        gauge = GaugeMetricFamily(PREFIX + name, text, labels=labels)
        for values in _labels_of(sums, name):
            gauge.add_metric(values, sums[name, values, ""])
        yield gauge
    for name, (text, labels) in HISTOGRAMS.items():
        histogram = HistogramMetricFamily(PREFIX + name, text, labels=labels)
        for values in _labels_of(sums, name):
            histogram.add_metric(values, _buckets(sums, name, values), sums[name, values, "sum"])
        yield histogram


def _labels_of(sums: Sums, name: str) -> list[tuple[str, ...]]:
    return sorted({labels for known, labels, _ in sums if known == name})


def _buckets(sums: Sums, name: str, labels: tuple[str, ...]) -> list[tuple[str, float]]:
    """Each bucket holds what the smaller ones hold, too."""
    buckets, so_far = [], 0.0
    for place, end in enumerate([*map(str, map(float, BUCKETS[name])), "+Inf"]):
        so_far += sums.get((name, labels, place), 0)
        buckets.append((end, so_far))
    return buckets


def _about_itself(up: Mapping[str, bool], age: float | None) -> Iterator[Metric]:
    text = "1 where the last look could read the source; without it its numbers are missing."
    family = GaugeMetricFamily(f"{PREFIX}numbers_up", text, labels=["source"])
    for source in ("database", "redis"):
        family.add_metric([source], float(up.get(source, False)))
    yield family
    if age is not None:
        yield GaugeMetricFamily(f"{PREFIX}numbers_age_seconds", "How long ago the numbers were read.", value=age)


REGISTRY: Final = CollectorRegistry(auto_describe=False)
REGISTRY.register(DeskNumbers())


def page() -> bytes:
    """The desk's numbers in Prometheus' text format."""
    return generate_latest(REGISTRY)
