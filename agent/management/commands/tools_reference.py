"""Writes the tools as they are into `docs/tools.md`, below the head that people write."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agent.doors import reference


class Command(BaseCommand):
    help = "Brings docs/tools.md up to date with the tools. --check only says whether it is."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 where it is out of date")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = reference.page()
        if wanted == reference.PAGE.read_text(encoding="utf-8"):
            return
        if options["check"]:
            raise CommandError("docs/tools.md is out of date: run manage.py tools_reference.")
        reference.PAGE.write_text(wanted, encoding="utf-8")
