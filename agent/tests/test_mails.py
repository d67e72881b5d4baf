"""A customer who has left the page is told by e-mail, once, and only what is still so."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as post
from django.utils import timezone, translation
from pytest_django import Settings

from agent import mails
from agent.models import Card, CustomerMail
from agent.states import CardState, MailState
from agent.tests.helpers import hear, talk
from agent.tests.mail_due import answer, card_for, only_mail, reachable_order, refund_of, time_passes
from backoffice.local.processes import free_port
from orders import links
from orders.models import AuditEvent, CustomerLink, Order
from orders.tests import cast
from refunds.outcome import move_refund
from refunds.states import RefundState

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    return reachable_order()


def test_whoever_has_left_reads_that_a_person_answered_and_where(order: Order, settings: Settings) -> None:
    settings.SITE_URL = "https://desk.example.com/"
    answer(order)
    assert mails.send_due() == 0, "a page that somebody looks at is given the time to say so"
    time_passes()

    assert mails.send_due() == 1
    (sent,) = post.outbox
    assert sent.to == ["ming@example.com"]
    assert "5531" in sent.subject
    assert "https://desk.example.com/orders/5531/" in sent.body
    assert "We are looking into it" not in sent.body, "what was said stays behind the sign-in"
    assert only_mail().state == MailState.SENT
    assert mails.send_due() == 0


def test_it_is_written_in_the_language_of_the_conversation(order: Order) -> None:
    hear(order, "你好", language="zh-hant")
    answer(order)
    time_passes()
    mails.send_due()
    assert "王小明" in post.outbox[0].body
    assert "/orders/5531/" in post.outbox[0].body
    with translation.override("zh-hant"):
        assert mails.letter_of(only_mail()).body == post.outbox[0].body


def test_several_answers_in_a_row_are_one_mail(order: Order) -> None:
    answer(order)
    answer(order, "And one more thing.")
    time_passes()
    assert mails.send_due() == 1
    answer(order, "Now it is done.")
    time_passes()
    assert mails.send_due() == 1


def test_nobody_without_an_address_is_written_to(order: Order) -> None:
    now_reached_at(order, "")
    answer(order)
    assert not CustomerMail.objects.exists()


def now_reached_at(order: Order, address: str) -> None:
    order.customer.email = address
    order.customer.save()


def test_an_address_that_has_changed_meanwhile_is_the_one_that_is_written_to(order: Order) -> None:
    answer(order)
    now_reached_at(order, "new@example.com")
    time_passes()
    assert mails.send_due() == 1
    assert post.outbox[0].to == ["new@example.com"]
    assert AuditEvent.objects.get(action="mail.sent").outcome["address"] == "new@example.com"
    assert only_mail().address == "new@example.com"


def test_an_address_that_was_taken_back_meanwhile_is_not_written_to(order: Order) -> None:
    answer(order)
    now_reached_at(order, "")
    time_passes()
    assert mails.send_due() == 0
    assert (only_mail().state, post.outbox) == (MailState.NOT_NEEDED, [])


def test_a_card_that_is_about_to_expire_is_told_of_shortly_before(order: Order, settings: Settings) -> None:
    card = card_for(order)
    before = timedelta(minutes=settings.CUSTOMER_MAIL_BEFORE_EXPIRY_MINUTES)
    assert only_mail().not_before == card.expires_at - before
    time_passes()
    assert mails.send_due() == 1
    assert timezone.localtime(card.expires_at).strftime("%H:%M") in post.outbox[0].body


@pytest.mark.parametrize("state", [CardState.CONFIRMED, CardState.DECLINED, CardState.WITHDRAWN])
def test_a_card_that_has_ended_is_not_told_of(order: Order, state: CardState) -> None:
    card = card_for(order)
    Card.objects.filter(pk=card.pk).update(state=state)
    time_passes()
    assert mails.send_due() == 0
    assert only_mail().state == MailState.NOT_NEEDED


def test_a_card_that_ran_out_while_the_mail_server_was_away_is_not_told_of(order: Order) -> None:
    card = card_for(order)
    Card.objects.filter(pk=card.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    time_passes()
    assert mails.send_due() == 0


def test_moneys_outcome_is_told_in_the_words_of_the_page(order: Order, django_capture_on_commit_callbacks: Any) -> None:
    refund = refund_of(order)
    with django_capture_on_commit_callbacks(execute=True):
        move_refund(refund=refund, to=RefundState.SUCCEEDED, actor=cast.SHOP)
    line = talk(order).events.filter(kind="status").last()
    assert line is not None
    time_passes()
    assert mails.send_due() == 1
    assert line.data["text"] in post.outbox[0].body


def test_of_two_outcomes_only_the_newer_is_told(order: Order, django_capture_on_commit_callbacks: Any) -> None:
    refund = refund_of(order)
    for state in (RefundState.UNKNOWN, RefundState.SUCCEEDED):
        with django_capture_on_commit_callbacks(execute=True):
            move_refund(refund=refund, to=state, actor=cast.SHOP)
    time_passes()
    assert mails.send_due() == 1
    assert CustomerMail.objects.filter(state=MailState.NOT_NEEDED).exists()


def test_a_mail_server_that_is_away_is_tried_again_later_and_then_staff_can_see_it(
    order: Order, settings: Settings
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()
    answer(order)
    for attempt in range(1, len(mails.PAUSES) + 1):
        time_passes()
        assert mails.send_due() == 0
        row = only_mail()
        assert (row.state, row.tries) == (MailState.WAITING, attempt)
        assert row.not_before > timezone.now() + mails.PAUSES[attempt - 1] - timedelta(seconds=30)
    time_passes()
    mails.send_due()
    assert only_mail().state == MailState.FAILED
    told = AuditEvent.objects.get(action="mail.failed")
    assert "ConnectionRefused" in told.outcome["error"]


def test_what_another_worker_is_sending_is_left_alone(order: Order) -> None:
    answer(order)
    time_passes()
    assert mails._claim(only_mail().pk, None) is not None
    assert mails.send_due() == 0


def test_a_customer_without_account_gets_the_link_that_still_works(order: Order, settings: Settings) -> None:
    settings.SITE_URL = "https://desk.example.com"
    order.customer.user = None
    order.customer.save()
    path, link = links.issue_link(order=order, actor=cast.staff())
    answer(order)
    time_passes()
    mails.send_due()
    assert f"https://desk.example.com{path}" in post.outbox[0].body

    links.revoke_link(link=CustomerLink.objects.get(pk=link.pk), actor=cast.staff())
    answer(order, "Once more.")
    time_passes()
    mails.send_due()
    assert "/l/" not in post.outbox[1].body
