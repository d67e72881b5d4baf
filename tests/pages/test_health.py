"""Who asks whether the service is well gets an answer in time, part by part."""

import threading
import time
from collections.abc import Generator

import pytest
import redis
from django.test import Client
from pytest_django import Settings

from backoffice import health, heartbeat, metrics
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db
QUEUES = ("chat", "money", "sweep", "shop")


@pytest.fixture
def model_listens(settings: Settings) -> Generator[None]:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.ANTHROPIC_BASE_URL = f"http://127.0.0.1:{server.getsockname()[1]}"
        yield


def test_alive_says_so_without_looking_at_anything(client: Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}


@pytest.mark.usefixtures("model_listens")
def test_ready_when_every_part_answers(client: Client) -> None:
    heartbeat.beat(QUEUES, "one@here")
    answer = client.get("/readyz")
    assert answer.json() == dict.fromkeys(["database", "redis", *(f"worker_{name}" for name in QUEUES), "model"], "ok")
    assert answer.status_code == 200


@pytest.mark.usefixtures("model_listens")
@pytest.mark.parametrize("queue", QUEUES)
def test_a_worker_that_does_not_renew_its_sign_of_life_is_missing(client: Client, queue: str) -> None:
    heartbeat.beat(set(QUEUES) - {queue}, "one@here")
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert [part for part, said in answer.json().items() if said != "ok"] == [f"worker_{queue}"]


@pytest.mark.usefixtures("model_listens")
def test_a_worker_that_goes_leaves_the_other_ones_sign_of_life(client: Client) -> None:
    for worker in ("one@here", "two@here"):
        heartbeat.beat(QUEUES, worker)
    heartbeat.fade(QUEUES, "one@here")
    assert client.get("/readyz").status_code == 200
    heartbeat.fade(["chat"], "two@here")
    assert client.get("/readyz").json()["worker_chat"] == "missing"


def test_one_of_two_workers_that_is_not_heard_of_any_more_is_missing_in_the_numbers(redis_server: redis.Redis) -> None:
    for worker in ("one@here", "two@here"):
        heartbeat.beat(QUEUES, worker)
    assert metrics.read_redis()["workers", ("chat",), ""] == 2
    redis_server.zincrby(heartbeat.key("chat"), -heartbeat.FADES_AFTER_SECONDS - 1, "one@here")
    sums = metrics.read_redis()
    assert (sums["workers", ("chat",), ""], sums["worker_up", ("chat",), ""]) == (1, 1)
    assert sums["workers", ("money",), ""] == 2


def test_a_model_that_nobody_serves_is_missing(client: Client, settings: Settings) -> None:
    settings.ANTHROPIC_BASE_URL = "http://127.0.0.1:9"
    assert client.get("/readyz").json()["model"] == "missing"


def test_redis_that_is_away_is_reported_and_the_rest_still_answers(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    parts = client.get("/readyz").json()
    assert (parts["redis"], parts["worker_chat"], parts["database"]) == ("missing", "missing", "ok")


def test_a_part_that_hangs_does_not_hang_the_answer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def hang() -> None:
        released.wait(30)

    stuck = health.Probe("model", hang)
    monkeypatch.setattr(health, "PROBES", [health.Probe("database", health.ask_database), stuck])
    began = time.monotonic()
    answers = [client.get("/readyz") for _ in range(2)]
    released.set()
    assert time.monotonic() - began < 4
    assert [answer.json() for answer in answers] == [{"database": "ok", "model": "no answer"}] * 2


def test_metrics_are_for_superusers_and_for_the_scrape_token(
    client: Client, admin_client: Client, settings: Settings
) -> None:
    settings.METRICS_TOKEN = "scrape-me"
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert client.get("/metrics", headers={"Authorization": "Bearer scrape-me"}).status_code == 200
    assert b"python_info" in admin_client.get("/metrics").content


@pytest.mark.parametrize("name", ["ming", "staff", "supervisor", "auditor"])
def test_whoever_is_signed_in_and_no_superuser_reads_no_numbers(name: str) -> None:
    answer = signed_in(name).get("/metrics")
    assert answer.status_code == 403
    assert "refund_desk_" not in text_of(answer)


def test_an_empty_scrape_token_opens_nothing(client: Client, settings: Settings) -> None:
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 401
