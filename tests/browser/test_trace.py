"""The page of one turn in a real browser: it fits, it can be read by everybody, and its bars are drawn."""

from collections.abc import Callable

import pytest

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_accessible import check
from tests.browser.visit import Visit
from tests.flows.chat import cards, confirm, open_refund_card, say
from tests.stack import Visitor, rows, wait_until

Open = Callable[..., Visit]


@pytest.fixture(scope="module")
def turn(stack: Stack) -> str:
    """The address of a turn in which a customer pressed one card and declined the other."""
    number = another_5531(stack, "5531-trace")
    with Visitor(stack, "ming") as ming:
        say(ming, number)
        open_refund_card(stack, number)
        wait_until(lambda: "exchange" in cards(stack, number))
        confirm(ming, cards(stack, number)["refund"]["quote_id"])
        ming.post(f"/orders/{number}/chat/cards/{cards(stack, number)['exchange']['id']}/decline/")

    def done() -> str:
        found = rows(
            stack,
            "select t.id, t.conversation_id from agent_turn t join agent_conversation c on c.id = t.conversation_id "
            "join orders_order o on o.id = c.order_id where o.number = %s and t.state = 'done'",
            number,
        )
        return f"/staff/conversations/{found[0]['conversation_id']}/turns/{found[0]['id']}/" if found else ""

    return wait_until(done)


@pytest.mark.parametrize("device", ["desktop", "phone"])
def test_a_turn_with_tools_and_cards(visit: Open, turn: str, device: str) -> None:
    staff = visit("staff", device=device)
    staff.page.goto(turn)
    kinds = staff.page.locator(".trace-step").evaluate_all("rows => rows.map(row => row.dataset.kind)")
    assert {"move", "message", "model", "tool", "card"} == set(kinds)
    drawn = staff.page.locator(".trace-step[data-kind=model] rect").evaluate_all(
        "bars => bars.map(bar => [bar.getBoundingClientRect().width, getComputedStyle(bar).fill])"
    )
    assert all(width > 0 and colour != "rgb(0, 0, 0)" for width, colour in drawn)
    assert staff.problems == []
    staff.shoot("18-trace")
    check(staff)


def test_what_was_asked_and_answered_can_be_unfolded(visit: Open, turn: str) -> None:
    staff = visit("staff", language="en")
    staff.page.goto(turn)
    quote = staff.page.locator(".trace-step[data-kind=tool]", has_text="quote_refund").first
    quote.get_by_text("Result").click()
    assert "230" in quote.locator("pre").last.inner_text()
    staff.shoot("18-trace-in-english")
