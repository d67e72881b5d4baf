"""`manage.py carrier_fault down --times 2`: make the simulated carrier go wrong, to see what the product does."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from orders.models import CarrierFault
from orders.states import CarrierFaultKind


class Command(BaseCommand):
    help = "Make the next answers of the simulated carrier go wrong; `off` switches all faults off."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=[*CarrierFaultKind.values, "off"])
        parser.add_argument("--times", type=int, default=1, help="how many answers go wrong")
        parser.add_argument("--seconds", type=float, default=3.0, help="how long a slow answer takes")

    def handle(self, *args: Any, kind: str, times: int, seconds: float, **options: Any) -> None:
        if kind == "off":
            gone = CarrierFault.objects.filter(remaining__gt=0).count()
            CarrierFault.objects.all().delete()
            self.stdout.write(f"Switched off: {gone}.")
            return
        CarrierFault.objects.create(kind=kind, remaining=times, seconds=seconds)
        answers = "answer" if times == 1 else f"{times} answers"
        self.stdout.write(f"The next {answers} of the simulated carrier: {kind}, {seconds} s.")
