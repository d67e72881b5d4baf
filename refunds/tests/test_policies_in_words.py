"""What people read of a version: every rule in a sentence, and examples that the rules themselves have worked out."""

from typing import Any

import pytest
from django.utils import translation

from orders.errors import InvalidInput
from orders.money import DECIMALS
from orders.tests import cast
from refunds import policies
from refunds.models import RefundPolicy
from refunds.policy_examples import Example, as_if, examples
from refunds.policy_present import differences, in_words
from refunds.policy_selectors import RULES

pytestmark = pytest.mark.django_db


def first(**changes: Any) -> RefundPolicy:
    """Version 1 for TWD with these changes, not saved."""
    policy = RefundPolicy.objects.get(currency="TWD", version=1)
    for name, value in changes.items():
        setattr(policy, name, value)
    return policy


def amounts(shown: list[Example]) -> list[str]:
    return [example.now.amount for example in shown]


def test_every_rule_is_told_and_every_change_of_one_is_seen() -> None:
    told = {rule.field for rule in in_words(first())}
    assert told == set(RULES) - {"return_fee_enabled", "shop_fault_reasons"} | {"shop_fault"}
    changes: list[dict[str, Any]] = [
        {"return_fee": 81},
        {"return_fee_enabled": False},
        {"return_window_days": 8},
        {"lost_after_days": 15},
        {"excluded_categories": ["食品"]},
        {"shop_fault_reasons": ["lost"]},
        {"tender_order": ["*", "card"]},
        {"approval_above": 1},
        {"compensation_cap": 0},
        {"quote_minutes": 16},
        {"note": "新版"},
    ]
    assert {name for change in changes for name in change} == set(RULES)
    for change in changes:
        assert len([row for row in differences(first(), first(**change)) if row.changed]) == 1, change


def test_the_examples_are_those_of_the_rules() -> None:
    with translation.override("en"):
        shown = examples(first(), None)
    assert amounts(shown) == ["NT$790", "NT$330", "NT$590", "NT$600", "NT$32,900"]
    assert [step["amount"] for step in shown[1].now.steps] == [590, -100, -80, -80]
    assert shown[3].now.notes == ("NT$500 to card.", "NT$100 to store credit.")
    assert shown[4].now.notes == ("Waits for a second person.",)


def test_an_example_that_a_draft_changes_is_marked_with_what_it_was() -> None:
    draft = first(
        return_fee_enabled=False, shop_fault_reasons=["lost"], tender_order=["*", "card"], approval_above=10**6
    )
    shown = examples(draft, first())
    assert amounts(shown) == ["NT$790", "NT$410", "NT$410", "NT$600", "NT$32,900"]
    assert [example.changed for example in shown] == [False, True, True, True, True]
    assert shown[1].before is not None
    assert shown[1].before.amount == "NT$330"
    assert not any(example.changed for example in examples(first(), first()))


@pytest.mark.parametrize("currency", DECIMALS)
def test_every_currency_has_examples_whose_steps_come_to_the_amount(currency: str) -> None:
    draft, _ = policies.draft(currency=currency, actor=cast.staff("supervisor"))
    for example in examples(draft, None):
        assert example.now.steps
        assert all(step["display"] for step in example.now.steps)
        assert example.now.amount


def test_what_is_tried_is_not_saved_and_what_is_wrong_is_refused_by_name() -> None:
    policy = first()
    assert as_if(policy, {"return_fee": 5, "shop_fault": {"defective": False}}).return_fee == 5
    assert (policy.return_fee, first().return_fee) == (80, 80)
    with pytest.raises(InvalidInput) as caught:
        as_if(policy, {"tender_order": ["card"]})
    assert caught.value.field == "tender_order"
