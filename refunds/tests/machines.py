"""State machines that are walked from each state to each other, and the orders to do it on."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any, Final

from django.apps import apps
from django.db import transaction
from django.utils import timezone

from orders.errors import Refusal
from orders.models import AuditEvent, Order
from orders.tests import cast
from refunds.models import Approval
from refunds.outcome import WrongMove
from refunds.redeem import redeem
from refunds.tests.ask import ask

Moves = Mapping[str, frozenset[str]]
Door = Callable[[Any], object]

NOTE: Final = "依規定處理"
numbers: Iterator[int] = count(60_001)


@dataclass(frozen=True)
class Machine:
    """`make(before, after)`: a row in state `before`, of a kind that could go to `after`. `doors`: the service that
    leads to a state, by (before, after) or by after alone. `mover`: the function that moves, where it is public.
    `words`: what the history calls a state, where it is not its name."""

    subject: str
    moves: Moves
    make: Callable[[str, str], Any]
    doors: Mapping[str | tuple[str, str], Door]
    mover: Callable[[Any, str], object] | None = None
    action: str = ""
    state: str = "state"
    words: Mapping[str, str] = field(default_factory=dict)
    not_a_move: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    def door(self, before: str, after: str) -> Door | None:
        return self.doors.get((before, after)) or self.doors.get(after)

    def told(self, row: Any) -> list[str]:
        """The moves of the row that the history tells of, the oldest first."""
        known = {self.event(state) for state in self.moves}
        events = AuditEvent.objects.filter(subject_type=self.subject, subject_id=str(row.pk), action__in=known)
        return list(events.order_by("pk").values_list("action", flat=True))

    def event(self, state: str) -> str:
        return f"{self.action or self.subject}.{self.words.get(state, state)}"

    def state_of(self, row: Any) -> str:
        row.refresh_from_db()
        return str(getattr(row, self.state))


def everything(*more: str) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table of orders, refunds and the apps named besides."""
    models = [model for app in ("orders", "refunds", *more) for model in apps.get_app_config(app).get_models()]
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in models}


def walk(machine: Machine, before: str) -> None:
    """From `before` to every state of the machine, each time with a row of its own."""
    for after in machine.moves:
        if (before, after) in machine.not_a_move:
            continue
        row = machine.make(before, after)
        assert machine.state_of(row) == before
        if after in machine.moves[before]:
            _goes(machine, row, before, after)
        else:
            _stays(machine, row, before, after)


def _goes(machine: Machine, row: Any, before: str, after: str) -> None:
    door, so_far = machine.door(before, after), machine.told(row)
    assert door is not None, f"no service takes a {machine.subject} from {before} to {after}"
    door(row)
    assert machine.state_of(row) == after
    assert machine.told(row) == [*so_far, machine.event(after)], f"{before} → {after}"


def _stays(machine: Machine, row: Any, before: str, after: str) -> None:
    world = everything()
    for push in (machine.door(before, after), _forced(machine, after)):
        if push is None:
            continue
        with suppress(Refusal, WrongMove):
            push(row)
        assert everything() == world, f"{machine.subject}: {before} → {after}"


def _forced(machine: Machine, after: str) -> Door | None:
    """The function that moves, called as a service would: with a transaction around it."""
    mover = machine.mover
    return None if mover is None else transaction.atomic(lambda row: mover(row, after))


# --- Orders to act on --------------------------------------------------------------------------------------------


def order(**options: Any) -> Order:
    return cast.place(str(next(numbers)), **options)


def expensive(**options: Any) -> Order:
    """Above what one person may pay back alone."""
    return order(lines=[("音響", 30_000, 1)], **options)


def boss(name: str = "supervisor") -> Any:
    return cast.staff(name)


def a_week_passes(approval: Approval) -> None:
    Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now() - timedelta(seconds=1))


def large_refund() -> Approval:
    refund = redeem(quote_id=ask(expensive(), (1, 1, "other")).pk, actor=cast.shopper()).refund
    return Approval.objects.get(refund=refund)
