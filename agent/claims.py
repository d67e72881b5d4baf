"""Words match deeds: what a reply claims to have been done, and which of it no record bears out.

`claims_in` reads a text alone: it looks for forms of words that say that something is done (`agent/claim_forms.py`),
and lets go of those that only ask, deny, quote, suppose or look ahead (`agent/claim_guards.py`). `unfounded` holds what
is left against the rows (`agent/deeds.py`). How well it does is measured by `test_claims_measured.py`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from agent import claim_guards as guards
from agent.claim_ahead import COMING
from agent.claim_chinese import CHINESE
from agent.claim_english import ENGLISH
from agent.claim_english_people import ENGLISH_PEOPLE
from agent.claim_forms import Form
from agent.claim_goods import goods_named
from agent.claim_text import Sentence, amounts_in, numbers_in, sentences_in, smoothed, without_buttons
from agent.deeds import (
    ADDRESS,
    CANCEL,
    COMPENSATION,
    EXCHANGE,
    HAND_OFF,
    REFUND,
    RESEND,
    RETURN,
    Call,
    Deed,
    Kind,
    Reach,
    deeds,
    numbers_of,
)
from agent.models import Conversation
from agent.states import Author
from orders.money import currency_decimals

FORMS: Final = (*CHINESE, *ENGLISH, *ENGLISH_PEOPLE, *COMING)
# Without one of these nothing is said that could be an amount of the claim.
_WITH_AMOUNTS: Final = frozenset({REFUND, COMPENSATION})
# What a card is put up for: “I have set it up for you to confirm” says no more than that.
_PUT_ON_CARDS: Final = frozenset({REFUND, CANCEL, RETURN, EXCHANGE, RESEND, ADDRESS})
# How far before a number it is looked for a denial of it.
MOST_BEFORE_A_NUMBER: Final = 60
# A “replacement” is what an exchange sends and what is sent again for lost goods: words do not keep them apart.
_KINDS_MEANT: Final = {EXCHANGE: {EXCHANGE, RESEND}, RESEND: {RESEND, EXCHANGE}}
_KINDS_OF_NUMBERS: Final = {"rf": REFUND, "rt": RETURN, "rp": RESEND, "ap": COMPENSATION}


@dataclass(frozen=True, slots=True)
class Claim:
    """`words`: the clause, smoothed. `amounts`: those it names, in whole units of the currency.

    `number`: the claim is that there is a record of this number, and nothing else. `beside`: kinds that the same clause
    claims too, to which some of the amounts and of the goods may belong. `goods`: keys of the order's lines that it is
    clearly about.
    """

    kind: Kind
    reach: Reach
    words: str
    amounts: frozenset[Decimal] = frozenset()
    number: str = ""
    beside: frozenset[Kind] = frozenset()
    goods: frozenset[int] = frozenset()


def unfounded(conversation: Conversation, text: str, calls: Iterable[Call] = ()) -> list[Claim]:
    """What the text claims and no record of the conversation's order bears out, in the order of the text.

    `calls`: what the same reply calls and has not been run yet. Reads rows only where something is claimed.
    """
    if not claims_in(text):
        return []
    said = conversation.messages.filter(author=Author.CUSTOMER)
    names = dict(conversation.order.lines.values_list("pk", "name"))
    claims = [
        claim if claim.number else replace(claim, goods=goods_named(claim.words, names))
        for claim in claims_in(text, [message.text for message in said])
    ]
    done, numbers = deeds(conversation, calls), numbers_of(conversation.order)
    decimals = currency_decimals(conversation.order.currency)
    return [claim for claim in claims if not is_founded(claim, done, numbers, decimals)]


def is_founded(claim: Claim, done: Sequence[Deed], numbers: frozenset[str], decimals: int) -> bool:
    """Do deeds of this kind reach as far, and has each amount that the claim names a deed that it belongs to?

    Where the claim is clearly of some goods, some deed must be about some of them.
    """
    if claim.number:
        return claim.number in numbers
    meant = _KINDS_MEANT.get(claim.kind, {claim.kind})
    fitting = [deed for deed in done if deed.kind in meant and deed.reach >= claim.reach]
    if claim.reach == Reach.AHEAD:
        fitting = [deed for deed in fitting if not deed.stuck]
        if any(not deed.amounts for deed in fitting):
            return True
    beside = [deed for deed in done if deed.kind in claim.beside]
    if claim.goods and not any(_is_about(claim, deed) for deed in (*fitting, *beside)):
        return False
    known = {amount for deed in (*fitting, *beside) for amount in deed.amounts}
    return bool(fitting) and {amount * 10**decimals for amount in claim.amounts} <= known


def _is_about(claim: Claim, deed: Deed) -> bool:
    if deed.goods is None:
        return deed.kind not in claim.beside
    return bool(deed.goods & claim.goods)


def claims_in(text: str, heard: Iterable[str] = ()) -> list[Claim]:
    """Everything that a text says has been done, each kind once for a clause.

    `heard`: what the customer has written, which may be repeated in quotation marks.
    """
    found: list[Claim] = []
    sentences = [None, *sentences_in(smoothed(text), [smoothed(other) for other in heard]), None]
    for before, sentence, after in zip(sentences, sentences[1:], sentences[2:], strict=False):
        assert sentence is not None
        found += _claims_of(sentence, before, after)
    return found


def _claims_of(sentence: Sentence, before: Sentence | None, after: Sentence | None) -> Iterator[Claim]:
    """The sentences beside it say what “it is done” is about, whether somebody is only offered, what is to be pressed
    first, and that there is no record of what the customer says.
    """
    polite = [guards.POLITE.sub("", whole) for whole in sentence.clauses]
    said = [guards.CONCLUDES.sub("", clause) for clause in polite]
    if not any(map(_may_claim, said)):
        # Most sentences claim nothing: how their clauses stand to each other need not be known.
        return
    topics = _topics_in(" ".join(before.clauses)) if before else frozenset()
    heard = _Heard(sentence, before, after)
    for position, clause in enumerate(polite):
        heard.hear(clause)
        asked = bool(guards.ASKS.search(clause)) or (sentence.asks and position == len(sentence.clauses) - 1)
        if not (heard.supposed or heard.quoted or asked):
            yield from _asserted(said[position], topics, heard)
        heard.offered = heard.offered or bool(guards.OFFERS.search(clause))
        topics |= _topics_in(clause)


def _may_claim(clause: str) -> bool:
    """Is there anything in the clause that could be a claim, whatever stands around it? As `_asserted` looks for it."""
    plain = without_buttons(clause)
    return any(form.found_in(plain) for form in FORMS) or bool(_DONE_WITH_IT.search(plain) or numbers_in(clause))


class _Heard:
    """How the clauses of a sentence stand to each other: what is supposed, quoted, taught or yet to be pressed.

    A courtesy or a quotation governs what follows only so far: whoever then says “so”, or that it has been done, says
    it themselves. A condition of this trade, such as a press, governs the rest of the sentence.
    """

    def __init__(self, sentence: Sentence, before: Sentence | None, after: Sentence | None) -> None:
        beside = [clause for each in (sentence, after) if each for clause in each.clauses]
        earlier = before.clauses if before else ()
        self.quoted = False
        self.supposed = self._firmly = bool(guards.THEN.search(sentence.clauses[0]) and _any(guards.STEPS, earlier))
        self.words = " ".join(sentence.clauses)
        self.offered = _any(guards.OFFERS, earlier)
        self.taught = _any(guards.TEACHES, sentence.clauses)
        self.doubted = _any(guards.NO_RECORD, beside)
        self.awaited = _any(guards.AWAITS, beside)
        self.to_be_pressed = _any(guards.STEPS, [*earlier, *beside])

    def hear(self, clause: str) -> None:
        if guards.RESUMES.search(clause):
            self.supposed = self.quoted = self.offered = self._firmly = False
        elif not (self._firmly or self.doubted) and _any(guards.SAID_BY_US, [clause]):
            self.supposed = self.quoted = False
        if _is_under(guards.SUPPOSES, clause):
            self.supposed = True
            self._firmly = self._firmly or bool(guards.OF_THIS_TRADE.search(clause))
        if _is_under(guards.QUOTES, clause):
            self.quoted = True
            self._firmly = self._firmly or bool(guards.QUOTES_ON.search(clause))


def _any(guard: re.Pattern[str], clauses: Iterable[str]) -> bool:
    return any(guard.search(clause) for clause in clauses)


def _is_under(guard: re.Pattern[str], clause: str) -> bool:
    """Does the guard govern the clause? Not where a claim stands before it: “I refunded it when you wrote.”"""
    found = guard.search(clause)
    if found is None:
        return False
    before = clause[: found.start()]
    claimed = any(form.found_in(before) for form in FORMS if not form.beside)
    return not claimed or bool(guards.TAKES_BACK.search(clause))


def _asserted(whole: str, topics: frozenset[Kind], heard: _Heard) -> list[Claim]:
    found: dict[Kind, Claim] = {}
    clause = without_buttons(whole)
    for form in FORMS:
        match = None if form.kind in found else form.found_in(clause)
        if match is not None and not _is_taken_back(form, clause, match, heard):
            found[form.kind] = Claim(form.kind, form.reach, whole)
    if COMPENSATION in found:
        # “Passed on to a colleague” is what became of the proposal, and the amount is the proposal's.
        found.pop(HAND_OFF, None)
        if not _TOPICS[REFUND].search(clause):
            found.pop(REFUND, None)
    claims = [_beside(claim, found.keys()) for claim in found.values()] or [
        Claim(kind, Reach.BEGUN, whole) for kind in _done_with(clause, topics)
    ]
    return claims + _of_numbers(whole)


def _of_numbers(clause: str) -> list[Claim]:
    found: list[Claim] = []
    for number, start in numbers_in(clause).items():
        before = clause[max(start - MOST_BEFORE_A_NUMBER, 0) : start]
        if not guards.DENIES.search(before):
            kind = _KINDS_OF_NUMBERS[number[:2]]
            found.append(Claim(kind, Reach.BEGUN, before + number, number=number))
    return found


def _beside(claim: Claim, kinds: Set[Kind]) -> Claim:
    """`kinds`: all those of the clause."""
    amounts = amounts_in(claim.words) if claim.kind in _WITH_AMOUNTS else frozenset[Decimal]()
    return replace(claim, amounts=amounts, beside=frozenset(kinds - {claim.kind}))


def _is_taken_back(form: Form, clause: str, match: re.Match[str], heard: _Heard) -> bool:
    before, said, after = clause[: match.start()], match.group(), clause[match.end() :]
    if guards.DENIES.search(before) or guards.DENIES.search(said) or guards.TAKES_BACK.search(after):
        return True
    if _is_of_something_else(form, clause, before, said, heard):
        return True
    if heard.taught and not guards.ABOUT_THIS_ONE.search(clause):
        return not (guards.SAYS_ALREADY.search(said) and amounts_in(clause))
    if form.reach == Reach.BEGUN and form.kind in _PUT_ON_CARDS and heard.awaited:
        return True
    if form.promise:
        if form.reach == Reach.AHEAD and (heard.to_be_pressed or heard.taught):
            return True
        return heard.offered or bool(guards.LEAVES_OPEN.search(before))
    if guards.LOOKS_AHEAD.search(before) or guards.LOOKS_AHEAD.search(said):
        return True
    return not guards.SAYS_ALREADY.search(said) and bool(guards.LEAVES_OPEN.search(before))


def _is_of_something_else(form: Form, clause: str, before: str, said: str, heard: _Heard) -> bool:
    """A discount, the customer's own payment, a button that was declined, or the people of a carrier or a store?"""
    if form.kind == HAND_OFF:
        return form.promise and bool(guards.OF_A_STORE.search(clause) or guards.AT_A_STORE.search(heard.words))
    if form.kind not in {REFUND, CANCEL}:
        return False
    if form.kind == CANCEL and guards.DECLINED.search(heard.words) and not guards.BY_US.search(said):
        return True
    goes_back = guards.GOES_BACK.search(clause)
    paid = guards.OF_A_PAYMENT.search(before) or guards.AFTER_A_PAYMENT.search(heard.words)
    return bool((paid and not goes_back) or guards.OF_A_DISCOUNT.search(before))


# --- “it is done”: what it is was said just before ---
_TOPICS: Final = {
    REFUND: re.compile(r"退款|退費|退您|\brefund|\bmoney back\b"),
    CANCEL: re.compile(r"取消|\bcancel"),
    RETURN: re.compile(r"退貨|\breturn\b"),
    EXCHANGE: re.compile(r"換貨|換新|\bexchange\b"),
    RESEND: re.compile(r"補寄|重新寄|重寄|\bresend\b|\bsend it again\b"),
    ADDRESS: re.compile(r"地址|\baddress\b"),
    COMPENSATION: re.compile(r"補償|賠償|\bcompensation\b"),
}
_DONE_WITH_IT: Final = re.compile(
    r"(?:幫|為|替)(?:您|你)[^,]{0,4}(?:辦|處理|弄|搞|做|申請|安排|完成|設定)(?:好|完|妥|了|的)|"
    r"^(?:都|也|已經?|全部|全){0,4}(?:搞定|辦好|辦妥|處理好|處理完|完成|弄好|安排好)(?:了|囉|啦)?$|"
    r"\b(?:it|that|this|all|everything)(?:'s| is| has been| was)(?: now| all| already){0,4} "
    r"(?:done|sorted|taken care of|completed?|handled|processed|settled)\b|^(?:all )?(?:done|set|sorted)$|"
    r"\b(?:i|we)(?:'ve| have)(?: now| already| just){0,4} (?:done|sorted|taken care of|handled|completed|arranged) "
    r"(?:it|that|this|everything|all)\b"
)


def _topics_in(clause: str) -> frozenset[Kind]:
    return frozenset(kind for kind, pattern in _TOPICS.items() if pattern.search(clause))


def _done_with(clause: str, topics: frozenset[Kind]) -> Iterator[Kind]:
    match = _DONE_WITH_IT.search(clause)
    if match is None:
        return
    before, after = clause[: match.start()], clause[match.end() :]
    ahead = guards.LOOKS_AHEAD.search(before) or guards.LEAVES_OPEN.search(before)
    if not (ahead or guards.DENIES.search(before) or guards.TAKES_BACK.search(after)):
        yield from sorted(topics | _topics_in(clause))
