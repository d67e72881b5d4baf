"""What every test of the repository relies on: seeded data that survives a flush, and an empty Redis."""

import os
from collections.abc import Generator

import pytest
import redis
from django.db import connection
from pytest_django import DjangoDbBlocker

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


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Let a flush empty the append-only tables. Their rows stay append-only: those are other triggers."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("SELECT tgrelid::regclass, tgname FROM pg_trigger WHERE tgname = ANY(%s)", [NO_TRUNCATE])
        for table, trigger in cursor.fetchall():
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")


@pytest.fixture(scope="session")
def redis_server() -> Generator[redis.Redis]:
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        yield client


@pytest.fixture(autouse=True)
def empty_redis(redis_server: redis.Redis) -> None:
    """Jobs that a test enqueues are real and nobody consumes them; the next test must not find them."""
    redis_server.flushdb()
