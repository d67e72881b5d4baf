"""A carrier that counts working days, with switches for what goes wrong (`CarrierFault`).

It stands for a machine of somebody else: when it is told to be slow it really is. Public holidays are not known to it.
"""

import time
from datetime import date, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from orders.carriers.base import CarrierUnavailable, Estimate, EstimateRequest
from orders.models import CarrierFault
from orders.states import CarrierFaultKind

# Working days after the day of asking: the first and the last on which it arrives.
_DAYS: Final = {"home_delivery": (1, 2), "store_pickup": (2, 3), "convenience_store": (2, 4)}
_OTHERWISE: Final = (2, 4)
# Islands to which a ship goes: 連江, 琉球, 澎湖, 金門, 綠島 and 蘭嶼, by the first three digits of their postal codes.
_ISLANDS: Final = frozenset({*range(209, 213), 929, *range(880, 886), *range(890, 897), 951, 952})
_BY_SHIP: Final = 3
_SATURDAY: Final = 5


class SimulatedCarrier:
    def estimate(self, request: EstimateRequest) -> Estimate:
        fault = take_fault()
        if fault and fault.kind == CarrierFaultKind.DOWN:
            raise CarrierUnavailable
        if fault:
            time.sleep(min(fault.seconds, settings.CARRIER_TIMEOUT_SECONDS))
            if fault.seconds >= settings.CARRIER_TIMEOUT_SECONDS:
                raise CarrierUnavailable
        first, last = _DAYS.get(request.method, _OTHERWISE)
        more = _BY_SHIP if _is_island(request.postal_code) else 0
        start = request.handed_over or timezone.localdate()  # in the shop's zone
        return Estimate(
            earliest=working_days_after(start, first + more),
            latest=working_days_after(start, last + more),
            carrier=request.carrier,
        )


def working_days_after(day: date, days: int) -> date:
    """The day on which `days` working days, Monday to Friday, have passed after `day`."""
    while days > 0:
        day += timedelta(days=1)
        days -= day.weekday() < _SATURDAY
    return day


@transaction.atomic
def take_fault() -> CarrierFault | None:
    """Use up one of the switched-on faults."""
    fault = CarrierFault.objects.filter(remaining__gt=0).select_for_update().order_by("pk").first()
    if fault:
        CarrierFault.objects.filter(pk=fault.pk).update(remaining=F("remaining") - 1)
    return fault


def _is_island(postal_code: str) -> bool:
    head = postal_code[:3]
    return head.isascii() and head.isdigit() and int(head) in _ISLANDS
