"""`manage.py gateway_fault refuse --times 1`: make the simulated gateway go wrong, to see what the product does."""

from argparse import ArgumentParser
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from refunds.models import SimulatedFault
from refunds.states import FaultKind

# More than anybody waits for, and within what a row can hold.
MOST: Final = 1000


class Command(BaseCommand):
    help = "Make the next calls of the simulated gateway go wrong; `off` switches all faults off."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=[*FaultKind.values, "off"])
        parser.add_argument("--times", type=int, default=1, help="how many calls go wrong")
        parser.add_argument("--seconds", type=float, default=3.0, help="how long a slow or missing answer takes")

    def handle(self, *args: Any, kind: str, times: int, seconds: float, **options: Any) -> None:
        if kind == "off":
            gone = SimulatedFault.objects.filter(remaining__gt=0).count()
            SimulatedFault.objects.all().delete()
            self.stdout.write(f"Switched off: {gone}.")
            return
        if not 1 <= times <= MOST:
            raise CommandError(f"--times must be a whole number from 1 to {MOST}.")
        if not 0 <= seconds <= MOST:
            raise CommandError(f"--seconds must be a number from 0 to {MOST}.")
        SimulatedFault.objects.create(kind=kind, remaining=times, seconds=seconds)
        calls = "call" if times == 1 else f"{times} calls"
        self.stdout.write(f"The next {calls} of the simulated gateway: {kind}, {seconds} s.")
