"""What `make eval` runs: `manage.py evaluate`, with its results kept in the desk's own database.

Where DATABASE_URL is set, that is the desk's. Else it is the demo's: the running one's, or, where none runs, its
PostgreSQL is started for as long as this takes. The plays themselves have servers of their own (`evals/servers.py`).
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import environ

from backoffice.local.folders import FolderInUse, kept_secret, lock_folder
from backoffice.local.processes import StartError
from backoffice.local.servers import PostgresServer
from backoffice.local.stack import ROOT

FOLDER = ROOT / ".demo"
# Of a running demo: what leads to its rows. Its model is left to the evaluation to choose.
OF_THE_DESK = ("DATABASE_URL", "SECRET_KEY", "SITE_URL")


@contextmanager
def desk(folder: Path) -> Iterator[dict[str, str]]:
    """The environment that leads to the desk's database, brought up to date. Raises `StartError`."""
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "backoffice.settings", "PYTHONUNBUFFERED": "1"}
    env.setdefault("REDIS_URL", "redis://127.0.0.1:1/0")  # storing needs none
    if env.get("DATABASE_URL"):
        env.setdefault("SECRET_KEY", kept_secret(folder_of_secrets(folder)))
        yield env
        return
    try:
        lock = lock_folder(folder)
    except FolderInUse:
        yield env | running_desk(folder)
        return
    with lock:
        folder.chmod(0o711)  # PostgreSQL of a root user runs as somebody else and must walk through
        postgres = PostgresServer(folder=folder)
        try:
            postgres.start()
            env |= {"DATABASE_URL": postgres.url, "SECRET_KEY": kept_secret(folder / "django.secret")}
            manage(env, "migrate", "--no-input", "--verbosity", "0")
            yield env
        finally:
            postgres.stop()


def folder_of_secrets(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "django.secret"


def running_desk(folder: Path) -> dict[str, str]:
    """What the running demo has left for a second terminal. Raises `StartError` while it is still starting."""
    try:
        lines = (folder / "environment").read_text().splitlines()
    except FileNotFoundError:
        raise StartError("The demo is starting, or another evaluation runs: try again when it is ready.") from None
    known = dict(line.split("=", 1) for line in lines if "=" in line)
    return {name: known[name] for name in OF_THE_DESK if name in known}


def manage(env: dict[str, str], *arguments: str) -> None:
    done = subprocess.run([sys.executable, str(ROOT / "manage.py"), *arguments], env=env, cwd=ROOT, check=False)
    if done.returncode:
        raise StartError(f"manage.py {arguments[0]} failed.")


def evaluate(env: dict[str, str], arguments: list[str]) -> int:
    """Its exit status. What stops this process stops it in its own way, and is waited for."""
    process = subprocess.Popen([sys.executable, str(ROOT / "manage.py"), "evaluate", *arguments], env=env, cwd=ROOT)
    signal.signal(signal.SIGTERM, lambda number, frame: process.terminate())
    signal.signal(signal.SIGINT, lambda number, frame: None)  # Ctrl-C reaches both
    return process.wait()


def main() -> None:
    environ.Env.read_env(str(ROOT / ".env"))
    try:
        with desk(FOLDER) as env:
            sys.exit(evaluate(env, sys.argv[1:]))
    except StartError as error:
        sys.exit(f"The evaluation cannot start: {error}")


if __name__ == "__main__":
    main()
