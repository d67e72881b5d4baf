"""Serves the stand-in model. Reads no database."""

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agent.offline.app import StandIn
from agent.offline.server import listen, server_for


def number_from(name: str, default: float) -> float:
    """The environment's number of this name, 0 or more."""
    value = os.environ.get(name, "").strip()
    try:
        number = float(value) if value else default
    except ValueError:
        number = -1
    if not 0 <= number < float("inf"):
        raise CommandError(f"{name} is {value!r}: it must be a number of at least 0.")
    return number


class Command(BaseCommand):
    help = "Serves the Messages API with a rule-based stand-in, for work without an API key."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, required=True)
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument(
            "--first-token-ms", type=float, help="wait before the first word (OFFLINE_FIRST_TOKEN_MS, 250)"
        )
        parser.add_argument("--tokens-per-second", type=float, help="0 is no limit (OFFLINE_TOKENS_PER_SECOND, 60)")

    def handle(self, *args: Any, **options: Any) -> None:
        wait, rate = options["first_token_ms"], options["tokens_per_second"]
        stand_in = StandIn(
            first_token_ms=number_from("OFFLINE_FIRST_TOKEN_MS", 250) if wait is None else max(wait, 0),
            tokens_per_second=number_from("OFFLINE_TOKENS_PER_SECOND", 60) if rate is None else max(rate, 0),
        )
        try:
            bound = listen(options["host"], options["port"])
        except OSError as error:
            raise CommandError(f"The stand-in cannot listen on port {options['port']}: {error.strerror}.") from None
        self.stdout.write(f"Stand-in model at http://{options['host']}:{bound.getsockname()[1]}")
        self.stdout.flush()
        server_for(stand_in).run(sockets=[bound])
