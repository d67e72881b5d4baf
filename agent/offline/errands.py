"""What the stand-in does besides refunds and returns: products, delivery dates, the address, compensation."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent.offline import telling
from agent.offline.addresses import FIELDS, address_in, asked_to_change, in_one_line, missing, named_in_words
from agent.offline.goods import lines_of, named_in
from agent.offline.outcomes import Ledger
from agent.offline.phrases import PHRASES
from agent.offline.reading import Conversation
from agent.offline.replies import Reply, ToolUse
from agent.offline.shopping import found_by, next_search, searches_for, words_for
from agent.offline.speech import Speech
from agent.offline.wishes import clauses
from agent.offline.words import Topic, intents_in, topics_in

Data = Mapping[str, Any]
AMOUNT: Final = re.compile(
    r"(?:NT\$|\$|NTD)?\s*(\d{1,3}(?:,\d{3})+|\d{1,7})\s*(?:元|塊|ntd|twd|dollars)?", re.IGNORECASE
)
DIGITS_AND_SIZES: Final = re.compile(r"([一二兩三四五六七八九])([千百]?)")
IN_WORDS: Final = re.compile(r"(?:[一二兩三四五六七八九][千百])+[一二三四五六七八九]?")
SIZES: Final = {"千": 1000, "百": 100}
# Goods in these states can have a parcel that is not packed yet: their own, or the one of their replacement.
MAY_BE_UNPACKED: Final = frozenset({"unfulfilled", "exchanging", "resending"})
MOST_SHOWN: Final = 3
ENOUGH_PARTS: Final = 4
# 電話 in an address is no question about telephones.
BESIDE_AN_ADDRESS: Final = frozenset({Topic.BEYOND, Topic.GREETING, Topic.THANKS, Topic.YES, Topic.ADDRESS})
# What stands after these is what a product is to be used with.
WORKS_WITH: Final = re.compile(r"支援|適用|相容|可以用在|(?:compatible|work) with", re.IGNORECASE)
UP_TO: Final = re.compile(
    r"(?:NT\$|\$)?\s*\d[\d,]*\s*(?:元|塊)?\s*(?:以下|以內)(?:的)?"
    r"|(?:under|below|up to|less than)\s*(?:NT\$|\$)?\s*\d[\d,]*",
    re.IGNORECASE,
)
REASON_CHARACTERS: Final = 300


def ledger_of(conversation: Conversation) -> Ledger:
    return Ledger(conversation.answers, {})


# --- products ---
def products(conversation: Conversation, speech: Speech) -> Reply:
    """A question about what the shop sells. A question about goods of the order is about their product."""
    ledger, asked = ledger_of(conversation), conversation.wish
    words = words_for(UP_TO.sub(" ", WORKS_WITH.split(asked)[0])) or words_for(UP_TO.sub(" ", asked))
    if not words:
        return Reply(speech.say("which_words"))
    highest = UP_TO.search(asked)
    searches = searches_for(words, price_max=amount_in(highest.group()) if highest else None)
    search = next_search(ledger, searches)
    if search and "search_products" in conversation.tools:
        said = "" if ledger.last("search_products") else speech.say("look_products")
        return Reply(said, (ToolUse("search_products", dict(search)),))
    found = found_by(ledger, searches)
    if not found:
        return Reply(speech.say("none_found"))
    shown = speech.piece("comma").join(telling.product_and_stock(speech, each) for each in found[:MOST_SHOWN])
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
    shown = [line for line in shown if telling.is_awaited(line)] or shown
    wanted = {line.line_item_id for line in shown}
    told = [] if asked is None or asked.is_error else _estimates(speech, asked.data, wanted)
    if not told:
        shipments = (parcels.data.get("shipments") or ()) if parcels and not parcels.is_error else ()
        told = [telling.whereabouts(speech, shown, shipments)]
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
            days = {end: speech.day(each.get(end)) for end in ("earliest", "latest")}
            told.append(speech.say(phrase, goods=speech.lines(lines), **days))
    return told


# --- the address ---
def address(conversation: Conversation, speech: Speech) -> Reply:
    """Another address: asked for until it is complete, then put on a card."""
    ledger = ledger_of(conversation)
    ended = ledger.last("update_shipping_address")
    if ended is not None:
        return Reply(address_outcome(speech, ended.data, ended.is_error, dict(ended.input)))
    if ledger.order is None and "get_order" in conversation.tools and ledger.last("get_order") is None:
        return Reply(speech.say("look"), (ToolUse("get_order"),))
    if ledger.changed_since_read and "get_order" in conversation.tools:
        return Reply("", (ToolUse("get_order"),))
    order = ledger.order
    if order is None or "update_shipping_address" not in conversation.tools:
        return Reply(speech.join([speech.say("cannot_look"), speech.say("offer_person")]))
    if not any(units.get("state") in MAY_BE_UNPACKED for line in lines_of(order) for units in line.units):
        return Reply(speech.join([speech.say("address_too_late"), speech.say("offer_person")]))
    said = "\n".join(part for part in (_before(conversation), _answer(conversation, speech)) if part)
    person = asked_to_change(said)
    if person:
        return Reply(ask_for_address(speech, person))
    wanted = address_in(said, (order.get("shipping") or {}).get("address"))
    gaps = missing(wanted)
    if gaps:
        return Reply(ask_for_address(speech, gaps))
    offered = speech.say("offer_address", address=in_one_line(wanted))
    use = ToolUse("update_shipping_address", {field: wanted[field] for field in FIELDS})
    return Reply(speech.paragraphs([offered, speech.say("press")]), (use,))


def has_ended(conversation: Conversation) -> bool:
    """Has a card about goods come to its end in this turn?"""
    return bool(ledger_of(conversation).ends)


def goods_are_done(conversation: Conversation) -> bool:
    """Of goods and an address in one message, is only the address left? Then the order was read anew for it."""
    ledger = ledger_of(conversation)
    if ledger.last("update_shipping_address") is not None:
        return True
    return bool(ledger.ends) and not ledger.changed_since_read and not ledger.refused_since_end


def ask_for_address(speech: Speech, gaps: Sequence[str] = FIELDS) -> str:
    return speech.say("address_needs", missing=speech.piece("comma").join(speech.piece(field) for field in gaps))


def _answer(conversation: Conversation, speech: Speech) -> str:
    """The customer's words, but for what they say of goods; a name that was asked for needs no label."""
    asked_for_a_name = conversation.last_words == ask_for_address(speech, ["recipient"])
    if asked_for_a_name:
        return f"收件人 {conversation.wish}"
    if not intents_in(conversation.wish):
        return conversation.wish
    return "，".join(clause for clause, _ in clauses(conversation.wish) if not intents_in(clause))


def _before(conversation: Conversation) -> str:
    """The words before, where they began to tell an address."""
    before = conversation.wish_before
    return before if Topic.ADDRESS in topics_in(before) or is_whole_address(before) else ""


def address_outcome(speech: Speech, data: Data, is_error: bool, wanted: Mapping[str, str]) -> str:
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


def is_whole_address(text: str) -> bool:
    """Is it an address and nothing else, with so many parts that it can only be meant as the new one?"""
    named = named_in_words(text)
    return "street" in named and len(named) >= ENOUGH_PARTS and not topics_in(text) - BESIDE_AN_ADDRESS


def is_address(conversation: Conversation) -> bool:
    return bool(named_in_words(conversation.wish))


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
    if amount is None and asked_for_amount(conversation):
        return Reply(speech.join([speech.say("compensation_no_amount"), speech.say("offer_person")]))
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
    if chosen:
        return int(chosen[0].group(1).replace(",", ""))
    return None if numbers else _amount_in_words(text)


def _amount_in_words(text: str) -> int | None:
    """五百, 一千五, 兩千三百: as sums are said in Chinese."""
    found = IN_WORDS.search(text)
    if not found:
        return None
    total, unit = 0, 1
    for digit, size in DIGITS_AND_SIZES.findall(found.group()):
        unit = SIZES[size] if size else unit // 10
        total += ("一二三四五六七八九".index(digit.replace("兩", "二")) + 1) * unit
    return total


def asked_for_amount(conversation: Conversation) -> bool:
    """Did the agent end by asking what the customer has in mind?"""
    return any(words in conversation.last_words for words in PHRASES["compensation_how_much"])
