"""Staff's page of one order: its goods, money, parcels, and the story of all three."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agent.models import Conversation
from backoffice.screens import approval_rows, receipt, refund_rows, replacement_rows, return_rows
from backoffice.screens.choices import could_be_an_exception, is_lost, may_be_exchanged, rows_of, rules_of
from backoffice.screens.gate import ORDERS, permissions_of, staff_screen
from backoffice.screens.order_timeline import story_of
from orders.access import order_for_staff
from orders.address import anything_to_send
from orders.kept_form import kept_form
from orders.models import CustomerLink, Order, Payment
from orders.states import PICKUP_METHODS
from orders.store_credit import balance
from refunds import selectors
from refunds.goods import UnitGroup, unit_groups
from refunds.models import Refund, RefundPolicy
from refunds.states import RELEASED

EARLIER_REFUNDS = 5


@never_cache
@require_safe
@staff_screen(ORDERS)
def order_page(request: HttpRequest, number: str) -> HttpResponse:
    order = order_for_staff(request.user, number)
    # A confirmation that was refused: the goods are ticked as they were, and the reason is still there.
    refused = kept_form(request, reverse("staff-order", args=[number]))
    return render(request, "staff/order.html", {**order_context(request, order, refused), "refused": refused})


def order_context(request: HttpRequest, order: Order, form: QueryDict | None = None) -> dict[str, Any]:
    """Everything the order page shows; the parts about money only for those who may see them."""
    may = permissions_of(request.user)
    groups = unit_groups(order, now=timezone.now())
    context: dict[str, Any] = {
        "here": "orders",
        "order": order,
        "rows": rows_of(groups, form),
        "lines": receipt.lines_of(order, groups),
        "parcels": order.shipments.prefetch_related("lines__line_item", "lines__product"),
        "replacements": replacement_rows.of_order(order),
        "returns": return_rows.of_order(order),
        "anything_to_pack": any(group.state == "unfulfilled" for group in groups),
        "anything_to_send": anything_to_send(order),
        "is_picked_up": order.shipping_method in PICKUP_METHODS,
    }
    if may["refunds"]:
        context |= money_context(order) | {
            "can": what_can_be_done(groups, rules_of(order)),
            "approval_rows": approval_rows.rows_of(approval_rows.of_order(order), request.user),
        }
    if may["credit"]:
        context["credit"] = balance(order.customer, order.currency)
    return context


def what_can_be_done(groups: Sequence[UnitGroup], rules: RefundPolicy | None) -> dict[str, bool]:
    """Which of the other forms have anything to choose from."""
    return {
        "exchange": any(may_be_exchanged(group) for group in groups),
        "resend": any(is_lost(group) for group in groups),
        "exception": any(could_be_an_exception(group, rules) for group in groups),
    }


def money_context(order: Order) -> dict[str, Any]:
    refunds = refund_rows.with_attempts(selectors.refunds_of(order))
    return {
        "price_rows": receipt.price_rows(order),
        "payments": Payment.objects.filter(order=order),
        "refund_rows": refund_rows.rows_of(refunds),
        "refunds_moving": any(refund.state in {"pending", "unknown"} for refund in refunds),
        "conversations": Conversation.objects.filter(order=order).select_related("owner"),
        "links": CustomerLink.objects.filter(order=order, revoked_at=None, expires_at__gt=timezone.now()),
        "earlier": earlier_refunds(order),
        "story": story_of(order),
    }


def earlier_refunds(order: Order) -> QuerySet[Refund]:
    """The customer's newest refunds of other orders, with the goods and the reasons."""
    others = Refund.objects.filter(order__customer=order.customer_id).exclude(order=order).exclude(state__in=RELEASED)
    shown = others.select_related("order", "quote").prefetch_related("quote__lines__line_item")
    return shown.order_by("-created_at", "-pk")[:EARLIER_REFUNDS]


@never_cache
@require_safe
@staff_screen(ORDERS)
def refunds_part(request: HttpRequest, number: str) -> HttpResponse:
    """The refunds alone: asked for again and again while money is on its way."""
    order = order_for_staff(request.user, number)
    may = permissions_of(request.user)
    context = money_context(order) if may["refunds"] else {}
    return render(request, "staff/_refunds.html", {"order": order, **context})
