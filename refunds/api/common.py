"""What the doors of this API share: who acts, filters, pages."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeVar
from uuid import uuid4

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from orders.actors import Actor
from orders.errors import InvalidInput
from orders.models import Order
from orders.strict import validated
from refunds import access
from refunds.bodies import NeededNoteBody
from refunds.models import Refund
from refunds.present import refund_as_dict

Row = TypeVar("Row", bound=Model)

# What the records say where a program of staff confirms without a note: in one language, for they are never rewritten.
NO_NOTE: Final = "Confirmed through the API without a note."


def actor_of(request: Request, order: Order) -> Actor:
    return access.actor_for(request, order, via="api")


def request_ref_of(facts: Mapping[str, Any], order: Order, actor: Actor) -> str:
    """The caller's `request_ref`, apart from those of other orders and doors; one of its own if none was sent."""
    ref = facts.get("request_ref") or uuid4().hex
    return f"api:{order.pk}:{actor.kind}:{ref}"


def of_order(request: Request, rows: QuerySet[Row]) -> QuerySet[Row]:
    """Of the order in the filter `order`, if there is one. What no number can contain finds nothing."""
    number = request.query_params.get("order")
    return rows if number is None else rows.filter(order__number=number.replace("\x00", "\ufffd"))


def wanted_state(request: Request, states: list[str]) -> str | None:
    """The filter `state`. Raises InvalidInput for one that does not exist."""
    return wanted(request, "state", states)


def in_wanted_state(request: Request, rows: QuerySet[Row], states: list[str]) -> QuerySet[Row]:
    """Rows in the state of the filter `state`, if there is one. Raises InvalidInput."""
    state = wanted_state(request, states)
    return rows if state is None else rows.filter(state=state)


def wanted(request: Request, name: str, values: list[str]) -> str | None:
    """The filter of this name. Raises InvalidInput for a value that does not exist."""
    value = request.query_params.get(name)
    if value is not None and value not in values:
        raise InvalidInput(name, _("It must be one of: %(states)s.") % {"states": ", ".join(values)})
    return value


def page(view: APIView, request: Request, rows: QuerySet[Row], show: Callable[[Row], dict[str, Any]]) -> Response:
    pages: PageNumberPagination = api_settings.DEFAULT_PAGINATION_CLASS()  # type: ignore[operator, misc]
    found = pages.paginate_queryset(rows, request, view=view) or []
    return pages.get_paginated_response([show(row) for row in found])


class SaysOfRefund(Protocol):
    """A service by which a person says something of a refund, and why."""

    def __call__(self, *, refund_id: str, actor: Actor, note: str) -> Refund: ...


def said_of_refund(request: Request, refund_id: str, service: SaysOfRefund) -> Response:
    """Say it of a refund that the caller may see, with the `note` of the body; answers with the refund."""
    refund = access.refund_for(request, refund_id)
    note = validated(NeededNoteBody, request.data)["note"]
    return Response(refund_as_dict(service(refund_id=refund.pk, actor=actor_of(request, refund.order), note=note)))
