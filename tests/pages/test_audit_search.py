"""The history answers who gave back what and why: one question, one search, sentences in the order of time."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from agent import people
from backoffice.screens.audit_facts import sentence_of
from backoffice.screens.audit_filters import QUIET
from backoffice.screens.audit_sentences import BAD, GOOD, SENTENCES, WAITS
from orders.actors import customer_actor
from orders.audit import record
from orders.models import AuditEvent, Order
from orders.tests import cast
from orders.words import known_actions
from refunds import approvals, compensation
from refunds.models import Approval, Refund
from refunds.outcome import move_refund
from refunds.redeem import redeem
from refunds.states import RefundState
from refunds.tests.ask import ask
from tests.pages.visiting import said, signed_in, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    """A colleague has given the case back to the customer of 5531, with a reason."""
    order = cast.order_5531()
    quote = ask(order, (2, 1, "late_delivery"), actor=cast.staff())
    refund = redeem(quote_id=quote.pk, actor=cast.staff(), note="顧客不想再等").refund
    assert refund
    move_refund(refund=refund, to=RefundState.SUCCEEDED, actor=cast.SHOP)
    cast.place("9999", lines=[("毛巾", 300, 1)], who="mei")
    return order


def asked(question: str = "", *, name: str = "auditor", language: str = "zh-TW", **more: str) -> str:
    page = signed_in(name, language=language).get("/staff/audit/", {"q": question, **more})
    assert page.status_code == 200
    return unescape(text_of(page))


def sentences(page: str) -> list[str]:
    return re.findall(r'<p class="story-sentence">(.*?)</p>', page)


def test_who_gave_back_what_and_why_is_one_search_for_the_refund(order: Order) -> None:
    page = asked(Refund.objects.get().pk, language="en")
    assert sentences(page) == [
        "staff asked what giving back 耳機殼 × 1 (does not want to wait) comes to: NT$230.",
        "staff confirmed the quote of NT$230.",
        "The refund of NT$230 is on its way to card ending in 4242, set off by staff.",
        "NT$230 went back to the customer.",
    ]
    assert "顧客不想再等" in page
    assert "How NT$230 comes about" in page
    assert "−NT$150" in page
    assert "by version 1 of the rules" in page


@pytest.mark.parametrize("question", ["5531", "#5531", "TN-s1", "ming@example.com"])
def test_the_story_of_an_order_is_found_by_what_one_knows_of_it(order: Order, question: str) -> None:
    page = asked(question, language="en")
    assert "NT$230 went back to the customer." in page
    assert "9999" not in page


def test_a_story_begins_at_its_beginning_and_the_news_with_the_newest(order: Order) -> None:
    story = sentences(asked("5531", language="en"))
    assert story[0] == "test shop sent the order: 藍牙耳機 × 1, 耳機殼 × 1, NT$1,430."
    assert story[-1] == "NT$230 went back to the customer."
    news = asked(language="en")
    assert news.index("Order 9999") < news.index("Order 5531")


def test_a_colleague_is_found_by_name_with_everything_that_they_did(order: Order) -> None:
    user = cast.staff_user()
    user.first_name = "陳怡君"
    user.save()
    page = asked("怡君", language="en")
    assert "colleague 陳怡君" in page
    assert "staff confirmed the quote of NT$230." in page
    assert "test shop sent the order" not in page


@pytest.mark.parametrize("question", ["陳怡君", "怡君 陳", "怡君陳"])
def test_a_colleague_is_found_by_the_whole_name_in_either_order(order: Order, question: str) -> None:
    User.objects.filter(pk=cast.staff_user().pk).update(first_name="怡君", last_name="陳")
    assert "staff confirmed the quote of NT$230." in asked(question, language="en")


def test_what_was_done_under_a_name_is_found_after_the_account_has_another(order: Order) -> None:
    User.objects.filter(pk=cast.staff_user().pk).update(username="s.chen", first_name="Sandra")
    page = asked("staff", language="en")
    assert "what “staff” has done" in page
    assert "staff confirmed the quote of NT$230." in page
    assert "test shop sent the order" not in page


def test_the_records_lead_to_the_one_customer_and_not_to_another_of_the_same_name(order: Order) -> None:
    cast.place("5602", who="ming2")
    for who, own, other in (("ming", "5531", "5602"), ("ming2", "5602", "5531")):
        auditor = signed_in("auditor", language="en")
        record = text_of(auditor.get(f"/admin/orders/customer/{cast.customer(who).pk}/change/"))
        (story,) = re.findall(r'href="(/staff/audit/[^"]+)"', record)
        page = unescape(text_of(auditor.get(unescape(story))))
        assert f"customer 王小明 ({cast.customer(who).external_id})" in page
        assert f"Order {own}" in page
        assert f"Order {other}" not in page
    assert "Nothing" in asked("customer:nobody", language="en")


def test_a_customer_is_found_with_all_their_orders(order: Order) -> None:
    cast.place("5533", who="ming2")
    page = asked("王小明", language="en")
    assert "Order 5531" in page
    assert "Order 5533" in page
    assert "Order 9999" not in page


def test_a_compensation_is_told_with_who_asked_who_decided_and_why(order: Order) -> None:
    compensation.propose(order=order, amount=50, reason="包裝破損", actor=cast.staff(), request_ref="t")
    approval = Approval.objects.get()
    approvals.approve(approval_id=approval.pk, actor=cast.staff("supervisor"), reason="照片清楚")
    page = asked(approval.pk, language="en")
    assert sentences(page)[:2] == [
        "staff asked for a second person: compensation, NT$50.",
        "supervisor approved it: compensation, NT$50.",
    ]
    assert "包裝破損" in page
    assert "照片清楚" in page
    assert "asked what giving back" not in page


def test_what_has_no_such_number_or_name_says_what_to_ask_by(order: Order) -> None:
    for question in ("rf_000000000000", "nobody of this name", "ap_1"):
        assert "沒有符合的名稱或編號" in asked(question)


def test_filters_narrow_by_kind_by_who_and_by_day(order: Order) -> None:
    money = sentences(asked("5531", family="money", language="en"))
    assert len(money) == 4
    assert len(sentences(asked(who="staff", language="en"))) == 3
    assert len(sentences(asked(who=str(cast.staff_user().pk), language="en"))) == 3
    assert sentences(asked(who="customer", language="en")) == []
    assert sentences(asked(to="2020-01-01")) == []
    assert sentences(asked(**{"from": "2020-01-01"})) != []
    assert sentences(asked(family="no-such", who="x", **{"from": "yesterday"})) != []


def test_small_steps_of_the_machine_are_shown_on_demand(order: Order) -> None:
    said(order, "耳機沒聲音")
    assert "turn queued" not in asked("5531", language="en")
    assert "turn queued" in asked("5531", language="en", all="1")


def test_quotes_that_staff_only_looked_at_are_shown_on_demand_and_by_their_number(order: Order) -> None:
    looked_at = ask(order, (1, 1, "changed_mind"), actor=cast.staff())
    words = "staff asked what giving back 藍牙耳機 × 1"
    assert words not in asked("5531", language="en")
    assert words not in asked(family="money", language="en")
    assert words in asked("5531", language="en", all="1")
    assert words in asked(looked_at.pk, language="en")


def test_words_of_people_are_told_with_links_to_where_they_were_said(order: Order) -> None:
    conversation = said(order, "耳機<b>沒聲音")
    people.ask_for_person(
        conversation=conversation, actor=customer_actor(order.customer), reason="complaint", summary="不滿意"
    )
    raw = text_of(signed_in("supervisor", language="en").get("/staff/audit/", {"q": "5531"}))
    assert "耳機&lt;b&gt;沒聲音" in raw
    assert f'href="/staff/conversations/{conversation.pk}/"' in raw
    assert "The customer complains." in raw
    records = asked("5531", language="en")
    assert f"/admin/agent/conversation/{conversation.pk}/change/" in records
    assert "/staff/conversations/" not in records.replace("/turns/", "")


def many(count: int, *, order: Order | None = None) -> None:
    for index in range(count):
        record(
            action="message.said",
            actor=cast.SHOP,
            subject_type="conversation",
            subject_id="1",
            order=order,
            chosen={"text": f"第 {index:03} 句"},
        )


def test_a_long_story_has_pages_that_leave_nothing_out_and_tell_nothing_twice(order: Order) -> None:
    many(120, order=order)
    browser = signed_in("auditor", language="en")
    path, seen = "/staff/audit/?q=5531", []
    while path:
        page = unescape(text_of(browser.get(path)))
        seen += re.findall(r"第 (\d+) 句", page)
        found = re.search(r'href="(\?[^"]*)" rel="next"', page)
        path = f"/staff/audit/{found[1]}" if found else ""
    assert seen == [f"{index:03}" for index in range(120)]
    back = re.search(r'href="(\?[^"]*)" rel="prev"', page)
    assert back
    before = re.findall(r"第 (\d+) 句", unescape(text_of(browser.get(f"/staff/audit/{back[1]}"))))
    assert len(before) == 50
    assert int(before[-1]) + 1 == int(re.findall(r"第 (\d+) 句", page)[0])


def test_the_page_asks_as_often_for_a_full_page_of_many_orders_as_for_a_few_events(order: Order) -> None:
    browser = signed_in("auditor")
    for question in ("", "5531", "王小明"):
        assert more_costs_the_same(browser, question), question


def more_costs_the_same(browser: Client, question: str) -> bool:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert browser.get("/staff/audit/", {"q": question}).status_code == 200
        return len(captured)

    browser.get("/staff/audit/", {"q": question})
    few = queries()
    for each in Order.objects.all():
        many(8, order=each)
    return queries() == few


def test_an_auditor_begins_here_and_a_supervisor_at_the_inbox() -> None:
    assert signed_in("auditor").get("/")["Location"] == "/staff/audit/"
    assert signed_in("supervisor").get("/")["Location"] == "/staff/"


# What tells of making orders up, and the machine's small steps, are told by their names.
WITHOUT = {"demo.dates_moved", "shop.seeded"} | (QUIET - {"attempt.sending"})


def test_every_action_has_a_sentence_or_is_known_to_have_none() -> None:
    assert known_actions() - set(SENTENCES) == WITHOUT
    assert set(SENTENCES) >= (GOOD | BAD | WAITS)


def test_every_sentence_can_be_put_together_in_both_languages() -> None:
    for language in ("en", "zh-hant"):
        with translation.override(language):
            for action in sorted(known_actions()):
                event = AuditEvent(action=action, actor_kind="staff", actor_name="怡君", subject_type="order")
                assert "%(" not in sentence_of(event)
