"""What `make demo` runs: the whole desk, until Ctrl-C or SIGTERM reaches this process, its process group or `make`."""

import argparse
import ctypes
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType

import environ

from backoffice.local.folders import FolderInUse, lock_folder, remove
from backoffice.local.launch import PR_SET_PDEATHSIG
from backoffice.local.preflight import read_port
from backoffice.local.processes import StartError
from backoffice.local.stack import ROOT, Stack

WELCOME = """
Refund Desk is ready.

  Front door    {url}/
  Order 5531    {url}/orders/5531/
  Staff         {url}/staff/
  Records       {url}/admin/
  API           {url}/api/v1/docs/

  Sign in with the password `demo` (demo data only) as
    ming        王小明, customer of order 5531      ming2     another 王小明, order 5602
    staff       support                             warehouse packs, ships, receives
    supervisor  staff, and approvals                auditor   reads the records
    marketing   drafts and publishes the rules      admin     superuser

  Model: {model}
  Data and logs: {folder}    Clear them: make demo-reset    Stop: Ctrl-C
"""


class Interrupted(BaseException):
    """A stop signal arrived while the system was still starting."""


class StopSignals:
    """Stop signals raise `Interrupted` while starting, set `asked` while running, and are ignored while stopping."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.starting = True
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._hear)  # explicitly: a background shell leaves SIGINT ignored
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # ignored is what `nohup` means
            signal.signal(signal.SIGHUP, self._hear)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        first = not self.asked.is_set()
        self.asked.set()
        if first and self.starting:
            raise Interrupted


def follow_make() -> None:
    """End together with the `make` that started us, however it ends.

    GNU make forwards SIGTERM to its children, but on a SIGINT sent to make alone it only waits for them. What shows is
    that its SIGINT handler has given way to the default, so that the signal leaves the caught set in /proc.
    """
    if not started_by_make():
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    status = Path(f"/proc/{os.getppid()}/status")

    def watch() -> None:
        while catches_sigint(status):
            time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGTERM)

    if catches_sigint(status):
        threading.Thread(target=watch, name="make", daemon=True).start()


def started_by_make() -> bool:
    try:
        return Path(f"/proc/{os.getppid()}/comm").read_text().strip() in {"make", "gmake"}
    except OSError:
        return False


def catches_sigint(status: Path) -> bool:
    try:
        caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt:"))
    except (OSError, StopIteration):
        return False
    return bool(int(caught.split()[1], 16) & 1 << (signal.SIGINT - 1))


def run(folder: Path) -> None:
    """Start, tell, wait, stop. Raises `StartError`."""
    signals = StopSignals()
    follow_make()
    environ.Env.read_env(str(ROOT / ".env"))
    stack = Stack(folder=folder, port=read_port(os.environ.get("PORT") or "8000"))
    print("Starting Refund Desk…", flush=True)
    try:
        stack.start()
        signals.starting = False
        welcome(stack)
        signals.asked.wait()
    except Interrupted:
        pass
    signals.starting = False
    print("Stopping…", flush=True)
    stack.stop()
    print("Stopped.", flush=True)


def welcome(stack: Stack) -> None:
    stand_in = stack.env.get("AGENT_IS_STAND_IN") == "true"
    model = "the stand-in, a script (set ANTHROPIC_API_KEY for a real one)" if stand_in else "the real one"
    print(WELCOME.format(url=f"http://localhost:{stack.port}", model=model, folder=stack.folder), flush=True)


def reset(folder: Path) -> None:
    """Clear the demo's data. Raises `StartError` while a demo is using it."""
    try:
        lock = lock_folder(folder)
    except FolderInUse:
        raise StartError("The demo is running: stop it before clearing its data.") from None
    with lock:
        remove(folder)
    print("The demo's data is cleared.")


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # a terminal may not know Chinese
    parser = argparse.ArgumentParser(prog="python -m backoffice.local.demo")
    parser.add_argument("action", nargs="?", choices=("run", "reset"), default="run")
    parser.add_argument("--folder", type=Path, default=ROOT / ".demo", help="where data and logs are kept")
    options = parser.parse_args()
    folder = options.folder.resolve()
    try:
        reset(folder) if options.action == "reset" else run(folder)
    except StartError as error:
        sys.exit(str(error) if options.action == "reset" else f"Refund Desk cannot start: {error}")


if __name__ == "__main__":
    main()
