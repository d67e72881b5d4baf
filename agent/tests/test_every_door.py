"""One tool object, four doors: the same input has the same result by the chat, by MCP and by the shell."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import Permission

from agent.doors.calls import Answer
from agent.models import Conversation, DoorCall
from agent.states import Door
from agent.tests.copilot_desk import use
from agent.tests.doors import Chat, Step, by_mcp, by_shell, listed_by_mcp, plain, run, staffs_calls, token_for, told
from agent.tests.helpers import CASE, EARPHONES, SAME_AGAIN, hear
from agent.tools import registry
from agent.tools.base import Arguments, StaffContext, Tool
from orders.actors import NotAllowed
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import FREE_DELIVERY, ago, fixed_discount, line_body, payment_body, shipment_body

pytestmark = pytest.mark.django_db(transaction=True)
HOME = {
    "recipient": "王小明",
    "phone": "0912345678",
    "postal_code": "220",
    "city": "新北市",
    "district": "板橋區",
    "street": "中山路一段 1 號",
}
NUMBERS = ("NUMBER-1", "NUMBER-2", "NUMBER-3")
QUOTE: Step = ("quote_refund", {"lines": [CASE]})
RETURN: Step = ("quote_refund", {"lines": [{**EARPHONES, "action": None}]})
LOST = [{"line_item_id": "li_1", "quantity": 1}]


def of_quote(**more: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda quote: {"quote_id": quote["quote_id"], **more}


# What each tool is called with; the last step is the one that is compared. `True`: the earphones got lost.
DONE: dict[str, tuple[list[Step], bool]] = {
    "get_order": ([("get_order", {})], False),
    "list_shipments": ([("list_shipments", {})], False),
    "list_refunds": ([("list_refunds", {})], False),
    "quote_refund": ([QUOTE], False),
    "refund_items": ([QUOTE, ("refund_items", of_quote())], False),
    "create_return": ([RETURN, ("create_return", of_quote(exchange_lines=None))], False),
    "resend_items": ([("resend_items", {"lines": LOST})], True),
    "update_shipping_address": ([("update_shipping_address", {**HOME, "city": "台北市"})], False),
    "search_products": ([("search_products", {"words": "耳機", "category": None, "price_max": 1200})], False),
    "get_product": ([("get_product", {"product_id": "EAR"})], False),
    "estimate_delivery": ([("estimate_delivery", {"product_id": None})], False),
    "propose_compensation": ([("propose_compensation", {"compensation_ntd": 50, "reason": "晚了一週。"})], False),
    "hand_off_to_human": ([("hand_off_to_human", {"reason": "complaint", "summary": "想找真人。"})], False),
}
REFUSED: dict[str, list[Step]] = {
    "unknown quote": [("refund_items", {"quote_id": "rq_00000000000000000000"})],
    "another tool's quote": [RETURN, ("refund_items", of_quote())],
    "wrong field": [("quote_refund", {"lines": [{**CASE, "quantity": 2}]})],
    "wrong shape": [("quote_refund", {"lines": [{**CASE, "amount": 9999}]})],
    "neither of both": [("create_return", {"quote_id": None, "exchange_lines": None})],
    "exchange of what is not there": [
        ("create_return", {"quote_id": None, "exchange_lines": [{**SAME_AGAIN, "line_item_id": "li_9"}]})
    ],
    "no such product": [("get_product", {"product_id": "nothing"})],
    "nothing was lost": [("resend_items", {"lines": LOST})],
    "too much": [("hand_off_to_human", {"reason": "complaint", "summary": "x" * 1001})],
}


def placed(number: str, *, lost: bool = False) -> Order:
    """An order like 5531. `lost`: the carrier has lost its earphones."""
    parcels = [shipment_body({1: 1})]
    if lost:
        gone = {"packed_at": ago(days=31).isoformat(), "shipped_at": ago(days=30).isoformat()}
        parcels = [shipment_body({1: 1}, state="lost", **gone)]
    story: dict[str, Any] = {
        "lines": [line_body(1, "藍牙耳機", 1200, sku="EAR"), line_body(2, "耳機殼", 380, sku="CASE")],
        "discounts": [fixed_discount(150, 1500)],
        "payments": [payment_body(1430)],
        "shipping": FREE_DELIVERY,
        "shipping_address": HOME,
        "shipments": parcels,
    }
    return cast.place(number, **story)


def compare(steps: Sequence[Step], *, lost: bool = False) -> Any:
    """What the chat's executor answers, once it is known that the shell and MCP answer the same."""
    first, second, third = (placed(number, lost=lost) for number in NUMBERS)  # the same order, one for each door
    expected = plain(run(Chat(first), first, steps), first)
    shell = run(lambda name, given: by_shell(name, given, "--customer", "c-ming"), second, steps)
    assert plain(shell, second) == expected
    secret, _ = token_for(third.customer)
    assert plain(run(partial(by_mcp, secret), third, steps), third) == expected
    return expected


@pytest.mark.parametrize("name", [tool.name for tool in registry.ORDER_PAGE])
def test_every_tool_gives_the_same_by_every_door(name: str) -> None:
    steps, lost = DONE[name]
    refused, result = compare(steps, lost=lost)
    assert not refused, result
    tool = registry.BY_NAME[name]
    assert (result.get("status") == "pending_confirmation") is tool.suspends
    # Who only looks leaves nothing in the inbox of staff.
    assert Conversation.objects.filter(order__number__in=[*NUMBERS[1:]]).exists() is not tool.reads
    doors = DoorCall.objects.filter(name=name, is_error=False).values_list("door", "order__number")
    assert set(doors) == {(Door.SHELL, NUMBERS[1]), (Door.HTTP, NUMBERS[2])}


@pytest.mark.parametrize("case", REFUSED)
def test_every_refusal_is_the_same_by_every_door(case: str) -> None:
    refused, error = compare(REFUSED[case])
    assert refused
    assert error.keys() >= {"code", "message", "hint", "retryable"}


# --- colleagues: the tools of the copilot, whichever there are ---
def look(context: StaffContext, arguments: Arguments) -> dict[str, Any]:
    if arguments["words"] == "secret":
        raise NotAllowed("orders.view_order")
    return {"seen_by": context.user.username, "words": arguments["words"], "conversation": context.conversation}


LOOK = Tool(
    name="look_around",
    schema={
        "type": "object",
        "properties": {"words": {"type": "string", "description": "What to look for."}},
        "required": ["words"],
        "additionalProperties": False,
    },
    handler=look,
    reads=True,
    suspends=False,
    working="looking",
    for_staff=True,
)


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool of colleagues that is always there; its description is another's."""
    monkeypatch.setattr(Tool, "description", property(lambda tool: "Looks. It changes nothing."))
    monkeypatch.setattr(registry, "COPILOT", (LOOK,))


@pytest.mark.usefixtures("looking")
def test_tools_of_colleagues_are_the_same_by_every_door_and_ask_for_permissions() -> None:
    secret, _ = token_for(staff="staff")
    for words, refused in (("x", False), ("secret", True)):
        shell = by_shell("look_around", {"words": words}, "--staff", "staff")
        assert by_mcp(secret, "look_around", {"words": words}) == shell
        assert shell.is_error is refused
        assert shell.result == {"seen_by": "staff", "words": "x", "conversation": None} or refused
    assert shell.result["code"] == "not_allowed"
    assert not DoorCall.objects.exclude(staff__username="staff", customer=None).exists()


def by_copilot(name: str, given: dict[str, Any]) -> Answer:
    own = use(name, given)
    return Answer(own, own.pop("is_error"))


def compare_for_staff(name: str, given: dict[str, Any], order: Order) -> Answer:
    """What the shell answers, once it is known that the copilot and MCP answer the same."""
    secret, _ = token_for(staff="staff")
    shell = by_shell(name, given, "--staff", "staff")
    assert told(by_copilot(name, given), order) == told(shell, order)
    assert told(by_mcp(secret, name, given), order) == told(shell, order)
    return shell


@pytest.mark.parametrize("name", [tool.name for tool in registry.COPILOT])
def test_every_tool_of_colleagues_gives_the_same_by_the_copilot_the_shell_and_mcp(name: str) -> None:
    order = cast.order_5531()
    hear(order)
    answer = compare_for_staff(name, staffs_calls(order)[name], order)
    assert not answer.is_error, answer.result
    assert FOUND[name](answer.result), f"it found nothing to compare: {answer.result}"


# What an answer has that has found something.
FOUND: dict[str, Callable[[dict[str, Any]], Any]] = {
    "customers_search": lambda result: result["customers"][0]["customer_id"] == "c-ming",
    "orders_search": lambda result: [order["order_number"] for order in result["orders"]] == ["5531"],
    "orders_get_payment_context": lambda result: result["payments"],
    "tickets_search": lambda result: result["tickets"][0]["messages"],
    "quote_refund": lambda result: result["amount"] == 230,
    "draft_reply": lambda result: result["draft_id"],
}


@pytest.mark.parametrize("tool", registry.COPILOT, ids=lambda tool: tool.name)
def test_what_colleagues_ask_of_what_is_not_there_is_answered_the_same_by_the_copilot_the_shell_and_mcp(
    tool: Tool,
) -> None:
    """With the arguments of its example, about nobody and nothing."""
    cast.staff_user("staff")
    given = {name: NOTHING.get(name, value) for name, value in tool.examples[0].items()}
    answer = compare_for_staff(tool.name, given, Order(number="5531"))
    expected = (False, None, "nobody") if tool.name == "customers_search" else (True, "not_found", None)
    assert (answer.is_error, answer.result.get("code"), answer.result.get("status")) == expected


NOTHING = {"query": "nobody at all", "customer_id": "c-nobody", "conversation_id": 987654, "order_number": "0000"}


def test_a_colleague_who_may_not_ask_outside_is_told_so_in_words_for_colleagues() -> None:
    cast.order_5531()
    user = cast.staff_user("auditor")
    user.user_permissions.add(Permission.objects.get(codename="use_copilot"))
    user.groups.clear()
    told = by_shell("orders_get_payment_context", {"order_number": "5531"}, "--staff", "auditor")
    assert (told.is_error, told.result["code"]) == (True, "not_allowed")
    assert "hand_off_to_human" not in told.result["hint"]


@pytest.mark.usefixtures("looking")
def test_a_customer_has_no_tools_of_colleagues_and_the_other_way_round() -> None:
    cast.order_5531()
    of_customer, _ = token_for(cast.customer())
    of_staff, _ = token_for(staff="staff")
    assert [tool.name for tool in listed_by_mcp(of_staff)] == ["look_around"]
    assert "look_around" not in [tool.name for tool in listed_by_mcp(of_customer)]
    for secret, name in ((of_customer, "look_around"), (of_staff, "get_order")):
        answer = by_mcp(secret, name, {"order_number": "5531", "words": "x"})
        assert (answer.is_error, answer.result["code"]) == (True, "unknown_tool")


@pytest.mark.parametrize(("mode", "with_hints"), [("legacy", True), ("2026-07-28", True)])
def test_a_list_of_tools_says_the_same_as_the_chat_and_more(mode: str, with_hints: bool) -> None:
    secret, _ = token_for(cast.customer())
    listed = {tool.name: tool for tool in listed_by_mcp(secret, mode=mode)}
    assert list(listed) == [tool.name for tool in registry.ORDER_PAGE]
    for tool in registry.ORDER_PAGE:
        seen = listed[tool.name]
        assert seen.description.startswith(tool.description)
        assert ("pending_confirmation" in seen.description) is tool.suspends
        assert seen.input_schema["required"][0] == "order_number"
        assert seen.input_schema["additionalProperties"] is False
        hints = seen.annotations
        assert (hints.read_only_hint, hints.destructive_hint) == (tool.reads, tool.suspends)
        assert hints.idempotent_hint is (tool.reads or tool.suspends)
        assert json.dumps(list(tool.examples)) == json.dumps(seen.input_schema.get("examples", []))
