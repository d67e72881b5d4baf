"""Forms of words that say that something has been done: a kind, how far it has come, and a pattern over one clause.

They are read by `agent/claims.py`, over text that `agent/claim_text.py` has smoothed: half width, lower case,
Traditional characters. A pattern says what is claimed; whether the clause asserts it at all (and does not ask, deny,
quote or look ahead) is for the guards. The patterns stand in `agent/claim_chinese.py`, `agent/claim_english*.py` and,
for what is only said to come, `agent/claim_ahead.py`: what says less comes before what says more, for the first form of
a kind that fits a clause counts.
"""

import re
from dataclasses import dataclass

from agent.deeds import Kind, Reach


@dataclass(frozen=True, slots=True)
class Form:
    """`promise`: it speaks of what will be, and is a claim all the same (“a colleague will answer you”).

    `beside`: what the clause has to hold as well.
    """

    kind: Kind
    reach: Reach
    pattern: re.Pattern[str]
    promise: bool = False
    beside: re.Pattern[str] | None = None

    def found_in(self, clause: str) -> re.Match[str] | None:
        found = self.pattern.search(clause)
        return found if found and (self.beside is None or self.beside.search(clause)) else None


def form(kind: Kind, reach: Reach, pattern: str, *, promise: bool = False, beside: str = "") -> Form:
    return Form(kind, reach, re.compile(pattern), promise, re.compile(beside) if beside else None)
