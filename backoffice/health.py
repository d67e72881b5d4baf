"""For whoever watches the service: is it alive, is everything it needs there, and its numbers.

Each part is asked in a thread of its own with a deadline: a part that hangs is reported, and does not hang the answer.
"""

import hmac
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from functools import partial

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_prometheus.exports import ExportToDjangoView

from agent import client
from backoffice import heartbeat
from backoffice import metrics as numbers

DEADLINE_SECONDS = 1.5


class Missing(Exception):
    """A part answered, and what it said means that it cannot be used."""


class Probe:
    """One part and the single thread that asks it. While an older question hangs, no new one is asked."""

    def __init__(self, name: str, ask: Callable[[], None]) -> None:
        self.name = name
        self.ask = ask
        self.lock = threading.Lock()
        self.threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"readyz-{name}")
        self.asked: Future[None] | None = None

    def start(self) -> "Future[None]":
        with self.lock:
            if self.asked is None or self.asked.done():
                self.asked = self.threads.submit(self.ask)
            return self.asked


def ask_database() -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        connection.close()


def ask_redis() -> None:
    with heartbeat.client() as connected:
        connected.ping()


def ask_worker(queue: str) -> None:
    with heartbeat.client() as connected:
        if not heartbeat.workers(connected, [queue])[queue]:
            raise Missing


def ask_model() -> None:
    if not client.reachable():
        raise Missing


PROBES = [
    Probe("database", ask_database),
    Probe("redis", ask_redis),
    *(Probe(f"worker_{queue}", partial(ask_worker, queue)) for queue in settings.WORKER_QUEUES),
    Probe("model", ask_model),
]


def state_of(asked: "Future[None]") -> str:
    """`ok`, `missing` (it is not there) or `no answer` (it hangs). Details are for the log, not for strangers."""
    if not asked.done():
        return "no answer"
    return "ok" if asked.exception() is None else "missing"


@never_cache
@require_safe
def alive(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """200 when every part is `ok`, else 503; one word per part either way."""
    asked = {probe.name: probe.start() for probe in PROBES}
    wait_for(asked.values(), timeout=DEADLINE_SECONDS)
    parts = {name: state_of(future) for name, future in asked.items()}
    return JsonResponse(parts, status=200 if set(parts.values()) == {"ok"} else 503)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus numbers, for a superuser or for a scraper that knows METRICS_TOKEN: this process's, and the desk's."""
    if not (_is_scraper(request) or request.user.is_superuser):
        status = 403 if request.user.is_authenticated else 401
        return HttpResponse(
            "Sign in as a superuser or send the scrape token.\n", status=status, content_type="text/plain"
        )
    response: HttpResponse = ExportToDjangoView(request)
    response.content += numbers.page()
    return response


def _is_scraper(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    expected = settings.METRICS_TOKEN
    return bool(expected) and scheme.lower() == "bearer" and hmac.compare_digest(token.encode(), expected.encode())
