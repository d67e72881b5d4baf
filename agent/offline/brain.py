"""The stand-in's mind: what a whole message is about, and who deals with it.

Deterministic: the same request gets the same words and calls (ids aside). Text in product names, notes or results is
never read as an instruction, because only the customer's own words are looked at for wishes.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from agent.offline import copilot, errands, eval_parts, telling
from agent.offline.desk import Desk
from agent.offline.goods import lines_of, named_in
from agent.offline.outcomes import Ledger
from agent.offline.phrases import PHRASES
from agent.offline.reading import Conversation, read
from agent.offline.replies import Reply, ToolUse
from agent.offline.shaping import shape
from agent.offline.shopping import words_for
from agent.offline.speech import Speech
from agent.offline.words import Intent, Topic, intents_in, topics_in

SUMMARY_CHARACTERS = 400
SHORT = 16
LATE_ONLY = frozenset({Intent.NOT_ARRIVED, Intent.LOST})
MONEY_TOPICS = frozenset({Topic.MORE_MONEY, Topic.COMPENSATION, Topic.YES, Topic.THANKS, Topic.COMPLAINT})
WISHES = frozenset({Intent.CANCEL, Intent.RETURN, Intent.REFUND, Intent.EXCHANGE, Intent.RESEND})


def reply_to(body: Mapping[str, Any]) -> Reply:
    """The answer to a request that `request_rules` has let through."""
    if any(tool.get("name") == "orders_search" for tool in body.get("tools") or ()):
        return shape(copilot.answer(body), body)
    if eval_parts.plays(body):
        return eval_parts.reply_to(body)
    conversation = read(body)
    return shape(_with_untold(think(conversation), conversation), body)


def _with_untold(reply: Reply, conversation: Conversation) -> Reply:
    """What a press has done is told first, also where the customer has gone on to something else already."""
    answers = conversation.untold
    if not answers:
        return reply
    order = Ledger(answers, {}).order
    names = {line.line_item_id: line.title for line in lines_of(order)} if order else {}
    speech = Speech(conversation.chinese)
    ends = [end for end in Ledger(answers, names, conversation.news).told() if end.answer.status == "confirmed"]
    told = [telling.outcome(speech, end) for end in ends]
    moved = Ledger(answers, {}).last("update_shipping_address")
    if moved is not None and moved.status == "confirmed":
        told.append(errands.address_outcome(speech, moved.data, False, dict(moved.input)))
    return replace(reply, text=speech.paragraphs([*told, reply.text]))


def think(conversation: Conversation) -> Reply:
    speech = Speech(conversation.chinese)
    wish = conversation.wish
    topics, intents = topics_in(wish), intents_in(wish)
    if Topic.WHO in topics:
        return Reply(speech.join([speech.say("who"), speech.say("offer_person")]))
    if Topic.PERSON in topics or (Topic.YES in topics and _was_offered(conversation, "offer_person")):
        return hand_off(conversation, speech)
    if Topic.REFUND_STATUS in topics:
        return refund_status(conversation, speech)
    if Topic.WHY in topics and not intents - {Intent.REFUND, Intent.RETURN}:
        return why(conversation, speech)
    errand = errand_of(conversation, topics, intents)
    if errand is not None:
        return errand(conversation, speech)
    if Topic.TRACK in topics and not intents - LATE_ONLY:
        return track(conversation, speech)
    words = small_talk(topics, intents, conversation)
    if words:
        return Reply(speech.say(words))
    sorry = for_a_person(topics, intents)
    if sorry:
        return Reply(speech.join([speech.say(sorry), speech.say("offer_person")]))
    return about_goods(conversation, speech, topics, intents)


def about_goods(
    conversation: Conversation, speech: Speech, topics: frozenset[Topic], intents: frozenset[Intent]
) -> Reply:
    """Goods first; an address in the same message when they are done."""
    if Topic.ADDRESS in topics and errands.goods_are_done(conversation):
        return errands.address(conversation, speech)
    again = Topic.YES in topics and not intents
    reply = Desk(
        conversation,
        speech,
        wish=conversation.wish_before if again else conversation.wish,
        before="" if again else conversation.wish_before,
        haggles=Topic.MORE_MONEY in topics,
    ).reply()
    if reply.tool_uses or Topic.ADDRESS not in topics:
        return reply
    if not errands.has_ended(conversation):
        return Reply(speech.paragraphs([reply.text, errands.ask_for_address(speech)]))
    then = errands.address(conversation, speech)
    return Reply(speech.paragraphs([reply.text, then.text]), then.tool_uses)


def errand_of(
    conversation: Conversation, topics: frozenset[Topic], intents: frozenset[Intent]
) -> Callable[[Conversation, Speech], Reply] | None:
    """What a message is about that is not about giving goods back."""
    only_lost = Intent.LOST in intents and errands.amount_in(conversation.wish) is None
    if Topic.COMPENSATION in topics and not intents & WISHES and not only_lost:
        return errands.compensation
    if errands.asked_for_amount(conversation) and not intents and not topics - MONEY_TOPICS:
        return errands.compensation
    if Topic.ADDRESS in topics and not intents & WISHES:
        return errands.address
    if errands.is_whole_address(conversation.wish) and not intents:
        return errands.address
    if errands.asked_for_address(conversation) and not intents and (not topics or errands.is_address(conversation)):
        return errands.address
    wants_to_know_when = Topic.YES in topics and _was_offered(conversation, "no_date")
    if wants_to_know_when or (Topic.ETA in topics and not intents - LATE_ONLY):
        return errands.delivery
    asked = Topic.PRODUCTS in topics or (Topic.GOODS_ASKED in topics and words_for(conversation.wish))
    if asked and not intents:
        return errands.products
    return None


def for_a_person(topics: frozenset[Topic], intents: frozenset[Intent]) -> str:
    """The phrase before a colleague is offered, for what no tool can do; "" if it may be about goods."""
    if Topic.EXTRA in topics and not intents - {Intent.REFUND, Intent.RETURN}:
        return "beyond"
    if Topic.COMPLAINT in topics and not intents:
        return "sorry"
    return "beyond" if Topic.BEYOND in topics and not intents else ""


def small_talk(topics: frozenset[Topic], intents: frozenset[Intent], conversation: Conversation) -> str:
    """The phrase for a message that is about nothing; "" if it is about something."""
    wish = conversation.wish
    if intents:
        return ""
    if Topic.NEVER_MIND in topics:
        return "never_mind"
    if Topic.THANKS in topics and Topic.MORE_MONEY not in topics:
        return "thanks"
    if (Topic.GREETING in topics and len(wish) <= SHORT) or not wish.strip() or Topic.HELP in topics:
        return "greeting"
    return "greeting" if Topic.YES in topics and not conversation.wish_before else ""


def _was_offered(conversation: Conversation, phrase: str) -> bool:
    """Did the agent end its turn with this offer?"""
    return any(offer in conversation.last_words for offer in PHRASES[phrase])


def hand_off(conversation: Conversation, speech: Speech) -> Reply:
    answer = Ledger(conversation.answers, {}).last("hand_off_to_human")
    if answer is not None:
        return Reply(speech.say("no_hand_off" if answer.is_error else "handed_off"))
    if "hand_off_to_human" not in conversation.tools:
        return Reply(speech.say("no_hand_off"))
    said = " / ".join(part for part in (conversation.wish_before, conversation.wish) if part)
    summary = speech.say("summary", said=said[-SUMMARY_CHARACTERS:])
    return Reply(
        speech.say("handing_off"), (ToolUse("hand_off_to_human", {"reason": "customer_asked", "summary": summary}),)
    )


def refund_status(conversation: Conversation, speech: Speech) -> Reply:
    answer = Ledger(conversation.answers, {}).last("list_refunds")
    if answer is None and "list_refunds" in conversation.tools:
        return Reply(speech.say("look_refunds"), (ToolUse("list_refunds"),))
    if answer is None or answer.is_error:
        return Reply(speech.join([speech.say("cannot_look"), speech.say("offer_person")]))
    told = [telling.refund(speech, item) for item in answer.data.get("refunds") or ()]
    for item in answer.data.get("returns") or ():
        state = item.get("state_text") or item.get("state", "")
        told.append(speech.say("return_line", number=item.get("return_id", ""), state=state))
    for item in answer.data.get("replacements") or ():
        state = item.get("state_text") or item.get("state", "")
        told.append(speech.say("replacement_line", number=item.get("replacement_id", ""), state=state))
    return Reply(speech.join(told) or speech.say("no_refunds"))


def why(conversation: Conversation, speech: Speech) -> Reply:
    quoted = conversation.latest("quote_refund")
    if quoted is None:
        return Reply(speech.say("no_quote_yet"))
    told = speech.say("why_amount", amount=quoted.data.get("display", ""), why=speech.why(quoted.data))
    return Reply(speech.join([told, speech.say("amounts_are_worked_out")]))


def track(conversation: Conversation, speech: Speech) -> Reply:
    ledger = Ledger(conversation.answers, {})
    missing = [name for name in ("get_order", "list_shipments") if ledger.last(name) is None]
    calls = tuple(ToolUse(name) for name in missing if name in conversation.tools)
    if calls:
        return Reply(speech.say("look_parcels"), calls)
    order, parcels = ledger.order, ledger.last("list_shipments")
    if order is None or parcels is None or parcels.is_error:
        return Reply(speech.join([speech.say("cannot_look"), speech.say("offer_person")]))
    lines = lines_of(order)
    named = {line for one in named_in(conversation.wish, lines) for line in one.lines}
    shown = [line for line in lines if not named or line.line_item_id in named]
    told = telling.whereabouts(speech, shown, parcels.data.get("shipments") or ())
    under_way = any(
        units.get("state") in {"shipped", "packed", "unfulfilled"} for line in shown for units in line.units
    )
    return Reply(speech.join([told, speech.say("no_date") if under_way else ""]))
