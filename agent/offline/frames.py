"""A message as the stream's frames, the ways a stream can break, and its speed.

The order of frames is the one of the API's documentation on streaming: message_start, ping, per block start, deltas and
stop, then message_delta with the stop reason, then message_stop. Every frame has an `event:` line.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agent.offline.usage import count_tokens

Data = dict[str, Any]
# A stream of the real API gathers tokens: about this many frames a second, whatever the speed.
FRAMES_PER_SECOND = 20
UNPACED_TOKENS_PER_FRAME = 8


@dataclass(frozen=True, slots=True)
class Frame:
    """`tokens` is how much of the speed it uses up."""

    data: Data
    tokens: int = 0

    def encode(self, *, event_line: bool = True) -> bytes:
        line = f"event: {self.data['type']}\n" if event_line else ""
        return f"{line}data: {json.dumps(self.data, ensure_ascii=False)}\n\n".encode("utf-8", "replace")


def frames_of(message: Data, *, tokens_per_second: float) -> list[Frame]:
    """All frames of a finished message."""
    per_frame = max(1, round(tokens_per_second / FRAMES_PER_SECOND)) if tokens_per_second else UNPACED_TOKENS_PER_FRAME
    start = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    frames = [Frame({"type": "message_start", "message": start}), Frame({"type": "ping"})]
    for index, block in enumerate(message["content"]):
        frames += _block_frames(index, block, per_frame)
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": message["stop_sequence"]}
    if message.get("stop_details"):
        delta["stop_details"] = message["stop_details"]
    frames.append(Frame({"type": "message_delta", "delta": delta, "usage": message["usage"]}))
    frames.append(Frame({"type": "message_stop"}))
    return frames


def _block_frames(index: int, block: Data, per_frame: int) -> Iterator[Frame]:
    opening: Data
    if block["type"] == "text":
        opening, kind, key, text = {"type": "text", "text": ""}, "text_delta", "text", block["text"]
    else:
        opening = {**block, "input": {}}
        kind, key, text = "input_json_delta", "partial_json", json.dumps(block["input"], ensure_ascii=False)
    yield Frame({"type": "content_block_start", "index": index, "content_block": opening})
    if kind == "input_json_delta":
        yield Frame({"type": "content_block_delta", "index": index, "delta": {"type": kind, key: ""}})
    for piece in pieces(text, per_frame):
        delta = {"type": "content_block_delta", "index": index, "delta": {"type": kind, key: piece}}
        yield Frame(delta, tokens=count_tokens(piece))
    yield Frame({"type": "content_block_stop", "index": index})


def pieces(text: str, tokens: int) -> Iterator[str]:
    """The text in pieces of about so many tokens; nothing is lost between them."""
    piece, budget = "", 0.0
    for character in text:
        piece += character
        budget += 1 if "\u2e80" <= character <= "\uffef" else 0.25
        if budget >= tokens:
            yield piece
            piece, budget = "", 0.0
    if piece:
        yield piece


def cut_in_text(frames: Sequence[Frame]) -> list[Frame]:
    """Up to the middle of the first text, and there it ends."""
    return _up_to_middle(frames, "text_delta")


def cut_in_json(frames: Sequence[Frame]) -> list[Frame]:
    """Up to the middle of the first call's arguments."""
    return _up_to_middle(frames, "input_json_delta")


def _up_to_middle(frames: Sequence[Frame], kind: str) -> list[Frame]:
    """Half of the first block of this kind; a single piece is cut in two, so that something is always missing."""
    blocks = [frame.data["index"] for frame in frames if frame.data.get("delta", {}).get("type") == kind]
    places = [
        place
        for place, frame in enumerate(frames)
        if blocks and frame.data.get("index") == blocks[0] and frame.data.get("delta", {}).get("type") == kind
    ]
    if not places:
        return list(frames[:2])
    if kind == "input_json_delta" and len(places) > 1:
        places = places[1:]  # the first is empty
    middle = places[len(places) // 2]
    cut = list(frames[:middle])
    if len(places) < 3:
        cut.append(_half(frames[middle]))
    return cut


def _half(frame: Frame) -> Frame:
    key = "text" if frame.data["delta"]["type"] == "text_delta" else "partial_json"
    whole = frame.data["delta"][key]
    delta = {**frame.data["delta"], key: whole[: len(whole) // 2]}
    return Frame({**frame.data, "delta": delta}, tokens=frame.tokens)
