"""The list of places at which a worker may die is the code's: every transaction of the agent's side is in it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection, transaction
from pytest_django import Settings

from agent import events, save_points
from agent.save_points import MOMENTS, POINTS, SAVES, Death, death, passed
from agent.tests.helpers import hear, talk
from orders.models import Order
from orders.tests import cast

ROOT = Path(__file__).resolve().parents[2]
TRANSACTIONS = {"holding", "writing", "talking", "saving"}
# They pass on the name that they are given.
DEFINED = ["agent/events.py", "agent/turns.py", "agent/intake.py", *["agent/copilot/leases.py"] * 2]
# The transactions themselves; savepoints in them; the post, which talks to a mail server between two of its own;
# ready-made answers, which belong to no conversation; tokens; calls from outside that only read; and the keeper, which
# only lengthens leases.
OTHER_TRANSACTIONS = {
    "agent/events.py": 1,
    "agent/intake.py": 2,
    "agent/tools/executor.py": 1,
    "agent/people.py": 1,
    "agent/farewells.py": 1,
    "agent/turns.py": 2,
    "agent/mails.py": 2,
    "agent/canned.py": 2,
    "agent/doors/calls.py": 2,
    "agent/doors/tokens.py": 2,
    "agent/copilot/leases.py": 2,
    "agent/copilot/calls.py": 1,
    "agent/copilot/threads.py": 1,
}
Call = tuple[str, str, ast.expr | None]


@pytest.fixture
def counting(settings: Settings) -> Iterator[None]:
    """Points are counted, and nobody dies."""
    settings.AGENT_DIE_AT = Death("closed.after", 10**9)
    passed.clear()
    yield
    passed.clear()


def product() -> Iterator[Path]:
    """The modules that may write what a page or a turn is told."""
    for folder in ("agent", "backoffice"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not {"tests", "migrations"} & set(path.relative_to(ROOT).parts):
                yield path


def calls() -> Iterator[Call]:
    """Who is called in which module, and what names the point: the literal among the arguments, if there is one."""
    for path in product():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                texts = [each for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
                yield name, str(path.relative_to(ROOT)), texts[0] if texts else None


def names(called: set[str]) -> list[str]:
    """Those that are not empty: an empty one has no points."""
    texts = [text for name, _, text in calls() if name in called]
    return [str(text.value) for text in texts if isinstance(text, ast.Constant) and text.value]


def test_every_transaction_of_the_agents_side_has_a_name() -> None:
    nameless = {module for name, module, text in calls() if name in TRANSACTIONS and text is None}
    assert nameless <= {*DEFINED}
    given_on = [module for name, module, text in calls() if name in TRANSACTIONS and text is None]
    # `writing` and `talking` hand their name to `saving`, `holding` hands its own to `writing`.
    assert sorted(given_on) == sorted(DEFINED)


def test_every_name_of_the_list_is_in_the_code_and_every_name_in_the_code_is_in_the_list() -> None:
    assert set(names(TRANSACTIONS)) == set(SAVES)
    assert set(names({"reached"})) == set(MOMENTS)
    assert len(names({"reached"})) == len(MOMENTS)


def test_nobody_on_the_agents_side_commits_past_the_list() -> None:
    found = [module for name, module, _ in calls() if name == "atomic" and module.startswith("agent/")]
    assert {module: found.count(module) for module in found} == OTHER_TRANSACTIONS


@pytest.fixture
def order(transactional_db: None) -> Order:
    order = cast.order_5531()
    hear(order)
    return order


@pytest.mark.django_db(transaction=True)
def test_a_save_is_reached_before_its_commit_and_after_it_before_anybody_is_told(order: Order, counting: None) -> None:
    told = []
    with events.writing(talk(order).pk, "closed") as conversation:
        transaction.on_commit(lambda: told.append(dict(passed)))
        events.add(conversation, "turn", {})
        assert passed == {}
    assert told == [{"closed.before": 1, "closed.after": 1}]
    assert not connection.in_atomic_block


@pytest.mark.django_db(transaction=True)
def test_what_is_not_saved_has_no_points(order: Order, counting: None) -> None:
    with pytest.raises(LookupError), events.writing(talk(order).pk, "closed"):
        raise LookupError
    assert passed == {}


def test_where_nothing_is_set_nothing_is_counted(settings: Settings) -> None:
    settings.AGENT_DIE_AT = None
    passed.clear()
    save_points.reached("model_heard")
    assert passed == {}


def test_a_death_is_named_by_its_point_and_its_time() -> None:
    assert death("") is None
    assert death(" reply_kept.before:2 ") == Death("reply_kept.before", 2)
    assert death("model_heard:1") == Death("model_heard", 1)


@pytest.mark.parametrize("text", ["reply_kept.before", "reply_kept:1", "model_heard:0", "model_heard:soon", "home:1"])
def test_a_death_that_cannot_come_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        death(text)


def test_no_save_has_the_name_of_a_moment() -> None:
    assert not set(SAVES) & set(MOMENTS)
    assert len(POINTS) == 2 * len(SAVES) + len(MOMENTS)
