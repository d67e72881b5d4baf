"""What the real API refuses, the stand-in refuses: callers meet it in tests, not in production."""

from typing import Any

import pytest

from agent.offline.errors import ApiError
from agent.offline.request_rules import check_request

Body = dict[str, Any]
TOOL: Body = {"name": "get_order", "input_schema": {"type": "object", "properties": {}, "additionalProperties": False}}
CALL: Body = {"type": "tool_use", "id": "toolu_1", "name": "get_order", "input": {}}
OTHER_CALL: Body = {**CALL, "id": "toolu_2"}
RESULT: Body = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "{}"}
OTHER_RESULT: Body = {**RESULT, "tool_use_id": "toolu_2"}
TEXT: Body = {"type": "text", "text": "謝謝"}
CACHED: Body = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}


def request(*messages: Any, **changes: Any) -> Body:
    body = {
        "model": "claude-sonnet-5-5",
        "max_tokens": 100,
        "messages": list(messages) or [user("hi")],
        "tools": [TOOL],
    }
    return {key: value for key, value in (body | changes).items() if value is not ...}


def user(*content: Any) -> Body:
    return {"role": "user", "content": content[0] if isinstance(content[0], str) else list(content)}


def assistant(*content: Any) -> Body:
    return {**user(*content), "role": "assistant"}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(request(), id="the simplest"),
        pytest.param(request(user("a"), user("b")), id="two of one role in a row"),
        pytest.param(request(user("a"), assistant(CALL), user(RESULT)), id="an answered call"),
        pytest.param(request(user("a"), assistant(TEXT, CALL), user(RESULT, TEXT)), id="text behind the result"),
        pytest.param(request(user("a"), assistant(CALL), user(RESULT), user("b")), id="text in a further message"),
        pytest.param(
            request(user("a"), assistant(CALL), assistant(OTHER_CALL), user(OTHER_RESULT), user(RESULT)),
            id="two calls answered in any order",
        ),
        pytest.param(request(user("a"), assistant({**TEXT, "citations": None}), user("b")), id="a block as dumped"),
        pytest.param(request(system=[CACHED], metadata={"user_id": "7"}, stream=True), id="system and metadata"),
        pytest.param(request(thinking={"type": "adaptive"}, output_config={"effort": "low"}), id="current options"),
        pytest.param(request(max_tokens=0), id="warming the cache"),
    ],
)
def test_good_requests_pass(body: Body) -> None:
    assert check_request(body) is body


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(request(temperature=0.2), "`temperature` is deprecated", id="temperature"),
        pytest.param(request(top_p=1), "`top_p` is deprecated", id="top_p"),
        pytest.param(request(top_k=5), "`top_k` is deprecated", id="top_k"),
        pytest.param(request(prompt="x"), "prompt: Extra inputs are not permitted", id="unknown field"),
        pytest.param(request(model=...), "model: Field required", id="no model"),
        pytest.param(request(max_tokens=...), "max_tokens: Field required", id="no max_tokens"),
        pytest.param(request(max_tokens="9"), "max_tokens: Input should be a valid integer", id="max_tokens as text"),
        pytest.param(request(max_tokens=True), "max_tokens", id="max_tokens true"),
        pytest.param(request(messages=...), "messages: Field required", id="no messages"),
        pytest.param(request(messages=[]), "at least one message", id="empty messages"),
        pytest.param(request(stream="yes"), "stream", id="stream as text"),
        pytest.param(request(assistant("a"), user("b")), 'first message must use the "user" role', id="agent first"),
        pytest.param(request(user("a"), assistant("b")), "does not support assistant message prefill", id="prefill"),
        pytest.param(request({"role": "system", "content": "a"}), "messages.0.role", id="unknown role"),
        pytest.param(request({"role": "user", "content": ""}), "non-empty content", id="empty text"),
        pytest.param(request({"role": "user", "content": []}), "non-empty content", id="empty list"),
        pytest.param(request({"role": "user"}), "messages.0.content: Field required", id="no content"),
        pytest.param(request({**user("a"), "name": "x"}), "messages.0.name: Extra inputs", id="extra on a message"),
        pytest.param(request(user({"type": "text", "text": ""})), "must be non-empty", id="empty block"),
        pytest.param(request(user({"type": "text", "text": " \n"})), "non-whitespace text", id="blank block"),
        pytest.param(request(user({"type": "tool_use"})), "Input tag 'tool_use'", id="a call by the user"),
        pytest.param(request(user({**TEXT, "parsed": 1})), "text.parsed: Extra inputs", id="extra on a block"),
        pytest.param(request(system=[{"type": "text", "text": ""}]), "system: text content", id="empty system block"),
        pytest.param(
            request(user("a"), assistant(CALL), user("b")),
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1",
            id="a call without a result",
        ),
        pytest.param(
            request(user("a"), assistant(CALL, OTHER_CALL), user(RESULT)),
            "immediately after: toolu_2",
            id="half answered",
        ),
        pytest.param(
            request(user("a"), assistant(CALL), user(TEXT, RESULT)), "immediately after: toolu_1", id="text first"
        ),
        pytest.param(
            request(user("a"), assistant(CALL), user("b"), assistant("c"), user(RESULT)),
            "toolu_1",
            id="answered too late",
        ),
        pytest.param(request(user(RESULT)), "messages.0.content.0: unexpected `tool_use_id`", id="a result of nothing"),
        pytest.param(
            request(user("a"), assistant(CALL), user(RESULT, RESULT)), "must have a single result", id="answered twice"
        ),
        pytest.param(
            request(user("a"), assistant(CALL), user(RESULT), assistant(CALL), user(RESULT)),
            "`tool_use` ids must be unique",
            id="one id twice",
        ),
        pytest.param(
            request(user("a"), assistant({**CALL, "input": "{}"}), user(RESULT)), "tool_use.input", id="input as text"
        ),
        pytest.param(
            request(user("a"), assistant(CALL), user(RESULT), tools=...), "must define tools", id="calls without tools"
        ),
        pytest.param(
            request(user(CACHED, CACHED, CACHED), system=[CACHED, CACHED]), "maximum of 4 blocks", id="five breakpoints"
        ),
        pytest.param(
            request(user({**TEXT, "cache_control": {"type": "forever"}})), "cache_control", id="unknown cache type"
        ),
        pytest.param(
            request(tool_choice={"type": "tool", "name": "x"}), "Tool 'x' not found", id="forced unknown tool"
        ),
        pytest.param(request(tools=..., tool_choice={"type": "auto"}), "while providing tools", id="choice of nothing"),
        pytest.param([], "valid dictionary", id="a list"),
    ],
)
def test_bad_requests_are_refused_with_the_place(body: Any, says: str) -> None:
    with pytest.raises(ApiError) as caught:
        check_request(body)

    assert caught.value.kind == "invalid_request_error"
    assert caught.value.status == 400
    assert says in caught.value.message


def test_counting_needs_no_max_tokens_and_takes_no_stream() -> None:
    body = {"model": "claude-sonnet-5-5", "messages": [user("hi")]}
    assert check_request(body, counting=True) is body
    with pytest.raises(ApiError, match="stream"):
        check_request({**body, "stream": True}, counting=True)
