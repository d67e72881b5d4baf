"""The stand-in's own door: scripts, misbehaviour for so many requests, the log, and who may use it."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from agent.offline.app import StandIn
from agent.offline.server import OfflineModel

HEADERS = {"x-api-key": "any", "anthropic-version": "2023-06-01"}


@pytest.fixture
def model() -> Iterator[OfflineModel]:
    with OfflineModel() as running:
        yield running


def ask(model: OfflineModel, text: str = "您好", **more: Any) -> httpx2.Response:
    body = {"model": "claude-sonnet-5-5", "max_tokens": 300, "messages": [{"role": "user", "content": text}], **more}
    return httpx2.post(f"{model.url}/v1/messages", json=body, headers=HEADERS)


def order(model: OfflineModel, path: str, body: Any) -> httpx2.Response:
    return httpx2.post(model.url + path, json=body)


def test_scripted_replies_come_once_each_and_in_order(model: OfflineModel) -> None:
    replies = [
        {"text": "一", "tool_uses": [{"name": "get_order", "input": {}}]},
        {"text": "二", "stop_reason": "pause_turn"},
    ]
    assert order(model, "/control/script", {"replies": replies}).json() == {"scripted": 2}

    first, second, third = (ask(model).json() for _ in range(3))
    assert [block["type"] for block in first["content"]] == ["text", "tool_use"]
    assert first["stop_reason"] == "tool_use"
    assert (second["content"][0]["text"], second["stop_reason"]) == ("二", "pause_turn")
    assert "您好" in third["content"][0]["text"]


def test_a_script_can_wait_for_a_marker(model: OfflineModel) -> None:
    order(model, "/control/script", {"replies": [{"text": "給暗號的人", "match": "暗號"}]})

    assert "給暗號的人" not in ask(model, "您好").text
    assert "給暗號的人" in ask(model, "暗號是什麼").text
    assert "給暗號的人" not in ask(model, "暗號是什麼").text


def test_a_mode_lasts_for_so_many_requests(model: OfflineModel) -> None:
    assert order(model, "/control", {"mode": "overloaded_529", "times": 2}).json()["times"] == 2
    assert [ask(model).status_code for _ in range(3)] == [529, 529, 200]


def test_a_mode_without_a_number_lasts_until_reset(model: OfflineModel) -> None:
    order(model, "/control", {"mode": "overloaded_529"})
    assert {ask(model).status_code for _ in range(3)} == {529}
    httpx2.delete(f"{model.url}/control")
    assert ask(model).status_code == 200


def test_a_mode_can_concern_one_conversation_only(model: OfflineModel) -> None:
    order(model, "/control", {"mode": "overloaded_529", "match": "這一位"})
    assert ask(model, "別人").status_code == 200
    assert ask(model, "這一位").status_code == 529


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("/control", {"mode": "explode"}, "mode"),
        ("/control", {}, "mode"),
        ("/control", {"mode": "slow", "times": 0}, "times"),
        ("/control", {"mode": "slow", "seconds": "long"}, "seconds"),
        ("/control", {"mode": "slow", "colour": 1}, "colour"),
        ("/control", [], "object"),
        ("/control/script", {}, "replies"),
        ("/control/script", {"replies": [{"words": "x"}]}, "replies[0]"),
        ("/control/script", {"replies": [{"tool_uses": [{"input": {}}]}]}, "tool_uses"),
    ],
)
def test_orders_that_mean_nothing_are_refused(model: OfflineModel, path: str, body: Any, says: str) -> None:
    answer = order(model, path, body)
    assert answer.status_code == 400
    assert says in answer.json()["error"]["message"]


def test_the_log_keeps_what_was_asked_and_answered(model: OfflineModel) -> None:
    ask(model, "第一句")
    ask(model, "第二句", temperature=1)
    order(model, "/control", {"mode": "rate_limited", "times": 1})
    ask(model, "第三句")

    log = httpx2.get(f"{model.url}/control/log").json()["requests"]
    assert [entry["status"] for entry in log] == [200, 400, 429]
    assert log[0]["body"]["messages"][0]["content"] == "第一句"
    assert log[0]["stop_reason"] == "end_turn"
    assert log[0]["usage"]["output_tokens"] > 0
    assert "temperature" in log[1]["error"]
    assert log[2]["mode"] == "rate_limited"
    assert log == model.control.requests()


def test_a_page_in_a_browser_cannot_use_the_door(model: OfflineModel) -> None:
    body = '{"mode": "overloaded_529"}'
    answer = httpx2.post(f"{model.url}/control", content=body, headers={"content-type": "text/plain"})
    assert answer.status_code == 415
    assert ask(model).status_code == 200


@pytest.mark.parametrize(("client", "status"), [(("127.0.0.1", 9), 200), (("::1", 9), 200), (("10.0.0.7", 9), 404)])
def test_the_door_is_open_on_loopback_only(client: tuple[str, int], status: int) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(event: Any) -> None:
        sent.append(event)

    scope = {"type": "http", "method": "GET", "path": "/control/log", "headers": [], "client": client}
    asyncio.run(StandIn()(scope, receive, send))
    assert sent[0]["status"] == status
