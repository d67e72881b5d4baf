"""What a payment gateway can do for us, and how it can fail. Amounts are integers in the currency's smallest unit here.

An adapter whose gateway counts otherwise converts at its own edge. Every call ends within `GATEWAY_TIMEOUT_SECONDS`.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

# The providers whose gateways are connected (`gateways.connect`), for whoever may know that and not hold a gateway.
CONNECTED: Final[set[str]] = set()


@dataclass(frozen=True, slots=True)
class GatewayAnswer:
    """The gateway has paid: its own number for the refund, and what it paid."""

    provider_refund_id: str
    amount: int
    currency: str


@dataclass(frozen=True, slots=True)
class StillPending:
    """The gateway knows of the refund and has neither paid nor refused it yet."""


class GatewayRefused(Exception):
    """A definite no: nothing was paid and nothing will be for this idempotency key."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class GatewayTimeout(Exception):
    """No outcome in time. It may be paid or not; only asking tells."""


class Gateway(Protocol):
    @property
    def nothing_known_is_final_after(self) -> timedelta | None:
        """How long after a call "nothing known under this key" means that nothing was paid *and nothing will be*.

        None: never; then only the gateway's own no ends the doubt. A gateway that works through a queue answers with
        the longest that a request may lie there: a shorter time would pay twice.
        """

    def refund(self, *, charge_ref: str, amount: int, currency: str, idempotency_key: str) -> GatewayAnswer:
        """Give back part of a charge. The same key again pays nothing more and gives the same answer.

        Raises GatewayRefused; or GatewayTimeout where the outcome is not known yet, also if the gateway has only
        accepted the request.
        """

    def find(self, idempotency_key: str) -> GatewayAnswer | StillPending | None:
        """What the gateway has paid under this key, None if it knows nothing of it.

        Raises GatewayRefused where it knows of it and has refused it for good, GatewayTimeout where it does not answer.
        """
