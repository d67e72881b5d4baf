"""What the doors of this API share: who acts, filters, pages."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from orders.actors import Actor
from orders.errors import InvalidInput
from orders.models import Order
from refunds import access

Row = TypeVar("Row", bound=Model)

# What the records say where a program of staff confirms without a note: in one language, for they are never rewritten.
NO_NOTE: Final = "Confirmed through the API without a note."
PAGES: Final = [OpenApiParameter("page", int), OpenApiParameter("page_size", int, description="At most 100.")]


def actor_of(request: Request, order: Order) -> Actor:
    return access.actor_for(request, order, via="api")


def of_order(request: Request, rows: QuerySet[Row]) -> QuerySet[Row]:
    """Of the order in the filter `order`, if there is one. What no number can contain finds nothing."""
    number = request.query_params.get("order")
    return rows if number is None else rows.filter(order__number=number.replace("\x00", "\ufffd"))


def wanted_state(request: Request, states: list[str]) -> str | None:
    """The filter `state`. Raises InvalidInput for one that does not exist."""
    state = request.query_params.get("state")
    if state is not None and state not in states:
        raise InvalidInput("state", _("It must be one of: %(states)s.") % {"states": ", ".join(states)})
    return state


def page(view: APIView, request: Request, rows: QuerySet[Row], show: Callable[[Row], dict[str, Any]]) -> Response:
    pages: PageNumberPagination = api_settings.DEFAULT_PAGINATION_CLASS()  # type: ignore[operator, misc]
    found = pages.paginate_queryset(rows, request, view=view) or []
    return pages.get_paginated_response([show(row) for row in found])
