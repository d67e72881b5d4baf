"""What is counted from rows for Prometheus: the same numbers whichever process is asked, and none lost by a restart.

Rows that cannot change any more are counted once, block by block, and what they come to is kept (`KeptCount`); each
look, by whichever process, reads only what came after them. So a look costs as much in the tenth year as in the first,
also right after a start, and a counter never goes down.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from django.db import OperationalError
from django.db.models import (
    Count,
    DateTimeField,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    FloatField,
    Func,
    IntegerField,
    Max,
    Min,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Extract
from django.utils import timezone

from agent.models import Card, ModelCall, ToolCall
from agent.states import ToolCallState, TurnState
from agent.tools.registry import BY_NAME
from backoffice.models import KeptCount
from orders.models import AuditEvent
from refunds.states import RefundState

# To be raised by whoever changes what is counted or how: what was kept then counts for nothing.
VERSION: Final = 1
BLOCK: Final = 5_000
SMALLEST_BLOCK: Final = 50
# So many rows are counted again at most by a process that has just started, with those that may still change.
KEPT_EVERY: Final = 1_000
# A number is given to a row before its transaction ends, so a lower one can appear after a higher one; none takes so
# long. And no request to a model goes on for so long either.
MAY_STILL_CHANGE: Final = timedelta(hours=1)
TURN_SECONDS: Final = (0.5, 1, 2, 3, 5, 8, 12, 20, 30, 60, 120, 180)
FIRST_TEXT_SECONDS: Final = (0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 30)
TOOL_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
BUCKETS: Final[Mapping[str, tuple[float, ...]]] = {
    "turn_duration_seconds": TURN_SECONDS,
    "first_text_seconds": FIRST_TEXT_SECONDS,
    "model_call_duration_seconds": TURN_SECONDS,
    "model_first_text_seconds": FIRST_TEXT_SECONDS,
    "tool_call_duration_seconds": TOOL_SECONDS,
}
# Above this, seconds are compared with half a microsecond taken off: a bucket holds its own upper end.
HALF_A_MICROSECOND: Final = 5e-7
ENDS_OF_WORK: Final = tuple(f"turn.{state}" for state in (TurnState.WAITING, TurnState.DONE, TurnState.FAILED))

# What is counted: the number's name, its labels, and for a histogram the bucket's place or "sum", else "".
Sample = tuple[str, tuple[str, ...], int | str]
Sums = dict[Sample, float]
Rows = QuerySet[Any]


def add(sums: Sums, samples: Iterable[tuple[Sample, float]]) -> None:
    for sample, value in samples:
        sums[sample] += value


@dataclass
class Tally:
    """One table. `changing` finds rows that may still change however old; `made_at` is when a row came to be."""

    model: type[Model]
    made_at: str
    count: Callable[[Rows], Iterable[tuple[Sample, float]]]
    changing: Q = field(default_factory=lambda: Q(pk__in=[]))
    counted_to: int = 0
    kept_to: int = 0
    counted: Sums = field(default_factory=lambda: defaultdict(float))
    block: int = 0

    def sums(self, *, until: float) -> Sums | None:
        """All that is to be counted; None when the clock (`time.monotonic`) reaches `until` amid the old rows.

        The next look then goes on from where this one has stopped: with a smaller block where the database found one
        to be too much. Raises `OperationalError`.
        """
        newest: int = self._rows().aggregate(newest=Max("pk"))["newest"] or 0
        if newest < self.counted_to:  # another database stands in the place of the one that was counted
            self.counted_to, self.kept_to, self.counted = 0, 0, defaultdict(float)
        self._take_what_is_kept(newest)
        while self._go_on(newest):
            if time.monotonic() > until:
                return None
        everything = defaultdict(float, self.counted)
        add(everything, self.count(self._rows().filter(pk__gt=self.counted_to)))
        return everything

    def _take_what_is_kept(self, newest: int) -> None:
        """What this process has not counted itself, some other process may have."""
        if self.counted_to + KEPT_EVERY > newest:
            return
        kept = KeptCount.objects.filter(pk=self._name, counted_to__gt=self.counted_to, counted_to__lte=newest).first()
        if kept is not None:
            self.counted_to = self.kept_to = kept.counted_to
            self.counted = defaultdict(float, {(name, tuple(labels), part): n for name, labels, part, n in kept.sums})

    def keep(self) -> None:
        """For processes to come, once it is worth it. Outside of the look, so that what took too long is kept, too.

        Whoever has counted further wins; the same rows come to the same sums, whoever has counted them.
        """
        if self.counted_to < self.kept_to + KEPT_EVERY:
            return
        sums = [[name, list(labels), part, number] for (name, labels, part), number in self.counted.items()]
        kept = {"counted_to": self.counted_to, "sums": sums}
        _, is_new = KeptCount.objects.get_or_create(pk=self._name, defaults=kept)
        if not is_new:
            KeptCount.objects.filter(pk=self._name, counted_to__lt=self.counted_to).update(**kept)
        self.kept_to = self.counted_to

    def _go_on(self, newest: int) -> bool:
        try:
            return self._count_a_block(newest)
        except OperationalError:
            self.block = max(self.block // 2, SMALLEST_BLOCK)
            raise

    def _count_a_block(self, newest: int) -> bool:
        """Count settled rows for good. False when there is nothing left but what may still change."""
        self.block = self.block or BLOCK
        later = self._rows().filter(pk__gt=self.counted_to)
        last_of_block = later.order_by("pk").values_list("pk", flat=True)[self.block - 1 : self.block]
        top: int = next(iter(last_of_block), newest)
        block = later.filter(pk__lte=top)
        young = Q(**{f"{self.made_at}__gt": timezone.now() - MAY_STILL_CHANGE})
        first: int | None = block.filter(young | self.changing).aggregate(first=Min("pk"))["first"]
        edge = top if first is None else first - 1
        add(self.counted, list(self.count(block.filter(pk__lte=edge))))
        self.counted_to = edge
        return first is None and top < newest

    @property
    def _name(self) -> str:
        return f"{self.model._meta.db_table}:{VERSION}"

    def _rows(self) -> Rows:
        return self.model._default_manager.all()


def tallies() -> list[Tally]:
    """A fresh set: one per process, or per test."""
    return [
        Tally(AuditEvent, "at", count_history),
        Tally(ModelCall, "started_at", count_model_calls),
        Tally(ToolCall, "created_at", count_tool_calls, changing=~Q(state=ToolCallState.ANSWERED)),
    ]


def count_history(rows: Rows) -> Iterator[tuple[Sample, float]]:
    yield from _legs(rows)
    failed = rows.filter(action=f"turn.{TurnState.FAILED}").values_list(KeyTextTransform("error", "outcome"))
    for why, number in _counted(failed):
        yield ("turn_failures", (why or "unknown",), ""), number
    for by, number in _counted(rows.filter(action="conversation.person_asked").values_list("actor_kind")):
        yield ("hand_offs", (by,), ""), number
    moves = [f"refund.{state}" for state in RefundState.values]
    for action, number in _counted(rows.filter(action__in=moves).values_list("action")):
        yield ("refund_moves", (action.removeprefix("refund."),), ""), number


def _counted(groups: Rows) -> Rows:
    counted: Rows = groups.annotate(number=Count("pk")).order_by()
    return counted


def _legs(rows: Rows) -> Iterator[tuple[Sample, float]]:
    """How long the agent worked, from being queued to an end or a card. What the customer takes to press is theirs."""
    for action, queued_at, ended_at, first_text_at in _ends_of_work(rows):
        if queued_at is not None:
            seconds = (ended_at - queued_at).total_seconds()
            yield from observed("turn_duration_seconds", (action.removeprefix("turn."),), seconds)
        if first_text_at is not None:
            yield from observed("first_text_seconds", (), (first_text_at - queued_at).total_seconds())


def _ends_of_work(rows: Rows) -> Rows:
    """Action, when it was queued, when it ended, when the customer saw the first words (None: there were none)."""
    earlier = AuditEvent.objects.filter(
        subject_type="turn", subject_id=OuterRef("subject_id"), pk__lt=OuterRef("pk")
    ).order_by("-pk")
    spoke = ModelCall.objects.filter(
        turn_id=Cast(OuterRef("subject_id"), IntegerField()),
        first_text_at__gte=OuterRef("queued_at"),
        first_text_at__lte=OuterRef("at"),
    ).order_by("first_text_at")
    ends = rows.filter(subject_type="turn", action__in=ENDS_OF_WORK).annotate(
        before=Subquery(earlier.values("action")[:1]),
        queued_at=Subquery(earlier.filter(action=f"turn.{TurnState.QUEUED}").values("at")[:1]),
    )
    # A turn that had waited, or that nobody had begun, was not worked on when it ended.
    worked = ends.filter(before=f"turn.{TurnState.RUNNING}")
    first = Subquery(spoke.values("first_text_at")[:1], output_field=DateTimeField())
    told: Rows = worked.annotate(first=first).values_list("action", "queued_at", "at", "first").order_by()
    return told


def observed(name: str, labels: tuple[str, ...], seconds: float) -> Iterator[tuple[Sample, float]]:
    """One observation of a histogram."""
    place = sum(seconds > end for end in BUCKETS[name])
    yield (name, labels, place), 1
    yield (name, labels, "sum"), max(seconds, 0)


def count_model_calls(rows: Rows) -> Iterator[tuple[Sample, float]]:
    """Not those that are in flight: what they turn out to be would be taken from what they were counted as."""
    rows = rows.exclude(ending="", started_at__gt=timezone.now() - MAY_STILL_CHANGE)
    for model, ending, number in _counted(rows.values_list("model", "ending")):
        yield ("model_calls", (model or "unknown", ending or "unfinished"), ""), number
    kinds = {"fresh": "input_tokens", "cache_write": "written_tokens", "cache_read": "cached_tokens"}
    kinds["output"] = "output_tokens"
    sums = {kind: Sum(column) for kind, column in kinds.items()}
    for group in rows.values("model").annotate(cost=Sum("cost_micro"), **sums).order_by():
        model = group["model"] or "unknown"
        yield ("model_cost_dollars", (model,), ""), group["cost"] / 1_000_000
        for kind in kinds:
            yield ("model_tokens", (model, kind), ""), group[kind]
    ended = rows.filter(ended_at__isnull=False)
    yield from _histogram("model_call_duration_seconds", ended, "model", "started_at", "ended_at")
    spoke = rows.filter(first_text_at__isnull=False)
    yield from _histogram("model_first_text_seconds", spoke, "model", "started_at", "first_text_at")


def count_tool_calls(rows: Rows) -> Iterator[tuple[Sample, float]]:
    for name, number in _counted(rows.values_list("name")):
        yield ("tool_calls", (_known(name),), ""), number
    errors = rows.filter(is_error=True).values_list("name", KeyTextTransform("code", "result"))
    for name, code, number in _counted(errors):
        yield ("tool_errors", (_known(name), code or "unknown"), ""), number
    # A call with a card is answered by the customer's press: that is no measure of the tool.
    answered = rows.filter(started_at__isnull=False, answered_at__isnull=False)
    alone = answered.exclude(Exists(Card.objects.filter(tool_call=OuterRef("pk"))))
    for (name, labels, part), value in _histogram(
        "tool_call_duration_seconds", alone, "name", "started_at", "answered_at"
    ):
        yield (name, tuple(map(_known, labels)), part), value


def _known(tool: str) -> str:
    """A model can invent names; each would be a series of its own for ever."""
    return tool if tool in BY_NAME else "unknown"


def _histogram(name: str, rows: Rows, label: str, begin: str, end: str) -> Iterator[tuple[Sample, float]]:
    seconds = Cast(Extract(ExpressionWrapper(F(end) - F(begin), output_field=DurationField()), "epoch"), FloatField())
    ends = Value([float(each) for each in BUCKETS[name]])
    place = Func(
        F("seconds") - Value(HALF_A_MICROSECOND),
        Cast(ends, _Doubles()),
        function="width_bucket",
        output_field=IntegerField(),
    )
    groups = rows.annotate(seconds=seconds).annotate(place=place).values_list(label, "place")
    for group, where, number, total in groups.annotate(number=Count("pk"), total=Sum("seconds")).order_by():
        yield (name, (group or "unknown",), where), number
        yield (name, (group or "unknown",), "sum"), total


class _Doubles(FloatField):
    """An array, for a cast alone."""

    def db_type(self, connection: Any) -> str:
        return "double precision[]"

    def cast_db_type(self, connection: Any) -> str:
        return "double precision[]"
