"""A worker waits for its database only so long: for a lock, for a statement, and in a transaction in which it hangs."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
from celery.signals import worker_init
from django.db import OperationalError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from pytest_django import Settings

from backoffice import celery, waits

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def a_workers_connection() -> Generator[Any]:
    """A new connection with the options that `waits.bound` leaves behind, and a pool of its own."""
    options = connections.settings["default"]["OPTIONS"]
    before = dict(options)
    waits.bound()
    opened: BaseDatabaseWrapper = connection.copy(alias="a worker's")
    options.clear()
    options.update(before)
    try:
        yield opened
    finally:
        opened.close()
        opened.close_pool()  # type: ignore[attr-defined]


def shown(opened: Any, name: str) -> str:
    with opened.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return str(cursor.fetchone()[0])


NAMES = ["lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"]


def test_the_limits_are_those_of_the_settings_and_other_processes_have_none(settings: Settings) -> None:
    settings.DATABASE_LOCK_SECONDS = 7
    settings.DATABASE_STATEMENT_SECONDS = 0
    with a_workers_connection() as opened:
        assert [shown(opened, name) for name in NAMES] == ["7s", "0", "2min"]
    assert [shown(connection, name) for name in NAMES] == ["0", "0", "0"]


def test_options_of_the_address_go_before_the_limits() -> None:
    assert waits.with_limits("-c lock_timeout=1s").endswith(" -c lock_timeout=1s")


def test_a_lock_that_is_not_given_back_holds_a_worker_for_no_longer(settings: Settings) -> None:
    settings.DATABASE_LOCK_SECONDS = 1
    lock = "SELECT pg_advisory_xact_lock(5531)"
    with a_workers_connection() as opened, transaction.atomic(), connection.cursor() as first:
        first.execute(lock)
        with pytest.raises(OperationalError), opened.cursor() as second:
            second.execute(lock)


def test_every_worker_is_bound_before_it_begins() -> None:
    assert celery._bound_waits in worker_init._live_receivers(None)  # type: ignore[attr-defined]
