"""From sentences to wishes: clause by clause, which goods are meant, what is said about them, and how many."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from agent.offline.goods import Line, Named, named_in
from agent.offline.words import (
    ALL_OF_THEM,
    CLAUSE_END,
    EVERYTHING,
    INSTEAD,
    JOINS,
    KEPT,
    OTHERS,
    Intent,
    count_in,
    intents_in,
)

WAITING = frozenset({"unfulfilled", "packed", "shipped", "lost"})
HERE = frozenset({"delivered", "window_over"})
# What a wish without goods can be about, where it can only be about some.
ABOUT = {
    Intent.NOT_ARRIVED: WAITING,
    Intent.DONT_WAIT: WAITING,
    Intent.LOST: WAITING,
    Intent.RESEND: WAITING,
    Intent.CANCEL: WAITING | {"delivered"},
    Intent.DEFECTIVE: HERE,
    Intent.WRONG_ITEM: HERE,
    Intent.RETURN: HERE,
    Intent.EXCHANGE: HERE,
    Intent.REFUND: WAITING | HERE,
    Intent.CHANGED_MIND: WAITING | HERE,
}
ONLY_MISSED = frozenset({Intent.NOT_ARRIVED, Intent.LOST})
FAULT = frozenset({Intent.DEFECTIVE, Intent.WRONG_ITEM})
MISSED = ONLY_MISSED | {Intent.RESEND}
# "Both of them", as an answer.
SHORT = 6
BACK = frozenset({Intent.REFUND, Intent.RETURN, Intent.CHANGED_MIND, Intent.CANCEL})


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted for one line. `quantity` None: not said; `every` unit of it."""

    line_item_id: str
    intents: frozenset[Intent] = frozenset()
    quantity: int | None = None
    every: bool = False


@dataclass
class Heard:
    """What a text says. `loose` intents name no goods; `unclear` are goods that could each be meant."""

    wishes: dict[str, Wish] = field(default_factory=dict)
    loose: set[Intent] = field(default_factory=set)
    loose_quantity: int | None = None
    unclear: tuple[str, ...] = ()

    def add(self, lines: Sequence[str], intents: Iterable[Intent], quantity: int | None, every: bool) -> None:
        """`quantity` is of one line; of several lines it can only be one each."""
        if len(lines) > 1:
            quantity, every = (1, False) if quantity == len(lines) else (None, every)
        for line in lines:
            known = self.wishes.get(line, Wish(line))
            self.wishes[line] = Wish(
                line, known.intents | frozenset(intents), quantity or known.quantity, every or known.every
            )


def clauses(text: str) -> list[tuple[str, str]]:
    """The text's clauses, each with the word or mark that joins it to the one before."""
    found, start, joint = [], 0, ""
    for end in CLAUSE_END.finditer(text):
        if text[start : end.start()].strip():
            found.append((text[start : end.start()], joint))
            joint = ""
        joint = end.group().lower() if end.group().strip(",， ") or not joint else joint
        start = end.end()
    if text[start:].strip():
        found.append((text[start:], joint))
    return found


def hear(text: str, lines: Sequence[Line]) -> Heard:
    """Intents without goods go to the goods named before them; goods joined by "and" share what is said of either."""
    heard = Heard()
    last: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    said: frozenset[Intent] = frozenset()
    kept: set[str] = set()
    for clause, joint in clauses(text):
        named = _without_what_comes_instead(clause, named_in(clause, lines))
        intents = intents_in(clause)
        every = bool(ALL_OF_THEM.search(clause) or EVERYTHING.search(clause))
        count = count_in(clause, named[0].start if named else None)
        if KEPT.search(clause) and not intents:
            kept |= {line for one in named for line in one.lines}
            continue
        goods, unclear = _meant(named, every, count)
        answers = every and heard.loose and len(clause) <= SHORT
        if not named and (EVERYTHING.search(clause) or (every and intents and not last) or answers):
            goods = tuple(line.line_item_id for line in lines)
        elif not named and intents and OTHERS.search(clause) and (kept or heard.wishes):
            goods = tuple(line.line_item_id for line in lines if line.line_item_id not in {*kept, *heard.wishes})
        heard.unclear = unclear or heard.unclear
        goods = (*waiting, *goods) if goods and joint in JOINS else goods
        # "I don't need the cable and the case": what follows "and" shares what was said.
        meant = said if goods and joint in JOINS and not intents else intents
        heard.add(goods or last, meant, count, every)
        if not (goods or last):
            heard.loose |= intents
            heard.loose_quantity = count or heard.loose_quantity
        waiting = goods if not meant else ()
        last, said = goods or last, intents
    return _settled(heard)


def _without_what_comes_instead(clause: str, named: Sequence[Named]) -> Sequence[Named]:
    """In "exchange the case for a speaker" it is the case that goes back, also where a speaker was bought too."""
    target = INSTEAD.search(clause)
    before = [one for one in named if target and one.end <= target.end()]
    return before or named


def _meant(named: Sequence[Named], every: bool, count: int | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines that are meant, and those of which any could be."""
    clear = [one.lines for one in named if len(one.lines) == 1]
    sure = {line for lines in clear for line in lines}
    vague = [one.lines for one in named if len(one.lines) > 1 and not sure & set(one.lines)]
    plural = [lines for lines in vague if count == len(lines) or (every and count is None)]
    goods = dict.fromkeys(line for lines in (*clear, *plural) for line in lines)
    return tuple(goods), tuple(line for lines in vague if lines not in plural for line in lines)


def _settled(heard: Heard) -> Heard:
    """Give loose intents to the goods, if there are any."""
    if heard.loose and heard.wishes:
        bare = [wish for wish in heard.wishes.values() if not wish.intents] or list(heard.wishes.values())
        for wish in bare:
            heard.add([wish.line_item_id], heard.loose, heard.loose_quantity, False)
        heard.loose = set()
    return heard


def understand(text: str, before: str, lines: Sequence[Line], *, asked_about_lost: bool = False) -> Heard:
    """The wishes of this turn's words. What they leave open is taken from the order, then from the turn before.

    `asked_about_lost`: the agent ended by asking what is to become of what was lost.
    """
    heard = hear(text, lines)
    if heard.loose and not heard.wishes:
        _place_loose(heard, before, lines, asked_about_lost=asked_about_lost)
    elif not heard.loose and not any(wish.intents for wish in heard.wishes.values()) and before:
        # "Which one?" – "The case."; "How many?" – "Two."
        together = hear(f"{before}\n{text}", lines)
        named = set(heard.wishes) or set(together.wishes)
        if together.loose and not together.wishes:
            _place_loose(together, "", lines, asked_about_lost=asked_about_lost)
        named = named or set(together.wishes)
        together.wishes = {line: wish for line, wish in together.wishes.items() if line in named}
        return together
    return heard


def _place_loose(heard: Heard, before: str, lines: Sequence[Line], *, asked_about_lost: bool) -> None:
    possible = [line for line in lines if _could_be(line, heard.loose)]
    lost = [line for line in possible if "lost" in _states(line)]
    impatient = Intent.DONT_WAIT in heard.loose and lost == possible
    answered = asked_about_lost and not hear(before, lines).wishes
    if lost and (heard.loose & MISSED or impatient or answered):
        # A parcel that never came is missed as a whole.
        heard.add([line.line_item_id for line in lost], heard.loose, heard.loose_quantity, False)
    elif possible and heard.loose <= ONLY_MISSED:
        heard.add([line.line_item_id for line in possible], heard.loose, heard.loose_quantity, False)
    elif len(lines) == 1 or len(possible) == 1:
        only = (possible or list(lines))[0]
        heard.add(
            [only.line_item_id], heard.loose | _wanted_before(heard.loose, before, lines), heard.loose_quantity, False
        )
    elif before:
        earlier = hear(before, lines).wishes
        for wish in earlier.values():
            heard.wishes[wish.line_item_id] = _turned(wish, heard.loose)
    if heard.wishes:
        heard.loose = set()


def _wanted_before(intents: Iterable[Intent], before: str, lines: Sequence[Line]) -> frozenset[Intent]:
    """Who only adds that the goods are broken or wrong still wants the money back, if that was asked for."""
    if not set(intents) <= FAULT:
        return frozenset()
    earlier = hear(before, lines)
    wanted = {intent for wish in earlier.wishes.values() for intent in wish.intents} | earlier.loose
    return frozenset(wanted & {Intent.REFUND, Intent.RETURN})


def _could_be(line: Line, intents: Iterable[Intent]) -> bool:
    return all(_states(line) & ABOUT[intent] for intent in intents)


def _states(line: Line) -> set[str]:
    return {str(units.get("state")) for units in line.units}


def _turned(wish: Wish, newer: Iterable[Intent]) -> Wish:
    """An earlier wish after a change of mind: money instead of an exchange, or the reverse."""
    wanted = frozenset(newer)
    kept = wish.intents
    if wanted & BACK:
        kept -= {Intent.EXCHANGE}
    if Intent.EXCHANGE in wanted:
        kept -= BACK
    return replace(wish, intents=kept | wanted)
