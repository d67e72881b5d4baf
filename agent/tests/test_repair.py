"""Whatever rows hold, the request that is made of them is one that the Messages API takes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.offline.errors import ApiError
from agent.offline.request_rules import check_request
from agent.repair import GO_ON, repaired
from agent.tools import registry

Block = dict[str, Any]
IDS = st.sampled_from(["toolu_1", "toolu_2", "toolu_3", "not valid!", ""])
TEXTS = st.sampled_from(["", " \n", "hello", "退款"])
THINKING: Block = {"type": "thinking", "thinking": "", "signature": "EqQBCgIYAhIM"}
REDACTED: Block = {"type": "redacted_thinking", "data": "EmwKAhgBEgy3"}
BLOCKS = st.one_of(
    TEXTS.map(lambda text: {"type": "text", "text": text}),
    IDS.map(lambda each: {"type": "tool_use", "id": each, "name": "get_order", "input": {}}),
    IDS.map(lambda each: {"type": "tool_result", "tool_use_id": each, "content": "{}", "is_error": False}),
    st.sampled_from([THINKING, REDACTED, {"type": "tool_use"}, {"type": "text"}, {"type": "image"}, {}, None]),
)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system"]), "content": st.lists(BLOCKS, max_size=6) | TEXTS}
)


def user(*blocks: Block) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def model(*blocks: Block) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def use(number: int) -> Block:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "get_order", "input": {}}


def result(number: int, content: str = "{}") -> Block:
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": content, "is_error": False}


def refusal(messages: list[dict[str, Any]]) -> str:
    """What the API says to a request with these messages; nothing if it takes them."""
    body = {
        "model": "claude-sonnet-5-5",
        "max_tokens": 10,
        "tools": registry.definitions(),
        "messages": messages,
    }
    try:
        check_request(body)
    except ApiError as error:
        return error.message
    return ""


@given(st.lists(MESSAGES, max_size=8))
def test_any_list_of_messages_becomes_one_that_the_api_takes_and_twice_is_as_good_as_once(
    messages: list[dict[str, Any]],
) -> None:
    mended = repaired(messages)
    assert refusal(mended) == ""
    assert repaired(mended) == mended


IN_ORDER = [
    user(text("one"), text("two")),
    model(THINKING, REDACTED, text("I look"), use(1), use(2)),
    user(result(1), result(2), text("three")),
    model(THINKING, text("so it is")),
    user(text("four")),
]


def test_what_is_in_order_stays_as_it_is() -> None:
    assert refusal(IN_ORDER) == ""
    assert repaired(IN_ORDER) == IN_ORDER


@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        ([user(text("one")), model(use(1)), user(text("two"), result(1))], ["one", "use", "result", "two"]),
        ([user(text("one")), model(use(1), use(2)), user(result(2))], ["one", "use", "use", "result", "result"]),
        ([user(text("one")), model(use(1)), user(result(1), result(1, "no"))], ["one", "use", "result"]),
        ([user(text("one")), model(use(1)), model(use(2)), user(result(1))], ["one", "use", "use", "result", "result"]),
        ([user(text("one")), model(use(1)), user(result(1)), model(use(1)), user(result(1))], ["one", "use", "result"]),
        ([user(text("one")), model(use(1))], ["one", "use", "result"]),
        ([user(text("one"), result(9)), model(text(" ")), user(text("two"))], ["one", "two"]),
        ([model(text("hello"), use(1)), user(result(1), text("one"))], ["one"]),
        ([user(text("one")), model(THINKING), user(text("two"))], ["one", "two"]),
        ([user(text("one")), model({**use(1), "input": None}), user(result(1), text("two"))], ["one", "two"]),
        ([user(text("one")), model({**use(1), "name": ""}), user(result(1), text("two"))], ["one", "two"]),
        ([user(text("one")), model(use(1)), user({**result(1), "content": 7})], ["one", "use", "result"]),
        ([user(result(9)), model(text("x")), user(text("one"))], ["one"]),
    ],
)
def test_each_kind_of_disorder_is_mended(broken: list[dict[str, Any]], mended: list[str]) -> None:
    assert refusal(broken) != ""
    assert refusal(repaired(broken)) == ""
    blocks = [block for message in repaired(broken) for block in message["content"]]
    assert [block.get("text", block["type"].removeprefix("tool_")) for block in blocks] == mended


def test_who_has_been_interrupted_is_told_to_go_on() -> None:
    assert repaired([user(text("one")), model(text("I was"))])[-1] == user(GO_ON)
    assert repaired([]) == [user(GO_ON)]
