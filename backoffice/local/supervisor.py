"""Keeps a handful of processes running: starts them, restarts what ends by itself, stops them in order."""

import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from backoffice.local.processes import StartError, collect, last_lines, poll_until, spawn, terminate

FIRST_BACKOFF = 0.5
LONGEST_BACKOFF = 15.0
CALM_AFTER = 30.0  # seconds of running after which an end counts as the first one again
LOOK_EVERY = 0.2


class Running(Protocol):
    """What the supervisor asks of a process or an embedded server."""

    process: subprocess.Popen[bytes] | None
    log: Path

    def start(self) -> None:
        """Start it, with the address it had before."""

    def stop(self) -> None:
        """End it and return when it has ended."""


class Program:
    """A command with a log of its own."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        log: Path,
        env: Mapping[str, str],
        cwd: Path,
        death_signal: signal.Signals = signal.SIGTERM,
        patience: float = 6.0,
    ) -> None:
        self.command = command
        self.log = log
        self.env = env
        self.cwd = cwd
        self.death_signal = death_signal
        self.patience = patience
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = spawn(self.command, log=self.log, env=self.env, cwd=self.cwd, death_signal=self.death_signal)

    def stop(self) -> None:
        if self.process is not None:
            terminate(self.process, patience=self.patience)
            self.process = None


@dataclass
class Entry:
    """One supervised process and what is known about its failures."""

    running: Running
    held: bool = False
    failures: int = 0
    started_at: float = field(default_factory=time.monotonic)
    retry_at: float = 0.0

    @property
    def alive(self) -> bool:
        process = self.running.process
        return process is not None and process.poll() is None


class Supervisor:
    """Runs named processes. `watch()` begins restarting what ends; `hold()` leaves one dead until `release()`."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._stopped = threading.Event()
        self._watcher: threading.Thread | None = None

    def add(self, name: str, running: Running) -> None:
        """Start a process and remember it under `name`; it is stopped before those that were added earlier."""
        with self._lock:
            self.entries[name] = Entry(running)
            running.start()

    def watch(self) -> None:
        self._watcher = threading.Thread(target=self._look_after, name="supervisor", daemon=True)
        self._watcher.start()

    def _look_after(self) -> None:
        while not self._stopping.wait(LOOK_EVERY):
            for entry in list(self.entries.values()):
                with self._lock:
                    if not (entry.held or entry.alive or self._stopping.is_set()):
                        self._bring_back(entry)
        self._stopped.wait()  # what this thread has started gets its death signal when this thread ends

    def _bring_back(self, entry: Entry) -> None:
        """Restart now, or note when to: each end in a row doubles the wait."""
        now = time.monotonic()
        if not entry.retry_at:
            calm = now - entry.started_at > CALM_AFTER
            entry.failures = 1 if calm else entry.failures + 1
            entry.retry_at = now + min(FIRST_BACKOFF * 2 ** (entry.failures - 1), LONGEST_BACKOFF)
        if now >= entry.retry_at:
            entry.retry_at, entry.started_at = 0.0, now
            with suppress(StartError, OSError):  # counted as another end by the next look
                entry.running.start()

    def kill(self, name: str) -> None:
        """SIGKILL, as a crash would; unless held, it comes back by itself."""
        process = self.entries[name].running.process
        if process is not None:
            process.kill()
            process.wait()

    def hold(self, name: str) -> None:
        """Do not restart it when it ends."""
        with self._lock:
            self.entries[name].held = True

    def release(self, name: str) -> None:
        """Restart it now if it has ended, and again whenever it does."""
        with self._lock:
            entry = self.entries[name]
            entry.held, entry.failures, entry.retry_at = False, 0, 0.0
            if not entry.alive:
                entry.started_at = time.monotonic()
                entry.running.start()

    def failure(self) -> str | None:
        """A sentence about a process that has ended since the start, with the end of its log."""
        for name, entry in self.entries.items():
            if not entry.alive and not entry.held:
                return f"{name} ended while starting; see {entry.running.log}.\n{last_lines(entry.running.log)}"
        return None

    def stop(self, *, together: Sequence[str] = ()) -> None:
        """Stop everything: first those named in `together`, all at once, then the rest, latest first."""
        self._stopping.set()
        with self._lock:
            group = [self.entries.pop(name).running for name in together if name in self.entries]
            _stop_together(group)
            for entry in reversed(list(self.entries.values())):
                entry.running.stop()
            self.entries.clear()
        self._stopped.set()
        if self._watcher is not None:
            self._watcher.join(timeout=5)


def _stop_together(group: Sequence[Running]) -> None:
    processes = [running.process for running in group if running.process is not None]
    for process in processes:
        with suppress(ProcessLookupError):
            process.terminate()
    poll_until(lambda: all(process.poll() is not None for process in processes), timeout=6.0)
    for process in processes:
        collect(process, patience=0.0)
