"""Connects the signals of `refunds` to the conversation they concern. The sweeper makes good a signal that is lost."""

from typing import Any

from django.dispatch import receiver

from agent import cards, money, overtaken
from agent.models import Card
from agent.save_points import reached
from agent.states import CardState
from refunds.models import RefundQuote, Replacement
from refunds.signals import approval_ended, quote_ended, refund_moved, replacement_moved, return_moved
from refunds.states import QuoteState


@receiver(quote_ended)
def settle_cards(quote_id: str, **kwargs: Any) -> None:
    reached("press_heard")
    for card in Card.objects.filter(quote_id=quote_id, state=CardState.OPEN).select_related("conversation__order"):
        cards.catch_up(card)
    spent = RefundQuote.objects.filter(pk=quote_id, state=QuoteState.REDEEMED)
    for order_id in spent.values_list("order_id", flat=True):
        overtaken.look_again(order_id)


@receiver(refund_moved)
def tell_money(refund_id: str, **kwargs: Any) -> None:
    money.tell("refund", refund_id)


@receiver(return_moved)
def tell_return(return_id: str, **kwargs: Any) -> None:
    money.tell("return", return_id)


@receiver(replacement_moved)
def tell_replacement(replacement_id: str, **kwargs: Any) -> None:
    money.tell("replacement", replacement_id)
    overtaken.look_again(Replacement.objects.values_list("order_id", flat=True).get(pk=replacement_id))


@receiver(approval_ended)
def tell_approval(approval_id: str, **kwargs: Any) -> None:
    money.tell("approval", approval_id)
