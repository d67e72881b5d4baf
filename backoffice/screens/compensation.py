"""Staff propose a compensation. A second person approves it; until then nothing is held and nothing is paid."""

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from backoffice.screens.forms import form_screen, money_of, request_ref
from backoffice.screens.gate import COMPENSATE, staff_screen
from orders.access import order_for_staff
from orders.actors import staff_actor
from orders.errors import Refusal
from orders.models import Order
from orders.money import format_money
from refunds import compensation
from refunds.compensation import Room


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(COMPENSATE)
def propose(request: HttpRequest, number: str) -> HttpResponse:
    order = order_for_staff(request.user, number)

    def work(typed: QueryDict) -> str:
        asked = compensation.propose(
            order=order,
            amount=money_of(typed.get("amount", ""), order.currency),
            reason=typed.get("reason", ""),
            actor=staff_actor(request.user),
            request_ref=request_ref("compensation", request.user, typed),
        )
        return _("%(amount)s is proposed. A second person has to approve it before anything is paid.") % {
            "amount": format_money(asked.amount, asked.currency)
        }

    return form_screen(
        request,
        template="staff/compensation.html",
        back=reverse("staff-order", args=[number]),
        context=lambda typed: {"here": "orders", "order": order, "room": room_of(order)},
        work=work,
    )


def room_of(order: Order) -> Room | None:
    """What may still be proposed for the order; None where no policy holds, which the service says when it is asked."""
    try:
        return compensation.room(order)
    except Refusal:
        return None
