"""Stripe, through its own library: https://docs.stripe.com/api/refunds.

The library repeats no call by itself: whatever has no definite answer (time-out, lost connection, 429, 5xx) is in doubt
and only asked about. A refund carries our key in its metadata too, so that it is found in the charge's list for as long
as Stripe keeps it, which is longer than Stripe remembers idempotency keys.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final

import stripe
from django.conf import settings

from refunds import stripe_facts
from refunds.gateways.base import (
    Capabilities,
    Charge,
    ChargeState,
    GatewayAnswer,
    GatewayRefused,
    GatewayTimeout,
    ProviderRefund,
    StillPending,
)

# It would send timings of our calls to Stripe, and keep a number for this machine in the home folder.
stripe.enable_telemetry = False

PAGE: Final = 100
# To connect takes no longer than this part of the time that a call may take.
CONNECTING: Final = 0.3
_PAID_FIRST: Final = ("succeeded", "pending", "failed")
_NOT_OURS_TO_MEND: Final = {
    stripe.AuthenticationError: ("wrong_api_key", "Stripe does not accept this desk's API key. Check STRIPE_API_KEY."),
    stripe.PermissionError: ("key_lacks_rights", "This desk's API key of Stripe may not make refunds."),
}


def abilities() -> Capabilities:
    """Partial refunds at any time, also before a charge has settled; Stripe reverses it by itself then."""
    return Capabilities()


class StripeGateway:
    # Stripe works on a call for a minute or so at most; its lists are up to date some seconds later.
    nothing_known_is_final_after = timedelta(minutes=15)

    def __init__(self, *, api_key: str, api_base: str, timeout: float) -> None:
        patience = (timeout * CONNECTING, timeout * (1 - CONNECTING))
        self._client = stripe.StripeClient(
            api_key,
            base_addresses={"api": api_base},
            max_network_retries=0,
            http_client=stripe.RequestsClient(timeout=patience),
        )

    def refund(self, *, charge: Charge, amount: int, idempotency_key: str) -> GatewayAnswer | StillPending:
        if charge.currency not in stripe_facts.STRIPE_DECIMALS:
            raise GatewayRefused("unknown_currency", f"{charge.currency} is not set up for Stripe here.")
        params: Any = {
            **_of_charge(charge),
            "amount": stripe_facts.to_stripe(amount, charge.currency),
            "metadata": {stripe_facts.KEY: idempotency_key, "payment_id": charge.payment_id},
        }
        with _as_ours():
            made = self._client.v1.refunds.create(params, {"idempotency_key": idempotency_key})
        return _answer(stripe_facts.refund_line(made.to_dict()))

    def void(self, *, charge: Charge, idempotency_key: str) -> GatewayAnswer | StillPending:
        """Stripe knows one way back for both: a refund of a charge that has not settled is a reversal."""
        return self.refund(charge=charge, amount=charge.amount, idempotency_key=idempotency_key)

    def find(self, *, charge: Charge, idempotency_key: str) -> GatewayAnswer | StillPending | None:
        """Where Stripe has several under the key, the one that is paid or may still be: a no must be all of theirs."""
        known = [line for line in self.refunds_of(charge=charge) if line.idempotency_key == idempotency_key]
        return _answer(min(known, key=lambda line: _PAID_FIRST.index(line.state))) if known else None

    def refunds_of(self, *, charge: Charge) -> Iterable[ProviderRefund]:
        return self._list(_of_charge(charge))

    def list_refunds(self, *, since: datetime, until: datetime) -> Iterable[ProviderRefund]:
        return self._list({"created": {"gte": int(since.timestamp()), "lt": int(until.timestamp())}})

    def charge_state(self, *, charge: Charge) -> ChargeState:
        """Of a payment intent, the state of its newest charge. A charge that Stripe does not know is doubt."""
        try:
            return stripe_facts.charge_state(self._charge(charge.provider_ref))
        except stripe.StripeError as error:
            raise GatewayTimeout(str(error)) from error

    def _charge(self, reference: str) -> dict[str, Any]:
        if not reference.startswith("pi_"):
            return self._client.v1.charges.retrieve(reference).to_dict()
        found = self._client.v1.charges.list({"payment_intent": reference, "limit": 1}).data
        return found[0].to_dict() if found else {"status": "failed"}

    def _list(self, wanted: dict[str, Any]) -> list[ProviderRefund]:
        """Every page of it. A refusal to list says nothing about a refund, so it is doubt like any other."""
        params: Any = {**wanted, "limit": PAGE}
        try:
            found = self._client.v1.refunds.list(params).auto_paging_iter()
            return [stripe_facts.refund_line(refund.to_dict()) for refund in found]
        except stripe.InvalidRequestError as error:
            if error.code == "resource_missing":  # no such charge: then nothing was ever given back to it
                return []
            raise GatewayTimeout(str(error)) from error
        except stripe.StripeError as error:
            raise GatewayTimeout(str(error)) from error


def from_settings() -> StripeGateway:
    return StripeGateway(
        api_key=settings.STRIPE_API_KEY,
        api_base=settings.STRIPE_API_BASE.rstrip("/"),
        timeout=settings.GATEWAY_TIMEOUT_SECONDS,
    )


def _of_charge(charge: Charge) -> dict[str, str]:
    """Shops keep the charge (ch_…, py_…) or its payment intent (pi_…)."""
    kind = "payment_intent" if charge.provider_ref.startswith("pi_") else "charge"
    return {kind: charge.provider_ref}


def _answer(line: ProviderRefund) -> GatewayAnswer | StillPending:
    if line.state == "failed":
        message = f"Stripe says that the refund has failed: {line.reason}."
        raise GatewayRefused(line.reason or "failed", message, provider_refund_id=line.provider_refund_id)
    if line.state == "pending":
        return StillPending(line.provider_refund_id)
    return GatewayAnswer(line.provider_refund_id, line.amount, line.currency)


@contextmanager
def _as_ours() -> Iterator[None]:
    """What Stripe's errors mean for a refund: a definite no, or doubt."""
    try:
        yield
    except (stripe.AuthenticationError, stripe.PermissionError) as error:
        raise GatewayRefused(*_NOT_OURS_TO_MEND[type(error)]) from error
    except stripe.CardError as error:
        raise GatewayRefused(error.code or "card_declined", str(error.user_message or "")) from error
    except stripe.InvalidRequestError as error:
        raise GatewayRefused(error.code or "invalid_request", str(error.user_message or "")) from error
    except stripe.StripeError as error:  # 409 and a reused key too: something is under way with this key
        raise GatewayTimeout(str(error)) from error
