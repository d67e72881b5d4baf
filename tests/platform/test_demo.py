"""`make demo`: what a start that cannot succeed says, and that every way of stopping leaves no process."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from backoffice.local.folders import remove
from backoffice.local.processes import free_port
from backoffice.local.stack import DIRECT, ROOT, what_was_done
from tests.stack import fresh_environment, wait_until

MAKE = shutil.which("make") or "make"


@pytest.fixture(autouse=True)
def terminal() -> Generator[None]:
    """A shell that runs the tests in the background has them ignore Ctrl-C, and every child would inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Demo:
    """Starts of the demo on one data folder and port, and a look at all processes that came of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.mark = uuid.uuid4().hex

    def python(self) -> list[str]:
        return [sys.executable, "-m", "backoffice.local.demo", "--folder", str(self.folder)]

    def make(self) -> list[str]:
        """The real recipe; packages are as they are."""
        settings = [f"PYTHON={sys.executable}", f"DEMO_FOLDER={self.folder}"]
        return [MAKE, "--old-file=.venv/runtime.stamp", "demo", *settings]

    def start(self, command: Sequence[str], **env: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=fresh_environment(**{"PORT": str(self.port), "STARTED_BY": self.mark, **env}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def processes(self) -> set[int]:
        """Whoever inherited the mark, and the servers, which inherit nothing but work in the data folder."""
        found = set()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                inherited = self.mark.encode() in (process / "environ").read_bytes()
                if inherited or (process / "cwd").resolve().is_relative_to(self.folder):
                    found.add(int(process.name))
        return found

    def ready(self) -> bool:
        with suppress(OSError):
            return bool(DIRECT.open(f"http://127.0.0.1:{self.port}/readyz", timeout=3).status == 200)
        return False

    def wait_ready(self, process: subprocess.Popen[str]) -> None:
        """Raises with what it said when it ended instead."""
        wait_until(lambda: self.ready() or process.poll() is not None, timeout=90)
        if process.poll() is not None:
            raise AssertionError(said(process))

    def has_started_something(self) -> bool:
        return (self.folder / "logs" / "postgres.log").exists() and len(self.processes()) > 3


@pytest.fixture(scope="module")
def demo() -> Generator[Demo]:
    demo = Demo(Path(tempfile.mkdtemp(prefix="refund-desk-demo-")))
    yield demo
    for left_by_a_failed_test in demo.processes():
        os.kill(left_by_a_failed_test, signal.SIGKILL)
    remove(demo.folder)


def said(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Both outputs, when the process has ended."""
    return process.communicate(timeout=60)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "eighty"),
        ("PORT", "70000"),
        ("DEBUG", "perhaps"),
        ("DATABASE_URL", "mysql://localhost/desk"),
        ("DATABASE_URL", "nonsense"),
        ("REDIS_URL", "localhost"),
        ("SECRET_KEY", "short"),
        ("LOG_LEVEL", "loud"),
    ],
)
def test_a_malformed_value_stops_the_start_with_one_sentence(demo: Demo, name: str, value: str) -> None:
    process = demo.start(demo.python(), **{name: value})
    _, errors = said(process)

    assert process.returncode == 1
    assert errors.startswith("Refund Desk cannot start: ")
    assert name in errors
    assert len(errors.strip().splitlines()) == 1
    assert not (demo.folder / "postgres").exists()


def test_a_database_that_does_not_answer_is_named_and_its_password_is_not(demo: Demo) -> None:
    url = f"postgres://desk:hunter2@127.0.0.1:{free_port()}/desk"
    process = demo.start(demo.python(), DATABASE_URL=url)
    _, errors = said(process)

    assert process.returncode == 1
    assert "DATABASE_URL does not answer" in errors
    assert "hunter2" not in errors
    assert demo.processes() == set()


def test_it_runs_once_per_port_and_folder_and_ctrl_c_stops_it_all(demo: Demo) -> None:
    first = demo.start(demo.make())
    demo.wait_ready(first)

    same_port = demo.start(demo.python())
    assert f"Port {demo.port} is taken" in said(same_port)[1]
    assert same_port.returncode == 1

    same_folder = demo.start(demo.python(), PORT=str(free_port()))
    assert "in use by another run" in said(same_folder)[1]
    assert same_folder.returncode == 1

    reset = demo.start([*demo.python(), "reset"])
    assert "The demo is running" in said(reset)[1]

    assert demo.ready()
    os.killpg(first.pid, signal.SIGINT)  # what a terminal does on Ctrl-C
    output, errors = said(first)
    assert f"http://localhost:{demo.port}/orders/5531/" in output
    assert "Traceback" not in output + errors
    assert demo.processes() == set()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_make_alone_stops_it_all(demo: Demo, number: signal.Signals) -> None:
    process = demo.start(demo.make())
    wait_until(demo.has_started_something)
    process.send_signal(number)

    output, errors = said(process)
    assert output.strip().endswith("Stopped.")
    assert "Traceback" not in errors
    assert demo.processes() == set()


def test_sigterm_to_python_alone_stops_it_all_with_status_0(demo: Demo) -> None:
    process = demo.start(demo.python())
    demo.wait_ready(process)
    process.terminate()

    output, errors = said(process)
    assert process.returncode == 0
    assert (output.strip().splitlines()[-1], errors) == ("Stopped.", "")
    assert demo.processes() == set()


def test_a_background_shell_that_ignores_ctrl_c_does_not_keep_it_running(demo: Demo) -> None:
    shell = ["/bin/sh", "-c", "trap '' INT; exec \"$@\"", "sh", *demo.python()]
    process = demo.start(shell)
    wait_until(demo.has_started_something)
    process.send_signal(signal.SIGINT)

    said(process)
    assert process.returncode == 0
    assert demo.processes() == set()


def test_killing_it_outright_takes_every_process_along(demo: Demo) -> None:
    process = demo.start(demo.python())
    demo.wait_ready(process)
    process.kill()
    said(process)

    wait_until(lambda: demo.processes() == set(), timeout=15)


def test_a_reset_clears_the_data(demo: Demo) -> None:
    (demo.folder / "postgres").mkdir(parents=True, exist_ok=True)
    reset = demo.start([*demo.python(), "reset"])

    assert said(reset) == ("The demo's data is cleared.\n", "")
    assert not demo.folder.exists()


@pytest.mark.parametrize("text", ["", '{"migrate": "12', None])
def test_what_a_start_has_done_is_not_known_from_half_a_file_and_is_done_again(
    tmp_path: Path, text: str | None
) -> None:
    file = tmp_path / "refund_desk.json"
    if text is not None:
        file.write_text(text)
    assert what_was_done(file) == {}
