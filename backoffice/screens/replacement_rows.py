"""Replacements with everything that a row shows, in a fixed number of queries."""

from django.db.models import QuerySet

from orders.models import Order
from refunds import selectors
from refunds.models import Replacement


def everything() -> QuerySet[Replacement]:
    return _with_order(selectors.replacements())


def to_send() -> QuerySet[Replacement]:
    return _with_order(selectors.replacements_to_send())


def of_order(order: Order) -> QuerySet[Replacement]:
    return _with_order(selectors.replacements_of(order))


def _with_order(rows: QuerySet[Replacement]) -> QuerySet[Replacement]:
    return rows.select_related("order__customer", "shipment", "return_request")
