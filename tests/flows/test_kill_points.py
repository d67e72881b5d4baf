"""Real workers of Celery die at points of `agent/save_points.py`; the sweeper and another worker make it good.

Every point is died at in `agent/tests/test_kill_points.py`. Here it is the whole desk, and jobs that the broker keeps
for the dead: only the sweeper brings their turns back.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest

from backoffice.local.stack import CHAT_WORKERS, ROOT, Stack
from backoffice.local.supervisor import Program
from tests.flows.chat import another_5531, confirm, open_refund_card, paid_out, refund_of, say
from tests.stack import Visitor, rows, wait_until

AGAIN_WITHIN = 60.0
POINTS = ("reply_kept.before:2", "call_run.after:1", "turn_taken.after:1")


@pytest.fixture
def ming(stack: Stack) -> Iterator[Visitor]:
    with Visitor(stack, "ming") as visitor:
        yield visitor


@contextmanager
def nobody_at_work(stack: Stack) -> Iterator[None]:
    """The desk's own workers for turns are away."""
    for worker in CHAT_WORKERS:
        stack.hold(worker)
        stack.kill(worker)
    try:
        yield
    finally:
        for worker in CHAT_WORKERS:
            stack.release(worker)


@contextmanager
def worker_that_dies(stack: Stack, point: str) -> Iterator[Program]:
    """A worker with one thread, which kills itself there."""
    celery = [sys.executable, "-m", "celery", "--quiet", "-A", "backoffice", "worker", "-P", "threads", "-c", "1"]
    name = point.replace(":", "-")
    own = ["-Q", "chat", "-n", f"{name}@%h", "--without-gossip", "--without-mingle", "--loglevel", "INFO"]
    log = stack.folder / "logs" / f"dies_at_{name}.log"
    worker = Program([*celery, *own], log=log, env={**stack.env, "AGENT_DIE_AT": point}, cwd=ROOT)
    worker.start()
    try:
        yield worker
    finally:
        worker.stop()


def killed(worker: Program) -> bool:
    return worker.process is not None and worker.process.poll() == -signal.SIGKILL


OF_ORDER = "join agent_conversation c on c.id = k.conversation_id join orders_order o on o.id = c.order_id"


def calls(stack: Stack, number: str) -> list[str]:
    """The tools that were called, by name."""
    found = rows(stack, f"select k.name from agent_toolcall k {OF_ORDER} where o.number = %s order by k.name", number)
    return [row["name"] for row in found]


def is_paid(stack: Stack, number: str) -> bool:
    return (refund_of(stack, number) or {}).get("state") == "succeeded"


def kinds_of_cards(stack: Stack, number: str) -> list[str]:
    found = rows(stack, f"select k.kind from agent_card k {OF_ORDER} where o.number = %s order by k.kind", number)
    return [row["kind"] for row in found]


def test_workers_that_die_at_points_of_the_list_are_made_good_and_money_moves_once(stack: Stack, ming: Visitor) -> None:
    numbers = [another_5531(stack, f"dies-{place}") for place in range(len(POINTS))]
    with nobody_at_work(stack), ExitStack() as workers:
        dying = [workers.enter_context(worker_that_dies(stack, point)) for point in POINTS]
        for number in numbers:
            say(ming, number)
        wait_until(lambda: all(killed(worker) for worker in dying), timeout=AGAIN_WITHIN)

    for number in numbers:
        card = open_refund_card(stack, number, timeout=AGAIN_WITHIN)
        confirm(ming, card["quote_id"])
    for number in numbers:
        wait_until(partial(is_paid, stack, number))
        assert paid_out(stack, number) == [230]
        assert calls(stack, number) == ["create_return", "get_order", "quote_refund", "refund_items"]
        assert kinds_of_cards(stack, number) == ["exchange", "refund"]


def test_a_worker_that_dies_amid_a_colleagues_question_is_made_good(stack: Stack) -> None:
    question = "Did ming@example.com pay twice in the last two weeks?"
    with nobody_at_work(stack), worker_that_dies(stack, "copilot_reply_kept.after:1") as worker:
        with Visitor(stack, "supervisor", language="en") as supervisor:
            page = supervisor.post("/staff/copilot/ask/", {"text": question})
        wait_until(lambda: killed(worker), timeout=AGAIN_WITHIN)
    thread = int(page.url.path.strip("/").split("/")[-1])
    of_thread = "from agent_copilotthread where id = %s"
    wait_until(lambda: rows(stack, f"select 1 {of_thread} and state = 'idle'", thread), timeout=AGAIN_WITHIN)
    states = rows(
        stack, "select state, count(*) as count from agent_copilotcall where thread_id = %s group by 1", thread
    )
    assert [row["state"] for row in states] == ["answered"]
    said = rows(stack, "select content from agent_copilotmessage where thread_id = %s order by id", thread)
    # Whatever other tests of this desk have left to be told of the customer, an answer ends with this.
    assert "I looked at" in str(said[-1]["content"])
    with Visitor(stack, "supervisor", language="en") as supervisor:
        assert "I looked at" in supervisor.get(f"/staff/copilot/{thread}/").text
