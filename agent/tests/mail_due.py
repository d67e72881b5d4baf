"""A customer with an address, what they may be told of by e-mail, and the time that passes until they are."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from agent import cards, people
from agent.models import Card, CustomerMail
from agent.states import MailState
from agent.tests.helpers import hear, quoted, talk
from agent.tools.base import CardSpec
from orders.models import Order
from orders.tests import cast
from refunds import redeem
from refunds.models import Refund


def reachable_order() -> Order:
    """Order 5531, whose customer has an address and has said something."""
    order = cast.order_5531()
    order.customer.email = "ming@example.com"
    order.customer.save()
    hear(order)
    return order


def answer(order: Order, text: str = "We are looking into it.") -> None:
    people.reply(conversation=talk(order), actor=cast.staff(), text=text)


def time_passes(**fields: Any) -> None:
    """What waits is due now; `fields` overwrite more of the rows."""
    CustomerMail.objects.filter(state=MailState.WAITING).update(
        not_before=timezone.now() - timedelta(seconds=1), **fields
    )


def only_mail() -> CustomerMail:
    (row,) = CustomerMail.objects.all()
    return row


def card_for(order: Order) -> Card:
    quote = quoted(order)
    spec = CardSpec(kind="refund", quote=quote, expires_at=quote.expires_at, payload={})
    return cards.open_card(conversation=talk(order), call=None, spec=spec)


def refund_of(order: Order) -> Refund:
    made = redeem.redeem(quote_id=quoted(order).pk, actor=cast.shopper()).refund
    assert made is not None
    return made
