"""`manage.py gateway_abilities --whole-only --closing-hour 22`: what the simulated gateway says it can do."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from refunds.models import SimulatedAcquirer


class Command(BaseCommand):
    help = (
        "Set what the simulated gateway can do; what is not named, it can. Without an option: everything, as at first."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--whole-only", action="store_true", help="no partial refunds")
        parser.add_argument("--closing-hour", type=int, help="charges are closed at this hour; before it nothing goes")
        parser.add_argument("--void-before-closing", action="store_true", help="before it, a whole charge is voided")
        parser.add_argument("--window-days", type=int, help="no refund after so many days")
        parser.add_argument("--refunds-per-day", type=int, help="of one charge")

    def handle(self, *args: Any, **options: Any) -> None:
        hour, window, a_day = (options[name] for name in ("closing_hour", "window_days", "refunds_per_day"))
        if hour is not None and not 0 <= hour <= 23:
            raise CommandError("--closing-hour must be a whole number from 0 to 23.")
        if any(value is not None and value < 1 for value in (window, a_day)):
            raise CommandError("--window-days and --refunds-per-day must be at least 1.")
        if options["void_before_closing"] and hour is None:
            raise CommandError("--void-before-closing needs --closing-hour: without one a charge is closed at once.")
        row = {
            "partial_refunds": not options["whole_only"],
            "refund_before_closing": hour is None,
            "void_before_closing": options["void_before_closing"],
            "closing_hour": hour,
            "window_days": window,
            "refunds_per_day": a_day,
        }
        SimulatedAcquirer.objects.update_or_create(pk=1, defaults=row)
        self.stdout.write(", ".join(f"{name}: {value}" for name, value in row.items()))
