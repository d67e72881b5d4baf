"""The address that payment providers call. It checks the signature, keeps the message, and answers at once."""

import json
from typing import Any, Final

import stripe
import structlog
from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from orders.errors import Refusal
from orders.jobs import enqueue_on_commit
from orders.json_values import finite, half_a_character, is_shallow
from refunds import provider_events, tasks
from refunds.stripe_facts import PROVIDER

log = structlog.get_logger(__name__)
# A signature older than this is somebody's copy. Stripe signs each delivery anew.
TOLERANCE_SECONDS: Final = 300


@csrf_exempt
@require_POST
def stripe_event(request: HttpRequest) -> JsonResponse:
    """An event of Stripe's: 200 once it is kept. 400 where the signature is not Stripe's, or what it says is no event
    that can be kept; then nothing is kept.

    A session or a token says nothing here: the signature over the body as it came is the only credential.
    """
    try:
        event = _signed_event(request)
    except (stripe.SignatureVerificationError, ValueError, RecursionError) as error:
        log.warning("webhook.refused", provider=PROVIDER, why=type(error).__name__)
        return JsonResponse(_refusal(error).as_dict(), status=400, json_dumps_params={"ensure_ascii": False})
    kept = provider_events.receive(provider=PROVIDER, event_id=event["id"], kind=event["type"], payload=event)
    if kept is not None:
        enqueue_on_commit(tasks.apply_event, kept.pk)
    return JsonResponse({"received": True})


def _signed_event(request: HttpRequest) -> dict[str, Any]:
    """Raises SignatureVerificationError, or ValueError or RecursionError for a body that is no event."""
    body, header = request.body.decode(), request.headers.get("Stripe-Signature", "")
    if not header.isascii():  # which the comparison of signatures cannot take
        raise stripe.SignatureVerificationError("not a signature", header, body)  # type: ignore[no-untyped-call]
    stripe.WebhookSignature.verify_header(body, header, settings.STRIPE_WEBHOOK_SECRET, TOLERANCE_SECONDS)
    event = json.loads(body, parse_float=finite, parse_constant=finite)
    named = isinstance(event, dict) and all(_is_name(event.get(part)) for part in ("id", "type"))
    if not named or "\\u0000" in body or not is_shallow(event) or half_a_character(event) is not None:
        raise ValueError("no event")
    return dict(event)


def _refusal(error: Exception) -> Refusal:
    if isinstance(error, stripe.SignatureVerificationError):
        return Refusal(
            "wrong_signature",
            _("The signature of this message is missing, too old or not right."),
            hint=_("Sign the body as it is sent, with the endpoint's signing secret."),
        )
    return Refusal(
        "malformed_body",
        _("This message is no event that can be kept."),
        hint=_("Send JSON with an id and a type, of numbers and texts that can be kept."),
    )


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 80
