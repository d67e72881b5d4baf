"""The ways in which a model and its network fail, each in the shape the SDK meets it in.

`plan_delivery` turns a mode into an error to raise, a reply to give, or a way to break the stream.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from agent.offline import brain, hostile
from agent.offline.control import Plan
from agent.offline.errors import ApiError
from agent.offline.frames import Frame, cut_in_json, cut_in_text
from agent.offline.replies import Reply, ToolUse

OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
# Who means harm takes no time over it; and a megabyte in many small pieces is only a long wait for whoever reads it.
IN_LARGE_PIECES = 1_000_000
READING = ("get_order", "list_shipments", "list_refunds")


@dataclass(frozen=True, slots=True)
class Delivery:
    """How a reply travels. `ending`: clean, cut (the connection breaks), stall (never another byte) or pings."""

    reply: Reply
    before: float | None = None
    cut: Callable[[list[Frame]], list[Frame]] | None = None
    ending: str = "clean"
    event_lines: bool = True
    last: Frame | None = None
    tokens_per_second: float | None = None


def plan_delivery(plan: Plan, body: dict[str, Any]) -> Delivery:
    """Raises `ApiError` for the modes that never begin to answer."""
    if plan.mode in ERRORS:
        raise ERRORS[plan.mode](plan)
    if plan.mode in HARMFUL:
        return Delivery(HARMFUL[plan.mode](plan, body), before=0, tokens_per_second=IN_LARGE_PIECES)
    if plan.mode in REPLIES:
        return Delivery(REPLIES[plan.mode](plan, body))
    return TRANSPORT[plan.mode](plan, body)


def _overloaded(plan: Plan) -> ApiError:
    return ApiError(529, "overloaded_error", "Overloaded")


def _rate_limited(plan: Plan) -> ApiError:
    headers = {"retry-after": str(plan.options.get("retry_after", 1))}
    return ApiError(
        429, "rate_limit_error", "This request would exceed your organization's rate limit.", headers=headers
    )


def _server_error(plan: Plan) -> ApiError:
    return ApiError(500, "api_error", "Internal server error")


def _any_error(plan: Plan) -> ApiError:
    """Whatever is asked for: `status`, `kind` and `code` of the error, `retry_after`, `should_retry` in its headers."""
    told = {"retry-after": plan.options.get("retry_after"), "x-should-retry": plan.options.get("should_retry")}
    return ApiError(
        plan.options.get("status", 400),
        plan.options.get("kind", "invalid_request_error"),
        "This is what the plan asks for.",
        headers={name: str(value) for name, value in told.items() if value is not None},
        code=plan.options.get("code", ""),
    )


ERRORS: dict[str, Callable[[Plan], ApiError]] = {
    "error": _any_error,
    "overloaded_529": _overloaded,
    "rate_limited": _rate_limited,
    "api_error_500": _server_error,
}


def _offered(body: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in body.get("tools") or ()]


def _with_call(plan: Plan, body: dict[str, Any]) -> Reply:
    """The brain's reply, or the first offered tool where it would not call any: something to break is needed."""
    reply = brain.reply_to(body)
    if reply.tool_uses:
        return reply
    name = next(iter(_offered(body)), "get_order")
    return replace(reply, tool_uses=(ToolUse(name, {"note": "a call that is never finished"}),))


def _malformed(plan: Plan, body: dict[str, Any]) -> Reply:
    """Arguments of the wrong types, with a field nobody knows, and none of the required ones."""
    reply = _with_call(plan, body)
    broken = {"quote_id": 17, "lines": "li_1", "exchange_lines": {"line_item_id": None}, "amount": "lots"}
    return replace(reply, tool_uses=tuple(ToolUse(use.name, dict(broken)) for use in reply.tool_uses))


def _unknown_tool(plan: Plan, body: dict[str, Any]) -> Reply:
    return Reply("讓我直接處理。", (ToolUse("delete_order", {"order_number": "5531"}),))


def _ten_parallel(plan: Plan, body: dict[str, Any]) -> Reply:
    names = [name for name in _offered(body) if name in READING] or _offered(body) or ["get_order"]
    return Reply("", tuple(ToolUse(names[index % len(names)]) for index in range(10)))


def _loop(plan: Plan, body: dict[str, Any]) -> Reply:
    return Reply("我再看一次您的訂單。", (ToolUse("get_order"),))


def _refusal(plan: Plan, body: dict[str, Any]) -> Reply:
    return Reply(stop_reason="refusal")


def _max_tokens(plan: Plan, body: dict[str, Any]) -> Reply:
    """Out of tokens in the middle of a call: `frames` shows half of its arguments, a plain answer none of them."""
    return replace(_with_call(plan, body), stop_reason="max_tokens")


def _empty(plan: Plan, body: dict[str, Any]) -> Reply:
    return Reply(stop_reason="end_turn")


def _false_claim(plan: Plan, body: dict[str, Any]) -> Reply:
    return Reply("已經幫您退款 NT$1,430，也已經轉接真人客服。")


REPLIES: dict[str, Callable[[Plan, dict[str, Any]], Reply]] = {
    "malformed_arguments": _malformed,
    "unknown_tool": _unknown_tool,
    "ten_parallel": _ten_parallel,
    "loop_forever": _loop,
    "refusal": _refusal,
    "empty": _empty,
    "false_claim": _false_claim,
}
HARMFUL: dict[str, Callable[[Plan, dict[str, Any]], Reply]] = {
    "hostile": hostile.reply_to,
    "huge_arguments": hostile.huge,
    "liar": hostile.lie,
    "obedient": hostile.obey,
    "ten_hostile": hostile.ten_at_once,
}


def _slow(plan: Plan, body: dict[str, Any]) -> Delivery:
    return Delivery(brain.reply_to(body), before=float(plan.options.get("seconds", 5)), tokens_per_second=5)


def _stall(plan: Plan, body: dict[str, Any]) -> Delivery:
    """`after`: headers, or (usual) in the middle of the text."""
    nothing = plan.options.get("after") == "headers"
    return Delivery(brain.reply_to(body), cut=(lambda frames: []) if nothing else cut_in_text, ending="stall")


def _pings(plan: Plan, body: dict[str, Any]) -> Delivery:
    """Alive, and nothing else: after the beginning of the text only pings, as long as somebody listens."""
    return Delivery(_spoken(body), cut=cut_in_text, ending="pings")


def _cut_text(plan: Plan, body: dict[str, Any]) -> Delivery:
    return Delivery(_spoken(body), cut=cut_in_text)


def _cut_json(plan: Plan, body: dict[str, Any]) -> Delivery:
    return Delivery(_with_call(plan, body), cut=cut_in_json)


def _cut_socket(plan: Plan, body: dict[str, Any]) -> Delivery:
    return Delivery(_spoken(body), cut=cut_in_text, ending="cut")


def _overloaded_midstream(plan: Plan, body: dict[str, Any]) -> Delivery:
    return Delivery(_spoken(body), cut=cut_in_text, last=Frame(OVERLOADED))


def _error_midstream(plan: Plan, body: dict[str, Any]) -> Delivery:
    error = {"type": plan.options.get("kind", "api_error"), "message": "This is what the plan asks for."}
    return Delivery(_spoken(body), cut=cut_in_text, last=Frame({"type": "error", "error": error}))


def _no_event_lines(plan: Plan, body: dict[str, Any]) -> Delivery:
    return Delivery(brain.reply_to(body), event_lines=False)


def _out_of_tokens(plan: Plan, body: dict[str, Any]) -> Delivery:
    def cut(frames: list[Frame]) -> list[Frame]:
        shown = cut_in_json(frames)
        stop = Frame({"type": "content_block_stop", "index": shown[-1].data["index"]})
        return [*shown, stop, *frames[-2:]]

    return Delivery(_max_tokens(plan, body), cut=cut)


def _spoken(body: dict[str, Any]) -> Reply:
    """The brain's reply, with words to be cut even where it would only call a tool."""
    reply = brain.reply_to(body)
    return reply if reply.text else replace(reply, text="我先查一下您的訂單，請稍等。")


TRANSPORT: dict[str, Callable[[Plan, dict[str, Any]], Delivery]] = {
    "slow": _slow,
    "stall": _stall,
    "pings": _pings,
    "cut_text": _cut_text,
    "cut_json": _cut_json,
    "cut_socket": _cut_socket,
    "overloaded_midstream": _overloaded_midstream,
    "error_midstream": _error_midstream,
    "no_event_lines": _no_event_lines,
    "max_tokens": _out_of_tokens,
}
