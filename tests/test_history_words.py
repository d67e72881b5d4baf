"""Whatever the history records can be read in words: each action, each part of the system, each kind of record."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from django.utils import translation

from agent.states import CardState, TurnState
from orders.actors import ActorKind
from orders.admin_links import subject_name
from orders.models import AuditEvent
from orders.states import ActorKinds, ShipmentState
from orders.words import action_name, actor_name
from refunds.states import ApprovalState, AttemptOutcome, QuoteState, RefundState, ReplacementState, ReturnState

ROOT = Path(__file__).resolve().parents[1]
APPS = ("orders", "refunds", "agent")
# Actions that are made of a state: f"refund.{refund.state}". An open quote is told of as "quote.opened".
MOVES = {
    "shipment": ShipmentState.values,
    "quote": sorted({*QuoteState.values, "opened"} - {QuoteState.OPEN}),
    "refund": RefundState.values,
    "attempt": AttemptOutcome.values,
    "return": ReturnState.values,
    "replacement": ReplacementState.values,
    "approval": ApprovalState.values,
    "turn": TurnState.values,
    "card": CardState.values,
}


def calls() -> Iterator[ast.Call]:
    for app in APPS:
        for file in (ROOT / app).rglob("*.py"):
            if not {"tests", "migrations"} & set(file.parts):
                yield from (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call))


def texts(call: ast.Call, *, keyword: str = "", by_position_to: str = "") -> Iterator[str]:
    """The constant texts handed over under this name, or by position to the function of that name."""
    given = [each.value for each in call.keywords if each.arg == keyword]
    if isinstance(call.func, ast.Name) and call.func.id == by_position_to:
        given += call.args
    yield from (each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str))


def test_every_action_has_words_in_both_languages() -> None:
    actions = {f"{subject}.{state}" for subject, states in MOVES.items() for state in states}
    written = {text for call in calls() for text in texts(call, keyword="action", by_position_to="_record")}
    actions |= {"refund.undone"}
    actions |= {text for text in written if re.fullmatch(r"\w+\.\w+", text)}
    assert {"order.taken_in", "customer_link.issued", "conversation.closed", "allocation.retried"} <= actions
    for language in ("en", "zh-hant"):
        with translation.override(language):
            assert [action for action in sorted(actions) if action_name(action) == action] == []
    with translation.override("zh-hant"):
        assert action_name("refund.succeeded") == "退款成功"


def test_every_kind_of_record_has_words() -> None:
    kinds = {text for call in calls() for text in texts(call, keyword="subject_type")}
    assert {"order", "quote", "refund", "return", "conversation", "card"} <= kinds
    with translation.override("zh-hant"):
        assert [kind for kind in sorted(kinds) if subject_name(kind) == kind] == []


def test_the_kinds_of_actors_are_those_of_the_history() -> None:
    assert set(ActorKinds.values) == set(get_args(ActorKind))


def test_every_part_of_the_system_has_a_name() -> None:
    parts = {text for call in calls() for text in texts(call, by_position_to="system_actor")}
    assert {"payments", "sweeper", "agent"} <= parts
    with translation.override("zh-hant"):
        named = {part: actor_name(AuditEvent(actor_kind="system", actor_name=part)) for part in parts}
    assert [part for part, name in named.items() if name == part] == []


@pytest.mark.parametrize(
    ("kind", "name", "shown"),
    [("system", "returns", "退換貨"), ("agent", "agent", "小幫手"), ("customer", "agent", "agent")],
)
def test_parts_of_the_system_have_names_and_people_keep_theirs(kind: str, name: str, shown: str) -> None:
    with translation.override("zh-hant"):
        assert actor_name(AuditEvent(actor_kind=kind, actor_name=name)) == shown
