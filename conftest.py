"""What every test of the repository relies on: seeded data that survives a flush, and an empty Redis."""

import os
from collections.abc import Generator, Sequence
from typing import Any

import pytest
import redis
from django.db import connection
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker

# How fast a machine makes up its inputs is no fault of what is tested.
settings.register_profile("desk", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("desk")
NO_TRUNCATE = ["orders_auditevent_no_truncate", "orders_storecredit_entries_stay"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on real transactions end with a flush, so each begins by restoring what the migrations had put there."""
    for item in items:
        marker = item.get_closest_marker("django_db")
        options = dict(marker.kwargs) if marker else {}
        fixtures = getattr(item, "fixturenames", ())
        if options.get("transaction") or {"transactional_db", "live_server"} & set(fixtures):
            options |= {"transaction": True, "serialized_rollback": True}
            item.add_marker(pytest.mark.django_db(**options), append=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What a test has measured (`record_property("measured", …)`) is told at the end of every run, quiet or not."""
    reports = [each for outcome in ("passed", "failed") for each in terminalreporter.stats.get(outcome, [])]
    told = [str(value) for each in reports for name, value in each.user_properties if name == "measured"]
    if told:
        terminalreporter.section("measured")
        terminalreporter.write_line("\n".join(told))


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Let a flush empty the append-only tables. For everybody else they stay append-only, by other triggers.

    A superuser's flush deletes rows, with triggers and foreign keys asleep: to truncate as many tables as there are
    takes most of a second, and hundreds of tests end with it.
    """
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("SELECT tgrelid::regclass, tgname FROM pg_trigger WHERE tgname = ANY(%s)", [NO_TRUNCATE])
        for table, trigger in cursor.fetchall():
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        if cursor.fetchone() == (True,):
            connection.ops.sql_flush = delete_all  # type: ignore[method-assign]


def delete_all(style: Any, tables: Sequence[str], **options: Any) -> list[str]:
    """What `DatabaseOperations.sql_flush` gives, for tests that end on real transactions."""
    names = [connection.ops.quote_name(table) for table in tables]
    return ["SET LOCAL session_replication_role = replica", *(f"DELETE FROM {name}" for name in names)]


@pytest.fixture(scope="session")
def redis_server() -> Generator[redis.Redis]:
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        yield client


@pytest.fixture(autouse=True)
def empty_redis(redis_server: redis.Redis) -> None:
    """Jobs that a test enqueues are real and nobody consumes them; the next test must not find them."""
    redis_server.flushdb()
