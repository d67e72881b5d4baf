"""The whole desk for tests that need workers, a browser or a crash, and a visitor who signs in to it.

The fixture `stack` (tests/conftest.py) runs it once per session; `Visitor` is a browser without a screen.
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2
import psycopg
from psycopg.rows import dict_row

from backoffice.local.folders import remove
from backoffice.local.processes import free_port
from backoffice.local.stack import Stack

# Lost work is looked for more often than in production, so that a test of a crash takes seconds.
QUICK = {
    "SWEEP_SECONDS": "2",
    "AGENT_LEASE_SECONDS": "5",
    "GATEWAY_TIMEOUT_SECONDS": "4",
    "CHAT_MESSAGES_PER_MINUTE": "600",
    "OFFICE_HOURS": "",
    "CLOSED_DAYS": "",
    # A stand-in that talks four times as fast: still a stream, and still long enough to be killed in the middle.
    "OFFLINE_FIRST_TOKEN_MS": "80",
    "OFFLINE_TOKENS_PER_SECOND": "240",
}
T = TypeVar("T")
OF_THE_TEST_SESSION = ("DATABASE_URL", "REDIS_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "DJANGO_SETTINGS_MODULE")


def fresh_environment(**extra: str) -> dict[str, str]:
    """This process's environment without the servers of the test session."""
    return {name: value for name, value in os.environ.items() if name not in OF_THE_TEST_SESSION} | extra


@contextmanager
def running_stack(*, seed: bool = True, **extra: str) -> Iterator[Stack]:
    """A stack of its own on a free port, with its servers; `extra` are settings. Gone afterwards, data included."""
    folder = Path(tempfile.mkdtemp(prefix="refund-desk-stack-"))
    env = fresh_environment(**{**QUICK, **extra})
    stack = Stack(folder=folder, port=free_port(), env=env, seed=seed, durable=False)
    try:
        stack.start()
        yield stack
    finally:
        stack.stop()
        if kept := os.environ.get("KEEP_LOGS"):
            shutil.copytree(folder / "logs", Path(kept) / folder.name)
        remove(folder)


def wait_until(condition: Callable[[], T | None], timeout: float = 30.0, every: float = 0.1) -> T:
    """Ask `condition` again and again and return its first true answer. Raises `TimeoutError`."""
    deadline = time.monotonic() + timeout
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{getattr(condition, '__name__', condition)} was not true within {timeout:.0f} s")
        time.sleep(every)
    return answer


def rows(stack: Stack, query: str, *values: Any) -> list[dict[str, Any]]:
    """What the stack's database answers, read past the application."""
    with psycopg.connect(stack.database_url, row_factory=dict_row, autocommit=True) as connection:
        cursor = connection.execute(query.encode(), values)
        return cursor.fetchall() if cursor.description else []


class Visitor:
    """Somebody with a browser: keeps cookies, follows redirects, sends Django's CSRF token with every post."""

    def __init__(self, stack: Stack, username: str | None = None, *, password: str = "demo", language: str = "zh-TW"):
        self.client = httpx2.Client(
            base_url=stack.url,
            headers={"Accept-Language": language, "Referer": f"{stack.url}/"},
            follow_redirects=True,
            timeout=30,
            trust_env=False,
        )
        if username is not None:
            self.sign_in(username, password)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()

    def sign_in(self, username: str, password: str) -> None:
        self.get("/accounts/login/")
        answer = self.post("/accounts/login/", {"username": username, "password": password})
        if "sessionid" not in self.client.cookies:
            raise AssertionError(f"{username} could not sign in: {answer.status_code} {answer.text[:300]}")

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return self.client.get(path, **options)

    def post(self, path: str, data: Mapping[str, Any] | None = None, **options: Any) -> httpx2.Response:
        headers = {"X-CSRFToken": self.client.cookies.get("csrftoken") or "", **options.pop("headers", {})}
        return self.client.post(path, data=data, headers=headers, **options)

    def post_json(self, path: str, body: Any, **options: Any) -> httpx2.Response:
        return self.post(path, json=body, **options)

    def events(self, path: str, *, after: str | None = None, timeout: float = 60.0) -> Iterator[tuple[str, str, Any]]:
        """Server-sent events as (id, event, data); ends with the stream, or raises when it is silent for `timeout`."""
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": after} if after else {})
        with self.client.stream("GET", path, headers=headers, timeout=timeout) as answer:
            answer.raise_for_status()
            yield from parse_events(answer.iter_lines())


def parse_events(lines: Iterator[str]) -> Iterator[tuple[str, str, Any]]:
    """The frames of an event stream; data is JSON where it can be, else text."""
    last_id, event, data = "", "message", list[str]()
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            last_id = value
        elif name == "event":
            event = value
        elif name == "data":
            data.append(value)
        elif not line and data:
            yield last_id, event, _decoded("\n".join(data))
            event, data = "message", []


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
