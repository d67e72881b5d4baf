"""The payment gateways, by the name that a payment carries (`Payment.provider`)."""

from refunds.gateways.base import CONNECTED, Gateway, GatewayRefused
from refunds.gateways.simulated import SimulatedGateway

_GATEWAYS: dict[str, Gateway] = {}


def connect(provider: str, gateway: Gateway) -> None:
    _GATEWAYS[provider] = gateway
    CONNECTED.add(provider)


def get(provider: str) -> Gateway:
    """Raises GatewayRefused `no_gateway` for a provider that is not connected: nothing was sent."""
    if provider not in _GATEWAYS:
        raise GatewayRefused("no_gateway", f"No gateway is connected for payments through {provider}.")
    return _GATEWAYS[provider]


connect("simulated", SimulatedGateway())
