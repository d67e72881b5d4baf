"""Every state that a row has come into is told by the history, one move after another, along the moves that exist."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from orders.states import SHIPMENT_MOVES
from refunds.states import (
    APPROVAL_MOVES,
    ATTEMPT_MOVES,
    POLICY_MOVES,
    QUOTE_MOVES,
    REFUND_MOVES,
    REPLACEMENT_MOVES,
    RETURN_MOVES,
)
from tests.generated.rows import Row, Rows

Moves = Mapping[str, frozenset[str]]

# By what the history calls it: the table, the column of the state, and the moves.
FOLLOWED: Final[dict[str, tuple[str, str, Moves]]] = {
    "quote": ("refunds_refundquote", "state", QUOTE_MOVES),
    "refund": ("refunds_refund", "state", REFUND_MOVES),
    "gateway_attempt": ("refunds_gatewayattempt", "outcome", ATTEMPT_MOVES),
    "return": ("refunds_return", "state", RETURN_MOVES),
    "replacement": ("refunds_replacement", "state", REPLACEMENT_MOVES),
    "approval": ("refunds_approval", "state", APPROVAL_MOVES),
    "shipment": ("orders_shipment", "state", SHIPMENT_MOVES),
    "policy": ("refunds_refundpolicy", "state", POLICY_MOVES),
}
# Where an event of a first state has a name of its own.
NAMED: Final = {"quote.opened": "open", "policy.drafted": "draft"}


@dataclass
class Followed:
    """The states that the history has told so far, by subject. `last`: the newest event that was read."""

    states: dict[tuple[str, str], str] = field(default_factory=dict)
    last: int = 0

    def begin(self, rows: Rows) -> None:
        """What is there before anything happens: the first policies, of which no history tells."""
        self.states = {("policy", str(row["id"])): row["state"] for row in rows["refunds_refundpolicy"]}

    def follow(self, rows: Rows) -> None:
        """Read the new events, and compare what they tell with the rows."""
        for event in rows["orders_auditevent"]:
            if event["id"] > self.last:
                self.last = event["id"]
                self._take(event)
        for subject, (table, column, _) in FOLLOWED.items():
            for row in rows[table]:
                told = self.states.get((subject, str(row["id"])))
                assert row[column] == told, f"{subject} {row['id']} is {row[column]}, and the history says {told}"

    def _take(self, event: Row) -> None:
        subject, key = event["subject_type"], (event["subject_type"], event["subject_id"])
        if subject not in FOLLOWED:
            return
        moves = FOLLOWED[subject][2]
        known = {*moves, *(state for after in moves.values() for state in after)}
        state = NAMED.get(event["action"], event["action"].partition(".")[2])
        if state not in known:  # told of it, and no move: corrected, reduced, edited
            return
        before = self.states.get(key)
        if before is not None:
            assert state in moves.get(before, frozenset()), f"{event['action']} of what was {before}"
        self.states[key] = state
