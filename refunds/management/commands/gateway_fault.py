"""`manage.py gateway_fault refuse --times 1`: make the simulated gateway go wrong, to see what the product does."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from refunds.models import SimulatedFault
from refunds.states import FaultKind


class Command(BaseCommand):
    help = "Make the next refund calls of the simulated gateway go wrong; `off` switches all faults off."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=[*FaultKind.values, "off"])
        parser.add_argument("--times", type=int, default=1, help="how many calls go wrong")
        parser.add_argument("--seconds", type=float, default=3.0, help="how long a slow or missing answer takes")

    def handle(self, *args: Any, kind: str, times: int, seconds: float, **options: Any) -> None:
        if kind == "off":
            gone, _ = SimulatedFault.objects.all().delete()
            self.stdout.write(f"Switched off: {gone}.")
            return
        SimulatedFault.objects.create(kind=kind, remaining=times, seconds=seconds)
        self.stdout.write(f"The next {times} calls of the simulated gateway: {kind}, {seconds} s.")
