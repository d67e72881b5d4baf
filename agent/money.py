"""Money's later outcome becomes a status line in the chat. No model is asked: the row says what happened."""

from datetime import timedelta

from django.utils import timezone, translation
from django.utils.translation import gettext as translate

from agent import events
from agent.models import Conversation, ConversationEvent
from orders.money import format_money
from refunds.models import Refund, Return
from refunds.present import refund_as_dict, return_as_dict
from refunds.states import RefundState, ReturnState

LOOK_BACK = timedelta(days=2)
WORTH_TELLING = frozenset(
    {
        RefundState.PENDING_APPROVAL,
        RefundState.SUCCEEDED,
        RefundState.FAILED,
        RefundState.UNKNOWN,
        RefundState.REJECTED,
        RefundState.EXPIRED,
    }
)


def tell_refund(refund_id: str) -> None:
    """Say once to the refund's customer what state it is in. Never twice, and not where nobody talks."""
    refund = Refund.objects.select_related("order", "quote").get(pk=refund_id)
    conversation = _conversation(refund)
    if refund.state not in WORTH_TELLING or conversation is None:
        return
    with events.writing(conversation.pk) as locked, translation.override(locked.language):
        refund.refresh_from_db()
        if _told(locked, refund_id=refund.pk, state=refund.state):
            return
        shown = refund_as_dict(refund)
        events.add(
            locked,
            "status",
            {
                "kind": "refund",
                "refund_id": refund.pk,
                "state": refund.state,
                "text": _sentence(refund, [to["label"] for to in shown["to"]]),
            },
        )


def tell_return(return_id: str) -> None:
    """Say once in the order's conversation what state the return is in, beyond having been requested."""
    item = Return.objects.select_related("order").get(pk=return_id)
    conversation = Conversation.objects.filter(order=item.order, customer=item.order.customer).order_by("-pk").first()
    if conversation is None or item.state == ReturnState.REQUESTED:
        return
    with events.writing(conversation.pk) as locked, translation.override(locked.language):
        item.refresh_from_db()
        if _told(locked, return_id=item.pk, state=item.state):
            return
        text = translate("Return %(number)s: %(state)s.") % {
            "number": item.pk,
            "state": return_as_dict(item)["state_text"],
        }
        events.add(locked, "status", {"kind": "return", "return_id": item.pk, "state": item.state, "text": text})


def untold_refunds() -> list[str]:
    """Recent refunds whose outcome no page was told of, because a signal was lost."""
    recent = Refund.objects.filter(state__in=WORTH_TELLING, created_at__gt=timezone.now() - LOOK_BACK)
    told = ConversationEvent.objects.filter(kind="status", created_at__gt=timezone.now() - LOOK_BACK)
    known = {(data.get("refund_id"), data.get("state")) for data in told.values_list("data", flat=True)}
    rows = recent.filter(order__conversations__isnull=False).values_list("pk", "state").distinct()
    return [pk for pk, state in rows if (pk, state) not in known]


def _conversation(refund: Refund) -> Conversation | None:
    """Where the customer reads about it: their newest talk about the order. If one is open, it is the newest."""
    return Conversation.objects.filter(order=refund.order, customer=refund.quote.customer).order_by("-pk").first()


def _told(conversation: Conversation, **data: str) -> bool:
    """Has the customer read this already, here or in an earlier conversation about the order?"""
    said = ConversationEvent.objects.filter(
        kind="status", conversation__order=conversation.order_id, conversation__customer=conversation.customer_id
    )
    return said.filter(**{f"data__{key}": value for key, value in data.items()}).exists()


def _sentence(refund: Refund, to: list[str]) -> str:
    words = {"amount": format_money(refund.amount, refund.currency), "to": ", ".join(to), "number": refund.pk}
    if refund.amount == 0:
        return translate("Done. By the rules of this order there is nothing to pay back (%(number)s).") % words
    sentences = {
        RefundState.PENDING_APPROVAL: translate(
            "Your refund of %(amount)s is waiting for a colleague's approval (%(number)s)."
        ),
        RefundState.SUCCEEDED: translate(
            "%(amount)s is on its way to %(to)s. It usually arrives within 7 to 14 working days (%(number)s)."
        ),
        RefundState.FAILED: translate(
            "The payment provider has refused the refund of %(amount)s. A colleague has been told and will see to it "
            "(%(number)s)."
        ),
        RefundState.UNKNOWN: translate(
            "The payment provider has not answered yet. We are checking what became of your %(amount)s and tell you "
            "here (%(number)s)."
        ),
        RefundState.REJECTED: translate("The refund of %(amount)s was not approved (%(number)s)."),
        RefundState.EXPIRED: translate("The refund of %(amount)s was not approved in time (%(number)s)."),
    }
    return sentences[RefundState(refund.state)] % words
