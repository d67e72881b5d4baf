"""What is looked at before anything starts, so that a mistake costs one sentence and not a page of traceback."""

import errno
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import psycopg
import redis

from backoffice.local.processes import StartError


def read_port(text: str) -> int:
    """The value of PORT. Raises `StartError`."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        raise StartError(f"PORT is {text!r}: it must be a whole number from 1 to 65535.")
    return int(text)


def check_port(port: int) -> None:
    """Raises `StartError` when a server could not listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise StartError(f"Port {port} is taken: stop what listens there, or choose another PORT.") from None
            raise StartError(f"PORT {port} cannot be listened on: {error.strerror}.") from None


def check_settings(*, env: Mapping[str, str], cwd: Path) -> None:
    """Read the settings in a process of their own. Raises `StartError` with the sentence they object with."""
    command = [sys.executable, "-W", "ignore", "-m", "backoffice.local.preflight"]  # a sentence, not a warning
    done = subprocess.run(command, env=dict(env), cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StartError(done.stderr.strip())


def check_servers(*, env: Mapping[str, str]) -> None:
    """Raises `StartError` when a database or Redis that was given does not answer. Passwords stay out of the text."""
    try:
        psycopg.connect(env["DATABASE_URL"], connect_timeout=5).close()
    except psycopg.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise StartError(f"The database at DATABASE_URL does not answer: {reason}") from None
    try:
        with redis.Redis.from_url(env["REDIS_URL"], socket_timeout=5) as client:
            client.ping()
    except (redis.RedisError, ValueError) as error:
        raise StartError(f"The server at REDIS_URL does not answer: {error}") from None


def main() -> None:
    """Read the settings; the exit text is what is wrong with them."""
    from django.core.exceptions import ImproperlyConfigured

    try:
        import_module(os.environ["DJANGO_SETTINGS_MODULE"])
    except ImproperlyConfigured as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
