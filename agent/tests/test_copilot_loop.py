"""The copilot at work: the task it is for, from the question to the answer; and what becomes of a run that breaks."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from agent import asking
from agent.copilot import leases, loop, threads
from agent.models import CopilotDraft, CopilotMessage, CopilotRequest, CopilotThread
from agent.offline.control import Control
from agent.states import CopilotState, ToolCallState
from agent.tests.copilot_desk import answered, asked, bought, called, calling, paid_twice_and_traps
from agent.tests.helpers import call, hear, last_request, refused_requests, reply, talk
from agent.turns import LeaseLost
from orders.actors import NotAllowed
from orders.errors import Refusal
from orders.tests import cast
from orders.tests.factories import ago
from refunds.models import SimulatedFault
from refunds.states import FaultKind

pytestmark = pytest.mark.django_db(transaction=True)
IN_CHINESE = "王小明最近兩週有沒有付了兩次？列出需要追蹤的訂單"
IN_ENGLISH = "Did ming@example.com pay twice in the last two weeks? List the orders to follow up."
HELP = "What can you do?"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PAUSE_SECONDS", 0.001)


# --- the task ---
def test_paid_twice_is_found_on_all_pages_once_it_is_clear_who_is_meant(model: Control) -> None:
    refund = paid_twice_and_traps()
    cast.customer("ming2")
    thread = asked(IN_CHINESE, language="zh-hant")
    which = answered(thread)
    assert "請問是哪一位" in which
    assert ("c-ming2" in which, called(thread, "orders_search")) == (True, [])

    told = answered(thread, "c-ming 那一位")
    assert told.splitlines()[0] == "需要追蹤的訂單：**8001**、**8002**。"
    assert "訂單 8004：NT$1,490 的付款沒有成功" in told
    assert f"訂單 8006：NT$650 已經全額退款（{refund.pk}）" in told
    assert "8007" not in told
    assert "28 筆訂單" in told
    pages = called(thread, "orders_search")
    assert [len((page.result or {})["orders"]) for page in pages] == [20, 8]
    assert pages[0].arguments["created_from"].endswith("T00:00:00+08:00")
    assert (thread.state, refused_requests(model)) == (CopilotState.IDLE, [])


def test_the_same_in_english_with_the_payment_service_down_and_then_back(model: Control) -> None:
    paid_twice_and_traps()
    SimulatedFault.objects.create(kind=FaultKind.DOWN, remaining=1000, seconds=0)
    thread = asked(IN_ENGLISH)
    told = answered(thread)
    assert told.startswith("**The check was blocked**")
    assert "**8001**" in told
    assert "This does not mean that there are no duplicates" in told
    assert "no orders to follow up" not in told
    SimulatedFault.objects.all().delete()
    assert answered(thread, IN_ENGLISH).startswith("Orders to follow up: **8001**, **8002**.")


def test_nothing_twice_is_said_with_what_was_looked_at(model: Control) -> None:
    bought("7001", 100, ago(days=2))
    told = answered(asked("Did c-ming pay twice in the last 10 days?"))
    assert "There are no orders to follow up." in told
    assert "I looked at 1 orders" in told


def test_beside_a_conversation_it_reads_and_drafts_and_reads_again_when_it_has_moved_on(model: Control) -> None:
    order = cast.order_5531()
    hear(order)
    thread = asked("Please draft an answer", conversation=talk(order))
    assert "Nothing was sent" in answered(thread)
    assert CopilotDraft.objects.get().conversation == talk(order)

    read_to = talk(order).messages.latest("pk").pk
    stale = {"conversation_id": talk(order).pk, "read_to": read_to, "text": "hello"}
    hear(order, "one more thing")
    model.script([reply("", call("draft_reply", **stale))])
    answered(thread, "Draft it once more, please, in other words")
    results = [each.result or {} for each in called(thread, "draft_reply")[1:]]
    assert [result.get("code", "kept") for result in results] == ["conversation_moved_on", "kept"]


def test_it_says_that_it_cannot_act(model: Control) -> None:
    assert "cannot refund" in answered(asked("Please refund the order 5531"))


def test_it_is_told_the_moment_and_zone_of_each_question_and_the_beginning_stays_the_same(model: Control) -> None:
    thread = asked(HELP)
    answered(thread)
    first = last_request(model)
    now = timezone.localtime(thread.messages.earliest("pk").created_at)
    assert f"It is now {now.isoformat(timespec='seconds')}" in first[0]["content"][1]["text"]
    answered(thread, HELP)
    assert last_request(model)[: len(first)] == first
    assert model.requests()[-1]["usage"]["cache_read_input_tokens"] > 0


# --- who may, and how often ---
def test_only_who_may_use_it_asks_and_a_run_looks_again(model: Control) -> None:
    with pytest.raises(NotAllowed):
        asked(HELP, role="auditor")
    thread = asked(HELP)
    thread.user.groups.clear()
    answered(thread)
    assert (thread.state, thread.error, model.requests()) == (CopilotState.FAILED, "not_allowed", [])


def test_a_form_sent_twice_asks_once_and_a_second_question_waits_for_the_first(model: Control) -> None:
    one, two = (
        threads.ask(actor=cast.staff(), text=HELP, language="en", client_ref="copilot:1:token") for _ in range(2)
    )
    assert (one, CopilotMessage.objects.count()) == (two, 1)
    with pytest.raises(Refusal) as refused:
        threads.ask(actor=cast.staff(), text=HELP, language="en", thread=one)
    assert refused.value.code == "copilot_at_work"


def test_what_a_colleague_may_cost_in_a_day_ends_in_words(model: Control, settings: Settings) -> None:
    thread = asked(HELP)
    answered(thread)
    request = CopilotRequest.objects.get()
    assert (request.ending, request.cost_micro > 0) == ("end_turn", True)
    CopilotRequest.objects.update(cost_micro=settings.COPILOT_MAX_CENTS_PER_STAFF_DAY * 10_000)
    other = asked(HELP)
    answered(other)
    assert (other.state, other.error) == (CopilotState.FAILED, "staff_spend")
    CopilotRequest.objects.update(started_at=timezone.now() - timedelta(hours=25))
    assert answered(asked(HELP))


def test_a_question_has_so_many_steps_and_the_same_call_so_many_times(model: Control, settings: Settings) -> None:
    settings.AGENT_MAX_STEPS, settings.AGENT_MAX_SAME_CALLS = 4, 2
    looks = [reply("", call("customers_search", query="王小明")) for _ in range(5)]
    model.script(looks)
    thread = asked("look")
    answered(thread)
    assert (thread.state, thread.error, len(model.requests())) == (CopilotState.FAILED, "steps", 4)
    codes = [(each.result or {}).get("code") for each in called(thread, "customers_search")]
    assert codes == [None, None, "same_call_again", "same_call_again"]


# --- a run that breaks ---
def test_every_ending_of_a_model_call_ends_in_words_and_trying_again_goes_on(model: Control) -> None:
    model.misbehave("overloaded_529", times=3)
    thread = asked(HELP)
    answered(thread)
    assert (thread.state, thread.error) == (CopilotState.FAILED, "other")
    assert threads.may_be_tried_again(thread)
    threads.try_again(actor=cast.staff(), thread=thread)
    assert "drafts" in answered(thread) or "draft" in answered(thread)


def test_a_job_that_comes_twice_or_late_does_nothing(model: Control) -> None:
    thread = asked(HELP)
    lease = leases.take(thread.pk)
    assert lease is not None
    loop.run(thread.pk)
    assert model.requests() == []
    with leases.holding(lease) as held:
        leases.end(held, CopilotState.QUEUED)
    answered(thread)
    loop.run(thread.pk)
    assert len(model.requests()) == 1


def test_when_a_worker_dies_the_next_one_goes_on_and_runs_no_call_twice(model: Control) -> None:
    thread = asked(HELP)
    assert leases.take(thread.pk) is not None
    done = calling(thread, "customers_search", {"query": "王小明"})
    done.state, done.result = ToolCallState.ANSWERED, {"status": "nobody"}
    done.save()
    thread.refresh_from_db()
    assert not threads.may_be_tried_again(thread)
    CopilotThread.objects.update(lease_until=timezone.now() - timedelta(seconds=30))
    thread.refresh_from_db()
    assert threads.may_be_tried_again(thread)
    threads.try_again(actor=cast.staff(), thread=thread)
    answered(thread)
    assert (thread.state, thread.calls.count(), refused_requests(model)) == (CopilotState.IDLE, 1, [])


def test_a_worker_that_wakes_up_late_writes_nothing(model: Control) -> None:
    thread = asked(HELP)
    late = leases.take(thread.pk)
    assert late is not None
    CopilotThread.objects.update(lease_until=timezone.now() - timedelta(seconds=30))
    assert answered(thread)
    with pytest.raises(LeaseLost), leases.holding(late):
        pass


def test_what_an_interrupted_run_had_asked_for_is_not_run_for_the_next_question(model: Control) -> None:
    thread = asked("look")
    model.script([reply("", call("customers_search", query="王小明"))])
    assert leases.take(thread.pk) is not None
    calling(thread, "customers_search", {"query": "王小明"})
    CopilotThread.objects.update(lease_until=timezone.now() - timedelta(seconds=30))
    threads.ask(actor=cast.staff(), text=HELP, language="en", thread=thread)
    (left,) = called(thread, "customers_search")
    assert (left.state, (left.result or {})["code"]) == (ToolCallState.ANSWERED, "no_answer")
