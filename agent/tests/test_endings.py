"""The table of endings has a line for everything the SDK, the network and the API know, and each line is acted on."""

import builtins
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import anthropic
import httpx2
import pytest
from anthropic._error_classes import ERROR_CLASSES
from anthropic.types import StopReason
from anthropic.types.shared.error_type import ErrorType
from django.conf import settings as desk
from django.utils import translation
from pytest_django import Settings

from agent import calls, endings, intake
from agent.endings import BY_NAME, BY_SIGN, TABLE, Repair, Retry, table_as_markdown
from agent.farewells import FAREWELLS
from agent.models import ModelCall, Turn
from agent.offline.control import Control
from agent.states import TurnState
from agent.tests.helpers import (
    asked,
    call,
    hold,
    talk,
    texts,
    work,
)
from agent.tests.wire import END, START, Frames, Wire, text, tool
from orders.models import Order

# One line per code: what it is called, and its line of the table. A code that the SDK has learnt since is missing here:
# read what it means, then write it down.
KNOWN_CODES = Path(__file__).with_name("known_error_codes.tsv")


def below(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    for each in kind.__subclasses__():
        yield each
        yield from below(each)


def signs(package: str, kinds: Iterator[type[BaseException]]) -> set[str]:
    return {f"{package}.{kind.__name__}" for kind in kinds if kind.__module__.partition(".")[0] == package}


def coded(kind: type[BaseException]) -> bool:
    """A class for one code of the API, below the class of its status."""
    return kind is not anthropic.APIStatusError and "error_code" in vars(kind).get("__annotations__", {})


def of_sdk() -> set[str]:
    kinds: list[type[BaseException]] = [anthropic.AnthropicError, *below(anthropic.AnthropicError)]
    return signs("anthropic", (kind for kind in kinds if not coded(kind)))


def of_network() -> set[str]:
    named = [kind for _, kind in inspect.getmembers(httpx2, inspect.isclass) if issubclass(kind, Exception)]
    return signs("httpx2", (kind for kind in named if not issubclass(kind, Warning)))


def test_every_exception_of_the_sdk_has_a_line_and_none_is_made_up() -> None:
    known = {sign for sign in BY_SIGN if sign.startswith("anthropic.")}
    every = {f"anthropic.{kind.__name__}" for kind in below(anthropic.AnthropicError)} | {"anthropic.AnthropicError"}
    assert of_sdk() - known == set()
    assert known - every == set()


def test_every_code_of_the_api_has_been_read_and_leads_where_it_was_found_to_lead() -> None:
    written = dict(line.split("\t") for line in KNOWN_CODES.read_text(encoding="utf-8").splitlines())
    found = {code: endings.of_class(kind).name for (_, code), kind in ERROR_CLASSES.items() if code}
    assert found == written


def test_every_exception_of_the_network_has_a_line_and_none_is_made_up() -> None:
    assert {sign for sign in BY_SIGN if sign.startswith("httpx2.")} == of_network()
    assert all(hasattr(builtins, sign.partition(".")[2]) for sign in BY_SIGN if sign.startswith("builtins."))


def test_every_stop_reason_and_error_type_has_a_line() -> None:
    assert {sign.partition(":")[2] for sign in BY_SIGN if sign.startswith("stop:")} == set(get_args(StopReason))
    assert set(get_args(ErrorType)) <= {sign.partition(":")[2] for sign in BY_SIGN if sign.startswith("type:")}


def test_no_sign_stands_in_two_lines_and_every_farewell_exists() -> None:
    assert len(BY_SIGN) == sum(len(ending.seen_as) for ending in TABLE)
    assert len(BY_NAME) == len(TABLE)
    assert {ending.last_words.farewell for ending in TABLE} <= set(FAREWELLS)
    assert all(len(ending.name) <= 40 for ending in TABLE)


def test_what_nobody_knows_yet_ends_in_words_and_with_a_person() -> None:
    class NewError(Exception):
        pass

    assert endings.of_stop("a reason of next year").name == "unknown_stop"
    assert endings.of_class(NewError).last_words.hand_off
    assert endings.of_status(anthropic.APIStatusError, status=418, type_="teapot_error").name == "wrong_settings"
    assert endings.of_status(anthropic.APIStatusError, status=200, type_="news_error").name == "passing_fault"
    assert endings.of_status(anthropic.BadRequestError, status=400, type_="billing_error").name == "no_credit"


def test_the_documentation_shows_the_table() -> None:
    page = (Path(desk.BASE_DIR) / "docs" / "agent.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- endings -->\n(.*?)\n<!-- /endings -->", page, re.DOTALL)
    assert shown, "docs/agent.md has no place for the table"
    assert shown.group(1).strip() == table_as_markdown()


# --- each line, acted on: what the stand-in does, and what comes of it when it goes on doing so ---

FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("refusal", {}, "refusal"),
    ("max_tokens", {}, "max_tokens"),
    ("empty", {}, "empty"),
    ("cut_text", {}, "no_stop_reason"),
    ("cut_json", {}, "no_stop_reason"),
    ("no_event_lines", {}, "broken_frames"),
    ("cut_socket", {}, "connection_cut"),
    ("overloaded_midstream", {}, "overloaded"),
    ("overloaded_529", {}, "overloaded"),
    ("error", {"status": 529, "kind": "overloaded_error", "code": "compaction_unavailable"}, "overloaded"),
    ("rate_limited", {"retry_after": 0}, "rate_limited"),
    ("error_midstream", {"kind": "rate_limit_error"}, "rate_limited"),
    ("api_error_500", {}, "passing_fault"),
    ("error_midstream", {"kind": "api_error"}, "passing_fault"),
    ("error_midstream", {"kind": "timeout_error"}, "passing_fault"),
    ("error", {"status": 408, "kind": "timeout_error"}, "passing_fault"),
    ("error", {"status": 409, "kind": "conflict_error"}, "passing_fault"),
    ("error", {"status": 499, "kind": "api_error"}, "passing_fault"),
    ("error", {"status": 503, "kind": "api_error"}, "passing_fault"),
    ("error", {"status": 504, "kind": "timeout_error"}, "passing_fault"),
    ("error", {"status": 400}, "bad_request"),
    ("error", {"status": 422}, "bad_request"),
    ("error_midstream", {"kind": "invalid_request_error"}, "bad_request"),
    ("error", {"status": 413, "kind": "request_too_large"}, "window_exceeded"),
    ("error", {"status": 400, "kind": "billing_error"}, "no_credit"),
    ("error", {"status": 402, "kind": "billing_error"}, "no_credit"),
    ("error", {"status": 429, "kind": "rate_limit_error", "code": "enforced_spend_limit_reached"}, "no_credit"),
    ("error", {"status": 401, "kind": "authentication_error"}, "not_admitted"),
    ("error", {"status": 403, "kind": "permission_error"}, "not_admitted"),
    ("error_midstream", {"kind": "authentication_error"}, "not_admitted"),
    ("error", {"status": 404, "kind": "not_found_error"}, "wrong_settings"),
    ("error", {"status": 418, "kind": "teapot_error"}, "wrong_settings"),
    ("error", {"status": 431, "kind": "invalid_request_error"}, "wrong_settings"),
    ("error", {"status": 501, "kind": "api_error"}, "wrong_settings"),
    ("error", {"status": 412, "kind": "memory_precondition_failed_error"}, "not_ours"),
]


@pytest.fixture
def order(asked_order: Order) -> Order:
    return asked_order


def requests_in_all(ending: endings.Ending) -> int:
    """How often the model is asked at most where every request ends like this."""
    if isinstance(ending.what, Retry):
        return ending.what.tries
    return 1 + len(ending.what.how) if isinstance(ending.what, Repair) else 1


@pytest.mark.parametrize(("mode", "options", "name"), FAULTS)
def test_every_line_is_acted_on(model: Control, order: Order, mode: str, options: dict[str, Any], name: str) -> None:
    model.misbehave(mode, **options)
    turn = work(order)
    ending = BY_NAME[name]
    assert (turn.state, turn.error) == (TurnState.FAILED, name)
    assert {each.ending for each in ModelCall.objects.all()} == {name}
    assert len(model.requests()) == requests_in_all(ending)
    with translation.override("en"):
        assert FAREWELLS[ending.last_words.farewell]() in texts(order, "system")[-1]
    assert talk(order).needs_person is ending.last_words.hand_off
    assert ("asked a colleague" in texts(order, "system")[-1]) is ending.last_words.hand_off


def stopped(reason: str) -> Frames:
    return [{"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}}, END[1]]


@pytest.mark.parametrize(
    ("frames", "name"),
    [
        ([START, *tool(0, "{}"), *END], "empty"),
        ([START, *text(0, "x"), *stopped("tool_use")], "malformed_reply"),
        ([START, *tool(0, "{}"), *tool(1, "{}"), *stopped("tool_use")], "malformed_reply"),
        ([START, *text(0, "x"), *stopped("of_next_year")], "unknown_stop"),
        ([START, *text(0, "x")], "no_stop_reason"),
    ],
    ids=["a call the stop reason knows nothing of", "no call", "an id twice", "unknown reason", "no reason"],
)
def test_replies_that_no_model_should_give_have_their_line(wire: Wire, order: Order, frames: Frames, name: str) -> None:
    wire.frames = frames
    turn = work(order)
    assert (turn.state, turn.error) == (TurnState.FAILED, name)
    assert ModelCall.objects.count() == requests_in_all(BY_NAME[name])
    assert not asked_for_tools(order)


def asked_for_tools(order: Order) -> bool:
    return talk(order).tool_calls.exists()


def test_a_call_with_an_id_that_was_used_before_is_no_reply(wire: Wire, order: Order) -> None:
    hold(order)
    (first,) = asked(order, call("get_order"))
    first.tool_use_id = "toolu_used"
    first.save()
    first.message.content[0]["id"] = "toolu_used"
    first.message.save()
    calls.answer(first, {})
    Turn.objects.update(state=TurnState.QUEUED)
    wire.frames = [START, *tool(0, "{}"), *stopped("tool_use")]
    wire.frames[1]["content_block"]["id"] = "toolu_used"
    assert work(order).error == "malformed_reply"
    assert talk(order).tool_calls.count() == 1


def test_a_model_that_is_silent_or_away_has_its_line(order: Order, model: Control, settings: Settings) -> None:
    settings.AGENT_MODEL_TIMEOUT_SECONDS = 0.1
    model.misbehave("stall")
    assert work(order).error == "silence"
    settings.ANTHROPIC_BASE_URL = "http://127.0.0.1:9"
    assert intake.try_again(conversation=talk(order))
    assert work(order).error == "unreachable"


def test_the_settings_of_a_url_that_is_none_have_their_line(order: Order, settings: Settings) -> None:
    settings.ANTHROPIC_BASE_URL = "nowhere://127.0.0.1"
    assert work(order).state == TurnState.FAILED
    assert texts(order, "system")


def test_every_line_was_tried() -> None:
    here = {
        "false_claim",
        "unknown_stop",
        "malformed_reply",
        "silence",
        "unreachable",
        "out_of_time",
        "told_later",
        "left",
    }
    kept = {"end_turn", "tool_use", "pause_turn"}
    assert {name for _, _, name in FAULTS} | here | kept == set(BY_NAME)
