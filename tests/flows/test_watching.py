"""Watching the whole desk: one id leads from a customer's message through web and workers, and /metrics tells of it."""

import json
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from backoffice.local.stack import CHAT_WORKERS, WORKERS, Stack
from tests.flows.chat import another_5531, open_refund_card
from tests.stack import Visitor, wait_until


def lines_of(stack: Stack, *processes: str) -> list[dict[str, Any]]:
    """The logs of processes; a line that is no JSON object fails here. One that is being written is left out."""
    logs = [(stack.folder / "logs" / f"{process}.log").read_text(encoding="utf-8") for process in processes]
    return [json.loads(line) for log in logs for line in log.rpartition("\n")[0].splitlines()]


def test_one_id_leads_from_the_message_to_the_card_in_the_logs_of_web_and_worker(stack: Stack) -> None:
    number = another_5531(stack, "watched")
    with Visitor(stack, "ming") as ming:
        said = ming.post(
            f"/orders/{number}/chat/messages/",
            {"text": "耳機殼還沒寄到，我不想等了"},
            headers={"Accept": "application/json"},
        )
    open_refund_card(stack, number)
    request_id = said.headers["X-Request-ID"]

    def whole_turn() -> list[dict[str, Any]]:
        mine = [line for line in lines_of(stack, *CHAT_WORKERS) if line.get("request_id") == request_id]
        return mine if any(line.get("state") == "waiting" for line in mine) else []

    of_the_turn = wait_until(whole_turn)
    (posted,) = [
        line for line in lines_of(stack, "web") if line["event"] == "request.done" and line["request_id"] == request_id
    ]
    assert posted["route"].endswith("chat/messages/")
    (turn_id,) = {line["turn_id"] for line in of_the_turn if "turn_id" in line}
    (job,) = {line["job_id"] for line in of_the_turn}
    assert {"turn.moved", "model.called", "tool.called"} <= {line["event"] for line in of_the_turn}
    others = [line for line in lines_of(stack, *CHAT_WORKERS) if line.get("turn_id") == turn_id]
    assert others == [line for line in of_the_turn if "turn_id" in line], "no line of the turn is without the request"
    assert job


def test_every_process_writes_json_and_nothing_else(stack: Stack) -> None:
    for process in ("web", *WORKERS, "beat"):
        assert all({"event", "level", "timestamp"} <= line.keys() for line in lines_of(stack, process)), process


def test_the_numbers_of_the_running_desk_tell_of_the_turn(stack: Stack) -> None:
    def numbers() -> dict[str, float]:
        with Visitor(stack, "admin") as admin:
            page = admin.get("/metrics").text
        return {
            sample.name + "".join(sample.labels.values()): sample.value
            for family in text_string_to_metric_families(page)
            for sample in family.samples
            if family.name.startswith("refund_desk_")
        }

    def told_of_a_turn() -> dict[str, float]:
        found = numbers()
        return found if "refund_desk_turn_duration_seconds_countwaiting" in found else {}

    told = wait_until(told_of_a_turn)
    assert told["refund_desk_worker_upchat"] == told["refund_desk_numbers_updatabase"] == 1
    assert told["refund_desk_queue_jobschat"] == 0
    assert told["refund_desk_first_text_seconds_count"] >= 1
    assert sum(value for name, value in told.items() if name.startswith("refund_desk_model_cost_dollars_total")) > 0
