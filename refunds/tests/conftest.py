"""What several tests of paying share."""

from collections.abc import Generator

import pytest
from pytest_django import Settings

from refunds import gateways
from refunds.gateways import stripe as stripe_gateway
from refunds.gateways.base import CONNECTED, LOOKUPS
from refunds.tests.stripe_stand_in import KEY, WEBHOOK_SECRET, Stripe, running_stripe


@pytest.fixture
def stripe(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Generator[Stripe]:
    """Stripe's stand-in, with its gateway connected beside the simulated one."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")  # a proxy does not know our loopback
    with running_stripe() as books:
        settings.STRIPE_API_BASE, settings.STRIPE_API_KEY = books.url, KEY
        settings.STRIPE_WEBHOOK_SECRET = WEBHOOK_SECRET
        gateways.connect("stripe", stripe_gateway.from_settings(), stripe_gateway.abilities)
        yield books
        disconnect("stripe")


def disconnect(provider: str) -> None:
    gateways._GATEWAYS.pop(provider, None)
    CONNECTED.pop(provider, None)
    LOOKUPS.pop(provider, None)
