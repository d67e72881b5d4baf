"""What the copilot's tools share: permissions asked for by name, closed schemas, moments with a zone, pages."""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from django.core import signing
from django.utils.translation import gettext as translate

from agent.tools.base import StaffContext, or_null
from orders.errors import InvalidInput, NotFound, Refusal
from orders.models import Customer, Order

DEFAULT_PAGE: Final = 20
LARGEST_PAGE: Final = 50
_SALT: Final = "agent.copilot.cursor"

PAGE_SIZE: Final = or_null(
    {"type": "integer"}, "How many to give at once, a whole number from 1 to 50; null for the usual 20."
)
CURSOR: Final = or_null(
    {"type": "string"},
    "To go on where the page before ended: its next_cursor, with all other arguments unchanged. Null for the first "
    "page.",
)
Place = tuple[datetime, int]


def closed(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """A strict object schema: every property required, nothing else allowed."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def allow(context: StaffContext, *permissions: str) -> None:
    """Raises `NotAllowed` unless the colleague who asks has every one of these."""
    for permission in permissions:
        context.actor.require_staff(permission)


def customer_of(customer_id: str) -> Customer:
    """Raises `NotFound` that sends the model to the search."""
    found = Customer.objects.filter(external_id=customer_id.strip().replace("\x00", "")).first()
    if found is None:
        raise NotFound(
            translate("There is no customer with this number."),
            hint=translate("Use a customer_id that customers_search or orders_search gave."),
            field="customer_id",
        )
    return found


def order_of(order_number: str) -> Order:
    """Raises `NotFound` that sends the model to the search."""
    number = order_number.strip().lstrip("#").replace("\x00", "")
    found = Order.objects.select_related("customer").filter(number__in=[number, f"#{number}"]).first()
    if found is None:
        raise NotFound(
            translate("There is no order with this number."),
            hint=translate("Use an order_number that orders_search gave."),
            field="order_number",
        )
    return found


def moment_of(text: str | None, *, field: str) -> datetime | None:
    """A moment in ISO 8601 with its time zone. Raises `InvalidInput` for a date alone and for a time without zone."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text.strip())
        if found.tzinfo is not None:
            return found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidInput(
        field,
        translate("%(field)s must be a moment in ISO 8601 with its time zone.") % {"field": field},
        hint=translate("For example 2026-11-16T00:00:00+08:00. Use the date and zone that you were told are now."),
    )


def page_size_of(asked: int | None) -> int:
    """Raises `InvalidInput` outside 1 to 50."""
    size = DEFAULT_PAGE if asked is None else asked
    if not 1 <= size <= LARGEST_PAGE:
        raise InvalidInput(
            "page_size",
            translate("page_size must be a whole number from 1 to %(most)s.") % {"most": LARGEST_PAGE},
            hint=translate("Give null for %(usual)s, and go on with next_cursor.") % {"usual": DEFAULT_PAGE},
        )
    return size


def cursor_for(query: Mapping[str, Any], place: Place) -> str:
    """Where the next page begins: signed, and of use for this query alone."""
    moment, key = place
    return signing.dumps({"q": _digest(query), "at": moment.astimezone(UTC).isoformat(), "k": key}, salt=_SALT)


def place_of(query: Mapping[str, Any], cursor: str | None) -> Place | None:
    """Raises a Refusal by name for a cursor that nobody has given out, and for one of another query."""
    if cursor is None:
        return None
    try:
        told = signing.loads(cursor, salt=_SALT)
    except signing.BadSignature:
        raise Refusal(
            "cursor_invalid",
            translate("This cursor was not given out here."),
            hint=translate("Take next_cursor from the last result, character by character, or begin with null."),
            field="cursor",
            status=400,
        ) from None
    if told["q"] != _digest(query):
        raise Refusal(
            "cursor_of_another_query",
            translate("This cursor belongs to another query."),
            hint=translate("Repeat exactly the arguments of the page before, or begin this query with cursor null."),
            field="cursor",
            status=400,
        )
    return datetime.fromisoformat(told["at"]), told["k"]


def _digest(query: Mapping[str, Any]) -> str:
    text = json.dumps(query, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
