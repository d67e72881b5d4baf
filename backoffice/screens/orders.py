"""Staff's orders: search, and one order with its goods, money, parcels and history."""

from collections.abc import Sequence
from typing import Any, Final

from django.core.paginator import Paginator
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Replace
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agent.models import Conversation
from backoffice.screens import approval_rows, receipt, refund_rows, replacement_rows, return_rows
from backoffice.screens.choices import could_be_an_exception, is_lost, may_be_exchanged, rows_of, rules_of
from backoffice.screens.gate import ORDERS, permissions_of, staff_screen
from orders.access import order_for_staff
from orders.address import anything_to_send
from orders.models import AuditEvent, CustomerLink, Order, Payment, Shipment
from orders.states import PICKUP_METHODS
from orders.store_credit import balance
from refunds import selectors
from refunds.goods import UnitGroup, unit_groups
from refunds.models import RefundPolicy

PER_PAGE = 25
TRAIL_LENGTH = 40
LONGEST_SEARCH = 100
SHORTEST_PHONE_END = 3
# What a public number begins with, and what of an order it names.
NUMBERED: Final = {
    "rf": "refunds",
    "rt": "returns",
    "rp": "replacements",
    "ap": "approvals",
    "rq": "refund_quotes",
    "sh": "shipments",
    "pay": "payments",
}


@never_cache
@require_safe
@staff_screen(ORDERS)
def order_list(request: HttpRequest) -> HttpResponse:
    search = request.GET.get("q", "").strip()[:LONGEST_SEARCH].replace("\x00", "")
    orders = matching(search).select_related("customer").prefetch_related(*receipt.LISTED)
    page = Paginator(orders.order_by("-placed_at", "-id"), PER_PAGE).get_page(request.GET.get("page"))
    query = f"{urlencode({'q': search})}&" if search else ""
    context = {"here": "orders", "page": page, "rows": receipt.list_rows(page), "search": search, "query": query}
    return render(request, "staff/orders.html", context)


def matching(search: str) -> QuerySet[Order]:
    """By number, customer's name or e-mail, end of the phone number, tracking number, or the number of a refund, a
    return or what else belongs to an order; all for an empty search."""
    if not search:
        return Order.objects.all()
    parcels = Shipment.objects.filter(order=OuterRef("pk"), tracking_number__iexact=search)
    found = Q(customer__name__icontains=search) | Q(customer__email__icontains=search)
    found |= Q(number__icontains=search.lstrip("#") or search)
    if (relation := NUMBERED.get(search.partition("_")[0].lower())) is not None:
        found |= Q(pk__in=Order.objects.filter(**{f"{relation}__pk": search.lower()}).values("pk"))
    digits = search.replace("-", "").replace(" ", "")
    if digits.isdigit() and len(digits) >= SHORTEST_PHONE_END:
        found |= Q(phone_digits__endswith=digits)
    phone: Any = F("customer__phone")
    for separator in ("-", " "):
        phone = Replace(phone, Value(separator), Value(""))
    return Order.objects.alias(phone_digits=phone).filter(found | Q(Exists(parcels)))


@never_cache
@require_safe
@staff_screen(ORDERS)
def order_page(request: HttpRequest, number: str) -> HttpResponse:
    order = order_for_staff(request.user, number)
    return render(request, "staff/order.html", order_context(request, order))


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
        "trail": AuditEvent.objects.filter(order=order).order_by("-at", "-id")[:TRAIL_LENGTH],
    }


@never_cache
@require_safe
@staff_screen(ORDERS)
def refunds_part(request: HttpRequest, number: str) -> HttpResponse:
    """The refunds alone: asked for again and again while money is on its way."""
    order = order_for_staff(request.user, number)
    may = permissions_of(request.user)
    context = money_context(order) if may["refunds"] else {}
    return render(request, "staff/_refunds.html", {"order": order, **context})
