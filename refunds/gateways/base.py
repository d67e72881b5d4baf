"""What a payment gateway can do for us, and how it can fail. Amounts are integers in the currency's smallest unit here.

An adapter whose gateway counts otherwise converts at its own edge. Every call ends within `GATEWAY_TIMEOUT_SECONDS`.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class GatewayAnswer:
    """The gateway has paid: its own number for the refund, and what it paid."""

    provider_refund_id: str
    amount: int
    currency: str


class GatewayRefused(Exception):
    """A definite no: nothing was paid and nothing will be for this idempotency key."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class GatewayTimeout(Exception):
    """No answer in time. It may have been paid or not; only asking tells."""


class Gateway(Protocol):
    def refund(self, *, charge_ref: str, amount: int, currency: str, idempotency_key: str) -> GatewayAnswer:
        """Give back part of a charge. The same key again pays nothing more and gives the same answer.

        Raises GatewayRefused or GatewayTimeout.
        """

    def find(self, idempotency_key: str) -> GatewayAnswer | None:
        """What the gateway has paid under this key, None if nothing. Raises GatewayTimeout."""
