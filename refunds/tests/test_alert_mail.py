"""An alert by e-mail is read by people: a sentence in the shop's language, and the way to where it is settled."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone
from pytest_django import Settings

from orders.tests import cast
from refunds import alerts, parcels_astray, returns, tasks
from refunds.models import StaffAlert
from refunds.redeem import redeem
from refunds.states import AlertKind
from refunds.tests.ask import ask
from refunds.tests.going_back import earphones, lost_earphones, parcel_is, requested_return, returned, sent_again
from refunds.tests.paying import pending_refund

pytestmark = pytest.mark.django_db(transaction=True)
LANGUAGES = ["zh-hant", "en"]
WHEN = r"\d{4}-\d\d-\d\d \d\d:\d\d"


def overdue() -> None:
    pending_refund()
    alerts.raise_overdue(timezone.now() + timedelta(days=11))


def owed_goods() -> None:
    sent_again(lost_earphones(1), (1, 1, "lost"))
    alerts.raise_overdue(timezone.now() + timedelta(days=11))


def owed_money() -> None:
    order = earphones(3)
    first = requested_return(order, (1, 1, "changed_mind"))
    returned(order, (1, 1, "changed_mind"))
    returns.withdraw(return_id=first.pk, actor=cast.shopper())


def difference() -> None:
    facts = {"difference": "taken_to_be", "provider_refund_id": "re_1", "amount": 380, "currency": "TWD"}
    alerts.raise_alert(
        kind=AlertKind.DIFFERENCE, subject="stripe:taken_to_be:re_1", order=cast.place("7#1"), facts=facts
    )


def not_announced() -> None:
    now = timezone.now().isoformat()
    facts = {
        "provider_refund_id": "re_2",
        "amount": 380,
        "currency": "TWD",
        "at": now,
        "not_booked": "payment_has_less",
    }
    alerts.raise_alert(kind=AlertKind.NOT_ANNOUNCED, subject="stripe:re_2", order=cast.place("7802"), facts=facts)


def arrived_after_all() -> None:
    order = lost_earphones(1)
    redeem(quote_id=ask(order, (1, 1, "lost", "lost")).pk, actor=cast.shopper())
    parcel_is(order, "s1", "delivered")
    parcels_astray.raise_astray()


def not_sent_back() -> None:
    requested_return(earphones(), (1, 1, "changed_mind"))
    parcels_astray.raise_astray(timezone.now() + timedelta(days=31))


EVERY_KIND: dict[AlertKind, Callable[[], None]] = {
    AlertKind.OVERDUE: overdue,
    AlertKind.OWED_GOODS: owed_goods,
    AlertKind.OWED_MONEY: owed_money,
    AlertKind.DIFFERENCE: difference,
    AlertKind.NOT_ANNOUNCED: not_announced,
    AlertKind.ARRIVED_AFTER_ALL: arrived_after_all,
    AlertKind.NOT_SENT_BACK: not_sent_back,
}
SAID: dict[AlertKind, dict[str, str]] = {
    AlertKind.OVERDUE: {
        "en": f"The customer of order 5531 has been waiting for NT\\$230 since {WHEN}, for 11 days: that is soon later "
        r"than the law allows. It is about rf_\w+ \(being sent\)\.",
        "zh-hant": f"訂單 5531 的顧客從 {WHEN} 起等待退款 NT\\$230，已經 11 天",
    },
    AlertKind.OWED_GOODS: {
        "en": f"The customer of order 7801 has been waiting for goods since {WHEN}, for 11 days: that is late",
        "zh-hant": f"訂單 7801 的顧客從 {WHEN} 起等待商品，已經 11 天",
    },
    AlertKind.OWED_MONEY: {
        "en": r"rt_\w+ of order 7801 has come to nothing, so NT\$80 that an earlier refund kept back is due again",
        "zh-hant": r"訂單 7801 的 rt_\w+ 沒有成立，先前少退的 NT\$80",
    },
    AlertKind.DIFFERENCE: {
        "en": "Our books and those of the payment provider differ: the provider's refund is taken to be one that is",
        "zh-hant": "我方紀錄與金流商的紀錄不一致：",
    },
    AlertKind.NOT_ANNOUNCED: {
        "en": f"reports a refund of NT\\$380 on order 7802, re_2 of {WHEN}, that nobody has asked for here",
        "zh-hant": f"金流商回報訂單 7802 有一筆 NT\\$380 的退款（re_2，{WHEN}）",
    },
    AlertKind.ARRIVED_AFTER_ALL: {
        "en": f"Parcel TN-s1 of order 7801 arrived on {WHEN}, although its goods had been settled as lost",
        "zh-hant": f"訂單 7801 的包裹 TN-s1 已於 {WHEN} 送達",
    },
    AlertKind.NOT_SENT_BACK: {
        "en": rf"Return rt_\w+ of order 7801 was asked for on {WHEN}, 31 days ago, and its goods have not come",
        "zh-hant": rf"訂單 7801 的退貨 rt_\w+ 在 {WHEN} 申請，至今 31 天",
    },
}


def letter_of(kind: AlertKind, language: str, settings: Settings) -> mail.EmailMessage:
    settings.STAFF_ALERT_EMAIL, settings.LANGUAGE_CODE = "desk@example.com", language
    settings.SITE_URL = "https://desk.example.com"
    EVERY_KIND[kind]()
    tasks.mail_alert(StaffAlert.objects.get(kind=kind).pk)
    (letter,) = mail.outbox
    return letter


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", AlertKind)
def test_it_says_in_a_sentence_what_has_happened_and_where_to_see_to_it(
    kind: AlertKind, language: str, settings: Settings
) -> None:
    letter = letter_of(kind, language, settings)
    alert = StaffAlert.objects.get(kind=kind)
    assert re.search(SAID[kind][language], str(letter.body)), letter.body
    assert f"https://desk.example.com/staff/refunds/#alert-{alert.pk}" in letter.body
    assert "王小明" not in f"{letter.subject} {letter.body}"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", AlertKind)
def test_nothing_in_it_is_written_as_it_is_kept(kind: AlertKind, language: str, settings: Settings) -> None:
    """Numbers of rows and of the provider's have an underscore too, and people search by them."""
    letter = letter_of(kind, language, settings)
    text = re.sub(r"https?://\S+|\b(rf|rt|rp|re|sh)_\w+", "", str(letter.body))
    assert not re.search(r"[_{}]|%\(|T\d\d:", text), text
    sentences = [line for line in text.splitlines() if line.strip()]
    assert all(line.isascii() or "NT$" in line for line in sentences) is (language == "en")


def test_what_the_sentence_leaves_out_stands_below_it(settings: Settings) -> None:
    body = letter_of(AlertKind.NOT_ANNOUNCED, "en", settings).body
    assert "Not booked because: the payment has less left than that" in body
    assert body.count("re_2") == 1


def test_an_order_with_an_odd_number_is_linked_and_one_that_nobody_knows_is_not(settings: Settings) -> None:
    assert "https://desk.example.com/staff/orders/7%231/" in letter_of(AlertKind.DIFFERENCE, "en", settings).body
    alert = alerts.raise_alert(kind=AlertKind.DIFFERENCE, subject="stripe:not_compared:x", facts={"why": "x"})
    assert alert is not None
    tasks.mail_alert(alert.pk)
    assert "/staff/orders/" not in mail.outbox[-1].body
