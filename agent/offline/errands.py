"""What the stand-in does besides refunds and returns: products, delivery dates, the address, compensation."""

import re
from collections.abc import Mapping
from typing import Any, Final

from agent.offline import telling
from agent.offline.addresses import FIELDS, address_in, in_one_line, missing
from agent.offline.goods import lines_of, named_in
from agent.offline.outcomes import Ledger
from agent.offline.phrases import PHRASES
from agent.offline.reading import Conversation
from agent.offline.replies import Reply, ToolUse
from agent.offline.shopping import found_by, next_search, searches_for, words_for
from agent.offline.speech import Speech
from agent.offline.words import Topic, topics_in

Data = Mapping[str, Any]
AMOUNT: Final = re.compile(
    r"(?:NT\$|\$|NTD)?\s*(\d{1,3}(?:,\d{3})+|\d{1,7})\s*(?:元|塊|ntd|twd|dollars)?", re.IGNORECASE
)
MOST_SHOWN: Final = 3
REASON_CHARACTERS: Final = 300


def ledger_of(conversation: Conversation) -> Ledger:
    return Ledger(conversation.answers, {})


# --- products ---
def products(conversation: Conversation, speech: Speech) -> Reply:
    """A question about what the shop sells. A question about goods of the order is about their product."""
    ledger, words = ledger_of(conversation), words_for(conversation.wish)
    if not words:
        return Reply(speech.say("which_words"))
    searches = searches_for(words)
    search = next_search(ledger, searches)
    if search and "search_products" in conversation.tools:
        said = "" if ledger.last("search_products") else speech.say("look_products")
        return Reply(said, (ToolUse("search_products", dict(search)),))
    found = found_by(ledger, searches)
    if not found:
        return Reply(speech.say("none_found"))
    shown = speech.piece("comma").join(telling.product(speech, each) for each in found[:MOST_SHOWN])
    if len(found) > 1:
        return Reply(speech.say("products_found", found=shown))
    return _one_product(conversation, ledger, speech, found[0])


def _one_product(conversation: Conversation, ledger: Ledger, speech: Speech, found: Data) -> Reply:
    """A single product is read once more, for all that the shop says of it."""
    read = ledger.last("get_product")
    if read is None and "get_product" in conversation.tools:
        return Reply("", (ToolUse("get_product", {"product_id": found.get("product_id")}),))
    product = found if read is None or read.is_error else read.data
    in_stock = product.get("in_stock")
    stock = "stock_unknown" if in_stock is None else "in_stock" if in_stock else "out_of_stock"
    shown = telling.product(speech, product)
    told = speech.say("product_found", found=shown, stock=speech.piece(stock))
    return Reply(speech.join([told, str(product.get("description") or "")[:200]]))


# --- delivery dates ---
def delivery(conversation: Conversation, speech: Speech) -> Reply:
    """When will it arrive? Days are the carrier's; without them none is named."""
    ledger = ledger_of(conversation)
    needed = {"get_order": {}, "list_shipments": {}, "estimate_delivery": {"product_id": None}}
    calls = tuple(
        ToolUse(name, dict(given))
        for name, given in needed.items()
        if ledger.last(name) is None and name in conversation.tools
    )
    if calls:
        return Reply(speech.say("look_carrier"), calls)
    order, asked, parcels = ledger.order, ledger.last("estimate_delivery"), ledger.last("list_shipments")
    if order is None:
        return Reply(speech.join([speech.say("cannot_look"), speech.say("offer_person")]))
    lines = lines_of(order)
    named = {line for one in named_in(conversation.wish, lines) for line in one.lines}
    shown = [line for line in lines if not named or line.line_item_id in named]
    wanted = {line.line_item_id for line in shown}
    told = [] if asked is None or asked.is_error else _estimates(speech, asked.data, wanted)
    if not told:
        shipments = (parcels.data.get("shipments") or ()) if parcels and not parcels.is_error else ()
        told = [telling.where(speech, line, shipments) for line in shown]
        if asked is None or asked.is_error:
            told.append(speech.say("eta_unknown"))
    elif any("cancel" in (units.get("can") or ()) for line in shown for units in line.units):
        told.append(speech.say("can_stop"))
    return Reply(speech.join(told))


def _estimates(speech: Speech, data: Data, wanted: set[str]) -> list[str]:
    told = []
    for each in data.get("estimates") or ():
        lines = [line for line in each.get("lines") or () if line.get("line_item_id") in wanted]
        if lines:
            late = "eta_late" if each.get("late") else "eta_shipped"
            phrase = "eta_waiting" if each.get("state") == "not_shipped" else late
            days = {"earliest": each.get("earliest", ""), "latest": each.get("latest", "")}
            told.append(speech.say(phrase, goods=speech.lines(lines), **days))
    return told


# --- the address ---
def address(conversation: Conversation, speech: Speech) -> Reply:
    """Another address: asked for until it is complete, then put on a card."""
    ledger = ledger_of(conversation)
    ended = ledger.last("update_shipping_address")
    if ended is not None:
        return Reply(_address_outcome(speech, ended.data, ended.is_error, dict(ended.input)))
    if ledger.order is None and "get_order" in conversation.tools and ledger.last("get_order") is None:
        return Reply(speech.say("look"), (ToolUse("get_order"),))
    order = ledger.order
    if order is None or "update_shipping_address" not in conversation.tools:
        return Reply(speech.join([speech.say("cannot_look"), speech.say("offer_person")]))
    said = "\n".join(part for part in (_before(conversation), conversation.wish) if part)
    wanted = address_in(said, (order.get("shipping") or {}).get("address"))
    gaps = missing(wanted)
    if gaps:
        names = speech.piece("comma").join(speech.piece(field) for field in gaps)
        return Reply(speech.say("address_needs", missing=names))
    offered = speech.say("offer_address", address=in_one_line(wanted))
    use = ToolUse("update_shipping_address", {field: wanted[field] for field in FIELDS})
    return Reply(speech.paragraphs([offered, speech.say("press")]), (use,))


def _before(conversation: Conversation) -> str:
    """The words before, where they began to tell an address."""
    return conversation.wish_before if Topic.ADDRESS in topics_in(conversation.wish_before) else ""


def _address_outcome(speech: Speech, data: Data, is_error: bool, wanted: Mapping[str, str]) -> str:
    if is_error:
        told = speech.say("failed_address", message=data.get("message") or speech.say("trouble"))
        return speech.join([told, speech.say("offer_person")])
    phrases = {
        "confirmed": "done_address",
        "unchanged": "same_address",
        "declined": "declined_address",
        "expired": "expired_address",
    }
    phrase = phrases.get(str(data.get("status")), "declined_address")
    return speech.say(phrase, address=in_one_line(data.get("shipping_address") or wanted))


def asked_for_address(conversation: Conversation) -> bool:
    """Did the agent end by asking for parts of an address?"""
    return any(words.split("{")[0] in conversation.last_words for words in PHRASES["address_needs"])


# --- compensation ---
def compensation(conversation: Conversation, speech: Speech) -> Reply:
    """Never offered, never promised: the customer's own amount is passed on to a colleague."""
    ledger = ledger_of(conversation)
    answer = ledger.last("propose_compensation")
    if answer is not None and answer.is_error:
        told = speech.say("compensation_refused", message=answer.data.get("message") or speech.say("trouble"))
        return Reply(speech.join([told, speech.say("offer_person")]))
    if answer is not None:
        amount, number = answer.data.get("display", ""), answer.data.get("approval_id", "")
        return Reply(speech.say("compensation_proposed", amount=amount, number=number))
    if "propose_compensation" not in conversation.tools:
        return Reply(speech.join([speech.say("beyond"), speech.say("offer_person")]))
    amount = amount_in(conversation.wish)
    if amount is None:
        return Reply(speech.say("compensation_how_much"))
    said = " / ".join(part for part in (conversation.wish_before, conversation.wish) if part)
    reason = speech.say("summary", said=said[-REASON_CHARACTERS:])
    use = ToolUse("propose_compensation", {"compensation_ntd": amount, "reason": reason})
    return Reply(speech.say("compensation_asking"), (use,))


def amount_in(text: str) -> int | None:
    """The first number that stands with a sign or word of money, else the only number there is."""
    numbers = list(AMOUNT.finditer(text))
    with_sign = [found for found in numbers if found.group().strip() != found.group(1)]
    chosen = with_sign or (numbers if len(numbers) == 1 else [])
    return int(chosen[0].group(1).replace(",", "")) if chosen else None


def asked_for_amount(conversation: Conversation) -> bool:
    """Did the agent end by asking what the customer has in mind?"""
    return any(words in conversation.last_words for words in PHRASES["compensation_how_much"])
