"""The live quote of the staff order page: the ticked goods, worked out by the same code as everywhere else."""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_POST

from backoffice.screens.choices import body_of
from backoffice.screens.gate import REFUNDS, staff_screen
from backoffice.screens.orders import order_context
from orders.access import order_for_staff
from orders.actors import staff_actor
from orders.errors import Refusal
from orders.models import Order
from refunds import quotes
from refunds.kept import what_stays
from refunds.present import quote_as_dict
from refunds.states import Asker


@require_POST
@staff_screen(REFUNDS)
def quote(request: HttpRequest, number: str) -> HttpResponse:
    """The quote box alone for htmx; without JavaScript the whole order page with the box in it."""
    order = order_for_staff(request.user, number)
    asked = ask(request, order)
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "staff/_quote_again.html", {"order": order, **asked})
    return render(request, "staff/order.html", {**order_context(request, order, form=request.POST), **asked})


def ask(request: HttpRequest, order: Order) -> dict[str, Any]:
    """`quote`, or the `refusal`, or neither when nothing is ticked."""
    form: QueryDict = request.POST
    if not form.getlist("pick"):
        return {}
    actor = staff_actor(request.user)
    try:
        asked = quotes.ask(
            order=order,
            choices=quotes.parse_choices(body_of(form)),
            actor=actor,
            asker=Asker.STAFF,
            asker_ref=quotes.asker_ref(actor),
        )
    except Refusal as refusal:
        return {"refusal": refusal.told_to(staff=True)}
    return {"quote": quote_as_dict(asked), "kept": what_stays(order, asked)}
