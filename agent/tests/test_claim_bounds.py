"""How long reading a reply for claims can take: each pattern has an end, wherever it begins, and so has a reply.

A pattern that may go on for ever costs the square of a text in which it can begin anywhere: a page of digits would hold
a worker for minutes. Nothing here is timed: that each repetition has a limit is read from the patterns themselves.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from re import _constants, _parser
from types import ModuleType
from typing import Any, Final

import pytest

from agent import claim_goods, claim_guards, claim_text, claims
from agent.claim_forms import form
from agent.claim_text import amounts_in, numbers_in
from agent.claims import FORMS, claims_in
from agent.deeds import Reach

MODULES: Final = (claims, claim_guards, claim_text, claim_goods)
# Runs of signs that nothing else of the pattern can begin in again, and the names of the shop's own goods.
WITHOUT_END: Final = {"_UNSEEN", "_GAPS", "_SENTENCE", "_QUOTATION", "_COMMON"}


def endless(parsed: Any) -> Iterator[str]:
    """Every repetition of a pattern that has no limit."""
    for op, value in parsed:
        if op in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            if value[1] is _constants.MAXREPEAT:
                yield str(value[2])
            yield from endless(value[2])
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield from _within(value)


def _within(value: Any) -> Iterator[str]:
    """The patterns that a group, a branch or a look around holds."""
    for each in value:
        if isinstance(each, _parser.SubPattern):
            yield from endless(each)
        elif isinstance(each, list):
            yield from _within(each)


def patterns(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, value in vars(module).items():
        for each in value.values() if isinstance(value, dict) else (value,):
            if isinstance(each, re.Pattern):
                yield name, each


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_no_guard_goes_on_for_ever(module: ModuleType) -> None:
    found = {name for name, each in patterns(module) if any(endless(_parser.parse(each.pattern, each.flags)))}
    assert found <= WITHOUT_END


def test_no_form_goes_on_for_ever() -> None:
    parts = [each for one in FORMS for each in (one.pattern, one.beside) if each]
    assert [each.pattern for each in parts if any(endless(_parser.parse(each.pattern)))] == []


@pytest.mark.parametrize("pattern", [r"\d+", r"x(?:a|b\d*)", r"(?<!a)(?:(?=b*)c)", r"(?P<n>[\d,.]{1,})", r"a+?"])
def test_a_pattern_that_goes_on_for_ever_is_noticed(pattern: str) -> None:
    assert list(endless(_parser.parse(form("refund", Reach.DONE, pattern).pattern.pattern)))


@pytest.mark.parametrize("digits", [12, 13, 16, 4000])
def test_of_a_number_without_end_the_first_digits_are_looked_at(digits: int) -> None:
    """No record has such an amount."""
    assert amounts_in(f"nt${'1' * digits}") == {Decimal("1" * 12)}
    if digits <= 16:
        (claim,) = claims_in(f"Your refund of NT${'1' * digits} has been paid.")
        assert claim.amounts == {Decimal("1" * 12)}


@pytest.mark.parametrize("length", [200, 400, 401, 1000])
def test_a_quotation_that_is_too_long_is_read_as_the_agents_own_words(length: int) -> None:
    words = "已退款 NT$230。".ljust(length, "好")
    assert bool(claims_in(f"「{words}」", [words])) is (length > 400)


def test_naming_a_thousand_numbers_claims_each_once_and_in_few_words() -> None:
    text = " ".join(f"rf_{number:06}" for number in range(1000)) * 2
    found = claims_in(text)
    assert len({claim.number for claim in found}) == len(found) == len(numbers_in(text))
    assert max(len(claim.words) for claim in found) <= claims.MOST_BEFORE_A_NUMBER + len("rf_000000rf_000000")
