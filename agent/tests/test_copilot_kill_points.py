"""A process is killed by SIGKILL at every point of the copilot, and whoever comes next finds enough.

As in `test_kill_points.py`: a first process does the deed undisturbed and counts the points that it passes; then
another one dies at each. What is there in the end must be what is there without any death: an answer, or words.
"""

import base64
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.utils import timezone
from pytest_django import Settings

from agent import sweep
from agent.copilot import leases, loop, lost, threads
from agent.models import CopilotDraft, CopilotThread
from agent.offline.control import Control
from agent.save_points import POINTS
from agent.states import CopilotState, ToolCallState
from agent.tests import dying
from agent.tests.dying import Life
from agent.tests.helpers import call, hear, refused_requests, reply, talk
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 12


# --- what has happened before ---
def talked(number: int, model: Control) -> Order:
    order = cast.place(f"C-{number}")
    hear(order, "耳機殼什麼時候會到？", language="zh-hant")
    return order


def asked(number: int, model: Control) -> Order:
    """For a draft: the copilot reads the conversation first."""
    order = talked(number, model)
    dying.ask_copilot(order)
    return order


def asks_outside(number: int, model: Control) -> Order:
    """A payment service is asked between two saves."""
    order = talked(number, model)
    dying.ask_copilot(order, "Was it paid?")
    paid = call("orders_get_payment_context", order_number=order.number)
    model.script([reply("", paid), reply("It was paid once.")])
    return order


def unanswered(number: int, model: Control) -> Order:
    """The model cannot be had, and will not be."""
    model.misbehave("error", status=401, kind="authentication_error")
    return asked(number, model)


def failed(number: int, model: Control) -> Order:
    order = unanswered(number, model)
    dying.work_on_copilot(order)
    model.reset()
    return order


def abandoned(number: int, model: Control) -> Order:
    """Its worker is gone, in the middle."""
    order = asked(number, model)
    assert leases.take(dying.thread_of(order).pk) is not None
    grow_old(order, 20)
    return order


def hopeless(number: int, model: Control) -> Order:
    """And it has been so for longer than a question may take."""
    order = abandoned(number, model)
    grow_old(order, 600)
    return order


OF_A_RUN = ("taken", "decided", "request_begun", "model_heard", "reply_kept", "call_run", "drafted")
LIVES: dict[str, Life] = {
    "a colleague asks": Life(talked, dying.ask_copilot, ("copilot_asked",), redo=True),
    "a draft is made": Life(asked, dying.work_on_copilot, tuple(f"copilot_{each}" for each in OF_A_RUN)),
    "a payment service is asked": Life(
        asks_outside, dying.work_on_copilot, ("copilot_outside_answered", "copilot_outside_kept")
    ),
    "there is no model": Life(unanswered, dying.work_on_copilot, ("copilot_failed",)),
    "a worker goes down": Life(asked, dying.leave_copilot, ("copilot_handed_on",)),
    "a colleague tries again": Life(failed, dying.try_copilot_again, ("copilot_tried_again",), redo=True),
    "the sweeper finds a run": Life(abandoned, dying.look_around, ("copilot_lost_found",)),
    "the sweeper gives a run up": Life(hopeless, dying.look_around, ("copilot_lost_found", "copilot_given_up")),
}


# --- what happens afterwards ---
def grow_old(order: Order, seconds: int) -> None:
    """It was asked, and its worker last heard of, so much earlier."""
    earlier = timedelta(seconds=seconds)
    thread = dying.thread_of(order)
    if thread.state in {CopilotState.QUEUED, CopilotState.RUNNING}:
        until = thread.lease_until and thread.lease_until - earlier
        queued_at = thread.queued_at and thread.queued_at - earlier
        CopilotThread.objects.filter(pk=thread.pk).update(queued_at=queued_at, lease_until=until)


def jobs(broker: redis.Redis) -> Iterator[int]:
    """The threads for which jobs lie in Redis; each is taken out, and those for turns of the customer with them."""
    while (entry := broker.rpop("chat")) is not None:
        assert isinstance(entry, bytes)
        job = json.loads(entry)
        arguments, *_ = json.loads(base64.b64decode(job["body"]))
        if job["headers"]["task"] == "agent.tasks.run_copilot":
            yield arguments[0]


def go_on(order: Order, broker: redis.Redis) -> None:
    """Sweepers and workers, until there is nothing left to do. Every job is delivered twice."""
    broker.flushdb()
    for _ in range(ROUNDS):
        grow_old(order, 20)
        sweep.sweep()
        found = [thread_id for thread_id in jobs(broker) if thread_id == dying.thread_of(order).pk]
        for thread_id in found:
            loop.run(thread_id)
            loop.run(thread_id)
        if not found:
            return
    pytest.fail("there is no end to it")


def picture(order: Order) -> dict[str, Any]:
    """Everything that a repeated effect, or a lost one, would change."""
    thread = dying.thread_of(order)
    messages = thread.messages.order_by("pk")
    drafts = CopilotDraft.objects.filter(conversation=talk(order)).values_list("text", flat=True)
    return {
        "messages": [(each.author, each.stop_reason, [b["type"] for b in each.content]) for each in messages],
        "calls": list(thread.calls.order_by("pk").values_list("name", "state", "is_error")),
        "drafts": [text.replace(order.number, "NUMBER") for text in drafts],
        "state": (thread.state, thread.error, thread.lease_token, thread.lease_until),
    }


@pytest.mark.parametrize("name", LIVES)
def test_killed_at_any_point_another_worker_goes_on_or_the_colleague_is_told(
    model: Control, redis_server: redis.Redis, name: str
) -> None:
    ends = LIVES[name].end_of_each(model, lambda order: go_on(order, redis_server))
    expected = picture(next(ends)[1])
    for died, order in ends:
        assert picture(order) == expected, died
        assert not dying.thread_of(order).calls.exclude(state=ToolCallState.ANSWERED).exists()
        assert refused_requests(model) == []


def test_every_point_of_the_copilot_is_died_at() -> None:
    tried = {save for life in LIVES.values() for save in life.saves}
    assert {save for point in POINTS if (save := point.partition(".")[0]).startswith("copilot_")} == tried


# --- the sweeper ---
def test_a_run_that_no_worker_brings_to_its_end_ends_in_words_and_may_be_tried_again(
    model: Control, settings: Settings
) -> None:
    settings.AGENT_MAX_TURN_SECONDS = 60
    order = abandoned(1, model)
    sweep.sweep()
    thread = dying.thread_of(order)
    assert (thread.state, thread.error) == (CopilotState.RUNNING, "")
    grow_old(order, 60)
    sweep.sweep()
    thread = dying.thread_of(order)
    assert (thread.state, thread.error, model.requests()) == (CopilotState.FAILED, "left", [])
    dying.try_copilot_again(order)
    dying.work_on_copilot(order)
    assert dying.thread_of(order).state == CopilotState.IDLE


@pytest.mark.parametrize("old", [False, True])
def test_a_run_with_a_worker_is_left_alone_however_long_it_takes(
    model: Control, redis_server: redis.Redis, old: bool
) -> None:
    order = asked(1, model)
    lease = leases.take(dying.thread_of(order).pk)
    if old:
        CopilotThread.objects.update(queued_at=timezone.now() - timedelta(hours=1))
    redis_server.flushdb()
    sweep.sweep()
    assert list(jobs(redis_server)) == []
    assert lease is not None
    with leases.holding(lease) as thread:
        assert thread.state == CopilotState.RUNNING


def test_a_worker_that_comes_while_the_sweeper_looks_is_not_cut_short(model: Control) -> None:
    hopeless(1, model)
    (found,) = lost.found()
    lease = leases.take(found.pk)
    assert lease is not None
    lost.see_to(found)
    with leases.holding(lease) as thread:
        assert thread.state == CopilotState.RUNNING


def test_a_run_is_sent_one_job_at_a_time(model: Control, redis_server: redis.Redis) -> None:
    order = asked(1, model)
    grow_old(order, 20)
    redis_server.flushdb()
    for _ in range(3):
        sweep.sweep()
    assert list(jobs(redis_server)) == [dying.thread_of(order).pk]


def test_the_page_waits_for_the_sweeper_before_it_offers_to_try_again(model: Control) -> None:
    order = asked(1, model)
    assert leases.take(dying.thread_of(order).pk) is not None
    CopilotThread.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert threads.is_at_work(dying.thread_of(order))
    grow_old(order, 20)
    assert threads.may_be_tried_again(dying.thread_of(order))
