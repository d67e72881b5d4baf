"""The unmodified SDK talks to the stand-in as to the real API."""

import time
from collections.abc import Iterator

import anthropic
import httpx2
import pytest
from anthropic.types import MessageParam, ToolParam

from agent.offline.server import OfflineModel

MODEL = "claude-sonnet-5-5"
GREETING: list[MessageParam] = [{"role": "user", "content": "您好"}]
BROKEN: list[MessageParam] = [{"role": "user", "content": "耳機左耳沒聲音"}]
GET_ORDER: ToolParam = {
    "name": "get_order",
    "description": "Reads the order.",
    "input_schema": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
    "strict": True,
}


@pytest.fixture(scope="module")
def model() -> Iterator[OfflineModel]:
    with OfflineModel() as running:
        yield running


@pytest.fixture
def client(model: OfflineModel) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="any", base_url=model.url, max_retries=0, timeout=5)


def test_a_plain_answer_is_a_message(client: anthropic.Anthropic) -> None:
    message = client.messages.create(model=MODEL, max_tokens=200, messages=GREETING)

    assert message.stop_reason == "end_turn"
    assert message.model == "offline-script", "whatever model was asked for: nobody takes the script for it"
    assert message.content[0].type == "text"
    assert "您好" in message.content[0].text
    assert message.usage.input_tokens > 0
    assert message.usage.output_tokens > 0


def test_a_stream_ends_in_the_same_message(client: anthropic.Anthropic) -> None:
    with client.messages.stream(model=MODEL, max_tokens=200, messages=GREETING) as stream:
        pieces = list(stream.text_stream)
        final = stream.get_final_message()

    whole = client.messages.create(model=MODEL, max_tokens=200, messages=GREETING)
    assert len(pieces) > 2
    assert final.stop_reason == "end_turn"
    assert final.content[0].type == whole.content[0].type == "text"
    assert "".join(pieces) == final.content[0].text == whole.content[0].text


def test_words_and_a_call_come_in_one_message(client: anthropic.Anthropic) -> None:
    with client.messages.stream(model=MODEL, max_tokens=200, messages=BROKEN, tools=[GET_ORDER]) as stream:
        final = stream.get_final_message()

    words, call = final.content
    assert final.stop_reason == "tool_use"
    assert words.type == "text"
    assert words.text == "我先查一下您的訂單。"
    assert call.type == "tool_use"
    assert (call.name, call.input) == ("get_order", {})
    assert call.id.startswith("toolu_")


def test_arguments_arrive_in_pieces(model: OfflineModel, client: anthropic.Anthropic) -> None:
    arguments = {"lines": [{"line_item_id": "li_2", "note": "耳機殼" * 30}]}
    model.control.script([{"tool_uses": [{"name": "get_order", "input": arguments}]}])

    with client.messages.stream(model=MODEL, max_tokens=900, messages=BROKEN, tools=[GET_ORDER]) as stream:
        pieces = [event for event in stream if event.type == "input_json"]
        final = stream.get_final_message()

    assert len(pieces) > 2
    assert final.content[0].type == "tool_use"
    assert final.content[0].input == arguments


def test_every_frame_has_its_event_line_and_the_documented_order(model: OfflineModel) -> None:
    body = {"model": MODEL, "max_tokens": 200, "messages": BROKEN, "tools": [GET_ORDER], "stream": True}
    answer = httpx2.post(f"{model.url}/v1/messages", json=body, headers=headers())

    frames = [frame.split("\n") for frame in answer.text.strip().split("\n\n")]
    kinds = [frame[0].removeprefix("event: ") for frame in frames]
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert all(f'"type": "{kind}"' in frame[1] for kind, frame in zip(kinds, frames, strict=True))
    assert kinds[:4] == ["message_start", "ping", "content_block_start", "content_block_delta"]
    assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]


def test_tokens_are_counted_without_an_answer(client: anthropic.Anthropic) -> None:
    short = client.messages.count_tokens(model=MODEL, messages=GREETING)
    longer = client.messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": "耳機" * 50}])

    assert longer.input_tokens - short.input_tokens == 98  # a hundred characters instead of two


def test_an_answer_longer_than_allowed_is_cut_and_says_so(client: anthropic.Anthropic) -> None:
    message = client.messages.create(model=MODEL, max_tokens=3, messages=GREETING)

    assert message.stop_reason == "max_tokens"
    assert message.content[0].type == "text"
    assert len(message.content[0].text) == 3


def test_a_forced_call_is_made_and_a_forbidden_one_is_not(client: anthropic.Anthropic) -> None:
    tools = [GET_ORDER]
    forced = client.messages.create(
        model=MODEL, max_tokens=99, messages=GREETING, tools=tools, tool_choice={"type": "any"}
    )
    forbidden = client.messages.create(
        model=MODEL, max_tokens=99, messages=BROKEN, tools=tools, tool_choice={"type": "none"}
    )

    assert forced.stop_reason == "tool_use"
    assert forbidden.stop_reason == "end_turn"


def test_without_a_key_nobody_is_let_in(model: OfflineModel) -> None:
    body = {"model": MODEL, "max_tokens": 9, "messages": GREETING}
    answer = httpx2.post(f"{model.url}/v1/messages", json=body, headers={"anthropic-version": "2023-06-01"})

    assert answer.status_code == 401
    assert answer.json()["error"]["type"] == "authentication_error"
    assert answer.json()["request_id"] == answer.headers["request-id"]


def test_an_error_reaches_the_caller_as_the_sdk_knows_it(client: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.BadRequestError) as caught:
        client.messages.create(model=MODEL, max_tokens=9, messages=GREETING, extra_body={"temperature": 0.5})

    assert caught.value.type == "invalid_request_error"
    assert caught.value.request_id
    assert "temperature" in str(caught.value)


def test_an_unknown_model_is_not_found(client: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.NotFoundError):
        client.messages.create(model="gpt-9", max_tokens=9, messages=GREETING)


@pytest.mark.parametrize(("path", "method"), [("/", "GET"), ("/healthz", "GET"), ("/", "HEAD"), ("/healthz", "HEAD")])
def test_it_says_that_it_is_alive(model: OfflineModel, path: str, method: str) -> None:
    assert httpx2.request(method, model.url + path).status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"text"', b"\xff\xfe", b"[" * 100_000])
def test_a_body_that_is_no_request_gets_an_error_object(model: OfflineModel, body: bytes) -> None:
    answer = httpx2.post(f"{model.url}/v1/messages", content=body, headers=headers())

    assert answer.status_code == 400
    assert answer.json()["type"] == "error"


def test_unknown_paths_and_methods_get_error_objects(model: OfflineModel) -> None:
    assert httpx2.get(f"{model.url}/v1/complete", headers=headers()).json()["error"]["type"] == "not_found_error"
    assert httpx2.get(f"{model.url}/v1/messages", headers=headers()).status_code == 405


def test_it_takes_its_time_when_told_to() -> None:
    with OfflineModel(first_token_ms=150, tokens_per_second=200) as slow:
        client = anthropic.Anthropic(api_key="any", base_url=slow.url, max_retries=0, timeout=5)
        begun = time.monotonic()
        with client.messages.stream(model=MODEL, max_tokens=200, messages=GREETING) as stream:
            first = next(iter(stream.text_stream))
            waited = time.monotonic() - begun
            stream.until_done()
        took = time.monotonic() - begun

    assert first
    assert waited >= 0.15
    assert took >= 0.15 + 30 / 200  # the greeting has more than thirty characters


def headers() -> dict[str, str]:
    return {"x-api-key": "any", "anthropic-version": "2023-06-01"}
