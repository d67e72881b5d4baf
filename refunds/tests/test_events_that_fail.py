"""Messages of a provider that cannot be applied: tried more and more rarely, for ever, and no other waits for them."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from refunds import provider_events
from refunds.models import ProviderEvent

pytestmark = pytest.mark.django_db(transaction=True)


def received(event_id: str, kind: str, *, ago: timedelta = timedelta(0), attempts: int = 0) -> ProviderEvent:
    payload: dict[str, Any] = {"data": {"object": {}}}  # no refund can be read from it
    kept = ProviderEvent.objects.create(
        provider="stripe", event_id=event_id, kind=kind, payload=payload, attempts=attempts
    )
    ProviderEvent.objects.filter(pk=kept.pk).update(received_at=timezone.now() - ago)
    return kept


def broken(event_id: str, *, attempts: int) -> ProviderEvent:
    """It came days ago, has failed so often, and is due."""
    kept = received(event_id, "refund.updated", ago=timedelta(days=3), attempts=attempts)
    ProviderEvent.objects.filter(pk=kept.pk).update(tried_at=timezone.now() - timedelta(hours=2))
    return kept


def sweeps(times: int, *, minutes_between: float = 0) -> None:
    for _ in range(times):
        provider_events.apply_waiting()
        ProviderEvent.objects.update(tried_at=F("tried_at") - timedelta(minutes=minutes_between))


def tries(kept: ProviderEvent) -> int:
    before = kept.attempts
    kept.refresh_from_db()
    return kept.attempts - before


def test_one_that_has_failed_for_days_is_tried_about_once_an_hour() -> None:
    kept = broken("evt_1", attempts=30)
    sweeps(5)
    assert tries(kept) == 1
    sweeps(48, minutes_between=30)  # a day
    assert 15 <= tries(kept) <= 24


def test_the_pauses_grow_from_try_to_try() -> None:
    kept = received("evt_1", "refund.updated")
    sweeps(60, minutes_between=0.5)  # half an hour
    assert 6 <= tries(kept) <= 8


def test_however_many_fail_the_others_have_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_events, "BATCH", 3)
    for number in range(6):
        broken(f"evt_{number}", attempts=12)
    good = received("evt_good", "customer.created", ago=timedelta(minutes=5))
    sweeps(3)
    good.refresh_from_db()
    assert good.applied_at is not None
