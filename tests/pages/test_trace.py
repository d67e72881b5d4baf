"""The page of one turn: every step in order, with how long it took, what it cost and what was taken back."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

from agent import turns
from agent.models import Card, Message, ModelCall, ToolCall, Turn
from agent.states import Author, CardState, ToolCallState, TurnState
from agent.tests.helpers import asked, call, hear, hold, newest_turn, quoted, talk
from agent.tools import executor
from agent.usage import cached_share, dollars
from backoffice.screens.trace_steps import seconds, steps_of
from backoffice.screens.trace_time import NARROWEST, WIDTH, Scale
from orders.models import Order
from orders.tests import cast
from tests.pages.visiting import signed_in, stranger, text_of

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    """What is read without a page is in the language of whoever came last."""
    with translation.override("en"):
        yield


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order, "耳機左耳沒聲音", language="zh-hant")
    return order


def address(order: Order, turn: Turn | None = None) -> str:
    return f"/staff/conversations/{talk(order).pk}/turns/{(turn or newest_turn(order)).pk}/"


def page(order: Order, name: str = "staff") -> str:
    return text_of(signed_in(name, language="en").get(address(order)))


def after(count: float) -> datetime:
    return NOON + timedelta(seconds=count)


def request_to_model(turn: Turn, number: int = 1, attempt: int = 1, **fields: Any) -> ModelCall:
    start = timezone.now()
    usual = {
        "started_at": start,
        "first_text_at": start + timedelta(milliseconds=300),
        "ended_at": start + timedelta(seconds=2),
        "ending": "tool_use",
        "stop_reason": "tool_use",
        "model": "claude-sonnet-5-5",
        "request_id": "req_011abc",
        "input_tokens": 100,
        "written_tokens": 100,
        "cached_tokens": 1800,
        "output_tokens": 64,
        "cost_micro": 4_210,
    }
    return ModelCall.objects.create(
        conversation_id=turn.conversation_id, turn=turn, number=number, attempt=attempt, **{**usual, **fields}
    )


def test_a_turn_is_told_from_the_customers_words_to_its_end(order: Order) -> None:
    lease = hold(order)
    turn = newest_turn(order)
    request_to_model(turn)
    (tool_call,) = asked(order, call("get_order"), text="我看看")
    executor.run_call(lease, tool_call.pk)
    with turns.holding(lease) as (conversation, held):
        turns.move(conversation, held, TurnState.RUNNING, TurnState.DONE)
    turn.refresh_from_db()
    steps = steps_of(turn)
    assert [step.kind for step in steps] == ["message", "move", "move", "model", "message", "tool", "move"]
    assert [step.text for step in steps if step.kind == "message"] == ["耳機左耳沒聲音", "我看看"]
    assert steps[0].after == "+0.000 s"
    assert steps[-1].tone == "good"


def test_a_request_shows_tokens_cost_cached_share_first_words_and_its_number_at_the_api(order: Order) -> None:
    request_to_model(newest_turn(order))
    said = page(order)
    for each in ("Request to the model 1", "tool_use", "0.300 s", "2,000 tokens", "90%", "US$0.0043", "req_011abc"):
        assert each in said
    assert "2.00 s" in said


@pytest.mark.parametrize(
    ("model", "cost", "who", "report"),
    [
        (
            "offline-script",
            "US$0.0043（離線腳本，不計費）",
            "offline-script（腳本，不是模型）",
            "US$0.0043 (a script, not charged) in all",
        ),
        ("claude-sonnet-5-5", "US$0.0043", "claude-sonnet-5-5", "US$0.0043 in all"),
    ],
)
def test_what_a_script_answered_is_not_told_as_a_models_and_is_not_charged(
    order: Order, model: str, cost: str, who: str, report: str
) -> None:
    turn = newest_turn(order)
    request_to_model(turn, model=model)
    Turn.objects.filter(pk=turn.pk).update(model=model, cost_micro=4_210)
    desk = signed_in("supervisor")
    facts = dict(desk.get(f"/staff/conversations/{turn.conversation_id}/turns/{turn.pk}/").context["facts"])
    assert (facts["費用"], facts["模型"]) == (cost, who)
    assert desk.get(f"/staff/conversations/{turn.conversation_id}/").context["cost"] == cost
    assert report in text_of(signed_in("supervisor", language="en").get("/staff/reports/"))
    assert cost in text_of(signed_in("auditor").get("/admin/agent/modelcall/"))


def test_an_attempt_that_failed_stands_before_the_one_that_worked_with_the_words_that_were_taken_back(
    order: Order,
) -> None:
    turn = newest_turn(order)
    request_to_model(turn, ending="overloaded_error", stop_reason="", dropped_text="已經退 <b>NT$999</b>")
    request_to_model(turn, attempt=2)
    said = page(order)
    assert said.index("overloaded_error") < said.index("attempt 2")
    assert "已經退 &lt;b&gt;NT$999&lt;/b&gt;" in said


def test_a_request_without_an_ending_says_so(order: Order) -> None:
    request_to_model(newest_turn(order), ending="", ended_at=None, first_text_at=None)
    assert "not ended" in page(order)


def test_a_tool_call_shows_what_was_asked_and_answered_how_long_it_took_and_the_code_of_an_error(order: Order) -> None:
    lease = hold(order)
    for each in asked(order, call("get_order"), call("quote_refund", lines=[{"line_item_id": "<script>"}])):
        executor.run_call(lease, each.pk)
    ran, refused = [step for step in steps_of(newest_turn(order)) if step.kind == "tool"]
    assert (ran.tone, refused.tone, refused.badge) == ("good", "bad", "invalid_argument")
    assert re.fullmatch(r"0\.\d{3} s", ran.duration), "the executor kept when it began"
    said = page(order)
    assert "&lt;script&gt;" in said
    assert "<script>" not in said.replace('<script type="module"', "").replace("<script src=", "")


def test_a_call_that_waits_for_a_press_took_no_time_of_its_own_and_its_card_did(order: Order) -> None:
    lease = hold(order)
    (tool_call,) = asked(order, call("refund_items", quote_id=quoted(order).pk))
    executor.run_call(lease, tool_call.pk)
    later = timezone.now() + timedelta(minutes=3)
    ToolCall.objects.filter(pk=tool_call.pk).update(state=ToolCallState.ANSWERED, result={}, answered_at=later)
    Card.objects.update(state=CardState.CONFIRMED, ended_at=later)
    steps = {step.kind: step for step in steps_of(newest_turn(order))}
    assert steps["tool"].duration == ""
    assert steps["card"].duration.startswith("3 min")
    assert steps["card"].tone == "good"


def test_a_card_that_was_taken_back_when_the_customer_wrote_is_not_called_declined(order: Order) -> None:
    (tool_call,) = asked(order, call("refund_items", quote_id=quoted(order).pk))
    executor.run_call(hold(order), tool_call.pk)
    turn = newest_turn(order)
    hear(order, "請等一下")
    (card,) = [step for step in steps_of(turn) if step.kind == "card"]
    assert card.badge == "taken back"


def test_what_was_said_in_another_turn_is_not_in_this_one(order: Order) -> None:
    first = newest_turn(order)
    with turns.holding(hold(order)) as (conversation, held):
        turns.move(conversation, held, TurnState.RUNNING, TurnState.DONE)
    Message.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    hear(order, "另一件事", language="zh-hant")
    Message.objects.create(
        conversation=talk(order), turn=first, author=Author.AGENT, content=[{"type": "text", "text": "早就說了"}]
    )
    said = page(order)
    assert "另一件事" in said
    assert "早就說了" not in said
    assert "耳機左耳沒聲音" not in said
    assert "Turn 2 of 2" in said
    assert f'href="{address(order, first)}"' in said


def test_a_failed_turn_says_what_it_failed_for(order: Order) -> None:
    with turns.holding(hold(order)) as (conversation, held):
        turns.move(conversation, held, TurnState.RUNNING, TurnState.FAILED, error="overloaded_error")
    said = page(order)
    assert said.count("overloaded_error") == 2


def test_staff_and_auditors_see_it_the_warehouse_and_customers_do_not(order: Order) -> None:
    path = address(order)
    opens = {name: signed_in(name).get(path).status_code for name in ("staff", "supervisor", "auditor", "admin")}
    assert set(opens.values()) == {200}, opens
    closed = {name: signed_in(name).get(path).status_code for name in ("warehouse", "marketing", "ming")}
    assert set(closed.values()) == {403}, closed
    assert stranger().get(path).status_code == 302
    assert signed_in("staff").post(path).status_code == 405


@pytest.mark.parametrize(
    ("held", "status"),
    [(["view_conversation"], 403), (["view_modelcall"], 403), (["view_conversation", "view_modelcall"], 200)],
    ids=["conversations alone", "requests alone", "both"],
)
def test_who_looks_needs_both_permissions(order: Order, held: list[str], status: int) -> None:
    browser = signed_in("ming2")
    given = Permission.objects.filter(content_type__app_label="agent", codename__in=held)
    cast.customer_user("ming2").user_permissions.set(given)
    assert browser.get(address(order)).status_code == status


def test_a_turn_is_found_in_its_own_conversation_only(order: Order) -> None:
    other = cast.place("5602", who="ming2")
    hear(other)
    assert signed_in("staff").get(address(other, newest_turn(order))).status_code == 404
    assert signed_in("staff").get(address(other)).status_code == 200


def test_the_conversation_and_the_records_lead_to_it(order: Order) -> None:
    link = f'href="{address(order)}"'
    assert link in text_of(signed_in("staff").get(f"/staff/conversations/{talk(order).pk}/"))
    assert link in text_of(signed_in("auditor").get(f"/admin/agent/turn/{newest_turn(order).pk}/change/"))


def test_the_records_show_cost_and_cached_share(order: Order) -> None:
    turn = newest_turn(order)
    Turn.objects.update(cost_micro=123_400, input_tokens=200, cached_tokens=600)
    request_to_model(turn)
    turn_list = text_of(signed_in("auditor").get("/admin/agent/turn/"))
    assert "US$0.1234" in turn_list
    assert "75%" in turn_list
    calls = text_of(signed_in("auditor").get("/admin/agent/modelcall/"))
    assert "US$0.0043" in calls
    assert "90%" in calls


def test_a_long_turn_costs_as_many_queries_as_a_short_one(order: Order) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as counted:
            steps_of(turn)
        return len(counted)

    turn = newest_turn(order)
    lease = hold(order)
    counts = []
    for number in range(1, 4):
        request_to_model(turn, number)
        for each in asked(order, call("get_order"), call("list_refunds"), text=f"{number}"):
            executor.run_call(lease, each.pk)
        counts.append(queries())
    assert len(set(counts)) == 1, counts


def test_minutes_of_waiting_leave_room_for_seconds_of_work() -> None:
    scale = Scale(NOON, after(604), [(after(2), after(602))])
    assert scale.place(after(2)) > WIDTH * 0.4
    assert scale.place(after(602)) < WIDTH * 0.6
    assert [scale.place(NOON), scale.place(after(604))] == [0, WIDTH]
    plain = Scale(NOON, after(4), [])
    assert [plain.place(after(each)) for each in (0, 1, 2, 4, 9)] == [0, 250, 500, 1000, 1000]


def test_a_short_wait_is_not_drawn_longer_than_it_was() -> None:
    scale = Scale(NOON, after(100), [(after(50), after(51))])
    assert scale.place(after(51)) - scale.place(after(50)) == pytest.approx(WIDTH / 100, abs=1)


def test_the_shortest_step_can_be_seen_and_none_sticks_out() -> None:
    scale = Scale(NOON, after(100), [])
    assert scale.bar(after(10), after(10.001), "tool").width == NARROWEST
    last = scale.bar(after(100), None, "move")
    assert last.x + last.width == WIDTH
    still = Scale(NOON, NOON, []).bar(NOON, NOON, "move")
    assert (still.x, still.width) == (0, NARROWEST)


@pytest.mark.parametrize(
    ("length", "said"),
    [(0.0421, "0.042 s"), (3.21, "3.21 s"), (42.46, "42.5 s"), (125.4, "2 min 5 s"), (0.9999, "1.000 s")],
)
def test_lengths_are_told_as_exactly_as_matters(length: float, said: str) -> None:
    with translation.override("en"):
        assert seconds(timedelta(seconds=length)) == said


def test_costs_are_rounded_up_so_that_nothing_reads_as_free() -> None:
    assert [dollars(micro) for micro in (0, 1, 4_210, 1_000_000, 12_345_678)] == [
        "US$0.0000",
        "US$0.0001",
        "US$0.0043",
        "US$1.0000",
        "US$12.3457",
    ]
    assert [cached_share(afresh=1, cached=3), cached_share(afresh=5, cached=0), cached_share(afresh=0, cached=0)] == [
        "75%",
        "0%",
        "",
    ]
