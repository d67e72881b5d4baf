"""What an exchange or a new parcel is refused for, in words: the product that is wanted, and its stock."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from orders.errors import InvalidInput, Refusal
from orders.models import LineItem, Order, Product
from orders.money import format_money
from refunds.models import ReturnLine


def unknown_product(product_id: str, field: str) -> Refusal:
    return Refusal(
        "unknown_product",
        _("The shop has no product %(product_id)s.") % {"product_id": product_id},
        hint=_("Look for the product and choose one that is found, or leave it out for the same product again."),
        field=field,
        status=400,
    )


def two_products(name: str, field: str) -> InvalidInput:
    return InvalidInput(
        field,
        _("Different products would be sent in the place of “%(name)s”, and one parcel cannot hold both.")
        % {"name": name},
        hint=_("Ask for one after the other, each with its own request."),
    )


def currency_differs(product: Product, order: Order, field: str) -> Refusal:
    values = {"name": product.name, "theirs": product.currency, "ours": order.currency}
    return Refusal(
        "currency_differs",
        _("“%(name)s” is sold in %(theirs)s, and this order was paid in %(ours)s.") % values,
        hint=_("Choose a product in the currency of the order, or let a person of the shop take over."),
        field=field,
    )


def price_differs(product: Product, line: LineItem, order: Order, field: str) -> Refusal:
    values = {
        "name": product.name,
        "price": format_money(product.price, product.currency),
        "paid": format_money(line.unit_price, order.currency),
    }
    return Refusal(
        "price_differs",
        _("“%(name)s” costs %(price)s, and what is exchanged was bought at %(paid)s.") % values,
        hint=_("Only the same price is exchanged here. For anything else a person of the shop takes over."),
        field=field,
        details={"price": product.price, "paid": line.unit_price, "currency": order.currency},
    )


def out_of_stock(product: Product, available: int, *, lost: bool) -> Refusal:
    """`lost`: it would be sent in the place of lost goods, and only the same is."""
    values = {"name": product.name, "available": available}
    message = ngettext(
        "There is only %(available)s piece of “%(name)s” left.",
        "There are only %(available)s pieces of “%(name)s” left.",
        available,
    )
    return Refusal(
        "out_of_stock",
        (message if available else _("“%(name)s” is out of stock.")) % values,
        hint=_("Ask for fewer, or for a refund of what is lost.")
        if lost
        else _("Ask for fewer, for another product of the same price, or for a refund."),
        details={"product_id": product.sku, "available": available},
    )


def not_accepted_yet(return_id: str) -> Refusal:
    return Refusal(
        "goods_not_accepted",
        _("The goods of exchange %(number)s have not been accepted yet.") % {"number": return_id},
        hint=_("Receive and accept them first; then send the replacement."),
    )


def arrived_after_all(name: str) -> Refusal:
    return Refusal(
        "arrived_after_all",
        _("“%(name)s” has arrived after all, so it is not sent a second time.") % {"name": name},
        hint=_("Release this replacement: the goods then count as delivered."),
    )


def nothing_accepted(return_id: str) -> Refusal:
    return Refusal(
        "nothing_accepted",
        _("Of the goods of return %(number)s none was found as it should be, so there is nothing to accept.")
        % {"number": return_id},
        hint=_("Reject the return with a reason, or receive it again with what was really found."),
    )


def claim_refuted(line: ReturnLine) -> Refusal:
    return Refusal(
        "claim_refuted",
        _("“%(name)s” is exchanged only if it is defective or the wrong item, and it shows neither.")
        % {"name": line.name},
        hint=_(
            "Reject the exchange with a reason; staff can then ask a second person to let the goods be returned. "
            "If only some pieces are sound, receive it again and do not count those among the accepted ones."
        ),
        field=f"reasons.{line.line_item.line_item_id}"[:64],
    )


def follows_its_return(return_id: str) -> Refusal:
    return Refusal(
        "follows_its_return",
        _("This replacement belongs to exchange %(number)s and ends with it.") % {"number": return_id},
        hint=_("Reject or withdraw the exchange instead."),
    )
