"""customers_search: who is meant. People of one name are told apart by the person who asks, never guessed."""

from datetime import datetime
from typing import Any, Final

from django.db.models import Count, Min, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as translate
from django.utils.translation import gettext_lazy as _

from agent.tools.base import Arguments, StaffContext, Tool
from agent.tools.copilot_common import allow, closed
from orders import search
from orders.errors import InvalidInput
from orders.models import Customer

MOST: Final = 8
LONGEST: Final = 100


def customers_search(context: StaffContext, arguments: Arguments) -> dict[str, Any]:
    allow(context, "orders.view_customer", "orders.view_order")
    words = arguments["query"].replace("\x00", "").strip()
    if not words or len(words) > LONGEST:
        raise InvalidInput(
            "query",
            translate("query must have 1 to %(most)s characters.") % {"most": LONGEST},
            hint=translate("Give a name, an e-mail address, the end of a phone number, or a customer number."),
        )
    found = list(_found(words).order_by("external_id")[: MOST + 1])
    if not found:
        return {
            "status": "nobody",
            "customers": [],
            "note": "No customer fits these words. Ask for another name, e-mail, phone or order number.",
        }
    if len(found) == 1:
        return {"status": "found", "customers": [_shown(found[0], named=True)], "note": "Exactly one customer fits."}
    return _choice(found)


def _found(words: str) -> QuerySet[Customer]:
    """Whoever fits exactly, else whoever fits in part."""
    everybody = Customer.objects.annotate(order_count=Count("orders"), first_at=Min("orders__placed_at"))
    for exact in ({"external_id": words}, {"email__iexact": words}, {"name": words}):
        if Customer.objects.filter(**exact).exists():
            return everybody.filter(**exact)
    return everybody.filter(pk__in=search.customers(words).order_by().values("pk")[:1000])


def _choice(found: list[Customer]) -> dict[str, Any]:
    shown = found[:MOST]
    one_name = len({each.name for each in found}) == 1
    more = len(found) > MOST
    return {
        "status": "needs_choice",
        "name": shown[0].name if one_name else None,
        "choices": [_shown(each, named=not one_name) for each in shown],
        "more_not_shown": more,
        "note": "Several customers fit. Ask which of them is meant, with what tells them apart, and go on with that "
        "customer_id. Do not choose by yourself, and look into nobody's orders before."
        + (" There are more than these: ask for an e-mail, a phone or an order number." if more else ""),
    }


def _shown(customer: Customer, *, named: bool) -> dict[str, Any]:
    """Only what tells people apart: no whole address, no whole number."""
    first: datetime | None = customer.first_at  # type: ignore[attr-defined]
    return {
        "customer_id": customer.external_id,
        **({"name": customer.name} if named else {}),
        "email": masked_email(customer.email),
        "phone_end": phone_end(customer.phone),
        "orders": customer.order_count,  # type: ignore[attr-defined]
        "first_order_on": timezone.localdate(first).isoformat() if first else None,
    }


def masked_email(email: str) -> str | None:
    """`m•••2@example.com`: its first and last letter, and where it is."""
    name, _at, domain = email.partition("@")
    if not name or not domain:
        return None
    return f"{name[0]}•••{name[-1] if len(name) > 1 else ''}@{domain}"


def phone_end(phone: str) -> str | None:
    digits = "".join(character for character in phone if character.isdigit())
    return digits[-3:] if len(digits) > 3 else None


CUSTOMERS_SEARCH = Tool(
    name="customers_search",
    schema=closed(
        query={
            "type": "string",
            "description": "A name, a part of one, an e-mail address, the last three or more digits of a phone number, "
            "or a customer_id. At most 100 characters.",
        }
    ),
    handler=customers_search,
    reads=True,
    suspends=False,
    working=_("Looking for the customer"),
    examples=({"query": "王小明"}, {"query": "ming2@example.com"}),
    for_staff=True,
)
