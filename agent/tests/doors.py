"""The doors as a test goes through them: the same call by the chat's executor, the shell, and MCP in this process."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from io import StringIO
from typing import Any

from django.core.management import call_command
from django.utils import timezone
from mcp import Client

from agent.doors import command_line, mcp_server, tokens
from agent.doors.calls import Answer
from agent.management.commands.tools import Command as Tools
from agent.models import Card, ToolCall, ToolToken
from agent.states import Door, ToolCallState
from agent.tests.helpers import CASE, asked, call, hear, hold, talk
from agent.tools import executor
from orders.models import Customer, Order
from orders.tests import cast

# A call, or one that is made of the answer before it.
Step = tuple[str, dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any]]]
CARD = ("kind", "button", "display", "steps")


def token_for(customer: Customer | None = None, *, staff: str = "", days: float = 30) -> tuple[str, ToolToken]:
    return tokens.issue(
        actor=cast.staff("admin"),
        name="a test's program",
        expires_at=timezone.now() + timedelta(days=days),
        customer=customer,
        staff=cast.staff_user(staff) if staff else None,
    )


def by_mcp(secret: str, name: str, arguments: Mapping[str, Any], *, mode: str = "auto") -> Answer:
    """One call by a client in this process."""

    async def one() -> Answer:
        async with Client(mcp_server.server(lambda: secret, Door.HTTP), mode=mode) as client:
            result = await client.call_tool(name, dict(arguments))
            (block,) = result.content
            assert json.loads(getattr(block, "text", "")) == result.structured_content
            return Answer(dict(result.structured_content or {}), bool(result.is_error))

    return asyncio.run(one())


def listed_by_mcp(secret: str, *, mode: str = "auto") -> list[Any]:
    async def some() -> list[Any]:
        async with Client(mcp_server.server(lambda: secret, Door.HTTP), mode=mode) as client:
            return list((await client.list_tools()).tools)

    return asyncio.run(some())


def by_shell(name: str, arguments: Mapping[str, Any], *who: str) -> Answer:
    """One call by a command. What it was given must come through its options."""
    out, err = StringIO(), StringIO()
    command = Tools()
    command.for_staff = "--staff" in who
    typed = [name, *who, "--json", *command_line.options_for(arguments)]
    code: Any = 0
    try:
        call_command(command, *typed, stdout=out, stderr=err)
    except SystemExit as ended:
        code = ended.code
    assert code in {0, 1}
    return Answer(json.loads(err.getvalue() if code else out.getvalue()), is_error=code == 1)


class Chat:
    """The customer has said something; the model's calls are run as a worker runs them."""

    def __init__(self, order: Order) -> None:
        hear(order)
        self.order, self.lease = order, hold(order)

    def __call__(self, name: str, arguments: dict[str, Any]) -> Answer:
        given = {key: value for key, value in arguments.items() if key != "order_number"}
        (made,) = asked(self.order, call(name, **given))
        executor.run_call(self.lease, made.pk)
        made.refresh_from_db()
        if made.state == ToolCallState.SUSPENDED:
            return Answer({"status": "pending_confirmation", **shown(made)})
        return Answer(dict(made.result or {}), made.is_error)


def shown(made: ToolCall) -> dict[str, Any]:
    """What its card shows, of what an answer tells about it."""
    card = Card.objects.get(tool_call=made)
    return {name: getattr(card, name, card.payload.get(name)) for name in CARD}


def run(door: Callable[[str, dict[str, Any]], Answer], order: Order, steps: Sequence[Step]) -> Answer:
    """One call after the other; the last answer."""
    answer = Answer({})
    for name, given in steps:
        arguments = given(answer.result) if callable(given) else given
        answer = door(name, {"order_number": order.number, **arguments})
    return answer


def plain(answer: Answer, order: Order) -> Any:
    """The answer without what differs from order to order: its number, ids and moments; of a card, what it shows."""
    result = answer.result
    if result.get("status") == "pending_confirmation":
        result = {"status": result["status"], **{name: result[name] for name in CARD}}
    text = json.dumps(result, ensure_ascii=False, sort_keys=True).replace(order.number, "NUMBER")
    text = re.sub(r"\b(rq|rf|rt|rp|sh|pay|ap|card)_[0-9a-z]{12,}", r"\1_ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[0-9:.+]+", "MOMENT", text)
    return answer.is_error, json.loads(text)


def staffs_calls(order: Order) -> dict[str, dict[str, Any]]:
    """Each tool of colleagues with what it has an answer for."""
    conversation = talk(order)
    newest = conversation.messages.latest("pk").pk
    ticket = {"customer_id": None, "order_number": None, "state": None, "page_size": None, "cursor": None}
    return {
        "customers_search": {"query": "王小明"},
        "orders_search": {
            "customer_id": "c-ming",
            "created_from": "2020-01-01T00:00:00+08:00",
            "created_before": None,
            "page_size": 2,
            "cursor": None,
        },
        "orders_get_payment_context": {"order_number": order.number},
        "tickets_search": {"conversation_id": conversation.pk, **ticket},
        "quote_refund": {"order_number": order.number, "lines": [{**CASE, "action": None}]},
        "draft_reply": {"conversation_id": conversation.pk, "read_to": newest, "text": "您好，我來看看。"},
    }


def told(answer: Answer, order: Order) -> Any:
    """The answer without what is new with every call."""
    refused, result = plain(answer, order)
    return refused, {name: value for name, value in result.items() if name not in {"draft_id", "next_cursor"}}
