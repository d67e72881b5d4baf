"""For how long a worker waits for its database: a thread that hangs there keeps its turn or its refund from everybody.

What is broken off so is an `OperationalError`, as where the database is away: the sweepers bring the work back.
"""

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections


def bound() -> None:
    """Give every connection that this process opens from now on the limits. Before the first is opened."""
    options = connections.settings[DEFAULT_DB_ALIAS]["OPTIONS"]
    options["options"] = with_limits(options.get("options", ""))


def with_limits(given: str) -> str:
    """PostgreSQL's command-line options: those `given`, which go before, and the limits."""
    limits = {
        "lock_timeout": settings.DATABASE_LOCK_SECONDS,
        "statement_timeout": settings.DATABASE_STATEMENT_SECONDS,
        "idle_in_transaction_session_timeout": settings.DATABASE_IDLE_SECONDS,
    }
    return " ".join([*(f"-c {name}={seconds}s" for name, seconds in limits.items()), given]).strip()
