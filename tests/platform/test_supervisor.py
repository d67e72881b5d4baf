"""The supervisor brings back what ends, unless it is held, and stops everything."""

import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from backoffice.local.servers import PLAIN_ENVIRONMENT
from backoffice.local.supervisor import Program, Supervisor
from tests.stack import wait_until


@pytest.fixture
def supervisor(tmp_path: Path) -> Generator[Supervisor]:
    supervisor = Supervisor()
    for name in ("first", "second"):
        command = [sys.executable, "-c", "import time; time.sleep(600)"]
        supervisor.add(name, Program(command, log=tmp_path / name, env=PLAIN_ENVIRONMENT, cwd=tmp_path))
    supervisor.watch()
    yield supervisor
    supervisor.stop()


def pid_of(supervisor: Supervisor, name: str) -> int:
    process = supervisor.entries[name].running.process
    assert process is not None
    return process.pid


def test_a_killed_process_comes_back(supervisor: Supervisor) -> None:
    before = pid_of(supervisor, "first")
    supervisor.kill("first")

    wait_until(lambda: supervisor.entries["first"].alive, timeout=5)
    assert pid_of(supervisor, "first") != before


def test_a_held_process_stays_dead_until_it_is_released(supervisor: Supervisor) -> None:
    supervisor.hold("first")
    supervisor.kill("first")
    supervisor.kill("second")
    wait_until(lambda: supervisor.entries["second"].alive, timeout=5)  # the supervisor has looked meanwhile
    assert not supervisor.entries["first"].alive

    supervisor.release("first")
    assert supervisor.entries["first"].alive


def test_a_process_that_ends_at_once_is_retried_ever_more_rarely(supervisor: Supervisor, tmp_path: Path) -> None:
    counted = tmp_path / "starts"
    command = [sys.executable, "-c", f"open({str(counted)!r}, 'a').write('x')"]
    supervisor.add("third", Program(command, log=tmp_path / "third", env=PLAIN_ENVIRONMENT, cwd=tmp_path))
    began = time.monotonic()

    wait_until(lambda: counted.exists() and len(counted.read_text()) >= 3, timeout=10)
    assert time.monotonic() - began > 1.4  # half a second, then a whole one


def test_stopping_leaves_no_process(supervisor: Supervisor) -> None:
    pids = [pid_of(supervisor, name) for name in ("first", "second")]
    supervisor.stop(together=("first",))

    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
