"""The rules on the staff's pages: read in words, drafted, tried on examples, compared, published by another."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.formats import date_format

from orders.tests import cast
from refunds import policies
from refunds.models import RefundPolicy
from refunds.policy_selectors import seen_of
from refunds.tests.old_rules import published_long_ago
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db
LIST, DRAFT = "/staff/policies/", "/staff/policies/TWD/2/"


def visitor(name: str) -> Client:
    return signed_in(name, language="en")


def begun(by: str = "supervisor", **body: Any) -> RefundPolicy:
    policy, _ = policies.draft(currency="TWD", actor=cast.staff(by))
    return policies.edit(currency="TWD", version=policy.version, body=body, actor=cast.staff(by))


def form(**changes: Any) -> dict[str, Any]:
    """The form of the draft as a browser sends it, untouched but for `changes`."""
    return {
        "return_fee": "80",
        "return_fee_enabled": "1",
        "return_window_days": "7",
        "lost_after_days": "14",
        "quote_minutes": "15",
        "excluded_categories": "",
        "shop_fault": ["defective", "wrong_item", "shop_cancelled"],
        "tender_order": ["card", "*", "store_credit", "", "", ""],
        "approval_above": "20,000",
        "compensation_cap": "300",
        "note": "",
        **changes,
    }


def in_an_hour() -> str:
    return timezone.localtime(timezone.now() + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")


def test_versions_are_listed_per_currency_with_how_they_stand() -> None:
    begun(note="免退貨手續費")
    page = text_of(visitor("marketing").get(LIST))
    assert "Version 1" in page
    assert "in force" in page
    assert "免退貨手續費" in page
    assert 'href="/staff/policies/TWD/2/edit/"' in page
    assert "Version 2" not in text_of(visitor("marketing").get(f"{LIST}?currency=USD"))
    assert visitor("marketing").get(f"{LIST}?currency=T%00D").status_code == 200


def test_only_the_rules_that_came_with_the_shop_are_from_the_beginning() -> None:
    for currency in ("TWD", "USD", "CNY"):
        assert "from the beginning" in text_of(visitor("staff").get(f"/staff/policies/{currency}/1/"))
    policies.draft(currency="JPY", actor=cast.staff("supervisor"))
    moment = timezone.now() + timedelta(days=10)
    policies.publish(currency="JPY", version=1, in_force_from=moment, actor=cast.staff("marketing"))
    for page in (LIST, "/staff/policies/JPY/1/"):
        said = text_of(visitor("staff").get(f"{page}?currency=JPY"))
        assert "from the beginning" not in said
        assert date_format(timezone.localtime(moment), "DATETIME_FORMAT") in said


def test_a_version_is_read_in_plain_words() -> None:
    page = text_of(visitor("staff").get("/staff/policies/TWD/1/"))
    for said in (
        "NT$80 for the second and every further return of an order.",
        "Until the end of 7 days after the day of receipt.",
        "card, then all others, then store credit",
        "Decides about every refund above NT$20,000.",
        "At most NT$300 per order",
        "Everything can be returned.",
    ):
        assert said in page
    assert "publish/" not in page
    assert "edit/" not in page


def test_examples_are_worked_out_by_the_rules_of_the_version() -> None:
    page = text_of(visitor("marketing").get("/staff/policies/TWD/1/"))
    for amount in ("NT$790", "NT$330", "NT$590", "NT$500 to card.", "NT$100 to store credit."):
        assert amount in page
    begun(return_fee_enabled=False, tender_order=["store_credit", "*"])
    page = text_of(visitor("marketing").get(DRAFT))
    assert "Under version 1: NT$330" in page
    assert "NT$410" in page
    assert "NT$300 to store credit." in page


def test_a_draft_is_begun_from_the_list_and_begun_once() -> None:
    marketing = visitor("marketing")
    answer = marketing.post(f"{LIST}draft/", {"currency": "TWD"})
    assert answer["Location"] == f"{DRAFT}edit/"
    assert visitor("supervisor").post(f"{LIST}draft/", {"currency": "TWD"})["Location"] == f"{DRAFT}edit/"
    assert RefundPolicy.objects.filter(currency="TWD").count() == 2
    refused = marketing.post(f"{LIST}draft/", {"currency": "ZZZ"}, follow=True)
    assert 'class="notice tone-bad"' in text_of(refused)


def test_the_form_shows_the_draft_and_saves_what_is_typed() -> None:
    begun()
    marketing = visitor("marketing")
    page = text_of(marketing.get(f"{DRAFT}edit/"))
    assert 'name="return_fee" value="80"' in page
    typed = form(
        return_fee="1,060", excluded_categories="內衣\n食品、 生鮮", shop_fault=["wrong_item"], note="改\r\n版"
    )
    del typed["return_fee_enabled"]
    answer = marketing.post(f"{DRAFT}edit/", typed, follow=True)
    assert "The draft is saved" in text_of(answer)
    draft = RefundPolicy.objects.get(currency="TWD", version=2)
    assert (draft.return_fee, draft.return_fee_enabled, draft.note) == (1060, False, "改\n版")
    assert draft.excluded_categories == ["內衣", "食品", "生鮮"]
    assert draft.shop_fault_reasons == ["wrong_item", "lost"]
    assert draft.edited_by == cast.staff_user("marketing")


def test_amounts_are_typed_as_people_write_them_in_that_currency() -> None:
    policies.draft(currency="USD", actor=cast.staff("supervisor"))
    marketing = visitor("marketing")
    assert 'name="return_fee" value="2.50"' in text_of(marketing.get("/staff/policies/USD/2/edit/"))
    marketing.post("/staff/policies/USD/2/edit/", form(return_fee="3.05"))
    assert RefundPolicy.objects.get(currency="USD", version=2).return_fee == 305


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"return_fee": "much"}, "return_fee"),
        ({"return_fee": "-1"}, "return_fee"),
        ({"return_fee": "1.5"}, "return_fee"),
        ({"return_window_days": "0"}, "return_window_days"),
        ({"return_window_days": "٧"}, "return_window_days"),
        ({"lost_after_days": "400"}, "lost_after_days"),
        ({"quote_minutes": ""}, "quote_minutes"),
        ({"excluded_categories": "a\na"}, "excluded_categories"),
        ({"excluded_categories": "Food\nfood"}, "excluded_categories"),
        ({"tender_order": ["card", "card", "*"]}, "tender_order"),
        ({"tender_order": ["card"]}, "tender_order"),
        ({"compensation_cap": "99999999999999"}, "compensation_cap"),
        ({"note": "x" * 1001}, "note"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_everything_typed_is_kept(
    changes: dict[str, Any], field: str
) -> None:
    begun()
    before = RefundPolicy.objects.values().get(currency="TWD", version=2)
    answer = visitor("marketing").post(f"{DRAFT}edit/", form(approval_above="12345", **changes))
    page = text_of(answer)
    assert answer.status_code == 400
    assert 'value="12345"' in page
    assert page.count('class="field-error"') == 1
    label = page.index('class="field-error"')
    assert field in page[max(label - 2500, 0) : label]
    assert RefundPolicy.objects.values().get(currency="TWD", version=2) == before


def test_two_people_who_edit_at_once_are_told_and_can_save_knowingly() -> None:
    begun()
    marketing = visitor("marketing")
    seen = _seen_in(text_of(marketing.get(f"{DRAFT}edit/")))
    begun(return_fee=70)
    answer = marketing.post(f"{DRAFT}edit/", form(return_fee="90", seen=seen))
    page = text_of(answer)
    assert answer.status_code == 409
    assert "Somebody has changed this draft since you opened it" in page
    assert 'name="return_fee" value="90"' in page
    marketing.post(f"{DRAFT}edit/", form(return_fee="90", seen=_seen_in(page)))
    assert RefundPolicy.objects.get(currency="TWD", version=2).return_fee == 90


def _seen_in(page: str) -> str:
    return page.split('name="seen" value="')[1].split('"')[0]


def test_the_examples_follow_what_is_typed_and_nothing_is_saved_by_it() -> None:
    begun()
    marketing = visitor("marketing")
    answer = text_of(marketing.post(f"{DRAFT}examples/", form(return_fee="200")))
    assert "NT$210" in answer
    assert "Under version 1: NT$330" in answer
    assert "appear once everything can be read" in text_of(marketing.post(f"{DRAFT}examples/", form(return_fee="")))
    without_script = text_of(marketing.post(f"{DRAFT}edit/", form(return_fee="200", **{"try": "1"})))
    assert "NT$210" in without_script
    assert RefundPolicy.objects.get(currency="TWD", version=2).return_fee == 80


def test_two_versions_are_compared_rule_by_rule_and_example_by_example() -> None:
    begun(return_fee=60, excluded_categories=["食品"])
    page = text_of(visitor("auditor").get(f"{DRAFT}compare/?with=1"))
    assert page.count('class="is-changed"') == 3  # the fee, the categories, and the example with a fee
    assert "<ins>NT$60 for the second and every further return of an order.</ins>" in page
    assert text_of(visitor("auditor").get("/staff/policies/TWD/1/compare/?with=2")).count('class="is-changed"') == 3
    assert visitor("auditor").get("/staff/policies/USD/1/compare/?with=x")["Location"] == "/staff/policies/USD/1/"


def test_a_draft_is_published_by_another_with_a_date_in_the_shops_time() -> None:
    begun(return_fee=60)
    own = text_of(visitor("supervisor").get(DRAFT))
    assert "somebody else publishes it" in own
    assert f'action="{DRAFT}publish/"' not in own
    marketing = visitor("marketing")
    moment, seen = in_an_hour(), _seen_in(text_of(marketing.get(DRAFT)))
    answer = marketing.post(f"{DRAFT}publish/", {"in_force_from": moment, "note": "週年慶", "seen": seen}, follow=True)
    assert "Version 2 is published." in text_of(answer)
    assert "published, to come" in text_of(answer)
    policy = RefundPolicy.objects.get(currency="TWD", version=2)
    assert timezone.localtime(policy.in_force_from).strftime("%Y-%m-%dT%H:%M") == moment
    page = text_of(visitor("marketing").get(LIST))
    assert "until" in page


@pytest.mark.parametrize("moment", ["", "soon", "2001-01-01T00:00", "9999-12-31T23:59", "0001-01-01T00:00"])
def test_a_date_that_does_not_do_is_refused_and_kept(moment: str) -> None:
    begun()
    answer = visitor("marketing").post(f"{DRAFT}publish/", {"in_force_from": moment, "note": "週年慶"})
    page = text_of(answer)
    assert answer.status_code == 400
    assert 'role="alert"' in page
    assert f'value="{moment}"' in page
    assert 'value="週年慶"' in page
    assert RefundPolicy.objects.get(currency="TWD", version=2).state == "draft"


def test_forged_presses_are_refused_by_the_services_too() -> None:
    begun(by="marketing")
    answer = visitor("marketing").post(f"{DRAFT}publish/", {"in_force_from": in_an_hour()})
    assert answer.status_code == 403
    assert "Whoever has written on a draft cannot also publish it." in text_of(answer)
    for name in ("staff", "auditor", "warehouse", "ming"):
        browser = visitor(name)
        for path in (f"{LIST}draft/", f"{DRAFT}edit/", f"{DRAFT}publish/", f"{DRAFT}discard/", f"{DRAFT}examples/"):
            assert browser.post(path, {"currency": "TWD", "in_force_from": in_an_hour()}).status_code == 403
    assert RefundPolicy.objects.get(currency="TWD", version=2).state == "draft"


def test_a_draft_is_thrown_away() -> None:
    begun()
    marketing = visitor("marketing")
    assert f'data-dialog href="{DRAFT}discard/"' in text_of(marketing.get(DRAFT))
    assert f'action="{DRAFT}discard/"' in text_of(marketing.get(f"{DRAFT}discard/"))
    assert marketing.get(DRAFT).status_code == 200, "looking at the question throws nothing away"
    answer = marketing.post(f"{DRAFT}discard/", follow=True)
    assert "is thrown away" in text_of(answer)
    assert answer.request["PATH_INFO"] == LIST
    assert marketing.get(DRAFT).status_code == 404


def test_a_draft_that_somebody_has_written_on_meanwhile_is_not_thrown_away() -> None:
    policy = begun()
    marketing = visitor("marketing")
    seen = seen_of(policy)
    assert f'name="seen" value="{seen}"' in text_of(marketing.get(f"{DRAFT}discard/"))
    policies.edit(currency="TWD", version=policy.version, body={"return_fee": 90}, actor=cast.staff("supervisor"))
    answer = marketing.post(f"{DRAFT}discard/", {"seen": seen})
    assert answer.status_code == 409
    assert RefundPolicy.objects.filter(currency="TWD", version=policy.version).exists()
    marketing.post(f"{DRAFT}discard/", {"seen": seen_of(RefundPolicy.objects.get(pk=policy.pk))})
    assert not RefundPolicy.objects.filter(currency="TWD", version=policy.version).exists()


def published(days: int = 300) -> RefundPolicy:
    moment = timezone.now() + timedelta(days=days)
    return policies.publish(
        currency="TWD", version=begun().version, in_force_from=moment, actor=cast.staff("marketing")
    )


def test_a_version_to_come_is_withdrawn_with_a_reason_and_says_so() -> None:
    published()
    supervisor = visitor("supervisor")
    assert f'data-dialog href="{DRAFT}withdraw/"' in text_of(supervisor.get(DRAFT))
    assert f'action="{DRAFT}withdraw/"' in text_of(supervisor.get(f"{DRAFT}withdraw/"))
    empty = supervisor.post(f"{DRAFT}withdraw/", {"reason": " "})
    assert (empty.status_code, RefundPolicy.objects.get(version=2).state) == (400, "published")
    assert 'aria-invalid="true"' in text_of(empty)
    assert supervisor.post(f"{DRAFT}withdraw/", {"reason": "日期打錯"})["Location"] == DRAFT
    page = text_of(supervisor.get(DRAFT))
    for said in ("Version 2 is withdrawn.", "日期打錯", "withdrawn by", "never; it would have been from"):
        assert said in page
    assert "withdraw/" not in page
    assert "<textarea" not in text_of(supervisor.get(f"{DRAFT}withdraw/")), "what is over has no form"
    versions = text_of(supervisor.get(LIST))
    assert "withdrawn" in versions
    assert "until" not in versions


def test_only_what_is_to_come_offers_to_be_withdrawn_and_only_to_who_may_publish() -> None:
    published()
    assert "withdraw/" not in text_of(visitor("staff").get(DRAFT))
    for press in (visitor("staff").get, visitor("staff").post):
        assert press(f"{DRAFT}withdraw/", {"reason": "x"}).status_code == 403
    supervisor = visitor("supervisor")
    assert "withdraw/" not in text_of(supervisor.get("/staff/policies/TWD/1/"))
    page = text_of(supervisor.post("/staff/policies/TWD/1/withdraw/", {"reason": "x"}))
    assert "Only the newest published version can be withdrawn" in page


def test_a_draft_follows_the_version_before_what_was_withdrawn() -> None:
    policies.withdraw(currency="TWD", version=published().version, reason="x", actor=cast.staff("marketing"))
    begun()
    rows = text_of(visitor("supervisor").get("/staff/policies/TWD/3/"))
    assert '<option value="1" selected>' in rows


def test_what_is_published_has_no_form() -> None:
    marketing = visitor("marketing")
    assert marketing.get("/staff/policies/TWD/1/edit/")["Location"] == "/staff/policies/TWD/1/"
    page = text_of(marketing.post("/staff/policies/TWD/1/publish/", {"in_force_from": in_an_hour()}))
    assert "is no draft any more" in page
    for path in ("TWD/9/", "ZZZ/1/", "T%00D/1/", "TWD/9/edit/", "TWD/9/compare/", "TWD/99999999999999999999/"):
        assert marketing.get(LIST + path).status_code == 404


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("marketing", 200),
        ("supervisor", 200),
        ("staff", 200),
        ("auditor", 200),
        ("admin", 200),
        ("warehouse", 403),
        ("ming", 403),
    ],
)
def test_the_rules_open_for_whoever_may_see_them(name: str, expected: int) -> None:
    begun()
    browser = visitor(name)
    for path in (LIST, "/staff/policies/TWD/1/", DRAFT, f"{DRAFT}compare/"):
        assert browser.get(path).status_code == expected


def test_marketing_lands_on_the_rules_and_sees_no_other_work() -> None:
    browser = visitor("marketing")
    assert browser.get("/")["Location"] == LIST
    page = text_of(browser.get(LIST))
    assert 'href="/staff/orders/"' not in page
    assert browser.get("/staff/orders/").status_code == 403


def test_the_pages_keep_scripts_and_styles_out() -> None:
    begun()
    for path in (LIST, DRAFT, f"{DRAFT}edit/", f"{DRAFT}compare/"):
        page = text_of(visitor("marketing").get(path))
        assert " style=" not in page
        assert "<script>" not in page


def test_the_list_asks_as_often_for_many_versions_as_for_few() -> None:
    browser = visitor("supervisor")
    browser.get(LIST)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            browser.get(LIST)
        return len(captured)

    begun()
    few = queries()
    for hours in range(1, 6):
        draft = begun()
        moment = timezone.now() + timedelta(hours=hours)
        policies.publish(currency="TWD", version=draft.version, in_force_from=moment, actor=cast.staff("marketing"))
    begun()
    assert queries() == few


@pytest.mark.parametrize(("minutes", "offered"), [(4, False), (30, True)])
def test_a_version_is_offered_for_withdrawal_only_as_long_as_it_can_be_withdrawn(minutes: int, offered: bool) -> None:
    published_long_ago(in_force_from=timezone.now() + timedelta(minutes=minutes))
    page = text_of(signed_in("supervisor").get("/staff/policies/TWD/2/"))
    assert ("withdraw-title" in page) is offered
