"""Lost goods are sent again: the units are held, stock is reserved, and a new parcel is to be packed."""

from collections.abc import Sequence

from django.db import transaction

from orders import goods
from orders.actors import Actor, NotAllowed
from orders.models import Order
from refunds import access, errors, replacements
from refunds.choices import LineChoice, clean_note
from refunds.exchange_check import require_same_goods
from refunds.models import Replacement
from refunds.resend_check import check_resend
from refunds.states import ReplacementKind


@transaction.atomic
def resend(*, order: Order, lines: Sequence[LineChoice], actor: Actor, request_ref: str, note: str = "") -> Replacement:
    """Send lost units again, for the customer of the order or by staff; the same `request_ref` again: the same.

    Raises NotFound, NotAllowed, InvalidInput, or a Refusal in words, among them `out_of_stock` and `reference_reused`.
    """
    if actor.kind not in {"customer", "staff"}:
        raise NotAllowed(access.REDEEM)
    actor.require(access.REDEEM)
    if not access.may_touch(actor, order.customer_id):
        raise errors.no_such_replacement()
    text = clean_note(note)
    order = goods.lock_order(order.pk)
    known = Replacement.objects.filter(order=order, request_ref=request_ref).first()
    if known is not None:
        require_same_goods(lines, known.lines.select_related("line_item", "shipment_line"))
        return known
    return replacements.reserve(
        order=order,
        kind=ReplacementKind.LOST,
        units=check_resend(order, lines),
        return_request=None,
        actor=actor,
        request_ref=request_ref,
        note=text,
    )
