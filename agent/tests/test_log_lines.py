"""What the log says of a turn: one JSON object per line, with the ids of what it is about and without anybody's words.

The lines are those of the product's own formatter, as every process writes them.
"""

import io
import json
import logging
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import structlog
from django.db import IntegrityError
from django.db.models import F
from django.test import Client
from django.utils import timezone

from agent import loop, sweep
from agent.models import Message, ModelCall, ToolCall, Turn
from agent.offline.control import Control
from agent.tasks import run_turn
from agent.tests.helpers import CASE, call, hear, newest_turn, reply, talk
from backoffice import celery_app
from backoffice.logs import JsonLines
from orders import jobs
from orders.models import AuditEvent, Order
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)
Line = dict[str, Any]
Lines = Callable[[], list[Line]]


@pytest.fixture(autouse=True)
def nothing_bound() -> Iterator[None]:
    structlog.contextvars.clear_contextvars()
    yield
    structlog.contextvars.clear_contextvars()


@pytest.fixture
def lines() -> Iterator[Lines]:
    """Everything logged since the test began."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    logging.getLogger().addHandler(handler)
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    logging.getLogger().removeHandler(handler)


def about(lines: Lines, event: str) -> list[Line]:
    return [line for line in lines() if line["event"] == event]


def test_every_line_of_a_turn_names_request_conversation_and_turn(model: Control, lines: Lines) -> None:
    order = cast.order_5531()
    hear(order)
    turn = newest_turn(order)
    model.script([reply("Let me see.", call("quote_refund", lines=[{**CASE, "line_item_id": "li_9"}])), reply("No.")])
    before = len(lines())
    with structlog.contextvars.bound_contextvars(request_id="r-1"):
        loop.run(turn.pk)
    ids = {"request_id": "r-1", "conversation_id": talk(order).pk, "turn_id": turn.pk}
    of_the_turn = lines()[before:]
    assert [line["event"] for line in of_the_turn if {**line, **ids} != line] == []
    events = [line["event"] for line in of_the_turn]
    assert events.count("model.called") == ModelCall.objects.count() == 2
    assert events.count("tool.called") == 1


def test_a_request_to_the_model_says_how_it_ended_how_long_it_took_and_what_it_used(
    model: Control, lines: Lines
) -> None:
    order = cast.order_5531()
    hear(order)
    model.misbehave("overloaded_529", times=1)
    loop.run(newest_turn(order).pk)
    failed, ended = about(lines, "model.called")
    assert {failed["turn_id"], ended["turn_id"]} == {newest_turn(order).pk}
    row = ModelCall.objects.get(attempt=2)
    assert (failed["step"], failed["attempt"], ended["attempt"], ended["ending"]) == (1, 1, 2, "end_turn")
    assert failed["ending"] == ModelCall.objects.get(attempt=1).ending != "end_turn"
    assert ended["duration_ms"] >= ended["first_text_ms"] >= 0
    assert (ended["output_tokens"], ended["cost_micro"]) == (row.output_tokens, row.cost_micro)
    assert ended["api_request_id"] == row.request_id != ""


def test_a_tool_call_says_what_it_came_to_under_the_models_own_id(model: Control, lines: Lines) -> None:
    order = cast.order_5531()
    hear(order)
    model.script([reply("", call("get_order"), call("no_such_tool")), reply("Well.")])
    loop.run(newest_turn(order).pk)
    ran, refused = about(lines, "tool.called")
    ids = list(ToolCall.objects.order_by("pk").values_list("tool_use_id", flat=True))
    assert [ran["tool_call_id"], refused["tool_call_id"]] == ids
    assert (ran["state"], ran["code"], refused["code"]) == ("answered", "", "unknown_tool")
    assert ran["duration_ms"] >= 0
    assert not ToolCall.objects.exclude(started_at__lte=F("answered_at")).exists()


def test_lines_of_libraries_name_the_tool_call_that_they_were_written_in(lines: Lines) -> None:
    with structlog.contextvars.bound_contextvars(tool_call_id="toolu_7"):
        logging.getLogger("another.package").warning("disk %s", "full")
    (line,) = lines()
    assert (line["event"], line["tool_call_id"], line["level"]) == ("disk full", "toolu_7", "warning")


def test_a_traceback_stays_on_its_line(lines: Lines) -> None:
    try:
        raise ValueError("two\nlines")
    except ValueError:
        structlog.get_logger("x").exception("it.broke")
    (line,) = lines()
    assert line["exception"].endswith("ValueError: two\nlines")


def test_nobodys_words_are_logged(model: Control, lines: Lines) -> None:
    order = cast.order_5531()
    hear(order, "my secret is swordfish", language="en")
    model.script([reply("You said herring.", call("quote_refund", lines=[{"line_item_id": "mackerel"}])), reply("Ah.")])
    loop.run(newest_turn(order).pk)
    everything = json.dumps(lines(), ensure_ascii=False)
    assert not [word for word in ("swordfish", "herring", "mackerel", "王小明", "ming@") if word in everything]


def sent(order: Order) -> Line:
    """The newest job as the broker has it."""
    with celery_app.connection_for_read() as connection:
        message = connection.SimpleQueue("chat").get(block=False)
        message.ack()
        return {**message.headers}


def test_the_post_and_the_job_that_answers_it_name_the_same_request(lines: Lines) -> None:
    order = cast.order_5531()
    client = Client()
    client.force_login(cast.customer_user())
    answer = client.post("/orders/5531/chat/messages/", {"text": "hello"}, headers={"Accept": "application/json"})
    request_id = answer["X-Request-ID"]
    assert sent(order)["request_id"] == request_id
    (line,) = about(lines, "request.done")
    assert (line["request_id"], line["method"], line["status"]) == (request_id, "POST", 202)
    assert "5531" not in line["route"], "the route, not the address"
    (job,) = about(lines, "job.sent")
    assert (job["task"], job["args"], job["request_id"]) == (
        "agent.tasks.run_turn",
        [newest_turn(order).pk],
        request_id,
    )
    asked_for = AuditEvent.objects.get(action="turn.queued", correlation__request_id=request_id)
    assert asked_for.subject_id == str(newest_turn(order).pk)


def test_looking_is_not_logged(lines: Lines) -> None:
    Client().get("/healthz")
    assert about(lines, "request.done") == []


def test_that_a_page_is_visible_is_not_logged_three_times_a_minute(lines: Lines) -> None:
    cast.order_5531()
    client = Client()
    client.force_login(cast.customer_user())
    client.post("/orders/5531/chat/seen/")
    assert about(lines, "request.done") == []


def test_a_page_that_may_not_say_so_is_logged_with_what_it_was_told(lines: Lines) -> None:
    cast.order_5531()
    client = Client(enforce_csrf_checks=True)
    client.post("/orders/5531/chat/seen/")
    stranger = Client()
    stranger.force_login(cast.customer_user("ming2"))
    stranger.post("/orders/5531/chat/seen/")
    said = [(line["route"], line["status"]) for line in about(lines, "request.done")]
    assert said == [("orders/<order_number:number>/chat/seen/", status) for status in (403, 404)]


def test_a_job_works_under_the_id_of_the_request_that_caused_it_and_leaves_nothing_bound(
    model: Control, lines: Lines
) -> None:
    order = cast.order_5531()
    hear(order)
    run_turn.apply(args=(newest_turn(order).pk,), headers={"request_id": "r-9"}, throw=True)
    moved = [line for line in about(lines, "turn.moved") if line["state"] in {"running", "done"}]
    assert [(line["request_id"], bool(line["job_id"])) for line in moved] == [("r-9", True)] * 2
    assert AuditEvent.objects.get(action="turn.done").correlation["request_id"] == "r-9"
    assert structlog.contextvars.get_contextvars() == {}


def test_what_one_job_has_left_bound_is_not_told_of_the_next_in_its_thread() -> None:
    seen: list[dict[str, Any]] = []

    @celery_app.task(name="tests.forgetful")
    def forgetful() -> None:
        seen.append(structlog.contextvars.get_contextvars())
        structlog.contextvars.bind_contextvars(order_id=5531)

    def thread_of_a_worker() -> None:
        for number in (1, 2):
            jobs._say_for_whom(task=forgetful, task_id=str(number))
            forgetful.run()
            jobs._say_no_more(task=forgetful)

    worker = threading.Thread(target=thread_of_a_worker)
    worker.start()
    worker.join()
    del celery_app.tasks["tests.forgetful"]
    assert seen == [{"job_id": "1"}, {"job_id": "2"}]


def test_a_job_that_a_sweeper_sends_again_is_for_the_request_that_the_first_one_was_for(
    lines: Lines,
) -> None:
    order = cast.order_5531()
    with structlog.contextvars.bound_contextvars(request_id="r-5"):
        hear(order)
    sent(order)
    Turn.objects.update(queued_at=timezone.now() - timedelta(minutes=1))
    sweep.sweep()
    assert sent(order)["request_id"] == "r-5"
    (found,) = about(lines, "turn.found")
    assert (found["request_id"], found["turn_id"]) == ("r-5", newest_turn(order).pk)
    assert "request_id" not in structlog.contextvars.get_contextvars()


def test_a_traceback_tells_which_rule_a_row_broke_and_not_what_somebody_wrote_in_it(lines: Lines) -> None:
    order = cast.order_5531()
    hear(order)
    number = "0912-345-678"
    try:
        Message.objects.create(conversation=talk(order), author="agent", stop_reason=number, content=None)
    except IntegrityError:
        structlog.get_logger("agent.tests").exception("turn.broke")
    (broke,) = about(lines, "turn.broke")
    assert number not in str(broke)
    assert broke["exception"].count('null value in column "content"') == 2
    assert "The above exception was the direct cause" in broke["exception"]
    assert broke["exception"].startswith("Traceback")
