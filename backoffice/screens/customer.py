"""The customer's pages: their orders, and one order with the chat beside it."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from agent import kept, waiting
from agent.access import conversation_of
from agent.models import Conversation
from agent.selectors import timeline
from backoffice import words
from backoffice.screens import progress, receipt
from backoffice.screens.acting import act
from backoffice.screens.card_words import BLANK_CARD, chat_words
from backoffice.screens.timeline import Timeline, fold
from orders.access import Shopper, order_for_shopper, orders_of, shopper_of
from orders.actors import customer_actor
from orders.address import anything_to_send
from orders.http import ask_to_sign_in
from orders.models import Order
from refunds import returns, selectors
from refunds.access import find
from refunds.goods import unit_groups
from refunds.models import Refund, Return
from refunds.present import refund_as_dict, replacement_as_dict, return_as_dict
from refunds.states import FoundState, ReturnState

Args = ParamSpec("Args")
ORDERS_PER_PAGE = 20
LOOKS = frozenset({"GET", "HEAD"})


def shopper_screen(
    view: Callable[Concatenate[HttpRequest, Shopper, Args], HttpResponse],
) -> Callable[..., HttpResponse]:
    """Hand the view its shopper. Strangers are asked to sign in; for anybody else the page does not exist.

    A button that was pressed after the session had ended cannot be pressed by the sign-in: that leads to its page.
    """

    @wraps(view)
    def gated(request: HttpRequest, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponse:
        shopper = shopper_of(request)
        if shopper is not None:
            return view(request, shopper, *args, **kwargs)
        if request.user.is_authenticated:
            raise Http404
        return redirect_to_login(request.get_full_path()) if request.method in LOOKS else ask_to_sign_in(request)

    return gated


@never_cache
@require_safe
def order_list(request: HttpRequest) -> HttpResponse:
    """Also where somebody without any role lands: the list is then empty, and says so."""
    shopper = shopper_of(request)
    if shopper is None and not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    orders = orders_of(shopper) if shopper else Order.objects.none()
    orders = orders.prefetch_related(*receipt.LISTED)
    page = Paginator(orders, ORDERS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "orders/list.html", {"here": "orders", "page": page, "rows": receipt.list_rows(page)})


@never_cache
@require_safe
@shopper_screen
def order_page(request: HttpRequest, shopper: Shopper, number: str) -> HttpResponse:
    order = order_for_shopper(shopper, number)
    conversation = conversation_of(shopper, order)
    folded = fold(timeline(conversation)) if conversation else Timeline()
    context = {
        "here": "orders",
        **side_context(order),
        "timeline": folded,
        "conversation": conversation,
        "wait": wait_context(conversation),
        "blank_card": BLANK_CARD,
        "chat": chat_settings(order),
        "chat_words": chat_words(),
        "greeting": _("Hello %(name)s, what can we do for you?") % {"name": shopper.customer.name},
        "now": timezone.now(),
        "refused_words": kept.take(request, number),
    }
    return render(request, "orders/order.html", context)


@never_cache
@require_safe
@shopper_screen
def order_side(request: HttpRequest, shopper: Shopper, number: str) -> HttpResponse:
    """The order beside the chat, alone: fetched again when the chat tells that something has moved."""
    return render(request, "orders/_side.html", side_context(order_for_shopper(shopper, number)))


@never_cache
@require_safe
@shopper_screen
def waiting_part(request: HttpRequest, shopper: Shopper, number: str) -> HttpResponse:
    """What the chat says about waiting for a person, alone: fetched again while somebody waits."""
    conversation = conversation_of(shopper, order_for_shopper(shopper, number))
    return render(request, "orders/_wait.html", {"wait": wait_context(conversation)})


def wait_context(conversation: Conversation | None) -> dict[str, Any]:
    """`waits`: for a person who was asked for or written to; `owner`: who has it; `wrote`: is there a message that they
    can have?; `said`: sentences."""
    if conversation is None:
        return {"waits": False}
    owner = conversation.owner
    said = waiting.sentences_for_customer(conversation)
    name = (owner.get_full_name() or owner.get_username()) if owner else ""
    return {"waits": bool(said), "said": said, "owner": name, "wrote": bool(said) and waiting.has_written(conversation)}


@require_POST
@shopper_screen
def withdraw(request: HttpRequest, shopper: Shopper, number: str, return_id: str) -> HttpResponse:
    """The customer keeps the goods after all, as long as they have not come back."""
    order = order_for_shopper(shopper, number)
    item = find(Return.objects.filter(order=order), return_id)
    if item is None:
        raise Http404

    def work() -> str:
        returns.withdraw(return_id=item.pk, actor=customer_actor(shopper.customer))
        return _("You keep the goods: return %(number)s is withdrawn.") % {"number": item.pk}

    return act(request, work, back=reverse("order", args=[number]))


def side_context(order: Order) -> dict[str, Any]:
    groups = unit_groups(order, now=timezone.now())
    return {
        "order": order,
        "lines": receipt.lines_of(order, groups),
        "stages": progress.of_goods(groups),
        "can_change_address": anything_to_send(order),
        "price_rows": receipt.price_rows(order),
        "payment_rows": receipt.payment_rows(order),
        **money_and_goods_back(order),
    }


def money_and_goods_back(order: Order) -> dict[str, Any]:
    """The order's refunds, returns and replacements so far, newest first, with the tone of their states."""
    refunds = [refund_for_customer(refund) for refund in selectors.refunds_shown_to_customer(order)]
    goods = [_return_for_customer(item) for item in selectors.returns_of(order)]
    # Those of exchanges stand with their return.
    sent_again = [replacement_as_dict(item) for item in selectors.replacements_of(order) if not item.return_request_id]
    return {
        "refunds": refunds,
        "returns": goods,
        "replacements": [{**item, "tone": words.REPLACEMENT_TONES[item["state"]]} for item in sent_again],
    }


def refund_for_customer(refund: Refund) -> dict[str, Any]:
    """A refund with the tone of its state, how far it is, and when its money can be expected."""
    shown = refund_as_dict(refund)
    return {
        **shown,
        "tone": words.REFUND_TONES[shown["state"]],
        "stages": progress.of_refund(shown),
        "hint": progress.refund_hint(shown),
    }


def _return_for_customer(item: Return) -> dict[str, Any]:
    """With words that speak to the customer, and blame nobody for what is broken."""
    shown = {**return_as_dict(item), "tone": words.return_tone(item)}
    if item.state == ReturnState.REJECTED:
        shown["state_text"] = _("Not accepted; the goods are sent back to you")
    for finding in shown["findings"]:
        if finding["found"] == FoundState.DAMAGED:
            finding["found_text"] = _("damaged goods")
    return shown


def chat_settings(order: Order) -> dict[str, Any]:
    return {
        "max_characters": settings.CHAT_MESSAGE_MAX_CHARACTERS,
        "people_again": waiting.opening_words(),
        "suggestions": [
            _("Where are my goods?"),
            _("I would like to return something"),
            _("Something arrived broken"),
        ],
    }
