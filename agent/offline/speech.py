"""Builds sentences from tool results: goods by name, amounts as the result shows them, accounts, reasons."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.offline.deciding import Decision
from agent.offline.phrases import PHRASES
from agent.offline.pieces import STEPS
from agent.offline.reading import CHINESE

Data = Mapping[str, Any]
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
# The number under which a person has paid, at the end of the label.
NUMBER_BY_HAND = re.compile(r"(?:編號|number)\s*(\S.*)$")
CREDIT_METHODS = frozenset({"store_credit", "credit", "points"})


@dataclass(frozen=True, slots=True)
class Speech:
    """One language."""

    chinese: bool

    def say(self, phrase: str, **values: Any) -> str:
        text = PHRASES[phrase][0 if self.chinese else 1].format(**values).strip()
        return text[:1].upper() + text[1:] if not self.chinese else text

    def piece(self, phrase: str, **values: Any) -> str:
        """A part of a sentence, its spaces and small letters kept."""
        return PHRASES[phrase][0 if self.chinese else 1].format(**values)

    def join(self, sentences: Sequence[str]) -> str:
        said = [sentence for sentence in dict.fromkeys(sentences) if sentence]
        return ("" if self.chinese else " ").join(said)

    def day(self, moment: Any) -> str:
        """The day of an ISO date or moment as it is said; "" without one."""
        found = re.match(r"\d{4}-(\d{2})-(\d{2})", str(moment or ""))
        if not found:
            return ""
        month, day = int(found[1]), int(found[2])
        return f"{month}月{day}日" if self.chinese else f"{day} {MONTHS[month - 1]}"

    def paragraphs(self, parts: Sequence[str]) -> str:
        return "\n\n".join(part for part in dict.fromkeys(parts) if part)

    # --- goods ---

    def goods(self, decisions: Sequence[Decision]) -> str:
        return self.listed([(one.line.title, one.quantity) for one in decisions])

    def listed(self, goods: Sequence[tuple[str, int]]) -> str:
        return self.piece("comma").join(self._named(name, quantity) for name, quantity in goods)

    def _named(self, name: str, quantity: int) -> str:
        quoted = self.piece("quoted", name=name)
        return quoted if quantity == 1 else self.piece("times", name=quoted, quantity=quantity)

    def lines(self, lines: Sequence[Data]) -> str:
        """The lines of a quote, a return or a parcel."""
        return self.listed([(str(line.get("name", line.get("line_item_id"))), int(line["quantity"])) for line in lines])

    # --- money ---

    def where(self, to: Sequence[Data]) -> str:
        """In brackets: where the money of an offer would go, several accounts each with its amount; "" if unknown."""
        if len(to) == 1:
            return self.piece("to", account=self.account(to[0]))
        parts = [self.piece("part", account=self.account(each), amount=each.get("display", "")) for each in to]
        return self.piece("in_brackets", text=self.piece("comma").join(parts)) if parts else ""

    def by_hand(self, share: Data) -> str:
        """How a person has paid a share, as the result says it; in the customer's language if that is another one."""
        label = str(share.get("label") or "")
        number = NUMBER_BY_HAND.search(label)
        if not number or bool(CHINESE.search(label[: number.start(1)])) == self.chinese:
            return label
        return self.piece("by_hand", number=number[1])

    def account(self, entry: Data) -> str:
        """A payment that money goes back to; an empty entry is the one that was used."""
        if entry.get("last4"):
            return self.piece("account_card", last4=entry["last4"])
        return self.piece("account_credit" if entry.get("method") in CREDIT_METHODS else "account_other")

    def why(self, quote: Data) -> str:
        """The quote's own sentence, or, if that is in the other language, its steps."""
        own = str(quote.get("explanation") or "").strip().rstrip("。.")
        steps = quote.get("steps") or []
        if own and (self._fits(own, quote) or not steps):
            return own
        parts = [f"{self._step(step, quote)} {step.get('display', step.get('amount', ''))}" for step in steps]
        return f"{'；'.join(parts) if self.chinese else '; '.join(parts)} = {quote.get('display', '')}"

    def _step(self, step: Data, quote: Data) -> str:
        if step.get("code") == "returned_goods" and quote.get("lines"):
            return self.lines(quote["lines"])
        words = STEPS.get(str(step.get("code")))
        return words[0 if self.chinese else 1] if words else str(step.get("text", ""))

    def _fits(self, text: str, quote: Data) -> bool:
        """Is the sentence in this language? Names and labels are as the shop wrote them and say nothing."""
        names = [str(line.get("name", "")) for line in quote.get("lines") or ()]
        labels = [str((step.get("params") or {}).get("label") or "") for step in quote.get("steps") or ()]
        for name in sorted(filter(None, names + labels), key=len, reverse=True):
            text = text.replace(name, " ")
        if self.chinese:
            return len(re.findall(r"\b[a-z]{3,}\b", text)) < 2
        return not CHINESE.search(text)
