"""The report counts what stored calls tell of the wording of tools, and leads to each turn."""

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from pytest_django import Settings

from agent import farewells, turns
from agent.doors import calls as door_calls
from agent.doors.identity import Identity
from agent.models import CopilotThread, DoorCall, ToolCall
from agent.states import Door, TurnState
from agent.tests.copilot_desk import use
from agent.tests.helpers import CASE, asked, call, hear, hold, newest_turn, talk
from agent.tool_report import report
from agent.tools import executor
from agent.turns import Lease
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db
WRONG = {**CASE, "quantity": 2}


@pytest.fixture
def order(settings: Settings) -> Order:
    settings.SITE_URL = "https://desk.example"
    order = cast.order_5531()
    hear(order)
    return order


def made() -> dict[str, Any]:
    now = timezone.now()
    return report(since=now - timedelta(days=1), until=now + timedelta(seconds=1))


def trace(order: Order) -> str:
    return f"https://desk.example/staff/conversations/{talk(order).pk}/turns/{newest_turn(order).pk}/"


def work(order: Order, *wanted: dict[str, Any]) -> None:
    lease = hold(order)
    for each in asked(order, *wanted):
        executor.run_call(lease, each.pk)


def test_it_says_which_tool_errs_most_how_and_what_was_tried_next(order: Order) -> None:
    work(
        order,
        call("get_order"),
        call("quote_refund", lines=[WRONG]),
        call("quote_refund", lines=[WRONG]),
        call("quote_refund", lines=[CASE]),
        call("refund_items", quote_id="rq_1"),
    )
    found = made()
    worst = found["tools"][0]
    assert (worst["tool"], worst["chat"], worst["outside"], worst["errors"]) == ("quote_refund", 3, 0, 2)
    quantity = {"code": "invalid_argument", "field": "lines.quantity"}
    assert worst["codes"] == [{**quantity, "count": 2, "links": [trace(order)]}]
    # The first was repeated as it was, the second with other arguments, and then it was right.
    (again,) = found["asked_again"]
    assert (again["tool"], again["code"], again["count"], again["came_right"]) == (
        "quote_refund",
        "invalid_argument",
        1,
        1,
    )
    assert again["changed"] == [{"argument": "lines", "count": 1}]
    assert found["turns"] == 1


def test_a_search_that_found_nothing_and_was_tried_in_other_words_is_asked_again(order: Order) -> None:
    """What found something, or was not tried again, is not."""
    wanted = ["喇叭", "音箱", "耳機", "喇叭"]
    work(order, *(call("search_products", words=each, category=None, price_max=None) for each in wanted))
    found = made()
    (again,) = found["asked_again"]
    told = (again["tool"], again["code"], again["count"], again["came_right"])
    assert told == ("search_products", "found_nothing", 2, 1)
    assert found["tools"][0]["errors"] == 0


def test_the_tools_of_colleagues_are_not_taken_for_those_of_customers(order: Order) -> None:
    work(order, call("quote_refund", lines=[WRONG]))
    assert use("quote_refund", {"order_number": "5531", "lines": [{**WRONG, "action": None}]})["is_error"]
    who = Identity(user=cast.staff_user("supervisor"))
    door_calls.call(who, "quote_refund", {"order_number": "5531", "lines": [{**CASE, "action": None}]}, Door.SHELL)
    rows = [(row["for"], row["chat"], row["copilot"], row["outside"], row["errors"]) for row in made()["tools"]]
    assert sorted(rows) == [("colleagues", 0, 1, 1, 1), ("customers", 1, 0, 0, 1)]
    out = StringIO()
    call_command("tool_report", stdout=out)
    assert "  quote_refund: 1 call, 1 refused (100%)\n    1 × invalid_argument of lines.quantity" in out.getvalue()
    assert "  quote_refund (for colleagues): 2 calls (1 from outside), 1 refused (50%)" in out.getvalue()


def test_turns_that_failed_are_told_by_what_for(order: Order) -> None:
    farewells.fail(hold(order), "steps")
    assert made()["failed_turns"] == [{"error": "steps", "count": 1, "links": [trace(order)]}]


def test_it_finds_rules_that_are_silent_and_what_was_read_twice(order: Order) -> None:
    work(
        order,
        call("list_refunds"),
        call("list_refunds"),
        call("search_products", words="a", category=None, price_max=None),
        call("search_products", words="b", category=None, price_max=None),
        call("hand_off_to_human", reason="rules_leave_it_open", summary="…"),
    )
    found = made()
    twice = {"tool": "list_refunds", "for": "customers", "count": 1}
    assert found["read_twice"] == [{**twice, "links": [trace(order)]}]
    (silent,) = found["rules_are_silent"]
    assert (silent["tool"], silent["code"], silent["links"]) == (
        "hand_off_to_human",
        "rules_leave_it_open",
        [trace(order)],
    )


@pytest.mark.parametrize(("more", "twice"), [([], []), ([call("get_order")], ["get_order"])])
def test_what_is_read_again_after_something_may_have_changed_is_not_read_twice(
    order: Order, more: list[dict[str, Any]], twice: list[str]
) -> None:
    work(order, call("get_order"), call("quote_refund", lines=[CASE]), call("get_order"), call("list_refunds"), *more)
    assert [row["tool"] for row in made()["read_twice"]] == twice


def quote_in(lease: Lease, order: Order) -> str:
    (quote,) = asked(order, call("quote_refund", lines=[CASE]))
    executor.run_call(lease, quote.pk)
    quote.refresh_from_db()
    return str((quote.result or {})["quote_id"])


def end(lease: Lease, *, failed: bool) -> None:
    """By a limit, or as a turn ends whose model has nothing more to say."""
    if failed:
        farewells.fail(lease, "steps")
        return
    with turns.holding(lease, to_end=True) as (conversation, turn):
        turns.move(conversation, turn, TurnState.RUNNING, TurnState.DONE)


@pytest.mark.parametrize("failed", [True, False])
@pytest.mark.parametrize("with_button", [False, True])
def test_it_finds_turns_that_stopped_between_quote_and_button(order: Order, with_button: bool, failed: bool) -> None:
    lease = hold(order)
    quote_id = quote_in(lease, order)
    end(lease, failed=failed)
    if with_button:
        hear(order, "yes")
        work(order, call("refund_items", quote_id=quote_id))
    state, error = ("failed", "steps") if failed else ("done", "")
    link = f"https://desk.example/staff/conversations/{talk(order).pk}/turns/{lease.turn_id}/"
    stopped = [{"turn": lease.turn_id, "state": state, "error": error, "quote_id": quote_id, "link": link}]
    assert made()["stopped_half_way"] == ([] if with_button else stopped)


def test_a_turn_that_called_a_person_after_its_quote_has_not_stopped_half_way(order: Order) -> None:
    lease = hold(order)
    quote_in(lease, order)
    (hand_off,) = asked(order, call("hand_off_to_human", reason="complaint", summary="wants a person"))
    executor.run_call(lease, hand_off.pk)
    end(lease, failed=False)
    assert made()["stopped_half_way"] == []


def test_calls_from_outside_are_counted_beside_and_belong_together_by_caller_and_time(order: Order) -> None:
    who = Identity(customer=order.customer)
    for lines in ([WRONG], [CASE]):
        door_calls.call(who, "quote_refund", {"order_number": "5531", "lines": lines}, Door.SHELL)
    for _ in range(2):
        door_calls.call(who, "list_refunds", {"order_number": "5531"}, Door.SHELL)
    found = made()
    assert {row["tool"]: (row["chat"], row["outside"]) for row in found["tools"]} == {
        "quote_refund": (0, 2),
        "list_refunds": (0, 2),
    }
    first = DoorCall.objects.earliest("pk")
    assert found["asked_again"][0]["links"] == [f"https://desk.example/staff/door-calls/{first.pk}/"]
    assert found["read_twice"][0]["count"] == 1
    DoorCall.objects.filter(pk=DoorCall.objects.latest("pk").pk).update(
        created_at=timezone.now() + timedelta(minutes=11)
    )
    later = report(since=timezone.now() - timedelta(days=1), until=timezone.now() + timedelta(hours=1))
    assert later["read_twice"] == []


def test_calls_of_the_copilot_are_counted_and_lead_to_its_talk(order: Order) -> None:
    for number in ("9999", "9999"):
        assert use("orders_get_payment_context", {"order_number": number})["is_error"]
    (row,) = made()["tools"]
    assert (row["tool"], row["copilot"], row["chat"], row["errors"]) == ("orders_get_payment_context", 2, 0, 2)
    first, second = CopilotThread.objects.order_by("pk")
    assert {link for code in row["codes"] for link in code["links"]} == {
        f"https://desk.example/admin/agent/copilotthread/{thread.pk}/change/" for thread in (first, second)
    }


def test_the_command_prints_it_for_people_and_for_programs(order: Order) -> None:
    work(order, call("quote_refund", lines=[WRONG]))
    ToolCall.objects.update(created_at=timezone.now() - timedelta(days=2))
    for days, refused in ((1, False), (3, True)):
        text, data = StringIO(), StringIO()
        call_command("tool_report", "--days", str(days), stdout=text)
        call_command("tool_report", "--days", str(days), "--json", stdout=data)
        assert ("quote_refund: 1 call, 1 refused (100%)" in text.getvalue()) is refused
        assert (trace(order) in text.getvalue()) is refused
        assert bool(json.loads(data.getvalue())["tools"]) is refused
