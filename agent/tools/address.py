"""The tool that asks whether an order is to be sent to another address. The card's press changes it, elsewhere."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as translate
from django.utils.translation import gettext_lazy as _

from agent.states import CardKind
from agent.tools.base import Arguments, CardSpec, Context, Outcome, Tool, closed
from orders.address import check_change
from orders.models import Order

CARD_LIFE = timedelta(minutes=15)
FIELDS = ("recipient", "phone", "postal_code", "city", "district", "street")


def update_shipping_address(context: Context, arguments: Arguments) -> Outcome:
    card = address_card(context.order, arguments)
    if card is not None:
        return card
    return {
        "status": "unchanged",
        "shipping_address": context.order.shipping_address,
        "next": "The goods are sent to this address already. Tell the customer; there is nothing to confirm.",
    }


def address_card(order: Order, fields: Mapping[str, Any]) -> CardSpec | None:
    """A button that changes where the order goes; None if it goes there already. Raises as `check_change`."""
    wanted = check_change(order, {field: fields[field] for field in FIELDS})
    now = order.shipping_address
    if now == wanted:
        return None
    return CardSpec(
        kind=CardKind.ADDRESS,
        expires_at=timezone.now() + CARD_LIFE,
        payload={"address": wanted, "lines": [], "places": places(now, wanted)},
    )


def places(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[dict[str, str]]:
    """Where it would have gone, if that is known, and where it will go, as the card shows them."""
    shown = [{"label": translate("Old address"), "text": in_one_line(before)}] if before else []
    return [*shown, {"label": translate("New address"), "text": in_one_line(after)}]


def in_one_line(address: Mapping[str, Any]) -> str:
    """As it is written on a parcel in Taiwan: from the large to the small, then who takes it in."""
    place = "".join(str(address[field]) for field in ("city", "district", "street"))
    return f"{address['postal_code']} {place} · {address['recipient']} · {address['phone']}"


UPDATE_SHIPPING_ADDRESS = Tool(
    name="update_shipping_address",
    schema=closed(
        recipient={"type": "string", "description": "Who takes the parcel in, as the customer wrote it."},
        phone={"type": "string", "description": "The number the carrier can call, for example 0912345678."},
        postal_code={"type": "string", "description": "The postal code, for example 106."},
        city={"type": "string", "description": "City or county, for example 台北市."},
        district={"type": "string", "description": "District or township, for example 大安區."},
        street={
            "type": "string",
            "description": "Street, number and floor, for example 和平東路一段 1 號 3 樓.",
        },
    ),
    handler=update_shipping_address,
    reads=False,
    suspends=True,
    working=_("Preparing the change of address"),
    examples=(
        {
            "order_number": "5531",
            "recipient": "王小明",
            "phone": "0912345678",
            "postal_code": "106",
            "city": "台北市",
            "district": "大安區",
            "street": "和平東路一段 1 號 3 樓",
        },
    ),
)
