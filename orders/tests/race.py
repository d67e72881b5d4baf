"""Doing things at the same moment, for real: one thread and one database connection each."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connection

Result = TypeVar("Result")


def at_once(actions: Sequence[Callable[[], Result]]) -> list[Result | Exception]:
    """What each action gave or raised, in the order of `actions`. All begin when all are ready."""
    barrier = Barrier(len(actions))

    def run(action: Callable[[], Result]) -> Result | Exception:
        try:
            connection.ensure_connection()
            barrier.wait(timeout=20)
            return action()
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(actions)) as threads:
        return list(threads.map(run, actions))


def wait_until_blocked(number: int, *, seconds: float = 20) -> None:
    """Return once `number` other connections to this database wait for a lock. Raises TimeoutError."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if cursor.fetchone()[0] >= number:
                return
        time.sleep(0.02)
    raise TimeoutError(f"fewer than {number} connections wait for a lock")
