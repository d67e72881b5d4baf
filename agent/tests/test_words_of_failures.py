"""What the log says of a request that failed: type and status, and never what a customer has written."""

import json
from typing import Any

import pytest
from pytest_django import Settings
from structlog.testing import capture_logs

from agent import failure_words
from agent.states import TurnState
from agent.tests.helpers import hear, work
from agent.tests.wire import START, Wire
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "0912-345-678"


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order, f"Call me at {SECRET}.")
    return order


def details(order: Order) -> list[str]:
    """Of every line that tells of a failure, while the order's newest turn is worked on."""
    with capture_logs() as lines:
        assert work(order).state == TurnState.FAILED
    assert SECRET not in str(lines)
    return [line["detail"] for line in lines if line["event"] == "model.failed"]


def refuses(wire: Wire, status: int, kind: str, message: str) -> None:
    wire.status, wire.headers = status, {"content-type": "application/json"}
    wire.raw = json.dumps({"type": "error", "error": {"type": kind, "message": message}})


def test_a_refusal_that_quotes_the_request_says_where_and_not_what(wire: Wire, order: Order) -> None:
    refuses(wire, 400, "invalid_request_error", f"messages.0.content: '{SECRET}' is odd")
    assert set(details(order)) == {"400 invalid_request_error: messages.0.content"}


def test_so_does_one_in_the_middle_of_a_stream(wire: Wire, order: Order) -> None:
    error: dict[str, Any] = {"type": "invalid_request_error", "message": f"not taken: {SECRET}"}
    wire.frames = [START, {"type": "error", "error": error}]
    assert set(details(order)) == {"200 invalid_request_error"}


def test_an_error_frame_that_cannot_be_read_is_not_repeated(
    wire: Wire, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.asking.PAUSE_SECONDS", 0.001)
    wire.frames, wire.raw = [START], f"event: error\ndata: {SECRET}\n\n"
    assert set(details(order)) == {"200"}


def test_of_what_breaks_in_a_frame_only_the_kind_is_told() -> None:
    assert failure_words.of_exception(KeyError(SECRET), about_the_way=False) == "KeyError"


def test_what_is_about_the_account_is_told_whole(wire: Wire, order: Order) -> None:
    refuses(wire, 401, "authentication_error", "invalid x-api-key")
    assert details(order) == ["401 authentication_error: invalid x-api-key"]


def test_why_nothing_could_be_reached_is_told(
    order: Order, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.asking.PAUSE_SECONDS", 0.001)
    settings.ANTHROPIC_BASE_URL = "http://127.0.0.1:9"
    assert set(details(order)) == {"APIConnectionError: Connection error."}


@pytest.mark.parametrize(
    ("kind", "message", "said"),
    [
        (SECRET, SECRET, "400"),
        ("APIStatusError", SECRET, "400 APIStatusError"),
        ("permission_error", f"blocked: {SECRET}", "400 permission_error"),
        ("invalid_request_error", f"tools.3.input_schema: {SECRET}", "400 invalid_request_error: tools.3.input_schema"),
        ("invalid_request_error", f"messages {SECRET}: odd", "400 invalid_request_error"),
    ],
)
def test_of_other_words_only_the_place_is_kept(kind: str, message: str, said: str) -> None:
    assert failure_words.of_refusal(400, kind, message) == said
