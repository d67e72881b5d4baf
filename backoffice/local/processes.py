"""Child processes that never outlive their parent, and the small questions asked about processes in general."""

import os
import pwd
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

LAUNCHER = Path(__file__).with_name("launch.py")


class StartError(RuntimeError):
    """Something could not be started; the text is one sentence for the person who typed the command."""


def spawn(
    command: Sequence[str | Path],
    *,
    log: Path,
    env: Mapping[str, str],
    cwd: Path,
    death_signal: signal.Signals = signal.SIGTERM,
    user: pwd.struct_passwd | None = None,
) -> subprocess.Popen[bytes]:
    """Start `command` (a full path first) in a session of its own, its output appended to `log`.

    The kernel sends it `death_signal` when the *thread* that called this ends, so call it from a thread that lasts.
    """
    uid, gid = (user.pw_uid, user.pw_gid) if user else (-1, -1)
    launcher = [sys.executable, "-I", "-S", str(LAUNCHER), str(int(death_signal)), str(os.getpid()), str(uid), str(gid)]
    with log.open("ab") as output:
        return subprocess.Popen(
            launcher + [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )


def terminate(process: subprocess.Popen[bytes], *, how: signal.Signals = signal.SIGTERM, patience: float = 5.0) -> None:
    """Ask a child to end, insist with SIGKILL after `patience` seconds, and collect it."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            process.send_signal(how)
    collect(process, patience=patience)


def collect(process: subprocess.Popen[bytes], *, patience: float) -> None:
    """Wait for a child that was asked to end; SIGKILL after `patience` seconds."""
    try:
        process.wait(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """A TCP port on loopback that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def poll_until(condition: Callable[[], bool], *, timeout: float, every: float = 0.05) -> bool:
    """Ask `condition` every `every` seconds until it is true; False when `timeout` seconds have passed."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(every)
    return True


def last_lines(log: Path, count: int = 15) -> str:
    """The end of a log, to show beside an error."""
    if not log.exists():
        return ""
    return "\n".join(log.read_text(errors="replace").splitlines()[-count:])
