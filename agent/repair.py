"""Any history becomes one that the Messages API takes: it refuses a malformed one for ever, whatever is said next.

What is in order already stays as it is, block for block. Thinking goes back unchanged and in its place.
"""

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from agent import calls

Block = dict[str, Any]
History = list[dict[str, Any]]
THINKING: Final = frozenset({"thinking", "redacted_thinking"})
CALL_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
# A request may not end with the model's own words.
GO_ON: Final[Block] = {"type": "text", "text": "<from_system>Go on.</from_system>"}


def repaired(messages: Iterable[dict[str, Any]]) -> History:
    """The same history, valid: roles alternate, the customer begins and has the last word, no block is empty, every
    call is answered once, directly behind it and before any words. Doing it again changes nothing.
    """
    history = _answered(_merged(messages))
    if not history or history[-1]["role"] == "assistant":
        history.append({"role": "user", "content": [GO_ON]})
    return history


def no_answer(tool_use_id: str) -> Block:
    """The result of a call that was never carried out."""
    return {
        "type": "tool_result",
        "tool_use_id": tool_use_id,
        "content": json.dumps(calls.NO_ANSWER, ensure_ascii=False),
        "is_error": True,
    }


def _merged(messages: Iterable[dict[str, Any]]) -> History:
    """Usable blocks only, neighbours of one role together, beginning with the customer."""
    history: History = []
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if role not in USABLE:
            continue
        _add(history, role, [block for block in _blocks(content) if USABLE[role](block)])
    return history[1:] if history and history[0]["role"] == "assistant" else history


def _add(history: History, role: str, blocks: list[Block]) -> None:
    if not blocks:
        return
    if history and history[-1]["role"] == role:
        history[-1]["content"] = [*history[-1]["content"], *blocks]
    else:
        history.append({"role": role, "content": blocks})


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _is_text(block: Any) -> bool:
    text = block.get("text")
    return isinstance(text, str) and bool(text.strip())


def _of_customer(block: Any) -> bool:
    if not isinstance(block, dict):
        return False
    if block.get("type") == "tool_result":
        return isinstance(block.get("tool_use_id"), str) and isinstance(block.get("content", ""), str)
    return block.get("type") == "text" and _is_text(block)


def _of_model(block: Any) -> bool:
    if not isinstance(block, dict):
        return False
    if block.get("type") == "tool_use":
        name, arguments = block.get("name"), block.get("input")
        whole = isinstance(name, str) and bool(name) and isinstance(arguments, dict)
        return whole and isinstance(block.get("id"), str) and bool(CALL_ID.fullmatch(block["id"]))
    return block.get("type") in THINKING or (block.get("type") == "text" and _is_text(block))


USABLE: Final = {"user": _of_customer, "assistant": _of_model}


def _answered(history: History) -> History:
    """Every call with its one answer right behind it; an answer without its call, and an id once more, are left out."""
    known: set[str] = set()
    whole: History = []
    waiting: list[str] = []
    for message in history:
        if message["role"] == "user":
            _add(whole, "user", _results_first(message["content"], waiting))
            waiting = []
            continue
        if not whole:
            continue  # what the customer began with was of no use: the model cannot begin
        if waiting:
            _add(whole, "user", [no_answer(each) for each in waiting])
        blocks = _once(message["content"], known)
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        _add(whole, "assistant", blocks)
    _add(whole, "user", [no_answer(each) for each in waiting])
    return whole


def _once(blocks: list[Block], known: set[str]) -> list[Block]:
    """The model's blocks without calls whose id is taken; thinking with nothing behind it is refused, so it goes."""
    kept = []
    for block in blocks:
        if block["type"] != "tool_use":
            kept.append(block)
        elif block["id"] not in known:
            known.add(block["id"])
            kept.append(block)
    while kept and kept[-1]["type"] in THINKING:
        kept.pop()
    return kept


def _results_first(blocks: list[Block], waiting: list[str]) -> list[Block]:
    answers: dict[str, Block] = {}
    for block in blocks:
        if block["type"] == "tool_result" and block["tool_use_id"] in waiting:
            answers.setdefault(block["tool_use_id"], block)
    others = [block for block in blocks if block["type"] != "tool_result"]
    return [*(answers.get(each) or no_answer(each) for each in waiting), *others]
