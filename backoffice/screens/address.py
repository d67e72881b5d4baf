"""Where an order goes: staff change it while anything is still unpacked."""

from collections.abc import Mapping
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from backoffice.screens.forms import form_screen, request_ref
from backoffice.screens.gate import ADDRESS, staff_screen
from orders.access import order_for_staff
from orders.actors import staff_actor
from orders.address import change_address, why_not_changed
from orders.models import Order

# What an address consists of, in the order in which it is written here, and how long each part may be.
FIELDS: Final = {
    "recipient": (gettext_lazy("Recipient"), 80),
    "phone": (gettext_lazy("Phone"), 40),
    "postal_code": (gettext_lazy("Postal code"), 10),
    "city": (gettext_lazy("City or county"), 40),
    "district": (gettext_lazy("District"), 40),
    "street": (gettext_lazy("Street, number, floor"), 200),
}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(ADDRESS)
def address(request: HttpRequest, number: str) -> HttpResponse:
    order = order_for_staff(request.user, number)

    def work(typed: QueryDict) -> str:
        change_address(
            order=order,
            body={name: typed.get(name, "").strip() for name in FIELDS},
            actor=staff_actor(request.user),
            request_ref=request_ref("address", request.user, typed),
        )
        return _("The order goes to the new address.")

    return form_screen(
        request,
        template="staff/address.html",
        back=reverse("staff-order", args=[number]),
        context=lambda typed: {
            "here": "orders",
            "order": order,
            "fields": fields_of(order, typed),
            "too_late": why_not_changed(order),
        },
        work=work,
    )


def fields_of(order: Order, typed: Mapping[str, str]) -> list[dict[str, Any]]:
    """The fields with what is typed; before anything is typed, with the address that holds now."""
    now = typed or order.shipping_address or {}
    return [
        {"name": name, "label": label, "longest": longest, "value": now.get(name, "")}
        for name, (label, longest) in FIELDS.items()
    ]
