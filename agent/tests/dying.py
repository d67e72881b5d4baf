"""A process of its own that does one thing to an order: stopped for a while, or killed by SIGKILL at a named point.

Each is forked from a process that has everything imported, and no thread and no connection yet. The module is imported
there behind `backoffice.asgi`, which sets Django up.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final

from django.conf import settings
from django.db import connection, connections

from agent import assignment, intake, loop, notes, offers, people, save_points, stopping, sweep
from agent.copilot import loop as copilot_loop
from agent.copilot import threads
from agent.models import CopilotThread
from agent.offline.control import Control
from agent.states import CardKind
from agent.tests.helpers import newest_turn, press, talk
from backoffice.screens.cards import decline_card
from orders.actors import customer_actor
from orders.models import Order
from orders.tests import cast
from refunds import send
from refunds.models import Refund, RefundQuote

forks = multiprocessing.get_context("forkserver")
forks.set_forkserver_preload(["backoffice.asgi", "agent.tests.dying"])
NEVER: Final = 10**9
# What a test may have set otherwise than the environment.
GIVEN: Final = ("ANTHROPIC_BASE_URL", "AGENT_LEASE_SECONDS")


def say(order: Order) -> None:
    text, ref = "hello", "said-once"
    intake.say(order=order, customer=order.customer, text=text, language="en", client_ref=ref)


def work(order: Order) -> None:
    loop.run(newest_turn(order).pk)


def leave(order: Order) -> None:
    """A worker that has been told to go down."""
    stopping.requested.set()
    work(order)


def press_refund(order: Order) -> None:
    press(talk(order).cards.get(kind=CardKind.REFUND))


def press_card(order: Order) -> None:
    press(talk(order).cards.get())


def decline(order: Order) -> None:
    decline_card(talk(order).cards.get(), customer_actor(order.customer))


def pay(order: Order) -> None:
    for refund in Refund.objects.filter(order=order):
        send.send(refund_id=refund.pk)


def look_around(order: Order) -> None:
    sweep.sweep()


def try_again(order: Order) -> None:
    intake.try_again(conversation=talk(order))


def call_a_person(order: Order) -> None:
    intake.ask_for_person(order=order, customer=order.customer, language="en")


def take_over(order: Order) -> None:
    people.take_over(conversation=talk(order), actor=cast.staff())


def give_back(order: Order) -> None:
    people.give_back(conversation=talk(order), actor=cast.staff())


def answer(order: Order) -> None:
    """A person who does not see their own words on the page sends them again."""
    if not talk(order).messages.filter(author="staff").exists():
        people.reply(conversation=talk(order), actor=cast.staff(), text="Good morning.")


def assign(order: Order) -> None:
    assignment.assign(conversation=talk(order), actor=cast.staff(), to=cast.staff_user("supervisor"))


def note(order: Order) -> None:
    notes.write(conversation=talk(order), actor=cast.staff(), text="Be kind.", client_ref="noted-once")


def offer(order: Order) -> None:
    quote = RefundQuote.objects.get(order=order)
    offers.offer(conversation=talk(order), actor=cast.staff(), quote_id=quote.pk)


def close(order: Order) -> None:
    people.close(conversation=talk(order), actor=cast.staff())


# --- the copilot, asked beside the order's conversation ---
def thread_of(order: Order) -> CopilotThread:
    return CopilotThread.objects.get(conversation=talk(order))


def ask_copilot(order: Order, text: str = "Please draft an answer") -> None:
    actor, ref = cast.staff(), f"copilot-{order.number}"
    threads.ask(actor=actor, text=text, language="en", conversation=talk(order), client_ref=ref)


def work_on_copilot(order: Order) -> None:
    copilot_loop.run(thread_of(order).pk)


def leave_copilot(order: Order) -> None:
    stopping.requested.set()
    work_on_copilot(order)


def try_copilot_again(order: Order) -> None:
    threads.try_again(actor=cast.staff(), thread=thread_of(order))


@dataclass(frozen=True)
class Life:
    """`prepare` the order of this number, then the `deed`. `saves`: whose points are died at.

    `redo`: whoever has seen the deed fail does it again; a worker does not, its turn is found.
    """

    prepare: Callable[[int, Control], Order]
    deed: Callable[[Order], None]
    saves: tuple[str, ...]
    redo: bool = False

    def end_of_each(self, model: Control, go_on: Callable[[Order], None]) -> Iterator[tuple[str, Order]]:
        """The end without any death, told as "undisturbed"; then that of a life for each point, and where it died.

        A first process does the deed and counts the points that it passes, another one dies at each, the first and the
        last time. `go_on`: whoever comes next.
        """
        order = self.prepare(0, model)
        passed = Dying(self.deed, order, f"{self.saves[0]}.after").end()
        assert passed is not None
        go_on(order)
        yield "undisturbed", order
        own = {point: times for point, times in passed.items() if point.partition(".")[0] in self.saves}
        assert {point.partition(".")[0] for point in own} == set(self.saves)
        places = [(point, time) for point, times in own.items() for time in sorted({1, times})]
        for number, (point, time) in enumerate(places, start=1):
            model.reset()
            order = self.prepare(number, model)
            assert Dying(self.deed, order, point, time).end() is None, f"not killed at {point}"
            if self.redo:
                self.deed(order)
            go_on(order)
            yield f"killed at {point}, time {time}", order


class Dying:
    """A process that does `deed` to the order and dies at `point`, the `time`th time it gets there."""

    def __init__(self, deed: Callable[[Order], None], order: Order, point: str, time: int = NEVER) -> None:
        self._reports, says = forks.Pipe(duplex=False)
        given = {name: getattr(settings, name) for name in GIVEN} | {"AGENT_DIE_AT": save_points.Death(point, time)}
        database = connection.settings_dict["NAME"]
        self._process = forks.Process(target=_live, args=(deed, order.pk, given, database, says), daemon=True)
        self._process.start()
        says.close()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """The process sees nothing of what happens in the body, not even how long it took."""
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._process.pid, signal.SIGCONT)

    def end(self) -> dict[str, int] | None:
        """How often it passed each point; None once it was killed."""
        try:
            passed: dict[str, int] = self._reports.recv()
        except EOFError:
            passed = {}
        self._process.join(20)
        if self._process.exitcode == -signal.SIGKILL:
            return None
        assert self._process.exitcode == 0, f"broke by itself: {self._process.exitcode}"
        return passed


def _live(
    deed: Callable[[Order], None], order_id: int, given: Mapping[str, Any], database: str, says: Connection
) -> None:
    connections.settings["default"]["NAME"] = database
    for name, value in given.items():
        setattr(settings, name, value)
    deed(Order.objects.get(pk=order_id))
    says.send(dict(save_points.passed))
    connection.close_pool()  # type: ignore[attr-defined]
