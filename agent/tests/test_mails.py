"""A customer who has left the page is told by e-mail, once, and only what is still so."""

from datetime import timedelta
from http import HTTPStatus
from typing import Any

import pytest
from django.core import mail as post
from django.test import Client
from django.utils import timezone, translation
from pytest_django import Settings

from agent import cards, events, mails, people, presence
from agent.models import Card, CustomerMail
from agent.states import CardState, MailState
from agent.stream import Position
from agent.tests.helpers import hear, quoted, talk
from agent.tools.base import CardSpec
from backoffice.local.processes import free_port
from orders import links
from orders.models import AuditEvent, CustomerLink, Order
from orders.tests import cast
from refunds import redeem
from refunds.models import Refund
from refunds.outcome import move_refund
from refunds.states import RefundState

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    order.customer.email = "ming@example.com"
    order.customer.save()
    hear(order)
    return order


def answer(order: Order, text: str = "We are looking into it.") -> None:
    people.reply(conversation=talk(order), actor=cast.staff(), text=text)


def time_passes(**fields: Any) -> None:
    """What waits is due now; `fields` overwrite more of the rows."""
    CustomerMail.objects.filter(state=MailState.WAITING).update(
        not_before=timezone.now() - timedelta(seconds=1), **fields
    )


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


def only_mail() -> CustomerMail:
    (row,) = CustomerMail.objects.all()
    return row


def card_for(order: Order) -> Card:
    quote = quoted(order)
    spec = CardSpec(kind="refund", quote=quote, expires_at=quote.expires_at, payload={})
    return cards.open_card(conversation=talk(order), call=None, spec=spec)


def refund_of(order: Order) -> Refund:
    made = redeem.redeem(quote_id=quoted(order).pk, actor=cast.shopper()).refund
    assert made is not None
    return made


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


def test_several_answers_in_a_row_are_one_mail(order: Order) -> None:
    answer(order)
    answer(order, "And one more thing.")
    time_passes()
    assert mails.send_due() == 1
    answer(order, "Now it is done.")
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
