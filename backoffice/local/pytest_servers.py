"""A pytest plug-in: PostgreSQL and Valkey for the tests, started before Django's settings are read.

`DATABASE_URL` and `REDIS_URL` are used where they are set. Under pytest-xdist the controller starts the servers and
its workers inherit them, each with a Redis database of its own.
"""

import os
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import IO

import pytest

from backoffice.local.folders import FolderInUse, lock_folder, remove
from backoffice.local.messages import ROOT, compile_stale
from backoffice.local.servers import PostgresServer, ValkeyServer

PREFIX = "refund-desk-test-"
ENVIRONMENT = {
    "SECRET_KEY": "only-for-tests-and-therefore-no-secret-at-all",
    "DEBUG": "false",
    "OFFICE_HOURS": "",  # whatever time it is: a test of the hours sets its own
    "CLOSED_DAYS": "",
    "ANTHROPIC_API_KEY": "test-key",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",  # nobody listens there: a test starts the stand-in it needs
}


class TestServers:
    """The servers of one pytest session, in a temporary folder that goes with them."""

    __test__ = False

    def __init__(self) -> None:
        remove_leftovers()
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.folder.chmod(0o711)  # PostgreSQL of a root session runs as somebody else and must walk through
        self.lock: IO[str] = lock_folder(self.folder)
        self.postgres: PostgresServer | None = None
        self.valkey: ValkeyServer | None = None

    def start(self) -> None:
        if not os.environ.get("REDIS_URL"):
            self.valkey = ValkeyServer(folder=self.folder, durable=False)
            self.valkey.start()
            os.environ["REDIS_URL"] = self.valkey.url
        if not os.environ.get("DATABASE_URL"):
            self.postgres = PostgresServer(folder=self.folder, durable=False)
            self.postgres.start()
            os.environ["DATABASE_URL"] = self.postgres.url

    def stop(self) -> None:
        if self.postgres is not None:
            self.postgres.stop()
        if self.valkey is not None:
            self.valkey.stop()
        self.lock.close()
        remove(self.folder)


def remove_leftovers() -> None:
    """Delete what a killed session left in the temporary folder."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            if folder.stat().st_uid != os.geteuid() or time.time() - folder.stat().st_mtime < 300:
                continue
            with lock_folder(folder):
                remove(folder)
        except (FolderInUse, OSError):
            continue


def give_worker_its_own_redis() -> None:
    """Point an xdist worker at the Redis database with its own number; 0 belongs to runs without workers."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker.startswith("gw"):
        address = os.environ["REDIS_URL"].rstrip("/")
        stem, _, last = address.rpartition("/")
        number = int(last) if last.isdigit() else 0
        stem = stem if last.isdigit() else address
        os.environ["REDIS_URL"] = f"{stem}/{number + 1 + int(worker.removeprefix('gw'))}"


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> Generator[None]:
    """A wrapper, so that it runs before pytest-django reads the settings in the same hook."""
    for name, value in ENVIRONMENT.items():
        os.environ[name] = value
    if os.environ.get("PYTEST_XDIST_WORKER"):
        give_worker_its_own_redis()
    elif not {"-h", "--help", "-V", "--version"} & set(args):
        servers = TestServers()
        early_config.add_cleanup(servers.stop)
        servers.start()
        compile_stale(ROOT / "locale")
    yield
