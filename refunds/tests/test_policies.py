"""The life of a version of the rules: one draft, a second person to publish it, and orders that keep what they had."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone, translation

from orders.actors import Actor, NotAllowed, agent_actor, system_actor
from orders.errors import InvalidInput, NotFound, Refusal
from orders.models import AuditEvent
from orders.tests import cast
from refunds import policies
from refunds.history import policy_for
from refunds.models import RefundPolicy
from refunds.policy_selectors import find, seen_of, standings, versions
from refunds.states import PolicyState
from refunds.tests.ask import ask
from refunds.tests.old_rules import published_long_ago

pytestmark = pytest.mark.django_db


def drafted(**body: Any) -> RefundPolicy:
    """A draft for TWD, by the supervisor."""
    actor = cast.staff("supervisor")
    policy, _ = policies.draft(currency="TWD", actor=actor)
    return policies.edit(currency="TWD", version=policy.version, body=body, actor=actor)


def published(policy: RefundPolicy, moment: datetime | None = None, **options: Any) -> RefundPolicy:
    """By the other one who may."""
    return policies.publish(
        currency=policy.currency,
        version=policy.version,
        in_force_from=moment or soon(),
        actor=options.pop("actor", None) or cast.staff("marketing"),
        **options,
    )


def soon() -> datetime:
    return timezone.now() + timedelta(hours=1)


def refused(code: str, act: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        act()
    assert caught.value.code == code
    return caught.value


def told() -> list[str]:
    return list(AuditEvent.objects.filter(subject_type="policy").order_by("pk").values_list("action", flat=True))


def test_a_draft_is_a_copy_of_the_newest_version_under_the_next_number() -> None:
    draft, created = policies.draft(currency="TWD", actor=cast.staff("supervisor"))
    first = RefundPolicy.objects.get(currency="TWD", version=1)
    assert (created, draft.version, draft.state) == (True, 2, PolicyState.DRAFT)
    assert draft.edited_by == cast.staff_user("supervisor")
    for name in ("return_fee", "tender_order", "shop_fault_reasons", "approval_above", "compensation_cap"):
        assert getattr(draft, name) == getattr(first, name)


def test_a_currency_has_one_draft_and_whoever_asks_again_gets_it() -> None:
    draft, _ = policies.draft(currency="TWD", actor=cast.staff("supervisor"))
    again, created = policies.draft(currency="TWD", actor=cast.staff("marketing"))
    assert (again, created) == (draft, False)
    assert policies.draft(currency="USD", actor=cast.staff("marketing"))[1]
    assert told() == ["policy.drafted", "policy.drafted"]


def test_a_currency_without_rules_begins_with_rules_that_cost_nobody_anything_and_may_reach_back() -> None:
    draft, _ = policies.draft(currency="JPY", actor=cast.staff("supervisor"))
    assert (draft.version, draft.return_fee_enabled, draft.compensation_cap) == (1, False, 0)
    assert draft.tender_order == ["card", "*", "store_credit"]
    long_ago = timezone.now() - timedelta(days=500)
    assert published(draft, long_ago).in_force_from == long_ago


def test_a_currency_that_nobody_counts_in_is_refused_by_name() -> None:
    for currency in ("ZZZ", "twd", "", "T\x00D"):
        with pytest.raises(InvalidInput) as caught:
            policies.draft(currency=currency, actor=cast.staff("supervisor"))
        assert caught.value.field == "currency"


def test_an_edit_changes_what_it_names_and_says_what_it_was_before() -> None:
    draft = drafted(return_fee=60, excluded_categories=["內衣", "食品"], shop_fault={"defective": False})
    draft.refresh_from_db()
    assert (draft.return_fee, draft.excluded_categories, draft.return_window_days) == (60, ["內衣", "食品"], 7)
    assert draft.shop_fault_reasons == ["wrong_item", "lost", "shop_cancelled"]
    event = AuditEvent.objects.get(action="policy.edited")
    assert event.outcome["before"]["return_fee"] == 80
    assert event.outcome["after"]["return_fee"] == 60
    assert "return_window_days" not in event.outcome["after"]


def test_an_edit_that_changes_nothing_leaves_no_trace_and_no_new_editor() -> None:
    draft = drafted(return_fee=60)
    policies.edit(currency="TWD", version=2, body={"return_fee": 60}, actor=cast.staff("marketing"))
    draft.refresh_from_db()
    assert draft.edited_by == cast.staff_user("supervisor")
    assert told() == ["policy.drafted", "policy.edited"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"return_fee": -1}, "return_fee"),
        ({"return_fee": "80"}, "return_fee"),
        ({"return_fee": 80.0}, "return_fee"),
        ({"return_fee": True}, "return_fee"),
        ({"return_fee": None}, "return_fee"),
        ({"return_fee": 10**13}, "return_fee"),
        ({"return_fee_enabled": 1}, "return_fee_enabled"),
        ({"return_fee_enabled": "yes"}, "return_fee_enabled"),
        ({"return_fee_enabled": None}, "return_fee_enabled"),
        ({"return_window_days": 0}, "return_window_days"),
        ({"return_window_days": 366}, "return_window_days"),
        ({"lost_after_days": 0}, "lost_after_days"),
        ({"lost_after_days": 7.5}, "lost_after_days"),
        ({"excluded_categories": "audio"}, "excluded_categories"),
        ({"excluded_categories": ["audio", "audio"]}, "excluded_categories"),
        ({"excluded_categories": ["audio", " audio "]}, "excluded_categories"),
        ({"excluded_categories": ["audio", ""]}, "excluded_categories[1]"),
        ({"excluded_categories": ["x" * 65]}, "excluded_categories[0]"),
        ({"excluded_categories": ["a\x00b"]}, "excluded_categories[0]"),
        ({"excluded_categories": [1]}, "excluded_categories[0]"),
        ({"excluded_categories": [f"c{number}" for number in range(101)]}, "excluded_categories"),
        ({"shop_fault": {"lost": False}}, "shop_fault.lost"),
        ({"shop_fault": {"changed_mind": True}}, "shop_fault.changed_mind"),
        ({"shop_fault": {"defective": "yes"}}, "shop_fault.defective"),
        ({"shop_fault": {"bad_weather": True}}, "shop_fault.bad_weather"),
        ({"shop_fault": ["defective"]}, "shop_fault"),
        ({"tender_order": ["card", "gold", "*"]}, "tender_order[1]"),
        ({"excluded_categories": ["books", "food,drinks"]}, "excluded_categories[1]"),
        ({"excluded_categories": ["食品、生鮮"]}, "excluded_categories[0]"),
        ({"tender_order": ["card", "*", "card"]}, "tender_order"),
        ({"tender_order": ["*", "*"]}, "tender_order"),
        ({"tender_order": ["card", "store_credit"]}, "tender_order"),
        ({"tender_order": []}, "tender_order"),
        ({"approval_above": -1}, "approval_above"),
        ({"compensation_cap": -1}, "compensation_cap"),
        ({"quote_minutes": 0}, "quote_minutes"),
        ({"quote_minutes": 1441}, "quote_minutes"),
        ({"note": "x" * 1001}, "note"),
        ({"note": 5}, "note"),
        ({"state": "published"}, "state"),
        ({"version": 9}, "version"),
        ({"in_force_from": "2026-01-01T00:00:00Z"}, "in_force_from"),
        ([], ""),
        ("return_fee", ""),
        (None, ""),
    ],
)
def test_a_wrong_field_is_refused_by_name_and_nothing_is_saved(body: Any, field: str) -> None:
    policies.draft(currency="TWD", actor=cast.staff("supervisor"))
    before = RefundPolicy.objects.values().get(currency="TWD", version=2)
    sound = {"return_window_days": 30} if isinstance(body, dict) and "return_window_days" not in body else {}
    with pytest.raises(InvalidInput) as caught:
        policies.edit(
            currency="TWD",
            version=2,
            body={**sound, **body} if isinstance(body, dict) else body,
            actor=cast.staff("supervisor"),
        )
    assert caught.value.field == field
    assert RefundPolicy.objects.values().get(currency="TWD", version=2) == before
    assert told() == ["policy.drafted"]


def test_in_taiwan_nobody_has_less_than_the_laws_seven_days_to_return_goods() -> None:
    assert drafted(return_window_days=7).return_window_days == 7
    with translation.override("en"), pytest.raises(InvalidInput) as caught:
        drafted(return_window_days=6)
    assert caught.value.field == "return_window_days"
    assert "7 days" in caught.value.message
    assert "Consumer Protection Act" in caught.value.hint
    assert find("TWD", 2).return_window_days == 7  # type: ignore[union-attr]


def test_what_was_drafted_with_fewer_days_is_not_published() -> None:
    draft = drafted(return_fee=0)
    RefundPolicy.objects.filter(pk=draft.pk).update(return_window_days=6)
    assert drafted(note="先存起來").note == "先存起來"
    with pytest.raises(InvalidInput) as caught:
        published(draft)
    assert (caught.value.field, find("TWD", 2).state) == ("return_window_days", PolicyState.DRAFT)  # type: ignore[union-attr]


def test_a_draft_made_from_an_older_version_with_fewer_days_begins_with_the_laws() -> None:
    published_long_ago(return_window_days=3, return_fee=90)
    draft, _ = policies.draft(currency="TWD", actor=cast.staff("supervisor"))
    assert (draft.return_window_days, draft.return_fee) == (7, 90)


@pytest.mark.parametrize("currency", ["USD", "JPY"])
def test_the_days_of_other_currencies_are_the_shops_to_choose(currency: str) -> None:
    actor = cast.staff("supervisor")
    draft, _ = policies.draft(currency=currency, actor=actor)
    edited = policies.edit(currency=currency, version=draft.version, body={"return_window_days": 1}, actor=actor)
    assert published(edited).return_window_days == 1


def test_publishing_supersedes_the_version_before_and_tells_both() -> None:
    draft = drafted(return_fee=0, note="免退貨手續費")
    moment = soon()
    policy = published(draft, moment, note="年度活動")
    assert (policy.state, policy.in_force_from) == (PolicyState.PUBLISHED, moment)
    assert policy.published_by == cast.staff_user("marketing")
    assert find("TWD", 1).state == PolicyState.SUPERSEDED  # type: ignore[union-attr]
    assert find("USD", 1).state == PolicyState.PUBLISHED  # type: ignore[union-attr]
    assert told() == ["policy.drafted", "policy.edited", "policy.published", "policy.superseded"]
    event = AuditEvent.objects.get(action="policy.published")
    assert (event.chosen, event.outcome["rules"]["return_fee"]) == ({"note": "年度活動"}, 0)


def test_nobody_publishes_what_they_have_written_on() -> None:
    drafted(return_fee=60)
    refusal = refused("own_draft", lambda: published(drafted(), actor=cast.staff("supervisor")))
    assert refusal.status == 403
    policies.edit(currency="TWD", version=2, body={"return_fee": 50}, actor=cast.staff("marketing"))
    for author in ("marketing", "supervisor"):
        refused("own_draft", lambda author=author: published(drafted(), actor=cast.staff(author)))
    assert published(drafted(), actor=cast.staff("admin")).return_fee == 50


def test_the_author_of_the_rules_does_not_publish_them_after_somebody_else_has_mended_a_word() -> None:
    draft = drafted(return_fee=5000, approval_above=10_000_000)
    policies.edit(currency="TWD", version=2, body={"note": "錯字"}, actor=cast.staff("marketing"))
    refused("own_draft", lambda: published(draft, actor=cast.staff("supervisor")))


def test_who_began_a_draft_is_one_of_its_authors_although_they_changed_nothing() -> None:
    policies.draft(currency="TWD", actor=cast.staff("marketing"))
    draft = drafted(return_fee=60)
    refused("own_draft", lambda: published(draft))
    policies.discard(currency="TWD", version=2, actor=cast.staff("marketing"))
    assert published(drafted(return_fee=60)).return_fee == 60


def test_what_is_published_is_what_the_publisher_has_read() -> None:
    seen = seen_of(drafted(return_fee=60))
    draft = drafted(return_fee=6000)
    refused("draft_changed", lambda: published(draft, seen=seen))
    assert published(draft, seen=seen_of(draft)).return_fee == 6000


def test_two_editors_do_not_overwrite_each_other() -> None:
    seen = seen_of(drafted())
    drafted(return_window_days=10)
    body = {"return_fee": 10, "seen": seen}
    refused("draft_changed", lambda: policies.edit(currency="TWD", version=2, body=body, actor=cast.staff("marketing")))
    assert (drafted().return_fee, drafted().return_window_days) == (80, 10)


@pytest.mark.parametrize(
    "ahead", [timedelta(days=-1), timedelta(0), policies.PUBLISH_LEAD - timedelta(seconds=2), timedelta(days=400)]
)
def test_a_version_begins_a_little_ahead_and_not_in_a_mistyped_year(ahead: timedelta) -> None:
    draft = drafted()
    refusal = refused("invalid_argument", lambda: published(draft, timezone.now() + ahead))
    assert refusal.field == "in_force_from"
    assert drafted().state == PolicyState.DRAFT


def test_each_version_begins_after_the_one_before() -> None:
    moment = timezone.now() + timedelta(days=2)
    published(drafted(), moment)
    draft = drafted()
    for early in (moment, moment - timedelta(days=1)):
        assert refused("invalid_argument", lambda early=early: published(draft, early)).field == "in_force_from"
    assert published(draft, moment + timedelta(seconds=1)).version == 3


def test_what_is_published_is_neither_edited_nor_published_again_nor_thrown_away() -> None:
    policy = published(drafted())
    boss = cast.staff("supervisor")
    refused("wrong_state", lambda: policies.edit(currency="TWD", version=2, body={"return_fee": 1}, actor=boss))
    refused("wrong_state", lambda: policies.discard(currency="TWD", version=2, actor=boss))
    refused("wrong_state", lambda: published(policy))
    assert RefundPolicy.objects.filter(currency="TWD").count() == 2


def test_a_draft_can_be_thrown_away_and_the_history_keeps_what_it_said() -> None:
    drafted(return_fee=33)
    policies.discard(currency="TWD", version=2, actor=cast.staff("marketing"))
    assert find("TWD", 2) is None
    assert AuditEvent.objects.get(action="policy.discarded").outcome["rules"]["return_fee"] == 33
    assert policies.draft(currency="TWD", actor=cast.staff("supervisor"))[0].return_fee == 80


def test_a_version_that_does_not_exist_is_not_found() -> None:
    boss = cast.staff("supervisor")
    for currency, version in (("TWD", 7), ("JPY", 1), ("TWD", 2**40)):
        with pytest.raises(NotFound):
            policies.edit(currency=currency, version=version, body={}, actor=boss)
        with pytest.raises(NotFound):
            policies.discard(currency=currency, version=version, actor=boss)


def outsiders() -> list[Actor]:
    """Whoever may not touch the rules, whatever they say they are."""
    staff = [cast.staff(role) for role in ("staff", "warehouse", "auditor")]
    return [*staff, cast.shopper(), agent_actor(cast.customer()), system_actor("sweeper")]


def test_only_people_with_the_permission_write_and_publish() -> None:
    draft = drafted()
    for actor in outsiders():
        for act in (
            lambda actor=actor: policies.draft(currency="TWD", actor=actor),
            lambda actor=actor: policies.edit(currency="TWD", version=2, body={"return_fee": 1}, actor=actor),
            lambda actor=actor: policies.discard(currency="TWD", version=2, actor=actor),
            lambda actor=actor: published(draft, actor=actor),
        ):
            with pytest.raises(NotAllowed):
                act()
    assert told() == ["policy.drafted"]


def test_orders_keep_the_version_in_force_when_they_were_placed() -> None:
    order = cast.order_5531()
    published(drafted(return_fee=0, quote_minutes=60), timezone.now() + timedelta(minutes=6))
    quote = ask(order, (2, 1, "other"))
    assert (quote.policy.version, policy_for(order).version) == (1, 1)
    later = cast.place("7001")
    later.placed_at = timezone.now() + timedelta(hours=1)
    assert policy_for(later).version == 2


def test_how_each_version_stands_follows_from_the_moment() -> None:
    moment = timezone.now() + timedelta(days=3)
    published(drafted(), moment)
    drafted(return_fee=5)
    rows = list(versions(currency="TWD"))

    def phases(now: datetime) -> list[str]:
        return [standing.phase for standing in standings(rows, now=now)]

    assert phases(timezone.now()) == ["draft", "coming", "in_force"]
    assert phases(moment) == ["draft", "in_force", "past"]
    assert standings(rows, now=moment)[2].until == moment
