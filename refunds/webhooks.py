"""The address that payment providers call. It checks the signature, keeps the message, and answers at once."""

import json
from typing import Any, Final

import stripe
import structlog
from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from orders.jobs import enqueue_on_commit
from refunds import provider_events, tasks
from refunds.stripe_facts import PROVIDER

log = structlog.get_logger(__name__)
# A signature older than this is somebody's copy. Stripe signs each delivery anew.
TOLERANCE_SECONDS: Final = 300


@csrf_exempt
@require_POST
def stripe_event(request: HttpRequest) -> JsonResponse:
    """An event of Stripe's: 200 once it is kept, 400 where the signature is not Stripe's; then nothing is kept.

    A session or a token says nothing here: the signature over the body as it came is the only credential.
    """
    try:
        event = _signed_event(request)
    except (stripe.SignatureVerificationError, ValueError) as error:
        log.warning("webhook.refused", provider=PROVIDER, why=type(error).__name__)
        return JsonResponse({"received": False}, status=400)
    kept = provider_events.receive(provider=PROVIDER, event_id=event["id"], kind=event["type"], payload=event)
    if kept is not None:
        enqueue_on_commit(tasks.apply_event, kept.pk)
    return JsonResponse({"received": True})


def _signed_event(request: HttpRequest) -> dict[str, Any]:
    """Raises SignatureVerificationError, or ValueError for a body that is no event."""
    stripe.WebhookSignature.verify_header(
        request.body, request.headers.get("Stripe-Signature"), settings.STRIPE_WEBHOOK_SECRET, TOLERANCE_SECONDS
    )
    event = json.loads(request.body)
    named = isinstance(event, dict) and all(_is_name(event.get(part)) for part in ("id", "type"))
    if not named or "\\u0000" in request.body.decode():
        raise ValueError("no event")
    return dict(event)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 80
