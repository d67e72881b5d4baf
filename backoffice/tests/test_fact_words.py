"""Facts that are kept as codes are read as words, in both languages; sums that are no whole units as money."""

import ast
import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import translation

from refunds import alerts, books, elsewhere, errors, provider_events, reported, stripe_facts
from refunds.fact_words import difference_in_words, facts_in_words, refused_because
from refunds.states import AttemptOutcome

WRITERS = [alerts, books, provider_events, reported]


def nodes(module: Any) -> Iterator[ast.AST]:
    yield from ast.walk(ast.parse(inspect.getsource(module)))


def texts(node: ast.AST) -> Iterator[str]:
    yield from (each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and type(each.value) is str)


def written_as(fact: str) -> set[str]:
    """Every text that stands beside this name in a literal of what is written."""
    return {
        text
        for module in WRITERS
        for node in nodes(module)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == fact
        for text in texts(value)
    }


def differences() -> set[str]:
    made = [node for node in nodes(books) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Difference"]
    return (
        written_as("difference")
        | {next(texts(node.args[0])) for node in made if list(texts(node.args[0]))}
        | {"missing_there"}
    )


def not_booked() -> set[str]:
    """What `reported._book` returns by itself, and the refusals of the service that it calls."""
    functions = {node.name: node for node in nodes(reported) if isinstance(node, ast.FunctionDef)}
    own = {text for node in ast.walk(functions["_book"]) if isinstance(node, ast.Return) for text in texts(node)}
    called = {
        node.attr
        for name in ("book", "_again", "_write")
        for node in ast.walk(ast.parse(inspect.getsource(getattr(elsewhere, name))))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "errors"
    }
    refused = {
        next(texts(call.args[0]))
        for node in nodes(errors)
        if isinstance(node, ast.FunctionDef) and node.name in called
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Refusal"
    }
    return (own | refused | {"invalid_argument"}) - {""}


CODES = [
    *(("difference", code) for code in sorted(differences())),
    *(("not_booked", code) for code in sorted(not_booked())),
    *(
        (side, code)
        for side in ("ours", "theirs")
        for code in sorted({*AttemptOutcome.values, *stripe_facts.STATES.values()})
    ),
    *(("level", level) for levels in alerts.LEVELS.values() for _, level in levels),
]


def test_the_codes_that_are_walked_are_those_that_are_written() -> None:
    assert {"amount", "state", "given_back", "event_not_applied", "not_compared", "missing_here"} <= differences()
    assert not_booked() == {"another_currency", "payment_has_less", "reference_reused", "invalid_argument"}


@pytest.mark.parametrize("language", ["en", "zh-hant"])
@pytest.mark.parametrize(("fact", "code"), CODES)
def test_no_code_is_shown_as_it_is_kept(fact: str, code: str, language: str) -> None:
    with translation.override(language):
        ((_label, said),) = facts_in_words({fact: code})
    assert "_" not in said
    assert said.isascii() is (language == "en")


@pytest.mark.parametrize(
    ("amount", "currency", "said"),
    [
        (12_345, "TWD/100", "NT$123.45"),
        (1_234_505, "TWD/100", "NT$12,345.05"),
        (-5, "TWD/100", "−NT$0.05"),
        (230, "TWD", "NT$230"),
        (500, "KRW?", "500 in the smallest unit of KRW"),
    ],
)
def test_a_sum_that_is_no_whole_unit_of_ours_is_read_as_money(amount: int, currency: str, said: str) -> None:
    sum_ = {"amount": amount, "currency": currency}
    with translation.override("en"):
        assert dict(facts_in_words(sum_))["Amount"] == said
        assert said in difference_in_words({"difference": "amount", "ours": sum_})


@pytest.mark.parametrize(
    "code", ["no_record", "no_gateway", "no_such_charge", "amount_too_large", "declined_by_issuer"]
)
def test_why_a_gateway_refuses_is_read_in_the_readers_language_where_the_code_is_known(code: str) -> None:
    english = "The gateway says something."
    with translation.override("zh-hant"):
        assert refused_because(code, english).isascii() is False
        assert refused_because("another_code", english) == english
