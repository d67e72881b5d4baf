"""What a carrier is asked and what it answers. It is never called in a transaction."""

from dataclasses import dataclass
from datetime import date
from typing import Protocol

from django.utils.translation import gettext as _

from orders.errors import Refusal


@dataclass(frozen=True, slots=True)
class EstimateRequest:
    """A parcel: by which carrier (empty: the usual one), in which way, to where, handed over when (None: today)."""

    carrier: str
    method: str
    postal_code: str
    city: str
    handed_over: date | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The first and the last day on which the parcel is likely to arrive, as the carrier says."""

    earliest: date
    latest: date
    carrier: str


class CarrierUnavailable(Refusal):
    """The carrier gave no answer in time. Nothing was sent, so it may be asked again; a date is never made up."""

    def __init__(self) -> None:
        super().__init__(
            "carrier_unavailable",
            _("The carrier does not answer at the moment, so there is no delivery date to tell."),
            hint=_("Ask again in a minute. Do not guess a date."),
            retryable=True,
            status=503,
        )


class Carrier(Protocol):
    def estimate(self, request: EstimateRequest) -> Estimate:
        """When the parcel would arrive. Raises CarrierUnavailable within `CARRIER_TIMEOUT_SECONDS`."""
        ...
