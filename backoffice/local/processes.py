"""Child processes that never outlive their parent, and the small questions asked about processes in general."""

import ctypes
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

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class StartError(RuntimeError):
    """Something could not be started; the text is one sentence for the person who typed the command."""


def die_with_parent(death_signal: signal.Signals, parent: int) -> None:
    """Ask the kernel to send `death_signal` to this process when the thread that made it ends.

    To be called in the child, after a change of user (which would undo it). Linux only; elsewhere it does nothing.
    """
    if _libc is None:
        return
    _libc.prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
    if os.getppid() != parent:  # the parent ended before the request was made
        os._exit(1)


def spawn(
    command: Sequence[str | Path],
    *,
    log: Path,
    env: Mapping[str, str],
    cwd: Path,
    death_signal: signal.Signals = signal.SIGTERM,
    user: pwd.struct_passwd | None = None,
) -> subprocess.Popen[bytes]:
    """Start `command` in a session of its own, its output appended to `log`.

    Call it from the main thread only: the kernel ties the death signal to the *thread* that forked, not to the process.
    """
    parent = os.getpid()

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background shell may have left it ignored
        die_with_parent(death_signal, parent)

    with log.open("ab") as output:
        return subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
            preexec_fn=prepare,
            **({} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}),
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


def port_is_taken(port: int) -> bool:
    """Whether a server could not listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


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
