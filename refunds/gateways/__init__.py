"""The payment gateways, by the name that a payment carries (`Payment.provider`); store credit is always our own.

Which of the others are connected is `PAYMENT_GATEWAY`'s to say: where real money moves the simulated one pays nobody.
"""

from collections.abc import Callable

from django.conf import settings

from refunds.gateways import simulated, store_credit
from refunds.gateways.base import (
    CONNECTED,
    LOOKUPS,
    Capabilities,
    Charge,
    ChargeAtProvider,
    Gateway,
    GatewayRefused,
)

_GATEWAYS: dict[str, Gateway] = {}


def connect(provider: str, gateway: Gateway, abilities: Callable[[], Capabilities] = Capabilities) -> None:
    """`abilities` is what others may ask what the gateway can do, without getting hold of it."""
    _GATEWAYS[provider] = gateway
    CONNECTED[provider] = abilities
    LOOKUPS[provider] = lambda charge: _looked_up(provider, charge)


def _looked_up(provider: str, charge: Charge) -> ChargeAtProvider:
    gateway = get(provider)
    return ChargeAtProvider(gateway.charge_state(charge=charge), tuple(gateway.refunds_of(charge=charge)))


def get(provider: str) -> Gateway:
    """Raises GatewayRefused `no_gateway` for a provider that is not connected: nothing was sent."""
    if provider not in _GATEWAYS:
        raise GatewayRefused("no_gateway", f"No gateway is connected for payments through {provider}.")
    return _GATEWAYS[provider]


def connect_configured() -> None:
    """Connect what the settings name."""
    connect("store_credit", store_credit.StoreCreditGateway(), store_credit.abilities)
    if settings.PAYMENT_GATEWAY == "simulated":
        connect("simulated", simulated.SimulatedGateway(), simulated.abilities)
    else:
        from refunds.gateways import stripe  # the library is loaded only where it is used

        connect("stripe", stripe.from_settings(), stripe.abilities)


connect_configured()
