"""What a reply falsely claimed is taken back, where the customer has read it, and said as it really is.

The reply is not kept: its draft leaves the page, none of its calls is run, and a line of the system says what the rows
say. The model reads that line with the words it is about, and is asked once more. If it claims again what is not so,
the turn ends in words and a person is asked.

Words that a call of the same reply was to make true stand already when it is run. If it is refused, or given up because
the turn fails, they are put right behind it, and a person who was promised is asked; not where the call was refused
because a person has just given the conversation back.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from django.utils import translation
from django.utils.translation import gettext as translate

from agent import claims, deeds, people, waiting
from agent.claims import Claim
from agent.drafts import Draft
from agent.models import Conversation, Message, ModelCall, ToolCall, Turn
from agent.states import Author, CardState, ToolCallState
from agent.tools.person import HAND_OFF_TO_HUMAN, JUST_GIVEN_BACK
from orders import audit
from orders.actors import system_actor
from orders.models import AuditEvent, Order
from orders.money import format_money
from orders.prose import listed, sentences
from refunds.models import Approval, Refund, Replacement, Return
from refunds.present import replacement_as_dict, return_as_dict
from refunds.refund_words import state_text
from refunds.states import ApprovalKind, ApprovalState, ReplacementKind, ReturnKind

ENDING: Final = "false_claim"
MOST_FALSE_CLAIMS: Final = 2
# What a call of the same reply may make true: of the rest the rows knew when the reply was kept.
MADE_TRUE_LATER: Final = frozenset({deeds.HAND_OFF, deeds.COMPENSATION})
MOST_WORDS_QUOTED: Final = 120
SIGNS_OF_LABELS: Final = re.compile("[<>]")


def take_back(
    conversation: Conversation, turn: Turn, call: ModelCall, draft: Draft, text: str, false: Sequence[Claim]
) -> bool:
    """Instead of keeping a reply. Inside `holding`. True: it has happened so often that the turn may not go on; the
    rows of this very transaction say so.
    """
    call.ending, call.dropped_text = ENDING, text
    call.save(update_fields=["ending", "dropped_text"])
    _record(conversation, turn, text, false)
    # Not where no page can have shown any of it: what nobody has read is nothing to be told of.
    _say_so(conversation, false, on_page=draft.offered)
    return turn.model_calls.filter(ending=ENDING).count() >= MOST_FALSE_CLAIMS


def look_again(conversation: Conversation, turn: Turn, call: ToolCall) -> None:
    """At the words beside a call that was to make them true, once the last such call has been run. Inside `holding`.

    In the call's own transaction: a worker that dies leaves either both or a call that is run again.
    """
    waiting_calls = call.message.tool_calls.filter(name__in=deeds.MADE_TRUE_BY_CALL, state=ToolCallState.ASKED)
    if call.name not in deeds.MADE_TRUE_BY_CALL or waiting_calls.exists():
        return
    conversation.refresh_from_db()
    # Where a colleague has just given it back, a promise would be the ball thrown back at once.
    calls = call.message.tool_calls
    just_given_back = calls.filter(name=HAND_OFF_TO_HUMAN.name, is_error=True, result__code=JUST_GIVEN_BACK).exists()
    if _put_right(conversation, turn, call.message.text, promise_kept=not just_given_back):
        _keep_promise(conversation, turn)


def given_up(conversation: Conversation, turn: Turn, unrun: Iterable[ToolCall]) -> bool:
    """The turn fails before it got round to these calls: the words beside them are looked at as beside refused ones.

    Inside `holding`. True: they promised a person, whom nobody has asked yet.
    """
    beside = {call.message_id: call.message.text for call in unrun if call.name in deeds.MADE_TRUE_BY_CALL}
    promised = [_put_right(conversation, turn, text) for text in beside.values()]
    return any(promised)


def _put_right(conversation: Conversation, turn: Turn, text: str, *, promise_kept: bool = True) -> bool:
    """Take back what no call has made true; a promised person is rather asked: True, where one is to be.

    `promise_kept`: False takes back that promise too.
    """
    false = [claim for claim in claims.unfounded(conversation, text) if claim.kind in MADE_TRUE_LATER]
    untrue = [claim for claim in false if not (promise_kept and claim.kind == deeds.HAND_OFF)]
    if untrue:
        _record(conversation, turn, text, untrue)
        _say_so(conversation, untrue, on_page=True)
    return len(untrue) < len(false)


def _keep_promise(conversation: Conversation, turn: Turn) -> None:
    """The customer has read that a person was asked: then one is."""
    agent = system_actor("agent", conversation_id=conversation.pk, turn_id=turn.pk)
    people.ask_for_person(conversation=conversation, actor=agent, reason=ENDING, summary="")
    conversation.refresh_from_db()
    with translation.override(conversation.language):
        people.say_as_system(conversation, waiting.person_is_coming())


def _record(conversation: Conversation, turn: Turn, text: str, false: Sequence[Claim]) -> None:
    audit.record(
        action="conversation.claim_taken_back",
        actor=system_actor("agent", conversation_id=conversation.pk, turn_id=turn.pk),
        subject_type="conversation",
        subject_id=str(conversation.pk),
        order=conversation.order,
        chosen={"text": text},
        outcome={"claims": [{"kind": claim.kind, "words": claim.words} for claim in false]},
    )


def _say_so(conversation: Conversation, false: Sequence[Claim], *, on_page: bool) -> None:
    """One message for both: the page reads its text, the model its subject too (`history._subject`)."""
    kinds = list(dict.fromkeys(claim.kind for claim in false))
    with translation.override(conversation.language):
        said = sentences(
            translate("What the assistant has just written here was not right and is taken back."),
            *(fact for kind in kinds for fact in FACTS[kind](conversation)),
            _what_waits(conversation),
        )
    state = f"taken back, because it says “{_quoted(false)}” and no record says so. The customer was told"
    content = [{"type": "text", "text": said, "about": "your last reply", "state": state}]
    message = Message.objects.create(conversation=conversation, author=Author.SYSTEM, content=content)
    if on_page:
        people.tell_message(conversation, message)


def _quoted(false: Sequence[Claim]) -> str:
    """The false words. Signs that could end the label they stand in are left out."""
    words = "; ".join(dict.fromkeys(claim.words for claim in false))
    return SIGNS_OF_LABELS.sub("", words)[:MOST_WORDS_QUOTED]


def _what_waits(conversation: Conversation) -> str:
    waits = conversation.cards.filter(state=CardState.OPEN).exists()
    return translate("What waits for your confirmation is done only when you press its button.") if waits else ""


# --- what is really so, kind by kind, from rows ---
def _refunds(conversation: Conversation) -> Iterable[str]:
    rows = Refund.objects.filter(order=conversation.order).prefetch_related("allocations").order_by("created_at")
    told = [
        translate("Refund %(number)s of %(amount)s: %(state)s.")
        % {"number": row.pk, "amount": format_money(row.amount, row.currency), "state": state_text(row)}
        for row in rows
    ]
    return told or [translate("Nothing has been refunded for this order.")]


def _cancellations(conversation: Conversation) -> Iterable[str]:
    gone = conversation.order.lines.filter(cancelled_quantity__gt=0).order_by("pk")
    if not gone:
        return [translate("Nothing of this order has been cancelled.")]
    told = translate("Of this order these goods have been cancelled: %(goods)s.")
    return [told % {"goods": listed(line.name for line in gone)}]


def _returns(conversation: Conversation) -> Iterable[str]:
    nothing = translate("No return has been registered for this order.")
    return _told_returns(conversation.order, ReturnKind.REFUND) or [nothing]


def _exchanges(conversation: Conversation) -> Iterable[str]:
    nothing = translate("No exchange has been registered for this order.")
    return _told_returns(conversation.order, ReturnKind.EXCHANGE) or [nothing]


def _told_returns(order: Order, kind: str) -> list[str]:
    shown = [return_as_dict(row) for row in Return.objects.filter(order=order, kind=kind).order_by("created_at")]
    told = translate("Return %(number)s: %(state)s.")
    return [told % {"number": each["return_id"], "state": each["state_text"]} for each in shown]


def _sent_again(conversation: Conversation) -> Iterable[str]:
    rows = Replacement.objects.filter(order=conversation.order, kind=ReplacementKind.LOST).order_by("created_at")
    shown = [replacement_as_dict(row) for row in rows]
    told = translate("Goods that are sent again, %(number)s: %(state)s.")
    nothing = translate("Nothing of this order is being sent again.")
    return [told % {"number": each["replacement_id"], "state": each["state_text"]} for each in shown] or [nothing]


def _address(conversation: Conversation) -> Iterable[str]:
    if AuditEvent.objects.filter(order=conversation.order, action="order.address_changed").exists():
        return [translate("Where your order goes stands above on this page.")]
    return [translate("The delivery address has not been changed.")]


def _person(conversation: Conversation) -> Iterable[str]:
    if conversation.needs_person or conversation.owner_id:
        return [translate("We have asked a colleague to join. They will answer here.")]
    return [translate("No colleague has been asked to join yet. You can ask for a person at any time.")]


def _compensation(conversation: Conversation) -> Iterable[str]:
    rows = Approval.objects.filter(order=conversation.order, kind=ApprovalKind.COMPENSATION).order_by("created_at")
    told = translate("Compensation of %(amount)s (%(number)s): %(state)s.")
    return [
        told
        % {
            "amount": format_money(row.amount, row.currency),
            "number": row.pk,
            "state": ApprovalState(row.state).label,
        }
        for row in rows
    ] or [translate("No compensation has been asked for or agreed to.")]


FACTS: Final[Mapping[deeds.Kind, Callable[[Conversation], Iterable[str]]]] = {
    deeds.REFUND: _refunds,
    deeds.CANCEL: _cancellations,
    deeds.RETURN: _returns,
    deeds.EXCHANGE: _exchanges,
    deeds.RESEND: _sent_again,
    deeds.ADDRESS: _address,
    deeds.HAND_OFF: _person,
    deeds.COMPENSATION: _compensation,
}
