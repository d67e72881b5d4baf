"""What the stand-in says about offers, outcomes, obstacles, parcels and refunds. Every fact is from a tool result."""

from collections.abc import Mapping, Sequence
from typing import Any

from agent.offline.deciding import Decision
from agent.offline.goods import Line
from agent.offline.outcomes import Outcome
from agent.offline.phrases import PHRASES
from agent.offline.speech import Speech

Data = Mapping[str, Any]
MISSED = frozenset({"lost_choice", "track"})
AWAITED = frozenset({"unfulfilled", "packed", "shipped", "lost", "resending", "exchanging"})
GONE = frozenset({"cancelled", "refunded"})
REFUND_WORDS = {
    "pending_approval": "wait_approval",
    "unknown": "being_checked",
    "waiting": "pay_later",
    "failed": "pay_failed",
}
# Sentences that name the account: of several payments there is one sentence for each.
OF_EACH_PAYMENT = frozenset({"done_cancel", "done_lost", "paid_cancel", "paid_lost", "pay_later"})
DECIDED_BY_PROVIDERS = frozenset({"pending", "succeeded", "unknown", "failed"})


def offer(speech: Speech, quote: Data, group: Sequence[Decision]) -> str:
    """The amount and why, for one quote."""
    to = quote.get("to") or ()
    amount = speech.say(
        f"offer_{quote.get('action', 'cancel')}",
        goods=speech.goods(group),
        amount=quote.get("display", ""),
        to=speech.where(to),
    )
    return speech.join([amount, speech.say("why", why=speech.why(quote))])


def offer_exchanges(speech: Speech, exchanges: Sequence[Decision]) -> list[str]:
    """The same again in one sentence; each exchange for another product in its own."""
    same = [one for one in exchanges if one.product is None]
    told = [speech.say("offer_exchange", goods=speech.goods(same))] if same else []
    for one in exchanges:
        if one.product is not None:
            product = speech.listed([(str(one.product.get("name")), 1)])
            told.append(speech.say("offer_exchange_for", goods=speech.goods([one]), product=product))
    return told


def outcome(speech: Speech, end: Outcome) -> str:
    """How a card ended."""
    goods = speech.lines(end.lines)
    status = end.answer.status
    if status == "confirmed":
        return _confirmed(speech, end, goods)
    if status == "declined":
        kind = "refund" if end.kind in {"cancel", "lost"} else end.kind
        return speech.say(f"declined_{kind}", goods=goods)
    if status == "expired":
        return speech.say("expired", goods=goods)
    message = end.answer.data.get("message") or speech.say("trouble")
    return speech.join([speech.say("failed", goods=goods, message=message), speech.say("nothing_moved")])


def _confirmed(speech: Speech, end: Outcome, goods: str) -> str:
    data = end.answer.data
    if end.kind == "resend":
        made = data.get("replacement") or {}
        return speech.say("done_resend", goods=goods, number=made.get("replacement_id", ""))
    if end.kind in {"return", "exchange"}:
        made = data.get("return") or {}
        instructions = made.get("instructions") or (speech.say("send_back") if end.kind == "exchange" else "")
        amount = made.get("display") or end.quote.get("display", "")
        said = speech.say(f"done_{end.kind}", goods=goods, number=made.get("return_id", ""), amount=amount)
        return speech.join([said, _because(speech, end), instructions])
    refund = data.get("refund") or {}
    if refund.get("amount") == 0:
        said = speech.say("done_nothing_due", goods=goods, number=refund.get("refund_id", ""))
        return speech.join([said, _because(speech, end)])
    # Lost goods are paid for; nothing of them is cancelled.
    phrase = f"paid_{end.kind}" if end.state == "succeeded" else REFUND_WORDS.get(end.state, f"done_{end.kind}")
    shares = refund.get("to") or end.quote.get("to") or [{}]
    each = phrase in OF_EACH_PAYMENT and _needs_a_sentence_each(shares)
    said = speech.say(
        f"done_{end.kind}_each" if each else phrase,
        goods=goods,
        amount=refund.get("display", end.quote.get("display", "")),
        account=speech.account(shares[0]),
        number=refund.get("refund_id", ""),
    )
    told = [_share(speech, share, end.state) for share in shares] if each else []
    return speech.join([said, *told, _because(speech, end)])


def _needs_a_sentence_each(shares: Sequence[Data]) -> bool:
    return len(shares) > 1 or any(share.get("by") == "hand" for share in shares)


def _share(speech: Speech, share: Data, state: str) -> str:
    """What becomes of the money of one payment. The newest that is known of the whole wins over an older answer."""
    if share.get("by") == "hand":
        return speech.say("share_by_hand", amount=share.get("display", ""), how=speech.by_hand(share))
    known = state if state in {"waiting", "succeeded"} else share.get("state") or state
    phrase = f"share_{known}" if f"share_{known}" in PHRASES else "share_pending"
    return speech.say(phrase, amount=share.get("display", ""), account=speech.account(share))


def _because(speech: Speech, end: Outcome) -> str:
    return speech.say("why", why=speech.why(end.quote)) if end.quote else ""


def note(speech: Speech, one: Decision, *, parcels: Sequence[Data], refunds: Sequence[Data]) -> str:
    """What stands in the way of a wish, or the answer to a question about one line."""
    goods = speech.listed([(one.line.title, 1)])
    units = one.units or {}
    if one.kind == "what":
        return speech.say("what_for", goods=goods)
    if one.kind in {"no_product", "other_price", "sold_out", "which_product"}:
        return _no_exchange(speech, one, goods)
    if one.kind == "how_many":
        return speech.say("how_many", goods=goods, count=one.quantity)
    if one.kind == "arrived":
        return speech.say("arrived", goods=goods, date=speech.day(units.get("date")), offer=speech.say("offer_person"))
    if one.kind != "blocked" or f"blocked_{one.state}" not in PHRASES:
        return ""
    number = units.get("return_id") or units.get("refund_id") or units.get("replacement_id")
    paid = [item for item in refunds if number in {None, item.get("refund_id")}]
    reasons = [speech.piece(f"reason_{each}") for each in units.get("only_for") or () if f"reason_{each}" in PHRASES]
    values = {"goods": goods, "offer": speech.say("offer_person"), "reasons": speech.piece("either").join(reasons)}
    told = speech.say(
        f"blocked_{one.state}", number=speech.piece("number", number=number) if number and not paid else "", **values
    )
    more = [whereabouts(speech, [one.line], parcels)] if one.state == "shipped" else []
    if one.state in {"refunded", "cancelled"}:
        more += [refund(speech, item) for item in paid]
    return speech.join([told, *more])


def _no_exchange(speech: Speech, one: Decision, goods: str) -> str:
    """Why an exchange for something else cannot be offered yet, with what was found."""
    found = speech.piece("comma").join(product(speech, each) for each in one.found)
    said = speech.say(one.kind, goods=goods, found=found)
    return said if one.kind == "which_product" else speech.join([said, speech.say("or_return")])


def product(speech: Speech, each: Data) -> str:
    """A product with its price, as the shop shows them."""
    return speech.piece("product", name=str(each.get("name"))[:60], price=each.get("display", ""))


def product_and_stock(speech: Speech, each: Data) -> str:
    shown = product(speech, each)
    return speech.piece("and_stock", product=shown) if each.get("in_stock") is False else shown


def whereabouts(speech: Speech, lines: Sequence[Line], parcels: Sequence[Data]) -> str:
    """Where the goods are, as the shop and the carrier have reported; of lost ones, what the customer can choose."""
    lost = [line for line in lines if _has(line, "can", "resend")]
    others = [line for line in lines if line not in lost]
    told = [_lost_choice(speech, lost)] if lost else []
    for parcel in parcels:
        inside = [line for line in others if _holds(parcel, line)]
        told.append(_parcel(speech, parcel, _names(speech, inside)) if inside else "")
    alone = [line for line in others if not any(_holds(parcel, line) for parcel in parcels)]
    gone = [line for line in alone if all(units.get("state") in GONE for units in line.units)]
    told += [speech.say("blocked_cancelled", goods=_names(speech, gone), number="")] if gone else []
    here = [line for line in alone if line not in gone and not is_awaited(line)]
    told += [speech.say("here", goods=_names(speech, here))] if here else []
    waiting = [line for line in others if _has(line, "state", "unfulfilled") or (line in alone and is_awaited(line))]
    told += [speech.say("no_parcel", goods=_names(speech, waiting))] if waiting else []
    told += [speech.say("can_stop")] if any(_has(line, "can", "cancel") for line in others) else []
    return speech.join(told)


def is_awaited(line: Line) -> bool:
    return any(units.get("state") in AWAITED for units in line.units)


def missed(speech: Speech, decisions: Sequence[Decision], parcels: Sequence[Data]) -> str:
    """Where the goods are that the customer misses, in one go for all of them."""
    return whereabouts(speech, [one.line for one in decisions if one.kind in MISSED], parcels)


def _lost_choice(speech: Speech, lines: Sequence[Line]) -> str:
    goods = [
        (line.title, sum(int(units["quantity"]) for units in line.units if "resend" in _can(units))) for line in lines
    ]
    return speech.say("lost_choice", goods=speech.listed(goods))


def _can(units: Data) -> Sequence[str]:
    return units.get("can") or ()


def _names(speech: Speech, lines: Sequence[Line]) -> str:
    return speech.listed([(line.title, 1) for line in lines])


def _has(line: Line, key: str, wanted: str) -> bool:
    """Is there a unit of the line in this state, or one with which this can be done?"""
    return any(wanted in (units.get(key) or "") for units in line.units)


def _holds(parcel: Data, line: Line) -> bool:
    return any(item.get("line_item_id") == line.line_item_id for item in parcel.get("lines") or ())


def _parcel(speech: Speech, parcel: Data, goods: str) -> str:
    state = str(parcel.get("state"))
    day = parcel.get("delivered_at") if state == "delivered" else parcel.get("shipped_at")
    named = " ".join(str(parcel[key]) for key in ("carrier", "tracking_number") if parcel.get(key))
    phrase = f"parcel_{state}" if f"parcel_{state}" in PHRASES else "parcel_packed"
    carrier = speech.piece("carrier", carrier=named) if named else ""
    return speech.say(phrase, goods=goods, date=speech.day(day), carrier=carrier)


def refund(speech: Speech, item: Data) -> str:
    """A refund, one sentence for each payment where it goes to several or a person has paid."""
    state = "waiting" if item.get("waits_until") else str(item.get("state"))
    shares = item.get("to") or [{}]
    if state in DECIDED_BY_PROVIDERS and _needs_a_sentence_each(shares):
        return speech.join([_part(speech, item, share, str(share.get("state") or state)) for share in shares])
    return _part(speech, item, {**shares[0], "display": item.get("display", "")}, state)


def _part(speech: Speech, item: Data, share: Data, state: str) -> str:
    """The day is the one on which it was paid, if that is told; else the one on which it was asked for."""
    phrase = "refund_by_hand" if share.get("by") == "hand" else f"refund_{state}"
    return speech.say(
        phrase if phrase in PHRASES else "refund_other",
        amount=share.get("display", ""),
        account=speech.account(share),
        how=speech.by_hand(share),
        number=item.get("refund_id", ""),
        date=speech.day(item.get("paid_at") or item.get("created_at")),
        state=item.get("state_text") or state,
    )
