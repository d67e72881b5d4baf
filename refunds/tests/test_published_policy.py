"""A published policy settles orders for good: the database keeps it as it is, and a new version takes over by date."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from orders.tests import cast
from refunds.history import policy_for
from refunds.models import RefundPolicy
from refunds.states import PolicyState
from refunds.tests.ask import ask
from refunds.tests.old_rules import published_long_ago

pytestmark = pytest.mark.django_db


def new_version(**changes: Any) -> RefundPolicy:
    return published_long_ago(**changes)


@pytest.mark.parametrize(
    "change",
    [
        {"return_fee": 0},
        {"return_fee_enabled": False},
        {"return_window_days": 30},
        {"excluded_categories": ["audio"]},
        {"tender_order": ["*"]},
        {"approval_above": 10**9},
        {"in_force_from": timezone.now()},
        {"version": 9},
        {"state": PolicyState.DRAFT},
        {"compensation_cap": 10**9},
        {"shop_fault_reasons": []},
        {"quote_minutes": 1},
        {"note": "別的話"},
    ],
)
def test_what_a_published_policy_says_cannot_change(change: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        RefundPolicy.objects.filter(currency="TWD").update(**change)


def test_a_published_policy_cannot_be_deleted_but_it_can_be_superseded() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        RefundPolicy.objects.filter(currency="USD").delete()
    assert RefundPolicy.objects.filter(currency="USD").update(state=PolicyState.SUPERSEDED) == 1


def test_a_draft_can_change_and_go() -> None:
    draft = new_version(state=PolicyState.DRAFT)
    draft.return_fee = 100
    draft.save()
    draft.delete()


def sql(state: str, of_version: int) -> None:
    """Whoever speaks to the database past all services."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE refunds_refundpolicy SET state = %s WHERE currency = 'TWD' AND version = %s", [state, of_version]
        )


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (PolicyState.DRAFT, PolicyState.SUPERSEDED),
        (PolicyState.PUBLISHED, PolicyState.DRAFT),
        (PolicyState.SUPERSEDED, PolicyState.PUBLISHED),
        (PolicyState.SUPERSEDED, PolicyState.DRAFT),
        (PolicyState.DRAFT, PolicyState.WITHDRAWN),
        (PolicyState.PUBLISHED, PolicyState.WITHDRAWN),
        (PolicyState.SUPERSEDED, PolicyState.WITHDRAWN),
        (PolicyState.WITHDRAWN, PolicyState.PUBLISHED),
        (PolicyState.WITHDRAWN, PolicyState.DRAFT),
    ],
)
def test_the_database_knows_the_way_of_a_policy(now: str, then: str) -> None:
    policy = new_version(state=now)
    with pytest.raises(IntegrityError), transaction.atomic():
        sql(then, 2)
    policy.refresh_from_db()
    assert policy.state == now


def test_the_database_publishes_no_draft_for_orders_of_the_past() -> None:
    new_version(state=PolicyState.DRAFT, in_force_from=timezone.now() - timedelta(seconds=1))
    with pytest.raises(IntegrityError, match="rules of the past"), transaction.atomic():
        sql(PolicyState.PUBLISHED, 2)
    RefundPolicy.objects.filter(version=2).update(in_force_from=timezone.now() + timedelta(hours=1))
    sql(PolicyState.PUBLISHED, 2)


def test_the_database_lets_a_version_be_withdrawn_only_while_it_is_to_come() -> None:
    new_version(in_force_from=timezone.now() + timedelta(seconds=60))
    sql(PolicyState.WITHDRAWN, 2)


def test_the_database_brings_back_only_the_newest_of_what_was_superseded() -> None:
    sql(PolicyState.SUPERSEDED, 1)
    new_version(version=3, state=PolicyState.SUPERSEDED)
    new_version(version=4, state=PolicyState.WITHDRAWN, in_force_from=timezone.now() + timedelta(days=1))
    with pytest.raises(IntegrityError), transaction.atomic():
        sql(PolicyState.PUBLISHED, 1)
    sql(PolicyState.PUBLISHED, 3)


def test_what_is_withdrawn_settles_nothing() -> None:
    order = cast.order_5531()
    new_version(state=PolicyState.WITHDRAWN, in_force_from=order.placed_at)
    assert policy_for(order).version == 1


@pytest.mark.parametrize("state", [PolicyState.PUBLISHED, PolicyState.SUPERSEDED])
def test_the_database_lets_no_rules_of_the_past_be_inserted(state: str) -> None:
    order = cast.order_5531()
    policy = RefundPolicy.objects.get(currency="TWD", version=1)
    policy.pk, policy.version, policy.state = None, 2, state
    policy.in_force_from, policy.return_fee = order.placed_at, 0
    with pytest.raises(IntegrityError, match="rules of the past"), transaction.atomic():
        policy.save(force_insert=True)
    assert policy_for(order).version == 1


def test_the_first_rules_of_a_currency_may_be_inserted_for_the_past() -> None:
    policy = RefundPolicy.objects.get(currency="TWD", version=1)
    policy.pk, policy.currency = None, "JPY"
    policy.save(force_insert=True)


def test_the_database_lets_nobody_publish_what_they_edited_last() -> None:
    user = cast.staff_user("supervisor")
    new_version(state=PolicyState.DRAFT, edited_by=user, in_force_from=timezone.now() + timedelta(hours=1))
    with pytest.raises(IntegrityError, match="nobody_publishes_their_own_draft"), transaction.atomic():
        RefundPolicy.objects.filter(version=2).update(state=PolicyState.PUBLISHED, published_by=user)


def test_an_order_is_settled_by_the_version_in_force_when_it_was_placed() -> None:
    order = cast.order_5531()
    new_version(in_force_from=order.placed_at + timedelta(seconds=1))
    assert policy_for(order).version == 1
    new_version(version=3, in_force_from=order.placed_at)
    RefundPolicy.objects.filter(currency="TWD", version=1).update(state=PolicyState.SUPERSEDED)
    assert policy_for(order).version == 3


def test_a_superseded_version_goes_on_settling_its_orders() -> None:
    order = cast.order_5531()
    new_version(in_force_from=order.placed_at + timedelta(seconds=1))
    RefundPolicy.objects.filter(currency="TWD", version=1).update(state=PolicyState.SUPERSEDED)
    assert ask(order, (2, 1, "other")).policy.version == 1


def test_a_draft_settles_nothing() -> None:
    order = cast.order_5531()
    new_version(state=PolicyState.DRAFT, in_force_from=order.placed_at)
    assert policy_for(order).version == 1
