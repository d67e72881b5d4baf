"""Plays of the story with each toolset, by the stand-in's parts; and the raw calls, which work nowhere else."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection, transaction

from agent import asking
from agent.offline.control import Control
from agent.offline.eval_parts import MODEL
from agent.offline.server import OfflineModel
from agent.tests.conftest import model, stand_in
from agent.tests.helpers import call, reply
from agent.tools import registry
from backoffice.evals import raw_tools, scratch
from backoffice.evals.playing import NotPlayed, play
from backoffice.evals.tasks import all_tasks
from backoffice.evals.toolsets import OURS, RAW, RAW_WITH_RULE
from orders.models import Order
from orders.tests import cast
from refunds.models import Refund, SimulatedFault
from refunds.states import FaultKind, RefundState

__all__ = ["model", "stand_in"]
TASKS = {task.id: task for task in all_tasks()}
STORY = "unshipped_case_loses_the_coupon"


def marked(text: str | None) -> None:
    with connection.cursor() as cursor:
        name = connection.ops.quote_name(connection.settings_dict["NAME"])
        value = "NULL" if text is None else f"'{text}'"
        cursor.execute(f"COMMENT ON DATABASE {name} IS {value}")


@pytest.fixture
def scratch_database(transactional_db: None) -> Iterator[None]:
    """The test's database, marked as that of an evaluation for as long as the test takes."""
    marked(scratch.MARK)
    scratch.prepare()
    yield
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {scratch.ACTS}")
    marked(None)


def played(task: str, toolset: str, part: str = "ruler", number: str = "E1") -> dict[str, Any]:
    return play(TASKS[task], toolset, number=number, model=MODEL + part, cents=10**6)


@pytest.mark.parametrize(
    ("toolset", "part", "outcome"),
    [
        (OURS, "sharer", "right"),
        (RAW, "sharer", "wrong_money"),
        (RAW, "asker", "stuck"),
        (RAW, "ruler", "missing"),
        (RAW_WITH_RULE, "sharer", "wrong_money"),
        (RAW_WITH_RULE, "asker", "right"),
        (RAW_WITH_RULE, "ruler", "right"),
    ],
)
def test_the_story_comes_out_by_the_interface(
    scratch_database: None, model: Control, toolset: str, part: str, outcome: str
) -> None:
    found = played(STORY, toolset, part)
    assert found["outcome"] == outcome, found["faults"]
    amounts = [moved["amount"] for moved in found["seen"]["refunds"]]
    assert amounts == {"right": [230], "wrong_money": [344]}.get(outcome, [])
    assert not [entry for entry in model.requests() if entry["error"]], "the API would take every request"


@pytest.mark.parametrize(
    "task",
    [
        "broken_and_unshipped_in_one_sentence_en",
        "packed_between_the_quote_and_the_press",
        "second_return_costs_a_fee",
        "quote_runs_out_and_is_asked_for_again",
        "own_goods_and_a_friends_order",
        "lost_and_wanted_again",
        "two_payments_everything",
        "over_the_window_en",
    ],
)
def test_what_happens_in_between_is_played_too(scratch_database: None, model: Control, task: str) -> None:
    found = played(task, OURS)
    assert (found["outcome"], found["told"]) == ("right", []), found["faults"]


CANCEL = call("cancel_items", order_number="E1", lines=[{"line_item_id": "li_2", "quantity": 1}])
REFUND = call("create_refund", **CANCEL["input"], amount=230, reason="late")
SWAP = {"kind": "exchange", "refund_amount": 0, "reason": "defective"}
EXCHANGE = call("create_return", order_number="E1", lines=[{"line_item_id": "li_1", "quantity": 1}], **SWAP)


def said(found: dict[str, Any]) -> list[str]:
    return [entry["text"] for entry in found["talk"] if entry["who"] == "customer"][1:]


@pytest.mark.parametrize(
    ("replies", "agreed"),
    [
        # The one is done at once, the other is asked for.
        ([reply("", CANCEL, REFUND), reply("退好了。要換新的嗎？"), reply("", EXCHANGE), reply("好了。")], 1),
        # One after the other.
        ([reply("可以嗎？"), reply("", CANCEL, REFUND), reply("那換貨呢？"), reply("", EXCHANGE), reply("好了。")], 2),
        ([reply("", CANCEL, REFUND, EXCHANGE), reply("都好了。")], 0),
    ],
)
def test_with_raw_calls_too_the_customer_agrees_to_everything_they_want(
    scratch_database: None, model: Control, replies: list[dict[str, Any]], agreed: int
) -> None:
    model.script(replies)
    found = played("broken_and_unshipped_in_one_sentence", RAW)
    assert (said(found), found["outcome"]) == (["好，麻煩你了。"] * agreed, "right"), found["faults"]


def test_what_was_done_for_an_earlier_wish_is_no_answer_to_a_later_one(scratch_database: None, model: Control) -> None:
    """It has refunded although the customer declined: the wish after that still has to be agreed to."""
    model.script([reply("", CANCEL, REFUND), *[reply("要嗎？")] * 9])
    assert said(played("declines_and_comes_back", RAW))[-1] == "好，麻煩你了。"


@pytest.mark.parametrize("toolset", [OURS, RAW])
def test_who_asks_how_many_hears_the_same_with_every_toolset(
    scratch_database: None, model: Control, toolset: str
) -> None:
    model.script([reply("請問要取消幾雙呢？")] * 9)
    assert said(played("bundle_is_broken_up", toolset))[0] == "一雙就好"


@pytest.mark.parametrize(("toolset", "outcome"), [(OURS, "stuck"), (RAW_WITH_RULE, "missing"), (RAW, "missing")])
def test_who_only_says_that_it_refunded_has_not(
    scratch_database: None, model: Control, toolset: str, outcome: str
) -> None:
    """The desk takes such words back, and gives up on whoever goes on with them."""
    model.script([reply("耳機殼已經取消，NT$230 已退款到您的信用卡。")] * 12)
    found = played(STORY, toolset)
    assert (found["outcome"], found["tool_calls"]) == (outcome, 0), found["faults"]
    assert "230 was not refunded" in [each["text"] for each in found["faults"]]
    assert bool(found["told"]) == (toolset != OURS)


@pytest.mark.parametrize("kind", [FaultKind.REFUSE, FaultKind.TIMEOUT_AFTER])
def test_a_refund_that_the_gateway_did_not_pay_is_not_right(
    scratch_database: None, model: Control, kind: FaultKind
) -> None:
    SimulatedFault.objects.create(kind=kind, remaining=9)
    found = played(STORY, OURS)
    assert Refund.objects.get().state in {RefundState.FAILED, RefundState.UNKNOWN}
    assert (found["outcome"], found["seen"]["refunds"]) == ("stuck", ()), found["faults"]
    assert [dict(each) for each in found["seen"]["unpaid"]] == [{"goods": {"li_2": 1}, "amount": 230}]


@pytest.mark.parametrize("toolset", [OURS, RAW_WITH_RULE])
def test_the_same_play_again_counts_the_same(
    scratch_database: None, stand_in: OfflineModel, model: Control, toolset: str
) -> None:
    """However much has been played in between, by this worker or by others."""
    stand_in.stand_in.cache.entries.clear()
    one = played(STORY, toolset, number="E1")
    for _ in range(100):
        made = scratch.note_act(order_number="E9", kind="refund", goods={}, amount=1)
    assert made == 100, "each order has its own count"
    assert [act["id"] for act in scratch.acts_on(["E9"])] == list(range(1, 101))
    stand_in.stand_in.cache.entries.clear()
    other = played(STORY, toolset, number="E2")
    names = ("outcome", "tool_calls", "errors", "requests", "input_tokens", "output_tokens", "cost_micro")
    assert [one[name] for name in names] == [other[name] for name in names]


def test_a_talk_with_raw_calls_ends_at_what_it_may_cost(scratch_database: None, model: Control) -> None:
    found = play(TASKS[STORY], RAW, number="E1", model=MODEL + "ruler", cents=0)
    assert any("conversation_spend" in fault["text"] for fault in found["faults"])


@pytest.mark.parametrize("toolset", [OURS, RAW])
def test_a_play_that_breaks_off_tells_what_it_has_cost(
    scratch_database: None, model: Control, monkeypatch: pytest.MonkeyPatch, toolset: str
) -> None:
    """One request is paid for, then the model is not there any more."""
    monkeypatch.setattr(asking, "PAUSE_SECONDS", 0.001)
    model.script([reply("", call("get_order", order_number="E1"))])
    model.misbehave("overloaded_529")
    with pytest.raises(NotPlayed, match="the model could not be had: overloaded") as broken:
        played(STORY, toolset)
    assert broken.value.cost_micro
    assert broken.value.cost_micro > 0


def test_a_play_that_breaks_in_our_own_hands_tells_its_cost_too(scratch_database: None, model: Control) -> None:
    """The warehouse is told to pack a line that does not exist, when the model has been asked already."""
    task = TASKS["packed_between_the_quote_and_the_press"]
    odd = replace(task, talk=(task.talk[0], replace(task.talk[1], value={"packs": {9: 1}})))
    with pytest.raises(NotPlayed, match="DoesNotExist") as broken:
        play(odd, OURS, number="E1", model=MODEL + "ruler", cents=10**6)
    assert broken.value.cost_micro


@pytest.mark.django_db
@pytest.mark.parametrize("name", raw_tools.BY_NAME)
def test_raw_calls_refuse_to_work_on_a_desk(name: str) -> None:
    order = cast.order_5531()
    with pytest.raises(scratch.NotScratch):
        raw_tools.run(name, {"order_number": order.number})
    with pytest.raises(scratch.NotScratch):
        scratch.note_act(order_number=order.number, kind="refund", goods={}, amount=1)
    assert Order.objects.get().lines.get(position=2).cancelled_quantity == 0


@pytest.mark.django_db
def test_no_play_begins_on_a_desk() -> None:
    with transaction.atomic(), pytest.raises(scratch.NotScratch):
        played(STORY, OURS)
    assert not Order.objects.exists()


def test_no_door_leads_to_raw_calls() -> None:
    own = {"cancel_items", "create_refund", "create_ticket"}
    assert own <= set(raw_tools.BY_NAME)
    assert not own & set(registry.BY_NAME)
    handlers = {tool.handler for tool in (*registry.ORDER_PAGE, *registry.COPILOT)}
    assert not handlers & {tool.handler for tool in raw_tools.TOOLS}
