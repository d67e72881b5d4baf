"""`manage.py refund_goods 5531 li_2 --reason late_delivery --staff staff --note "asked by phone"`: ask and confirm.

One door more to the same services: the amount is worked out here as everywhere, and cannot be given.
"""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from orders.actors import Actor, NotAllowed, staff_actor
from orders.errors import Refusal
from orders.models import Order
from orders.prose import sentences
from refunds import quotes
from refunds.redeem import Redeemed, redeem
from refunds.states import Asker, Reason


class Command(BaseCommand):
    help = "Confirm what goods of an order come to, as a member of staff: a refund, or a return."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("number", help="the order's number")
        parser.add_argument("line_item_id", help="such as li_1")
        parser.add_argument("--quantity", type=int, default=1)
        parser.add_argument("--reason", choices=Reason.values, required=True)
        parser.add_argument("--staff", required=True, help="the account of whoever answers for it")
        parser.add_argument("--note", required=True, help="why, in a few words; kept in the records")

    def handle(self, *args: Any, number: str, staff: str, note: str, **options: Any) -> None:
        order = Order.objects.filter(number=number).first()
        user = User.objects.filter(username=staff, is_active=True).first()
        if order is None or user is None:
            raise CommandError(f"There is no {'order ' + number if order is None else 'active account ' + staff}.")
        line = {name: options[name] for name in ("line_item_id", "quantity", "reason")}
        try:
            redeemed = confirm(order, {"lines": [line]}, staff_actor(user), note)
        except Refusal as refusal:
            raise CommandError(sentences(refusal.message, refusal.hint)) from refusal
        except NotAllowed as refused:
            raise CommandError(f"{staff} may not do this.") from refused
        made = redeemed.refund or redeemed.return_request
        self.stdout.write(f"{made.pk}: {made.get_state_display()}." if made else "Nothing was made.")


def confirm(order: Order, body: dict[str, Any], actor: Actor, note: str) -> Redeemed:
    quote = quotes.ask(
        order=order,
        choices=quotes.parse_choices(body),
        actor=actor,
        asker=Asker.STAFF,
        asker_ref=quotes.asker_ref(actor),
    )
    return redeem(quote_id=quote.pk, actor=actor, note=note)
