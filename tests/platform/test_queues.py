"""Which job waits behind which: what repairs and what pays never waits behind a stranger's server or a silent model."""

import inspect
from typing import Any

from celery.worker.request import Request
from django.conf import settings
from kombu.utils import symbol_by_name

from agent.unbooked import UnbookedRequest
from backoffice.celery import app
from backoffice.local.stack import CHAT_WORKERS, WORKERS
from refunds import ending, release, tasks

PROCESSES = [set(queues.split(",")) for queues, _ in WORKERS.values()]


def queue_of(task: str) -> str:
    return str(app.amqp.router.route({}, task)["queue"].name)


def test_every_job_of_the_product_goes_to_its_queue() -> None:
    assert queue_of("agent.tasks.run_turn") == "chat"
    assert queue_of("refunds.tasks.send_refund") == "money"
    assert queue_of("orders.tasks.sweep") == "shop"
    assert {queue_of(name) for name in ("agent.tasks.sweep", "refunds.tasks.sweep")} == {"sweep"}


def test_every_queue_has_a_worker_and_is_asked_about_by_readyz() -> None:
    worked_on = set().union(*PROCESSES)
    app.loader.import_default_modules()
    used = {queue_of(name) for name in app.tasks if name.split(".")[0] in {"agent", "refunds", "orders"}}
    assert used == set(settings.WORKER_QUEUES)
    assert worked_on == used | {settings.CELERY_TASK_DEFAULT_QUEUE}


def test_neither_turns_nor_payments_share_a_process_with_the_sweepers_or_the_shops_server() -> None:
    for busy in ("chat", "money"):
        own = [queues for queues in PROCESSES if busy in queues]
        assert own
        assert all(not queues & {"sweep", "shop"} for queues in own)


def test_turns_have_two_processes_and_each_a_name_of_its_own() -> None:
    assert len(CHAT_WORKERS) == 2
    assert [set(WORKERS[name][0].split(",")) for name in CHAT_WORKERS] == [{"chat"}, {"chat"}]


def test_the_sweepers_have_a_thread_each_and_every_step_that_waits_for_others_and_one_to_spare() -> None:
    waits = {inspect.unwrap(step) for step in tasks.STEPS} - {ending.expire_quotes, release.expire_approvals}
    sweeps = [name for name in settings.CELERY_BEAT_SCHEDULE if queue_of(name) in {"sweep", "shop"}]
    (threads,) = [threads for queues, threads in WORKERS.values() if "sweep" in queues.split(",")]
    assert threads == len(sweeps) + len(waits) - 1 + 1


def test_the_broker_keeps_books_of_every_job_but_of_turns_which_have_a_lease() -> None:
    queues = {name: app.amqp.queues[name] for name in settings.WORKER_QUEUES}
    assert {name for name, queue in queues.items() if queue.no_ack} == {"chat"}
    assert {name: queue.routing_key for name, queue in queues.items()} == {name: name for name in queues}


def test_jobs_that_are_not_booked_out_are_not_booked_in_and_all_others_are() -> None:
    app.loader.import_default_modules()
    ours = [name for name in app.tasks if name.split(".")[0] in {"agent", "refunds", "orders", "backoffice"}]
    unbooked = {name for name in ours if symbol_by_name(app.tasks[name].Request) is UnbookedRequest}
    assert unbooked == {name for name in ours if app.amqp.queues[queue_of(name)].no_ack}


def test_an_unbooked_job_asks_the_broker_nothing_when_it_is_done() -> None:
    asked: list[str] = []
    for kind in (UnbookedRequest, Request):
        request: Any = kind.__new__(kind)
        request.acknowledged, request._connection_errors = False, ()
        request._on_ack = lambda *args, of=kind.__name__: asked.append(of)
        request.acknowledge()
        assert request.acknowledged
    assert asked == ["Request"]
