"""Words are put together as the reader's language does it."""

import pytest
from django.utils import translation

from orders.prose import aside, labelled, listed


@pytest.mark.parametrize(("language", "said"), [("en", "rf_1 (rejected)"), ("zh-hant", "rf_1（rejected）")])
def test_what_is_said_beside_a_name_stands_in_the_brackets_of_the_language(language: str, said: str) -> None:
    with translation.override(language):
        assert aside("rf_1", "rejected") == said
        assert aside("rf_1", "") == "rf_1"


@pytest.mark.parametrize(
    ("language", "goods", "line"),
    [("en", "A, B", "Refunds: paid; refused"), ("zh-hant", "A、B", "Refunds：paid；refused")],
)
def test_names_and_facts_follow_each_other_as_the_language_separates_them(language: str, goods: str, line: str) -> None:
    with translation.override(language):
        assert listed(["A", "B"]) == goods
        assert labelled("Refunds", ["paid", "refused"]) == line
