"""What a payment gateway can do for us, and how it can fail. Amounts are integers in the currency's smallest unit here.

An adapter whose gateway counts otherwise converts at its own edge. Every call ends within `GATEWAY_TIMEOUT_SECONDS`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, Protocol


@dataclass(frozen=True, slots=True)
class Charge:
    """A payment as its gateway knows it. `provider_ref` is the gateway's number of it, `payment_id` is ours."""

    payment_id: str
    provider_ref: str
    amount: int
    currency: str
    captured_at: datetime


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a gateway can do with a charge; what `gateways/plan.py` reads. The defaults: everything, at any time.

    `closing_hour`: a charge is closed at the first such hour (shop's zone) after its capture; None: at once. Before it,
    a gateway may refund, or only void the whole charge, or neither. `window_days`: calendar days after the capture.
    `refunds_per_day`: for one charge.
    """

    partial_refunds: bool = True
    refund_before_closing: bool = True
    void_before_closing: bool = False
    closing_hour: int | None = None
    window_days: int | None = None
    refunds_per_day: int | None = None


# The providers whose gateways are connected (`gateways.connect`), each with what it can do: for whoever may know that
# and not hold a gateway.
CONNECTED: Final[dict[str, Callable[[], Capabilities]]] = {}


@dataclass(frozen=True, slots=True)
class GatewayAnswer:
    """The gateway has paid: its own number for the refund, and what it paid."""

    provider_refund_id: str
    amount: int
    currency: str


@dataclass(frozen=True, slots=True)
class StillPending:
    """The gateway knows of the refund and has neither paid nor refused it yet."""

    provider_refund_id: str = ""


@dataclass(frozen=True, slots=True)
class ProviderRefund:
    """A line of the provider's own list of refunds. `idempotency_key` is empty where we did not ask for it.

    `charge_refs`: every number that the provider has for the charge. `reason`: why it failed, in the provider's words.
    """

    provider_refund_id: str
    idempotency_key: str
    charge_refs: tuple[str, ...]
    amount: int
    currency: str
    state: Literal["succeeded", "pending", "failed"]
    created_at: datetime
    reason: str = ""


ChargeState = Literal["succeeded", "pending", "failed"]


@dataclass(frozen=True, slots=True)
class ChargeAtProvider:
    """A charge as its provider has it: whether its money came, and every refund of it, ours or not."""

    state: ChargeState
    refunds: tuple[ProviderRefund, ...]


# The same providers, each with the one question that may be asked about a charge without holding its gateway: what has
# become of it. Raises GatewayTimeout.
LOOKUPS: Final[dict[str, Callable[[Charge], ChargeAtProvider]]] = {}


class GatewayRefused(Exception):
    """A definite no: nothing was paid and nothing will be for this idempotency key.

    `provider_refund_id`: where the gateway had made a refund of it and that has failed for good.
    """

    def __init__(self, code: str, message: str, *, provider_refund_id: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.provider_refund_id = code, message, provider_refund_id


class GatewayTimeout(Exception):
    """No outcome in time. It may be paid or not; only asking tells."""


class Gateway(Protocol):
    @property
    def nothing_known_is_final_after(self) -> timedelta | None:
        """How long after a call "nothing known under this key" means that nothing was paid *and nothing will be*.

        None: never; then only the gateway's own no ends the doubt. A gateway that works through a queue answers with
        the longest that a request may lie there: a shorter time would pay twice.
        """

    def refund(self, *, charge: Charge, amount: int, idempotency_key: str) -> GatewayAnswer | StillPending:
        """Give back part of a charge. The same key again pays nothing more and gives the same answer.

        Raises GatewayRefused; or GatewayTimeout where the outcome is not known.
        """

    def void(self, *, charge: Charge, idempotency_key: str) -> GatewayAnswer | StillPending:
        """Take the whole charge back before it is closed. Keys and errors as for `refund`."""

    def find(self, *, charge: Charge, idempotency_key: str) -> GatewayAnswer | StillPending | None:
        """What the gateway has paid under this key, None if it knows nothing of it.

        Raises GatewayRefused where it knows of it and has refused it for good, GatewayTimeout where it does not answer.
        """

    def list_refunds(self, *, since: datetime, until: datetime) -> Iterable[ProviderRefund]:
        """Every refund that the provider made from `since` until before `until`, ours or not. Raises GatewayTimeout."""

    def refunds_of(self, *, charge: Charge) -> Iterable[ProviderRefund]:
        """Every refund of one charge, ours or not. Raises GatewayTimeout."""

    def charge_state(self, *, charge: Charge) -> ChargeState:
        """Whether the charge's money has come, is awaited, or will not come. Raises GatewayTimeout."""
