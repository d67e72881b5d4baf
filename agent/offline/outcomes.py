"""What this turn's calls have come to, read from their answers: which goods are settled, which quote is still good."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.offline.deciding import Decision
from agent.offline.reading import ASKING, Answer

Data = Mapping[str, Any]
# A line and what is done about it: units of one line in several states need several things.
Key = tuple[str, str]
# Refusals that looking again cannot change.
FINAL = frozenset(
    {
        "above_compensation_cap",
        "currency_differs",
        "excluded_category",
        "internal_error",
        "invalid_argument",
        "needs_a_person",
        "no_policy",
        "not_allowed",
        "not_found",
        "out_of_stock",
        "price_differs",
        "too_many_calls",
        "two_products",
        "unknown_product",
        "unknown_tool",
        "wrong_tool",
    }
)
MOST_READINGS = 3
# Calls that wait for a press and are about goods.
ABOUT_GOODS = ASKING - {"update_shipping_address"}
ENDED = frozenset({"confirmed", "declined", "expired"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """One card and its end. kind: cancel, lost, return, exchange or resend; `lines` with names and quantities.

    `state`: where its refund stands by the newest that was told; "" without one.
    """

    kind: str
    lines: tuple[Data, ...]
    answer: Answer
    quote: Data
    state: str = ""

    @property
    def keys(self) -> frozenset[Key]:
        return frozenset((str(line["line_item_id"]), self.kind) for line in self.lines)


@dataclass(frozen=True)
class Ledger:
    """The answers of a turn, put together. `names` are the order's, by line.

    `news`: states by number that the system has told of since.
    """

    answers: Sequence[Answer]
    names: Mapping[str, str]
    news: Mapping[str, str] = field(default_factory=dict)

    @property
    def quotes(self) -> dict[str, Data]:
        good = [answer.data for answer in self.answers if answer.name == "quote_refund" and not answer.is_error]
        return {str(quote.get("quote_id")): quote for quote in good}

    @property
    def outcomes(self) -> list[Outcome]:
        return [self._outcome(answer) for answer in self.answers if answer.name in ABOUT_GOODS]

    def _outcome(self, answer: Answer) -> Outcome:
        quote = self.quotes.get(str(answer.input.get("quote_id")), {})
        given = answer.input.get("lines") if answer.name == "resend_items" else answer.input.get("exchange_lines")
        lines = quote.get("lines") if quote else given
        named = tuple({"name": self._name(line), **line} for line in lines or ())
        kind = "resend" if answer.name == "resend_items" else str(quote.get("action", "exchange"))
        refund = answer.data.get("refund") or {}
        answered = "waiting" if refund.get("waits_until") else str(refund.get("state", ""))
        state = self.news.get(str(refund.get("refund_id")), answered)
        return Outcome(kind, named, answer, quote, state)

    def _name(self, line: Data) -> str:
        """The line's name; of an exchange for another product, both names."""
        name = str(self.names.get(str(line["line_item_id"])))
        other = self.products.get(str(line.get("product_id")))
        return f"{name} → {other}" if other else name

    @property
    def products(self) -> dict[str, str]:
        """The names of the products that were found in this turn."""
        good = [answer.data for answer in self.answers if answer.name == "search_products" and not answer.is_error]
        return {
            str(each.get("product_id")): str(each.get("name")) for data in good for each in data.get("products") or ()
        }

    def search(self, arguments: Data) -> Answer | None:
        """The answer to this search for products, if it was made in this turn."""
        made = [answer for answer in self.answers if answer.name == "search_products"]
        return next((answer for answer in made if dict(answer.input) == dict(arguments)), None)

    def told(self) -> list[Outcome]:
        """The last outcome of every set of goods, in the order in which they were asked for."""
        last: dict[frozenset[Key], Outcome] = {}
        for outcome in self.outcomes:
            last[outcome.keys] = outcome
        return [outcome for outcome in last.values() if self._is_settled(outcome)]

    def settled(self) -> frozenset[Key]:
        """What nothing more is to be asked about."""
        done = {key for outcome in self.told() for key in outcome.keys}
        for answer in self.quote_failures():
            keys = keys_of(answer.input.get("lines"))
            if self._is_final(answer, keys):
                done |= keys
        return frozenset(done)

    def quote_failures(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.name == "quote_refund" and answer.is_error]

    def _is_settled(self, outcome: Outcome) -> bool:
        return outcome.answer.status in ENDED or (
            outcome.answer.is_error and self._is_final(outcome.answer, outcome.keys)
        )

    def _is_final(self, failed: Answer, keys: frozenset[Key]) -> bool:
        """A refusal that stays one: by its nature, or because the second look changed nothing."""
        return failed.code in FINAL or self._failures_of(keys) > 1

    def _failures_of(self, keys: frozenset[Key]) -> int:
        asked = sum(1 for outcome in self.outcomes if outcome.answer.is_error and outcome.keys == keys)
        return asked + sum(1 for answer in self.quote_failures() if keys_of(answer.input.get("lines")) == keys)

    def quote_for(self, group: Sequence[Decision]) -> Data | None:
        """A quote for exactly these goods that no card has used yet. A later quote replaces an earlier one."""
        used = {str(outcome.answer.input.get("quote_id")) for outcome in self.outcomes}
        quotes = list(self.quotes.values())
        if not quotes or str(quotes[-1].get("quote_id")) in used:
            return None
        wanted = {(one.line.line_item_id, one.quantity) for one in group}
        given = {(str(line["line_item_id"]), int(line["quantity"])) for line in quotes[-1].get("lines") or ()}
        return quotes[-1] if wanted == given and quotes[-1].get("action") == group[0].kind else None

    @property
    def order(self) -> Data | None:
        """The order, unless a refusal since says that it has changed."""
        readings = [
            place for place, answer in enumerate(self.answers) if answer.name == "get_order" and not answer.is_error
        ]
        doubts = [
            place
            for place, answer in enumerate(self.answers)
            if answer.is_error and answer.name in ABOUT_GOODS | {"quote_refund"} and answer.code not in FINAL
        ]
        if not readings or (doubts and doubts[-1] > readings[-1] and len(readings) < MOST_READINGS):
            return None
        return self.answers[readings[-1]].data

    @property
    def ends(self) -> list[int]:
        """The places of the answers that ended a card about goods."""
        return [place for place, each in enumerate(self.answers) if each.name in ABOUT_GOODS and each.status in ENDED]

    @property
    def changed_since_read(self) -> bool:
        """Has a card about goods ended after the order was read last?"""
        readings = [place for place, each in enumerate(self.answers) if each.name == "get_order"]
        return bool(self.ends and readings and self.ends[-1] > readings[-1])

    @property
    def refused_since_end(self) -> bool:
        """Was anything about goods refused after the last card ended?"""
        later = self.answers[self.ends[-1] :] if self.ends else self.answers
        return any(each.is_error and each.name in ABOUT_GOODS | {"quote_refund"} for each in later)

    def last(self, name: str) -> Answer | None:
        """The last answer of a tool in this turn, good or bad."""
        return next((answer for answer in reversed(self.answers) if answer.name == name), None)


def keys_of(lines: Any) -> frozenset[Key]:
    return frozenset((str(line.get("line_item_id")), str(line.get("action"))) for line in lines or ())
