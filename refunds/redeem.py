"""Spending a quote: the one place where a confirmation moves goods and starts money, once, however often it comes.

Under the order's lock everything the quote was worked out from is looked at again. If it differs, the quote is ended
and nothing moves; that ending is committed before the refusal is raised.
"""

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from orders import goods
from orders.actors import Actor
from orders.errors import Refusal
from orders.models import Order
from refunds import access, errors, payout, quote_errors, quotes, returns
from refunds.choices import clean_note
from refunds.ending import decline, end, spend
from refunds.goods import unit_groups
from refunds.holding import MoneyMoved
from refunds.models import Refund, RefundQuote, Return
from refunds.states import EndedBecause, QuoteAction, QuoteState

__all__ = ["Redeemed", "decline", "redeem"]


@dataclass(frozen=True, slots=True)
class Redeemed:
    """What the quote became: a refund, or a return that is refunded after receipt. `created` False: it already was."""

    refund: Refund | None
    return_request: Return | None
    created: bool


def redeem(*, quote_id: str, actor: Actor, note: str = "") -> Redeemed:
    """Confirm a quote. By its customer, or by staff with `refunds.redeem_quote` and a reason (`note`); again: the same.

    Not inside a transaction: a quote that has run out, or whose order has changed, is marked so although this raises.
    Raises NotFound, NotAllowed, InvalidInput (`note`), and Refusal quote_expired, quote_declined, quote_superseded,
    order_changed, waits_for_approval, needs_assignment, needs_a_person, or order_busy, which may be tried again.
    """
    quote = access.quote_to_redeem(quote_id, actor)
    text = clean_note(note, required=actor.kind == "staff")
    try:
        result = _redeem(quote, actor, text)
    except (goods.GoodsMoved, MoneyMoved) as moved:
        raise errors.busy() from moved
    if isinstance(result, Refusal):
        raise result
    return result


@transaction.atomic(durable=True)
def _redeem(seen: RefundQuote, actor: Actor, note: str) -> Redeemed | Refusal:
    order = goods.lock_order(seen.order_id)
    quote = RefundQuote.objects.select_for_update(of=("self",), no_key=True).select_related("policy").get(pk=seen.pk)
    quote.order = order
    if quote.state == QuoteState.REDEEMED:
        return _what_it_became(quote)
    if quote.state != QuoteState.OPEN:
        return quotes.why_not(quote)
    if quote.expires_at <= timezone.now():
        end(quote=quote, to=QuoteState.EXPIRED, actor=actor)
        return quote_errors.quote_expired()
    changed = quotes.what_changed(quote, unit_groups(order, now=quote.created_at))
    if changed is not None:
        end(quote=quote, to=QuoteState.SUPERSEDED, actor=actor, because=EndedBecause.ORDER_CHANGED)
        return changed
    return _spend(order, quote, actor, note)


def _what_it_became(quote: RefundQuote) -> Redeemed:
    refund = Refund.objects.filter(quote=quote).first()
    return Redeemed(refund, None if refund else Return.objects.get(quote=quote), created=False)


def _spend(order: Order, quote: RefundQuote, actor: Actor, note: str) -> Redeemed:
    spend(quote=quote, actor=actor, note=note)
    if quote.action == QuoteAction.RETURN:
        return Redeemed(None, returns.open_return(order=order, quote=quote, actor=actor, note=note), created=True)
    refund = payout.create_refund(order=order, quote=quote, rules=quote.policy, actor=actor, note=note)
    return Redeemed(refund, None, created=True)
