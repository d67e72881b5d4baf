"""Staff arrange an exchange: for the same again, or for another product of the same price that is looked up here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from backoffice.screens.choices import Row, line_of, may_be_exchanged, picked, rows_for
from backoffice.screens.forms import form_screen, request_ref
from backoffice.screens.gate import REDEEM, staff_screen
from orders.access import order_for_staff
from orders.actors import staff_actor
from orders.models import LineItem, Order, Product
from orders.products import product_by_id, search_products
from orders.stock import available
from refunds.choices import clean_note
from refunds.exchange_check import parse_exchange
from refunds.goods import unit_groups
from refunds.returns import request_exchange

LONGEST_SEARCH: Final = 80
# Looked through for those of the right price; that many are shown.
SEARCHED: Final = 60
SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Offer:
    """A product that could be sent instead. `left` is null where the shop does not count pieces."""

    product: Product
    left: int | None
    chosen: bool

    @property
    def is_gone(self) -> bool:
        return self.left is not None and self.left < 1


@dataclass(frozen=True, slots=True)
class Wish:
    """A row of goods with what is wanted instead: the words looked for, and the products found by them."""

    row: Row
    words: str
    product: str
    offers: list[Offer]


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(REDEEM)
def exchange(request: HttpRequest, number: str) -> HttpResponse:
    order = order_for_staff(request.user, number)

    def work(typed: QueryDict) -> str:
        made = request_exchange(
            order=order,
            lines=parse_exchange(exchange_body(typed)),
            actor=staff_actor(request.user),
            request_ref=request_ref("exchange", request.user, typed),
            note=clean_note(typed.get("note", ""), required=True),
        )
        return _("Exchange %(number)s is arranged. The customer writes this number on the parcel.") % {
            "number": made.pk
        }

    return form_screen(
        request,
        template="staff/exchange.html",
        back=reverse("staff-order", args=[number]),
        context=lambda typed: {"here": "orders", "order": order, "wishes": wishes_of(order, typed)},
        work=work,
        only_show="search" in request.POST,
    )


@never_cache
@require_safe
@staff_screen(REDEEM)
def products(request: HttpRequest, number: str, line_item_id: str) -> HttpResponse:
    """What the words find for one line, alone: fetched while they are typed."""
    order = order_for_staff(request.user, number)
    wish = next((wish for wish in wishes_of(order, request.GET) if wish.row.item.line_item_id == line_item_id), None)
    if wish is None:
        raise Http404
    return render(request, "staff/_offers.html", {"order": order, "wish": wish})


def wishes_of(order: Order, typed: QueryDict) -> list[Wish]:
    rows = rows_for("exchange", unit_groups(order, now=timezone.now()), typed, fits=may_be_exchanged)
    return [_wish(row, typed, order.currency) for row in rows]


def _wish(row: Row, typed: Mapping[str, str], currency: str) -> Wish:
    words = typed.get(f"words.{row.key}", "").strip()[:LONGEST_SEARCH]
    chosen = typed.get(f"product.{row.key}", "")
    found = _same_price(row.item, words, currency) if words else []
    if chosen and chosen not in {product.sku for product in found}:
        kept = product_by_id(chosen)
        found = [kept, *found] if kept else found
    return Wish(row, words, chosen, [Offer(each, available(each), each.sku == chosen) for each in found])


def _same_price(item: LineItem, words: str, currency: str) -> list[Product]:
    """Other products that cost what was paid for this one: only those can be sent instead (docs/money.md)."""
    found = search_products(words=words, price_max=item.unit_price, currency=currency, limit=SEARCHED)
    fits = [product for product in found if product.price == item.unit_price and product.pk != item.product_id]
    return fits[:SHOWN]


def exchange_body(typed: QueryDict) -> dict[str, Any]:
    return {"lines": [_line(key, typed) for key in picked(typed)]}


def _line(key: str, typed: QueryDict) -> dict[str, Any]:
    product = typed.get(f"product.{key}", "")
    return {**line_of(key, typed), **({"product_id": product} if product else {})}
