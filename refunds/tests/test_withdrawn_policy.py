"""A version that was published by mistake is withdrawn before it is in force, and stands in nobody's way any more."""

from datetime import timedelta

import pytest
from django.utils import timezone, translation

from orders.actors import Actor, NotAllowed, agent_actor, system_actor
from orders.errors import InvalidInput, NotFound, Refusal
from orders.models import AuditEvent
from orders.tests import cast
from refunds import policies
from refunds.history import policy_for
from refunds.models import RefundPolicy
from refunds.policy_selectors import find, standings, versions, withdrawal_of
from refunds.states import PolicyState
from refunds.tests.browser import post_json, signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/refund-policies/TWD/2/withdraw/"


def published(*, days: float = 364, currency: str = "TWD", **body: object) -> RefundPolicy:
    actor, moment = cast.staff("supervisor"), timezone.now() + timedelta(days=days)
    draft, _ = policies.draft(currency=currency, actor=actor)
    policies.edit(currency=currency, version=draft.version, body=body, actor=actor)
    return policies.publish(
        currency=currency, version=draft.version, in_force_from=moment, actor=cast.staff("marketing")
    )


def withdraw(policy: RefundPolicy, *, actor: Actor | None = None, reason: str = "日期打錯") -> RefundPolicy:
    actor = actor or cast.staff("supervisor")
    return policies.withdraw(currency=policy.currency, version=policy.version, reason=reason, actor=actor)


def states() -> dict[int, str]:
    return dict(RefundPolicy.objects.filter(currency="TWD").values_list("version", "state"))


def test_after_a_mistyped_day_is_withdrawn_another_version_can_begin_tomorrow() -> None:
    withdraw(published(return_fee=9))
    assert states() == {1: PolicyState.PUBLISHED, 2: PolicyState.WITHDRAWN}
    third = published(days=1)
    assert (third.version, third.return_fee) == (3, 80)
    later = cast.place("7001")
    later.placed_at = timezone.now() + timedelta(days=365)
    assert policy_for(later) == third
    assert states() == {1: PolicyState.SUPERSEDED, 2: PolicyState.WITHDRAWN, 3: PolicyState.PUBLISHED}


def test_a_withdrawal_is_told_with_its_reason_and_so_is_the_version_that_goes_on() -> None:
    policy = withdraw(published(), reason="  日期打錯  ")
    told = AuditEvent.objects.filter(action__in=["policy.withdrawn", "policy.published"]).order_by("-pk")[:2]
    assert [(event.action, event.chosen) for event in told] == [
        ("policy.published", {"instead_of_version": 2}),
        ("policy.withdrawn", {"reason": "日期打錯"}),
    ]
    assert withdrawal_of(policy) == told[1]
    assert told[1].actor_user == cast.staff_user("supervisor")


def test_versions_are_withdrawn_one_after_another_the_newest_first() -> None:
    second, third = published(days=10), published(days=20)
    with pytest.raises(Refusal) as caught:
        withdraw(second)
    assert caught.value.code == "wrong_state"
    withdraw(third)
    withdraw(second)
    assert states() == {1: PolicyState.PUBLISHED, 2: PolicyState.WITHDRAWN, 3: PolicyState.WITHDRAWN}


def test_the_only_version_of_a_currency_can_be_withdrawn_and_the_next_may_reach_back() -> None:
    withdraw(published(currency="JPY"))
    assert published(currency="JPY", days=-30).state == PolicyState.PUBLISHED


@pytest.mark.parametrize("minutes", [-60, 0, 4])
def test_what_is_in_force_or_will_be_in_a_moment_stays(monkeypatch: pytest.MonkeyPatch, minutes: int) -> None:
    policy = published(days=1)
    clock = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: clock() + timedelta(days=1) - timedelta(minutes=minutes))
    with pytest.raises(Refusal) as caught:
        withdraw(policy)
    assert (caught.value.code, states()[2]) == ("wrong_state", PolicyState.PUBLISHED)


def test_drafts_and_what_is_withdrawn_or_in_force_are_refused_and_nothing_changes() -> None:
    withdrawn = withdraw(published())
    draft, _ = policies.draft(currency="TWD", actor=cast.staff("supervisor"))
    first = RefundPolicy.objects.get(currency="TWD", version=1)
    before = states()
    for policy in (withdrawn, draft, first):
        with pytest.raises(Refusal) as caught:
            withdraw(policy)
        assert caught.value.code == "wrong_state"
    with pytest.raises(NotFound):
        policies.withdraw(currency="TWD", version=9, reason="x", actor=cast.staff("supervisor"))
    assert states() == before


def test_only_who_may_publish_withdraws_and_says_why() -> None:
    policy = published()
    staff = [cast.staff(role) for role in ("staff", "warehouse", "auditor")]
    for actor in (*staff, cast.shopper(), agent_actor(cast.customer()), system_actor("sweeper")):
        with pytest.raises(NotAllowed):
            withdraw(policy, actor=actor)
    for reason in ("", "   "):
        with pytest.raises(InvalidInput) as caught:
            withdraw(policy, reason=reason)
        assert caught.value.field == "reason"
    assert states()[2] == PolicyState.PUBLISHED
    assert withdraw(policy, actor=cast.staff("marketing")).state == PolicyState.WITHDRAWN


def test_how_it_stands_is_withdrawn_and_the_version_before_has_no_end() -> None:
    withdraw(published())
    known = standings(versions(currency="TWD"), now=timezone.now() + timedelta(days=400))
    assert [(standing.phase, standing.until) for standing in known] == [("withdrawn", None), ("in_force", None)]


def test_a_version_is_withdrawn_by_api() -> None:
    published()
    for name in ("staff", "auditor", "warehouse", "ming"):
        assert post_json(signed_in(name), ADDRESS, {"reason": "x"}).status_code == 403
    boss = signed_in("supervisor")
    for body in ({}, {"reason": ""}, {"reason": 5}, {"note": "x"}):
        assert post_json(boss, ADDRESS, body).status_code == 400
    answer = post_json(boss, ADDRESS, {"reason": "日期打錯"})
    assert (answer.status_code, answer.json()["state"]) == (200, "withdrawn")
    assert post_json(boss, ADDRESS, {"reason": "日期打錯"}).json()["code"] == "wrong_state"
    assert post_json(boss, ADDRESS.replace("/2/", "/9/"), {"reason": "x"}).status_code == 404
    assert find("TWD", 1).state == PolicyState.PUBLISHED  # type: ignore[union-attr]


def test_a_version_is_named_as_on_the_pages_and_has_no_day_where_it_came_with_the_shop() -> None:
    with translation.override("zh-hant"), pytest.raises(Refusal) as caught:
        withdraw(RefundPolicy.objects.get(currency="TWD", version=1))
    assert "TWD 第 1 版自始適用" in caught.value.message
    assert "2000" not in caught.value.message
