"""Versions of the rules by API: who may read and write them, and what is answered."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from orders.tests import cast
from refunds import policies
from refunds.models import RefundPolicy
from refunds.tests.browser import post_json, signed_in

pytestmark = pytest.mark.django_db
POLICIES = "/api/v1/refund-policies/"
DRAFT = f"{POLICIES}TWD/2/"


def patch_json(client: Client, path: str, body: Any) -> Any:
    return client.patch(path, body, content_type="application/json")


def tomorrow() -> str:
    return (timezone.now() + timedelta(days=1)).isoformat()


def test_a_version_is_shown_with_everything_it_says() -> None:
    shown = signed_in("marketing").get(f"{POLICIES}TWD/1/").json()
    assert (shown["currency"], shown["version"], shown["state"], shown["return_fee"]) == ("TWD", 1, "published", 80)
    assert shown["display"] == {"return_fee": "NT$80", "approval_above": "NT$20,000", "compensation_cap": "NT$300"}
    assert shown["tender_order"] == ["card", "*", "store_credit"]
    assert {reason for reason, fault in shown["shop_fault"].items() if fault} == {
        "defective",
        "wrong_item",
        "lost",
        "shop_cancelled",
    }
    assert shown["in_force_from"] == "2000-01-01T08:00:00+08:00"


def test_a_draft_is_made_once_changed_and_published_by_another() -> None:
    marketing, supervisor = signed_in("marketing"), signed_in("supervisor")
    made = post_json(marketing, POLICIES, {"currency": "TWD"})
    again = post_json(supervisor, POLICIES, {"currency": "TWD"})
    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json() == again.json()
    assert (made.json()["version"], made.json()["in_force_from"]) == (2, None)

    body = {"return_fee": 60, "shop_fault": {"defective": False}, "seen": made.json()["seen"]}
    changed = patch_json(marketing, DRAFT, body)
    assert changed.status_code == 200
    assert (changed.json()["return_fee"], changed.json()["shop_fault"]["defective"]) == (60, False)
    assert changed.json()["shop_fault"]["wrong_item"] is True
    assert patch_json(supervisor, DRAFT, body).json()["code"] == "draft_changed"

    own = post_json(marketing, f"{DRAFT}publish/", {"in_force_from": tomorrow()})
    assert (own.status_code, own.json()["code"]) == (403, "own_draft")
    moment = tomorrow()
    done = post_json(supervisor, f"{DRAFT}publish/", {"in_force_from": moment, "seen": changed.json()["seen"]})
    assert (done.status_code, done.json()["state"]) == (200, "published")
    assert post_json(supervisor, f"{DRAFT}publish/", {"in_force_from": moment}).status_code == 409
    assert patch_json(marketing, DRAFT, {"return_fee": 1}).json()["code"] == "wrong_state"
    states = [(row["version"], row["state"]) for row in marketing.get(f"{POLICIES}?currency=TWD").json()["results"]]
    assert states == [(2, "published"), (1, "superseded")]


def test_a_version_is_in_force_until_the_day_of_the_next_one_whatever_is_published() -> None:
    marketing, supervisor = signed_in("marketing"), signed_in("supervisor")
    seen = post_json(marketing, POLICIES, {"currency": "TWD"}).json()["seen"]
    english = {"accept-language": "en"}
    post_json(supervisor, f"{DRAFT}publish/", {"in_force_from": tomorrow(), "seen": seen})
    coming, now = marketing.get(f"{POLICIES}?currency=TWD", headers=english).json()["results"]
    assert [(row["version"], row["in_force"]) for row in (coming, now)] == [(2, False), (1, True)]
    assert now["state_text"].startswith("In force; version 2 takes its place from ")
    assert coming["state_text"].startswith("Published, in force from ")
    assert marketing.get(f"{POLICIES}TWD/1/").json()["in_force"] is True


def test_a_draft_is_thrown_away_with_204() -> None:
    marketing = signed_in("marketing")
    post_json(marketing, POLICIES, {"currency": "TWD"})
    assert marketing.delete(DRAFT).status_code == 204
    assert marketing.delete(DRAFT).status_code == 404
    assert marketing.delete(f"{POLICIES}TWD/1/").status_code == 409


@pytest.mark.parametrize(
    "moment",
    [
        None,
        "",
        5,
        "2026-11-20T10:00:00",
        "1999-12-31T00:00:00Z",
        "9999-12-31T23:59:59-12:00",
        "0001-01-01T00:00:00+14:00",
        "tomorrow",
    ],
)
def test_a_moment_that_is_none_is_refused_by_name(moment: object) -> None:
    policies.draft(currency="TWD", actor=cast.staff("supervisor"))
    answer = post_json(signed_in("marketing"), f"{DRAFT}publish/", {"in_force_from": moment})
    assert (answer.status_code, answer.json()["field"]) == (400, "in_force_from")
    assert RefundPolicy.objects.get(currency="TWD", version=2).state == "draft"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("post", POLICIES, {"currency": "TWD"}),
        ("patch", DRAFT, {"return_fee": 1}),
        ("delete", DRAFT, None),
        ("post", f"{DRAFT}publish/", {"in_force_from": "2026-12-31T00:00:00+08:00"}),
    ],
)
def test_who_may_only_look_changes_nothing(method: str, path: str, body: Any) -> None:
    policies.draft(currency="TWD", actor=cast.staff("supervisor"))
    before = list(RefundPolicy.objects.values())
    for name in ("staff", "auditor", "warehouse", "ming"):
        answer = getattr(signed_in(name), method)(path, body, content_type="application/json")
        assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed"), name
    assert list(RefundPolicy.objects.values()) == before


def test_rules_are_read_by_whoever_may_see_them_and_by_nobody_else() -> None:
    for path in (POLICIES, f"{POLICIES}TWD/1/"):
        for name, expected in (("marketing", 200), ("staff", 200), ("auditor", 200), ("warehouse", 403), ("ming", 403)):
            assert signed_in(name).get(path).status_code == expected
        assert Client().get(path).status_code == 401


@pytest.mark.parametrize("path", ["TWD/7/", "JPY/1/", "ZZZ/1/", "TWD/99999999999999999999/", "T%00D/1/", "TWD/-1/"])
def test_a_version_that_does_not_exist_is_a_404_with_the_one_object(path: str) -> None:
    boss = signed_in("supervisor")
    for answer in (
        boss.get(POLICIES + path),
        patch_json(boss, POLICIES + path, {"return_fee": 1}),
        boss.delete(POLICIES + path),
        post_json(boss, f"{POLICIES}{path}publish/", {"in_force_from": tomorrow()}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("currency", ["ZZZ", "", 5, None, ["TWD"]])
def test_a_currency_that_is_none_is_refused_by_name(currency: object) -> None:
    answer = post_json(signed_in("marketing"), POLICIES, {"currency": currency})
    assert (answer.status_code, answer.json()["field"]) == (400, "currency")
    assert signed_in("marketing").get(f"{POLICIES}?currency=T%00D").status_code == 400


def test_a_list_asks_as_often_for_many_versions_as_for_few() -> None:
    client = signed_in("marketing")
    client.get(POLICIES)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(POLICIES)
        return len(captured)

    few = queries()
    for currency in ("TWD", "USD", "CNY", "JPY"):
        policies.draft(currency=currency, actor=cast.staff("supervisor"))
    assert queries() == few
