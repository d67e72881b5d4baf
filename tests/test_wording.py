"""Sentences that are put together, and words that were written for programmers, in both languages."""

import logging
from datetime import UTC, datetime
from typing import Any

import pytest
from django.template import Context, Template
from django.test import Client
from django.utils import formats, translation

from backoffice.logs import RefusalsInOneLine
from orders.admin_links import subject_link
from orders.errors import InvalidInput, Refusal
from orders.prose import sentences
from orders.strict import validated
from orders.tests import cast
from orders.tests.factories import line_body, shipment_body
from refunds import errors
from refunds.choices import ChoicesBody
from refunds.models import RefundPolicy, Return
from refunds.policy_bodies import parse_changes
from refunds.policy_present import in_words
from refunds.present import return_as_dict
from refunds.tests.ask import ask


@pytest.mark.parametrize(("language", "joined"), [("zh-hant", "甲。乙。"), ("en", "甲。 乙。")])
def test_chinese_sentences_follow_each_other_without_a_space(language: str, joined: str) -> None:
    with translation.override(language):
        assert sentences("甲。", "", "乙。") == joined


@pytest.mark.parametrize(("language", "joined"), [("zh-hant", "甲&lt;。乙。丙。"), ("en", "甲&lt;。 乙。 丙。")])
def test_and_neither_do_they_on_a_page(language: str, joined: str) -> None:
    with translation.override(language):
        page = Template("{% sentences one rest none %}").render(Context({"one": "甲<。", "rest": ["乙。", "丙。"]}))
    assert page == joined


@pytest.mark.django_db
def test_refusals_of_several_sentences_have_no_space_between_them_in_chinese() -> None:
    order = cast.place(
        "9403",
        lines=[line_body(1, "襪子", 500)],
        shipments=[shipment_body({1: 1}, state="shipped", tracking_number="T1")],
    )
    with translation.override("zh-hant"):
        with pytest.raises(Refusal) as refused:
            ask(order, (1, 1, "other"))
        several = [errors.own_decision(made_a_link=True).message, refused.value.hint]
        several += [rule.said for rule in in_words(RefundPolicy.objects.get(currency="TWD", version=1))]
    assert "T1" in several[1]
    assert not [said for said in several if "。 " in said]


@pytest.mark.django_db
@pytest.mark.parametrize(("kind", "says"), [("refund", "退貨編號"), ("exchange", "換貨編號")])
def test_what_to_write_on_the_parcel_is_called_what_it_is(kind: str, says: str) -> None:
    order = cast.place("9401", lines=[line_body(1, "襪子", 500)], shipments=[shipment_body({1: 1})])
    made = Return.objects.create(order=order, kind="exchange", request_ref="wording:1", note="破洞")
    made.kind = kind
    with translation.override("zh-hant"):
        told = return_as_dict(made)["instructions"]
    assert f"寫下{says} {made.pk}" in told
    assert "。 " not in told


@pytest.mark.parametrize(
    ("body", "never"),
    [
        ({"lines": []}, "列表"),
        ([], "字典"),
        ({"lines": ["x"]}, "str"),
        ({"lines": {}}, "dict"),
        ({"lines": None}, "null"),
        (None, "內容\n"),
    ],
)
def test_a_body_of_another_shape_is_refused_without_words_for_programmers(body: Any, never: str) -> None:
    with translation.override("zh-hant"), pytest.raises(InvalidInput) as refused:
        validated(ChoicesBody, body)
    assert never not in f"{refused.value.message}\n"
    assert refused.value.message.endswith("。")


def test_a_hint_speaks_of_a_field_only_where_one_is_named() -> None:
    with translation.override("en"):
        assert "field" in InvalidInput("amount", "No.").hint
        assert "field" not in InvalidInput("", "No.").hint


@pytest.mark.parametrize(("order", "says"), [(["card", "card", "*"], "信用卡"), (["card"], "其他")])
def test_the_order_of_payments_is_spoken_of_in_the_words_of_the_form(order: list[str], says: str) -> None:
    with translation.override("zh-hant"), pytest.raises(InvalidInput) as refused:
        parse_changes({"tender_order": order}, faults=())
    assert f"「{says}" in refused.value.message


@pytest.mark.django_db
def test_times_in_the_wrong_order_are_told_in_the_words_and_the_time_of_the_shop() -> None:
    early = {"shipped_at": "2026-11-20T09:00:00+08:00", "delivered_at": "2026-11-19T09:00:00+08:00"}
    with translation.override("zh-hant"), pytest.raises(InvalidInput) as refused:
        cast.place(
            "9402",
            lines=[line_body(1, "襪子", 500)],
            shipments=[shipment_body({1: 1}, packed_at="2026-11-18T09:00:00+08:00", **early)],
        )
    assert "2026-11-20 09:00:00" in refused.value.message
    assert "shipped_at" not in refused.value.message


def test_a_moment_at_the_end_of_an_english_sentence_leaves_it_one_full_stop() -> None:
    moment = datetime(2026, 11, 28, 9, 42, tzinfo=UTC)
    with translation.override("en"):
        for style in ("DATETIME_FORMAT", "TIME_FORMAT", "SHORT_DATETIME_FORMAT"):
            assert formats.date_format(moment, style).endswith("9:42")


@pytest.mark.parametrize(("language", "said"), [("en", "November 28"), ("zh-hant", "11月28日")])
def test_a_day_is_written_in_one_way_with_and_without_its_year(language: str, said: str) -> None:
    moment = datetime(2026, 11, 28, 9, 42, tzinfo=UTC)
    with translation.override(language):
        for style in ("MONTH_DAY_FORMAT", "DATE_FORMAT", "DATETIME_FORMAT"):
            assert said in formats.date_format(moment, style)


@pytest.mark.parametrize(
    ("address", "says"),
    [("/webhooks/stripe/", "金流商傳送通知"), ("/orders/5531/chat/retry/", "按鈕")],
)
@pytest.mark.django_db
def test_an_address_that_is_no_page_says_whose_it_is(address: str, says: str) -> None:
    browser = Client(headers={"Accept-Language": "zh-TW", "Accept": "text/html"})
    browser.force_login(cast.staff_user("supervisor"))
    answer = browser.get(address)
    assert answer.status_code == 405
    assert says in answer.content.decode()


@pytest.mark.parametrize(("status", "kept"), [(403, False), (400, False), (500, True)])
def test_only_faults_keep_their_traceback_in_the_log(status: int, kept: bool) -> None:
    error = ValueError("x")
    record = logging.LogRecord("django.request", logging.WARNING, "", 1, "said", (), (ValueError, error, None))
    record.status_code = status
    assert RefusalsInOneLine().filter(record)
    assert (record.exc_info is not None) is kept


def test_a_number_that_is_only_counted_is_told_with_what_it_counts() -> None:
    with translation.override("zh-hant"):
        assert "對話 35" in subject_link("conversation", "35")
        assert ">rf_1<" in subject_link("refund", "rf_1")
