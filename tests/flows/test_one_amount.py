"""The staff's screen, the API, the agent's tool and the customer's card: one amount, the same steps, the same words."""

import html

from backoffice.local.stack import Stack
from tests.flows.chat import another_5531, cards, open_refund_card, say
from tests.stack import Visitor, rows


def test_every_door_shows_the_same_amount_and_steps_for_the_same_goods(stack: Stack) -> None:
    number = another_5531(stack, "one-amount")
    asked = {"lines": [{"line_item_id": "li_2", "quantity": 1, "reason": "late_delivery"}]}
    with Visitor(stack, "ming") as ming, Visitor(stack, "staff") as staff:
        say(ming, number)
        open_refund_card(stack, number)
        card = cards(stack, number)["refund"]["payload"]
        api = staff.post_json(f"/api/v1/orders/{number}/refund-quotes/", asked)
        assert api.status_code == 201, api.text
        screen = staff.post(
            f"/staff/orders/{number}/quote/",
            {"pick": "li_2.cancel", "quantity.li_2.cancel": "1", "reason.li_2.cancel": "late_delivery"},
            headers={"HX-Request": "true"},
        )
        assert screen.status_code == 200, screen.text
    quoted = api.json()
    tool = rows(
        stack,
        "select k.result from agent_toolcall k join agent_conversation c on c.id = k.conversation_id "
        "join orders_order o on o.id = c.order_id where o.number = %s and k.name = 'quote_refund'",
        number,
    )[0]["result"]
    assert quoted["amount"] == tool["amount"] == card["amount"] == 230
    assert quoted["display"] == tool["display"] == card["display"] == "NT$230"
    assert quoted["steps"] == tool["steps"] == card["steps"]
    assert sum(step["amount"] for step in quoted["steps"]) == 230
    assert quoted["explanation"] == tool["explanation"] == card["explanation"]
    page = html.unescape(screen.text)
    assert "NT$230" in page
    for step in quoted["steps"]:
        assert step["text"] in page
        assert step["display"] in page
