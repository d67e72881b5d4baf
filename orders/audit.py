"""The append-only history. Every transition writes one row here, inside the transaction that makes it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import structlog
from django.core.serializers.json import DjangoJSONEncoder

from orders.actors import Actor
from orders.models import AuditEvent, Order


def record(
    *,
    action: str,
    actor: Actor,
    subject_type: str,
    subject_id: str,
    order: Order | None = None,
    order_id: int | None = None,
    chosen: Mapping[str, Any] | None = None,
    computed: Mapping[str, Any] | None = None,
    outcome: Mapping[str, Any] | None = None,
    correlation: Mapping[str, Any] | None = None,
) -> AuditEvent:
    """Add one event. Call it inside the transaction of what it tells about: both are kept, or neither.

    `order_id` instead of `order` where the order itself has not been read.
    """
    bound = structlog.contextvars.get_contextvars()
    context = {key: bound[key] for key in ("request_id", "job_id", "conversation_id", "turn_id") if key in bound}
    return AuditEvent.objects.create(
        action=action,
        actor_kind=actor.kind,
        actor_user=actor.user,
        actor_name=actor.name,
        order_id=order.pk if order else order_id,
        subject_type=subject_type,
        subject_id=subject_id,
        chosen=dict(chosen or {}),
        computed=dict(computed or {}),
        outcome=dict(outcome or {}),
        correlation={**context, **actor.correlation, **(correlation or {})},
    )


@contextmanager
def for_the_same_request(*, subject_type: str, subject_id: str) -> Iterator[None]:
    """What is done in here is logged, recorded and handed on under the request that the subject's history names.

    For what brings lost work back: it was another one's request that the work was for.
    """
    named = AuditEvent.objects.filter(
        subject_type=subject_type, subject_id=subject_id, correlation__has_key="request_id"
    )
    request_id = named.order_by("-pk").values_list("correlation__request_id", flat=True).first()
    with structlog.contextvars.bound_contextvars(**({"request_id": request_id} if request_id else {})):
        yield


def as_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` as JSON keeps them: times in ISO form, decimals as text."""
    plain: dict[str, Any] = json.loads(json.dumps(values, cls=DjangoJSONEncoder))
    return plain
