"""The desk that is measured: the whole stack of `make demo` with the stand-in at a stated speed, and its customers."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import psutil  # type: ignore[import-untyped]

from backoffice.local.folders import remove
from backoffice.local.processes import free_port
from backoffice.local.stack import DIRECT, ROOT, Stack
from bench.visitors import Account

FIRST_TOKEN_MS, TOKENS_PER_SECOND = 300, 50
UNLIMITED = {
    "CHAT_MESSAGES_PER_MINUTE": "100000",
    "AGENT_MAX_TURNS_PER_CONVERSATION": "100000",
    "AGENT_MAX_TURNS_PER_CUSTOMER_DAY": "100000",
    "AGENT_MAX_CENTS_PER_CONVERSATION": "100000",
    "AGENT_MAX_CENTS_PER_CUSTOMER_DAY": "100000",
    "LOG_LEVEL": "INFO",
}
OWN_SERVERS = ("DATABASE_URL", "REDIS_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "DJANGO_SETTINGS_MODULE")
REPLY = (
    "您好，客服時間是週一到週五上午九點到下午六點，國定假日休息。其他時間我可以先幫您看訂單的進度，也可以"
    "請同事在下一個上班時間回覆您。請告訴我需要哪一種，我會一直在這裡，不用擔心要重新說一次，謝謝您的耐心"
    "。"
)


@contextmanager
def running_desk() -> Iterator[Stack]:
    """A desk with servers and data of its own; this process may then use its models. Gone afterwards."""
    folder = Path(mkdtemp(prefix="refund-desk-bench-"))
    speed = {"OFFLINE_FIRST_TOKEN_MS": str(FIRST_TOKEN_MS), "OFFLINE_TOKENS_PER_SECOND": str(TOKENS_PER_SECOND)}
    env = {name: value for name, value in os.environ.items() if name not in OWN_SERVERS} | UNLIMITED | speed
    stack = Stack(folder=folder, port=free_port(), env=env, seed=False)
    try:
        stack.start()
        os.environ.update(stack.env)
        import django

        django.setup()
        yield stack
    finally:
        stack.stop()
        remove(folder)


def customers(count: int, *, name: str) -> list[Account]:
    """So many customers, each signed in, with an order each. Taken in by the service, as a shop's order is."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.auth.models import User
    from django.contrib.sessions.backends.db import SessionStore

    from orders.actors import system_actor
    from orders.ingest import take_in
    from orders.models import Customer

    accounts = []
    for place in range(count):
        number = f"{name}-{place}"
        who = {"external_id": number, "name": "王小明", "email": f"{number}@example.com"}
        order = take_in(body=order_body(number, who), actor=system_actor("bench"))[0]
        user = User.objects.create(username=number)
        Customer.objects.filter(pk=order.customer_id).update(user=user)
        session = SessionStore()
        session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
        session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session.save()
        accounts.append(Account(number, str(session.session_key), order.pk))
    return accounts


def order_body(number: str, customer: dict[str, str]) -> dict[str, Any]:
    from orders.tests.factories import order_body as body_of

    return body_of(number, lines=[("藍牙耳機", 1200, 1)], customer=customer)


def script(stack: Stack, replies: int, tokens: int) -> None:
    """The stand-in's next replies, of so many tokens, each with a number of its own."""
    texts = [f"{number:04d}：{REPLY * (tokens // len(REPLY) + 1)}"[: tokens + 3] for number in range(replies)]
    body = json.dumps({"replies": [{"text": text} for text in texts]}).encode()
    headers = {"content-type": "application/json"}
    DIRECT.open(urllib.request.Request(f"{_model(stack)}/control/script", body, headers), timeout=10).close()


def last_request(stack: Stack) -> dict[str, Any]:
    """What the desk last asked of the model, word for word."""
    with DIRECT.open(f"{_model(stack)}/control/log", timeout=10) as answer:
        asked: dict[str, Any] = json.load(answer)["requests"][-1]["body"]
    return asked


def bare_sdk(stack: Stack, request: dict[str, Any], conversations: int, rounds: int, spread: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.bare", _model(stack), str(conversations), str(rounds), str(spread)]
    env = {**os.environ, "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(command, input=json.dumps(request), env=env, cwd=ROOT, check=True, text=True, stdout=-1)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def _model(stack: Stack) -> str:
    return stack.env["ANTHROPIC_BASE_URL"]


def cpu_seconds(stack: Stack) -> dict[str, float]:
    """CPU used so far by each of the desk's programs with all they have started, and by this process (`load`)."""
    used = {
        name: _of(entry.running.process.pid)
        for name, entry in stack.supervisor.entries.items()
        if entry.running.process
    }
    times = psutil.Process().cpu_times()
    return used | {"load": times.user + times.system}


def _of(pid: int) -> float:
    process = psutil.Process(pid)
    total = 0.0
    for each in [process, *process.children(recursive=True)]:
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    times = process.cpu_times()
    return float(total + times.children_user + times.children_system)
