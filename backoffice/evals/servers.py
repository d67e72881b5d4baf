"""The scratch servers of one evaluation: PostgreSQL and Valkey of its own, in a folder that goes with them.

Own servers, and not a database beside the desk's: no right to create databases is needed, a running desk's workers
cannot pick up a job of a play, and nothing of a play can reach a row, a stream or a gateway of the desk.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

import psycopg
from psycopg import sql

from backoffice.evals.scratch import MARK
from backoffice.local.folders import FolderInUse, lock_folder, remove
from backoffice.local.processes import StartError
from backoffice.local.servers import NAME, PostgresServer, ValkeyServer
from backoffice.local.stack import ROOT

PREFIX: Final = "refund-desk-eval-"
UNLIMITED: Final = "1000000"
# A folder that is being made is not locked yet.
LEFT_SECONDS: Final = 300
# What the plays run with, whatever the desk's own settings are: no mail, no webhook, no real gateway, and no limits but
# those of a play.
SETTINGS: Final[Mapping[str, str]] = {
    "DEBUG": "false",
    "DEMO": "false",
    "LOG_LEVEL": "ERROR",
    "SECRET_KEY": "of-a-scratch-database-that-nobody-can-reach-and-that-ends-with-its-run",
    "ALLOWED_HOSTS": "localhost",
    "PAYMENT_GATEWAY": "simulated",
    "STRIPE_API_KEY": "",
    "STRIPE_WEBHOOK_SECRET": "",
    "ORDER_WEBHOOK_URL": "",
    "STAFF_ALERT_EMAIL": "",
    "EMAIL_URL": "dummymail://",
    "METRICS_TOKEN": "",
    "SECURE_COOKIES": "false",
    "OFFICE_HOURS": "",
    "CLOSED_DAYS": "",
    "AGENT_DIE_AT": "",
    "DATABASE_POOL_SIZE": "10",
    "CHAT_MESSAGES_PER_MINUTE": UNLIMITED,
    "AGENT_MAX_TURNS_PER_CONVERSATION": UNLIMITED,
    "AGENT_MAX_TURNS_PER_CUSTOMER_DAY": UNLIMITED,
    "AGENT_MAX_CENTS_PER_CUSTOMER_DAY": UNLIMITED,
    "DJANGO_SETTINGS_MODULE": "backoffice.settings",
    "PYTHONUNBUFFERED": "1",
}


class Scratch:
    """One database and one Redis for each worker. Use as a context; raises `StartError` in one sentence."""

    def __init__(self, *, workers: int, model: Mapping[str, str]) -> None:
        """`model`: the settings that lead to the model (`AGENT_IS_STAND_IN`, `ANTHROPIC_…`, `AGENT_…`)."""
        remove_leftovers()
        self.workers, self.model = workers, model
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.folder.chmod(0o711)  # PostgreSQL of a root user runs as somebody else and must walk through
        self.lock: IO[str] = lock_folder(self.folder)
        self.postgres = PostgresServer(folder=self.folder, durable=False)
        self.valkey = ValkeyServer(folder=self.folder, durable=False)

    def __enter__(self) -> Self:
        try:
            self.valkey.start()
            self.postgres.start()
            self._migrate()
            self._make_databases()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.postgres.stop()
        self.valkey.stop()
        self.lock.close()
        remove(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self, worker: int) -> dict[str, str]:
        """What the worker with this number is started with."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        places = {
            "DATABASE_URL": f"{self.postgres.url.rpartition('/')[0]}/{_name(worker)}",
            "REDIS_URL": f"{self.valkey.url.rpartition('/')[0]}/{worker}",
            "NO_PROXY": ",".join(filter(None, [os.environ.get("NO_PROXY", ""), "127.0.0.1"])),
        }
        return kept | dict(SETTINGS) | places | dict(self.model)

    def _migrate(self) -> None:
        env = self.environment(0) | {"DATABASE_URL": self.postgres.url}
        command = [sys.executable, str(ROOT / "manage.py"), "migrate", "--no-input", "--verbosity", "0"]
        done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise StartError(f"The scratch database could not be made.\n{done.stderr[-1500:]}")

    def _make_databases(self) -> None:
        address = f"{self.postgres.url.rpartition('/')[0]}/postgres"
        with psycopg.connect(address, autocommit=True, connect_timeout=10) as connection:
            for worker in range(self.workers):
                name = sql.Identifier(_name(worker))
                connection.execute(
                    sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(name, sql.Identifier(NAME))
                )
                connection.execute(sql.SQL("COMMENT ON DATABASE {} IS {}").format(name, sql.Literal(MARK)))


def remove_leftovers() -> None:
    """Delete what a killed evaluation left in the temporary folder."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(FolderInUse, OSError):
            if time.time() - folder.stat().st_mtime > LEFT_SECONDS:
                lock_folder(folder).close()
                remove(folder)


def _name(worker: int) -> str:
    return f"scratch_{worker}"
