"""Whoever still looks at the page is not written to: who has left, and what their page had shown by then."""

from datetime import timedelta
from http import HTTPStatus
from typing import Any

import pytest
from django.core import mail as post
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from agent import events, mails, offers, people, presence
from agent.models import CustomerMail
from agent.states import CardKind, MailKind, MailState
from agent.stream import Position
from agent.tests.helpers import SAME_AGAIN, talk
from agent.tests.mail_due import answer, card_for, only_mail, reachable_order, refund_of, time_passes
from backoffice.local.processes import free_port
from orders.models import Order
from orders.tests import cast
from refunds.outcome import move_refund
from refunds.states import RefundState

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    return reachable_order()


def page_was_seen(order: Order, ago: timedelta, shown: str = "") -> None:
    """The customer last looked at the page so long ago, when it showed everything up to `shown`, else all there is."""
    presence.seen(order.pk, order.customer_id, Position())
    (key,) = events.carrier().scan_iter("refund-desk:seen:*")
    events.carrier().set(key, f"{(timezone.now() - ago).timestamp()} {shown or newest(order)}")


def newest(order: Order, back: int = 0) -> str:
    """The newest event of the conversation, or one before it, as pages name it."""
    return f"{talk(order).pk}-{talk(order).last_event - back}"


def event_of(order: Order, **fields: Any) -> int:
    """Its number in the conversation."""
    return talk(order).events.get(**fields).number


def test_whoever_has_looked_at_the_page_since_is_not_written_to(order: Order) -> None:
    answer(order)
    time_passes(created_at=timezone.now() - timedelta(minutes=10))
    page_was_seen(order, timedelta(minutes=5))
    assert mails.send_due() == 0
    assert (only_mail().state, post.outbox) == (MailState.NOT_NEEDED, [])


def test_whoever_looked_at_a_page_that_no_longer_heard_of_anything_is_written_to(order: Order) -> None:
    before = newest(order)
    answer(order)
    time_passes(created_at=timezone.now() - timedelta(minutes=10))
    page_was_seen(order, timedelta(minutes=5), shown=before)
    assert mails.send_due() == 1


@pytest.mark.parametrize(("behind", "written"), [(0, 0), (1, 1)])
def test_whether_the_page_has_shown_it_is_asked_of_the_answers_own_event(
    order: Order, behind: int, written: int
) -> None:
    answer(order)
    its = event_of(order, kind="message", data__author="staff")
    assert its < talk(order).last_event, "what came after it need not have been shown"
    time_passes(created_at=timezone.now() - timedelta(minutes=10))
    page_was_seen(order, timedelta(minutes=5), shown=f"{talk(order).pk}-{its - behind}")
    assert mails.send_due() == written


@pytest.mark.parametrize(("behind", "written"), [(0, 0), (1, 1)])
def test_whether_the_page_has_shown_a_colleagues_card_is_asked_of_its_event(
    order: Order, behind: int, written: int
) -> None:
    card = offers.put_up(conversation=talk(order), actor=cast.staff(), kind=CardKind.EXCHANGE, asked=[SAME_AGAIN])
    CustomerMail.objects.filter(kind=MailKind.EXPIRING).delete()
    its = event_of(order, kind="card", data__card_id=card.pk)
    time_passes(created_at=timezone.now() - timedelta(minutes=10))
    page_was_seen(order, timedelta(minutes=5), shown=f"{talk(order).pk}-{its - behind}")
    assert mails.send_due() == written


@pytest.mark.parametrize(("behind", "written"), [(0, 0), (1, 1)])
def test_whether_the_page_has_shown_moneys_outcome_is_asked_of_its_line(
    order: Order, behind: int, written: int, django_capture_on_commit_callbacks: Any
) -> None:
    refund = refund_of(order)
    with django_capture_on_commit_callbacks(execute=True):
        move_refund(refund=refund, to=RefundState.SUCCEEDED, actor=cast.SHOP)
    line = talk(order).events.filter(kind="status").latest("number").number
    time_passes(created_at=timezone.now() - timedelta(minutes=10))
    page_was_seen(order, timedelta(minutes=5), shown=f"{talk(order).pk}-{line - behind}")
    assert mails.send_due() == written


@pytest.mark.parametrize(("behind", "written"), [(0, 0), (1, 1)])
def test_whether_the_page_has_shown_that_a_wait_is_over_is_asked_of_its_line(
    order: Order, behind: int, written: int
) -> None:
    people.customer_asks_for_person(conversation=talk(order), actor=cast.shopper())
    people.close(conversation=talk(order), actor=cast.staff())
    line = talk(order).events.filter(kind="message").latest("number").number
    time_passes(created_at=timezone.now() - timedelta(minutes=10))
    page_was_seen(order, timedelta(minutes=5), shown=f"{talk(order).pk}-{line - behind}")
    assert mails.send_due() == written


@pytest.mark.parametrize("away", [-1, 1])
def test_a_page_in_another_conversation_has_not_shown_the_answer(order: Order, away: int) -> None:
    answer(order)
    time_passes(created_at=timezone.now() - timedelta(minutes=10))
    page_was_seen(order, timedelta(minutes=5), shown=f"{talk(order).pk + away}-{talk(order).last_event}")
    assert mails.send_due() == 1


def test_where_no_event_is_known_a_look_at_the_page_is_enough(order: Order) -> None:
    answer(order)
    time_passes(created_at=timezone.now() - timedelta(minutes=10), key="answered:0")
    page_was_seen(order, timedelta(minutes=5), shown="0-0")
    assert mails.send_due() == 0


def test_a_page_that_was_last_looked_at_before_the_answer_may_be_left_so_it_is_looked_again(order: Order) -> None:
    page_was_seen(order, timedelta(seconds=5))
    answer(order)
    time_passes()
    assert mails.send_due() == 0
    row = only_mail()
    assert (row.state, row.tries) == (MailState.WAITING, 0)
    assert timezone.now() < row.not_before <= timezone.now() + timedelta(seconds=55)
    page_was_seen(order, timedelta(seconds=61))
    time_passes()
    assert mails.send_due() == 1


def test_who_leaves_in_the_moment_in_which_something_new_comes_has_not_read_it(order: Order) -> None:
    answer(order)
    time_passes(created_at=timezone.now() - timedelta(seconds=102))
    page_was_seen(order, timedelta(seconds=101))
    assert mails.send_due() == 1


@pytest.mark.parametrize(("after", "away"), [(1, 45), (60, 60), (300, 300)])
def test_who_has_not_looked_for_the_time_that_is_set_has_left(
    order: Order, settings: Settings, after: int, away: int
) -> None:
    settings.CUSTOMER_MAIL_AFTER_SECONDS = after
    page_was_seen(order, timedelta(seconds=away - 3))
    answer(order)
    time_passes()
    assert mails.send_due() == 0, "a visible page may keep silent for 45 seconds"
    page_was_seen(order, timedelta(seconds=away + 1))
    time_passes()
    assert mails.send_due() == 1


def test_who_looks_at_the_card_when_it_is_to_be_told_of_and_leaves_is_written_to_then(order: Order) -> None:
    card_for(order)
    time_passes()
    page_was_seen(order, timedelta(seconds=1))
    assert mails.send_due() == 0
    page_was_seen(order, timedelta(minutes=2))
    time_passes()
    assert mails.send_due() == 1


def test_whoever_had_left_before_is_written_to(order: Order) -> None:
    page_was_seen(order, timedelta(minutes=5))
    answer(order)
    time_passes()
    assert mails.send_due() == 1


def test_an_answer_that_came_after_a_glance_at_the_page_is_told(order: Order) -> None:
    answer(order)
    earlier = timezone.now() - timedelta(minutes=10)
    CustomerMail.objects.update(created_at=earlier)
    page_was_seen(order, timedelta(minutes=5))
    answer(order, "And one more thing.")
    time_passes()
    assert mails.send_due() == 1
    assert sorted(CustomerMail.objects.values_list("state", flat=True)) == [MailState.NOT_NEEDED, MailState.SENT]


def seen_at(order: Order) -> Any:
    return presence.last_seen(order.pk, order.customer_id)


def test_a_page_that_is_visible_says_so_and_its_customer_counts_as_there(order: Order, client: Client) -> None:
    client.force_login(cast.customer_user())
    assert seen_at(order) is None
    assert client.post("/orders/5531/chat/seen/", {"last_event": "7-3"}).status_code == HTTPStatus.NO_CONTENT
    look = seen_at(order)
    assert timezone.now() - look.at < timedelta(seconds=10)
    assert look.shown == Position(7, 3)
    (key,) = events.carrier().scan_iter("refund-desk:seen:*")
    assert 0 < events.carrier().ttl(key) <= presence.KEPT.total_seconds()


@pytest.mark.parametrize("said", ["", "0-0", "7", "7-", "-3", "7-x", "7 3", "٧-٣", "9" * 40 + "-1"])
def test_a_page_that_names_no_event_of_ours_has_shown_none(order: Order, client: Client, said: str) -> None:
    client.force_login(cast.customer_user())
    assert client.post("/orders/5531/chat/seen/", {"last_event": said}).status_code == HTTPStatus.NO_CONTENT
    assert seen_at(order).shown == Position()


def test_opening_the_page_says_nothing_by_itself_so_whoever_has_no_javascript_is_written_to(
    order: Order, client: Client
) -> None:
    client.force_login(cast.customer_user())
    answer(order)
    assert client.get("/orders/5531/").status_code == HTTPStatus.OK
    time_passes(created_at=timezone.now() - timedelta(minutes=1))
    assert mails.send_due() == 1


def test_a_strangers_page_says_nothing_about_this_one(order: Order, client: Client) -> None:
    client.force_login(cast.customer_user("ming2"))
    assert client.post("/orders/5531/chat/seen/").status_code == HTTPStatus.NOT_FOUND
    presence.seen(order.pk, cast.customer("ming2").pk, Position())
    assert seen_at(order) is None


def test_without_redis_nobody_is_known_to_be_there(order: Order, client: Client, settings: Settings) -> None:
    page_was_seen(order, timedelta(seconds=1))
    answer(order)
    time_passes()
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    client.force_login(cast.customer_user())
    assert client.post("/orders/5531/chat/seen/").status_code == HTTPStatus.NO_CONTENT
    assert mails.send_due() == 1
