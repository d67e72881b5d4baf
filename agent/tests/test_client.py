"""What the client makes of the wire: blocks unchanged, text that can be stored, a verdict on every ending."""

import time
from collections.abc import Iterator

import pytest

from agent import client
from agent.endings import Retry
from agent.tests.wire import END, START, Frames, Wire, block, text, tool

CALLS: Frames = [{**END[0], "delta": {"stop_reason": "tool_use", "stop_sequence": None}}, END[1]]


def ask(shown: list[str] | None = None) -> client.Reply:
    return client.reply_to(
        system=[],
        tools=[],
        messages=[{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
        on_text=(shown if shown is not None else []).append,
        going_on=lambda: True,
    )


def test_thinking_comes_back_as_it_was_sent(wire: Wire) -> None:
    thinking = block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Let me "},
        {"type": "thinking_delta", "thinking": "see."},
        {"type": "signature_delta", "signature": "EqQBCgIYAhIM"},
    )
    hidden = block(1, {"type": "redacted_thinking", "data": "EmwKAhgBEgy3"})
    wire.frames = [START, *thinking, *hidden, *text(2, "Hel", "lo"), *END]
    assert ask().content == [
        {"type": "thinking", "thinking": "Let me see.", "signature": "EqQBCgIYAhIM"},
        {"type": "redacted_thinking", "data": "EmwKAhgBEgy3"},
        {"type": "text", "text": "Hello"},
    ]


def test_words_are_shown_as_they_come_and_counted(wire: Wire) -> None:
    wire.frames = [START, *text(0, "Hel", "lo"), *END]
    shown: list[str] = []
    reply = ask(shown)
    assert shown == ["Hel", "lo"]
    used = reply.usage
    assert (used.fresh + used.written, used.cached, used.output) == (15, 7, 3)
    assert (used.model, reply.stop_reason) == ("claude-sonnet-5-5", "end_turn")


def test_what_cannot_be_stored_is_mended(wire: Wire) -> None:
    wire.frames = [
        START,
        *text(0, "a\x00b \ud83d\ude00 ", "half \ud83d", "\ude00 lone \ud83d."),
        *tool(1, '{"a\\u0000": ["x\\u0000y"]}'),
        *END,
    ]
    shown: list[str] = []
    reply = ask(shown)
    assert reply.content[0]["text"] == "ab 😀 half 😀 lone \ufffd."
    assert reply.content[1]["input"] == {"a": ["xy"]}
    for piece in shown:
        piece.encode()


def test_numbers_that_no_json_can_hold_are_left_out(wire: Wire) -> None:
    wire.frames = [START, *tool(0, '{"a": NaN, "b": [-Infinity, 1.5, 7, true], "c": 1' + "0" * 4000 + "}"), *END]
    assert ask().content[0]["input"] == {"a": None, "b": [None, 1.5, 7, True], "c": None}


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [START],
        [START, *text(0, "Hel")[:-1]],
        [START, *text(0, "Hello")],
        [START, *tool(0, '{"a": ')[:-1]],
        [START, *tool(0, '{"a": }}'), *CALLS],
        [*text(0, "Hello"), *END],
        [START, {"type": "content_block_delta", "index": 4, "delta": {"type": "text_delta", "text": "x"}}, *END],
        [START, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}],
    ],
    ids=[
        "nothing",
        "only the start",
        "in mid-text",
        "before the end",
        "in mid-JSON",
        "JSON that is none",
        "no start",
        "a block that never began",
        "an error in mid-stream",
    ],
)
def test_a_stream_that_is_not_whole_is_no_reply_and_worth_another_try(wire: Wire, frames: Frames) -> None:
    wire.frames = frames
    with pytest.raises(client.ModelFailed) as failed:
        ask()
    assert isinstance(failed.value.ending.what, Retry)


def test_an_error_in_the_stream_is_known_by_its_type(wire: Wire) -> None:
    wire.frames = [START, {"type": "error", "error": {"type": "invalid_request_error", "message": "too long"}}]
    with pytest.raises(client.ModelFailed) as failed:
        ask()
    assert failed.value.ending.name == "bad_request"


def test_who_is_told_to_stop_leaves_the_stream(wire: Wire) -> None:
    wire.frames = [START, *text(0, "Hello"), *END]
    with pytest.raises(client.Stopped):
        client.reply_to(
            system=[],
            tools=[],
            messages=[{"role": "user", "content": "hello"}],
            on_text=lambda piece: None,
            going_on=lambda: False,
        )


def test_arguments_that_were_cut_with_the_reply_are_none_at_all(wire: Wire) -> None:
    cut = [{**END[0], "delta": {"stop_reason": "max_tokens", "stop_sequence": None}}, END[1]]
    wire.frames = [START, *tool(0, '{"a": 1, "b": '), *cut]
    reply = ask()
    assert reply.stop_reason == "max_tokens"
    assert reply.content[0]["input"] is None


@pytest.mark.parametrize("closed", [True, False])
def test_a_call_that_was_cut_in_the_middle_of_a_number_is_never_run(wire: Wire, closed: bool) -> None:
    frames = tool(0, '{"order_number": "5531", "quantity": 1')
    wire.frames = [START, *(frames if closed else frames[:-1]), *CALLS]
    with pytest.raises(client.ModelFailed) as failed:
        ask()
    assert failed.value.ending.name == "malformed_reply"


def test_frames_that_nobody_here_knows_end_nothing(wire: Wire) -> None:
    wire.frames = [START, *text(0, "Hello"), {"type": "weather"}, *END]
    assert ask().content == [{"type": "text", "text": "Hello"}]


def test_totals_that_are_told_at_the_end_take_the_place_of_those_at_the_beginning(wire: Wire) -> None:
    wire.frames = [START, *text(0, "Hello"), {**END[0], "usage": {"output_tokens": 9, "input_tokens": 20}}, END[1]]
    used = ask().usage
    assert (used.fresh, used.written, used.cached, used.output) == (20, 5, 7, 9)


def test_blocks_that_nobody_here_knows_are_kept_as_they_were_sent(wire: Wire) -> None:
    unknown = {"type": "server_thing", "id": "srv_1", "input": {"deep": [1, {"x": None}]}}
    wire.frames = [START, *block(0, unknown), *text(1, "Hello"), *END]
    assert ask().content == [unknown, {"type": "text", "text": "Hello"}]


def test_whoever_had_to_wait_for_the_wire_is_given_a_rest_after_what_came(wire: Wire) -> None:
    read: list[bytes] = []
    rests: list[int] = []

    def body() -> Iterator[bytes]:
        yield b"at once"
        time.sleep(client.AT_ONCE_SECONDS * 2)
        yield b"later"

    watched = client._Watched(body(), lambda: True, lambda: rests.append(len(read)))
    for piece in watched:
        read.append(piece)
    assert read == [b"at once", b"later"]
    assert rests[-1] == 2
