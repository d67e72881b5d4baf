"""A carrier says when goods would arrive. When it does not answer there is no date, and nobody makes one up."""

import time
from datetime import date
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from orders import carriers
from orders.carriers import CarrierUnavailable, Estimate, EstimateRequest
from orders.carriers.simulated import SimulatedCarrier, working_days_after
from orders.models import CarrierFault, Order
from orders.tests import cast
from orders.tests.factories import PAID_DELIVERY, shipment_body

pytestmark = pytest.mark.django_db(transaction=True)
HOME = {
    "recipient": "王小明",
    "phone": "0912345678",
    "postal_code": "106",
    "city": "台北市",
    "district": "大安區",
    "street": "和平東路一段 1 號",
}


def order(postal_code: str = "106", **changes: Any) -> Order:
    address = {**HOME, "postal_code": postal_code}
    return cast.place("7001", shipping=PAID_DELIVERY, shipping_address=address, **changes)


@pytest.mark.parametrize(
    ("day", "days", "then"),
    [
        (date(2026, 11, 25), 1, date(2026, 11, 26)),  # a Wednesday
        (date(2026, 11, 27), 1, date(2026, 11, 30)),  # Friday: the weekend does not count
        (date(2026, 11, 28), 2, date(2026, 12, 1)),
        (date(2026, 11, 25), 6, date(2026, 12, 3)),
        (date(2026, 11, 25), 0, date(2026, 11, 25)),
    ],
)
def test_working_days_are_monday_to_friday(day: date, days: int, then: date) -> None:
    assert working_days_after(day, days) == then


def test_days_are_counted_from_today_in_the_shops_zone_or_from_the_day_of_handing_over() -> None:
    placed = order()
    today = timezone.localdate()
    told = carriers.estimate(order=placed, carrier="黑貓宅急便")
    assert told == Estimate(working_days_after(today, 1), working_days_after(today, 2), "黑貓宅急便")
    earlier = carriers.estimate(order=placed, handed_over=date(2026, 11, 20))
    assert (earlier.earliest, earlier.latest) == (date(2026, 11, 23), date(2026, 11, 24))


@pytest.mark.parametrize("postal_code", ["880", "890001", "209", "952"])
def test_islands_wait_for_the_ship(postal_code: str) -> None:
    placed, start = order(postal_code), date(2026, 11, 20)
    assert carriers.estimate(order=placed, handed_over=start).earliest == working_days_after(start, 4)


class Recording:
    """A carrier that keeps what it was asked."""

    asked: EstimateRequest

    def estimate(self, request: EstimateRequest) -> Estimate:
        self.asked = request
        return Estimate(date(2026, 12, 1), date(2026, 12, 2), request.carrier)


def test_a_carrier_is_told_where_to_and_it_is_the_one_that_took_the_last_parcel() -> None:
    carrier = Recording()
    carriers.estimate(order=order(shipments=[shipment_body({1: 1})]), by=carrier)
    assert carrier.asked == EstimateRequest("黑貓宅急便", "home_delivery", "106", "台北市")


def test_an_order_without_an_address_is_asked_about_too() -> None:
    carrier = Recording()
    carriers.estimate(order=cast.place("7002"), by=carrier)
    assert carrier.asked == EstimateRequest("", "store_pickup", "", "")


def test_a_carrier_that_is_down_gives_no_date_and_may_be_asked_again() -> None:
    placed = order()
    call_command("carrier_fault", "down", times=2, verbosity=0)
    for _ in range(2):
        with pytest.raises(CarrierUnavailable) as refused:
            carriers.estimate(order=placed)
        assert (refused.value.code, refused.value.retryable) == ("carrier_unavailable", True)
    assert carriers.estimate(order=placed)


def test_a_slow_carrier_is_waited_for_until_the_time_out(settings: Settings) -> None:
    placed = order()
    settings.CARRIER_TIMEOUT_SECONDS = 0.2
    CarrierFault.objects.create(kind="slow", seconds=0.05)
    assert carriers.estimate(order=placed)
    CarrierFault.objects.create(kind="slow", seconds=60)
    began = time.monotonic()
    with pytest.raises(CarrierUnavailable):
        carriers.estimate(order=placed)
    assert time.monotonic() - began < 5


def test_no_transaction_waits_for_a_carrier() -> None:
    placed = order()
    with transaction.atomic(), pytest.raises(RuntimeError):
        carriers.estimate(order=placed)


class InTransaction:
    """A carrier that notices whether somebody waits for it with locks in hand."""

    def estimate(self, request: EstimateRequest) -> Estimate:
        assert not transaction.get_connection().in_atomic_block
        return SimulatedCarrier().estimate(request)


def test_the_simulated_carrier_too_answers_outside_of_transactions() -> None:
    CarrierFault.objects.create(kind="slow", seconds=0)
    assert carriers.estimate(order=order(), by=InTransaction())
    assert CarrierFault.objects.get().remaining == 0


def test_switching_off_takes_all_faults_away() -> None:
    call_command("carrier_fault", "slow", times=5, seconds=60, verbosity=0)
    call_command("carrier_fault", "off", verbosity=0)
    assert not CarrierFault.objects.exists()
