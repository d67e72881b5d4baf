"""A long reply is put together in time that grows with it, and one that does not end is left."""

import json

import pytest

from agent import frames
from agent.frames import Heard, TooLong
from agent.tests.wire import START


def begun(block: dict[str, object]) -> Heard:
    heard = Heard()
    heard.take("message_start", json.dumps(START))
    heard.take("content_block_start", json.dumps({"index": 0, "content_block": block}))
    return heard


def delta(**said: str) -> str:
    return json.dumps({"index": 0, "delta": said})


@pytest.mark.timeout(60)
def test_a_megabyte_in_small_pieces_is_read_in_time_that_grows_with_it() -> None:
    heard = begun({"type": "tool_use", "id": "toolu_1", "name": "get_order", "input": {}})
    heard.take("content_block_delta", delta(type="input_json_delta", partial_json='{"order_number": "'))
    piece = delta(type="input_json_delta", partial_json="x" * 32)
    frames_of_a_megabyte = 1_000_000 // 32
    heard.characters = -frames_of_a_megabyte * len(piece)  # not the bound is meant here
    for _ in range(frames_of_a_megabyte):
        heard.take("content_block_delta", piece)
    heard.take("content_block_delta", delta(type="input_json_delta", partial_json='"}'))
    heard.take("content_block_stop", json.dumps({"index": 0}))
    assert heard.content()[0]["input"] == {"order_number": "x" * 32 * frames_of_a_megabyte}


def test_a_reply_that_does_not_end_is_left() -> None:
    heard = begun({"type": "text", "text": ""})
    word = delta(type="text_delta", text="x" * 10_000)
    heard.characters = frames.MOST_CHARACTERS - len(word)
    assert heard.take("content_block_delta", word)
    with pytest.raises(TooLong):
        heard.take("content_block_delta", word)
