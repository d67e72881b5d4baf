"""What became of money between the press and the reply: the model reads it before it speaks, in its place."""

from collections.abc import Generator
from datetime import timedelta

import pytest
from django.utils import timezone, translation

from agent import money
from agent.models import ConversationEvent
from agent.offline.control import Control
from agent.offline.server import OfflineModel
from agent.states import TurnState
from agent.tests.helpers import (
    hear,
    last_request,
    newest_turn,
    press,
    refused_requests,
    talk,
    texts,
    told,
    work,
    working,
)
from orders.models import Order, Payment
from orders.tests import cast
from refunds.models import Refund, RefundAllocation, SimulatedAcquirer
from refunds.outcome import move_refund
from refunds.refund_words import at_time
from refunds.send import send
from refunds.states import RefundState
from refunds.tests.paying import switch_on

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def order(model: Control) -> Order:
    """The cancellation of the case is pressed, and nobody has paid yet."""
    order = cast.order_5531()
    hear(order, "耳機殼還沒寄到，我要取消", language="zh-hant")
    assert work(order).state == TurnState.WAITING
    press(talk(order).cards.get())
    return order


def becomes(state: RefundState) -> None:
    move_refund(refund=Refund.objects.get(), to=state, actor=cast.SHOP)


def test_a_refund_refused_before_the_reply_is_told_as_refused(model: Control, order: Order) -> None:
    switch_on("refuse")
    send(refund_id=Refund.objects.get().pk)
    assert [line["state"] for line in told(order, "status")] == ["failed"]

    assert work(order).state == TurnState.DONE

    last = texts(order)[-1]
    assert "沒有成功" in last
    assert "同事" in last
    assert "正在退回" not in last
    assert refused_requests(model) == []


@pytest.mark.parametrize(("state", "words"), [(RefundState.UNKNOWN, "確認中"), (RefundState.SUCCEEDED, "已退回")])
def test_the_newest_state_is_what_the_reply_goes_by(order: Order, state: RefundState, words: str) -> None:
    becomes(state)
    work(order)
    assert words in texts(order)[-1]


def test_the_line_stands_behind_the_results_in_the_same_message_and_says_whose_it_is(
    model: Control, order: Order
) -> None:
    becomes(RefundState.UNKNOWN)
    work(order)
    request = last_request(model)
    assert request[-1]["role"] == "user"
    result, line = request[-1]["content"]
    assert result["type"] == "tool_result"
    (status,) = told(order, "status")
    number = Refund.objects.get().pk
    assert line["text"] == f"<from_system>refund {number} is now unknown: {status['text']}</from_system>"


def test_the_page_shows_the_line_once(order: Order) -> None:
    becomes(RefundState.UNKNOWN)
    text = told(order, "status")[0]["text"]
    assert ConversationEvent.objects.filter(data__text=text).count() == 1


def test_what_was_sent_before_stays_as_it_was_when_more_is_told(model: Control, order: Order) -> None:
    becomes(RefundState.UNKNOWN)
    work(order)
    before = last_request(model)
    becomes(RefundState.SUCCEEDED)
    hear(order, "謝謝", language="zh-hant")
    work(order)
    after = last_request(model)
    assert after[: len(before)] == before
    assert [block["text"].split(":")[0].split()[-1] for block in after[-1]["content"][:-1]] == ["succeeded"]
    assert refused_requests(model) == []


@pytest.fixture
def thinking(stand_in: OfflineModel) -> Generator[None]:
    """The model thinks for a moment before it speaks."""
    stand_in.stand_in.first_token_ms = 150
    yield
    stand_in.stand_in.first_token_ms = 0


@pytest.mark.usefixtures("thinking")
def test_a_reply_that_a_refusal_has_overtaken_is_said_anew(model: Control, order: Order) -> None:
    before = len(texts(order))
    with working(order, model):
        becomes(RefundState.FAILED)
    assert newest_turn(order).state == TurnState.DONE
    (last,) = texts(order)[before:]
    assert "沒有成功" in last
    shown = talk(order).events.filter(kind__in=["message", "status"]).order_by("number")
    assert [event.kind for event in shown][-2:] == ["status", "message"]
    assert refused_requests(model) == []


@pytest.mark.usefixtures("thinking")
def test_good_news_while_a_reply_is_written_stands_behind_it_in_what_the_model_reads(
    model: Control, order: Order
) -> None:
    with working(order, model):
        becomes(RefundState.SUCCEEDED)
    asked = last_request(model)
    hear(order, "退款呢？", language="zh-hant")
    work(order)
    later = last_request(model)
    assert later[: len(asked)] == asked
    assert later[len(asked)]["role"] == "assistant"
    assert "is now succeeded" in later[len(asked) + 1]["content"][0]["text"]


def test_a_refund_that_its_provider_takes_only_later_is_not_called_on_its_way(order: Order) -> None:
    SimulatedAcquirer.objects.create(
        pk=1, refund_before_closing=False, void_before_closing=True, closing_hour=(timezone.localtime().hour + 2) % 24
    )
    Payment.objects.update(captured_at=timezone.now() - timedelta(minutes=1))
    send(refund_id=Refund.objects.get().pk)

    (line,) = told(order, "status")
    assert line["state"] == "pending"
    with translation.override("zh-hant"):
        assert at_time(RefundAllocation.objects.get().not_before) in line["text"]  # type: ignore[arg-type]
    work(order)
    assert "晚一點" in texts(order)[-1]
    assert "正在退回" not in texts(order)[-1]
    money.tell("refund", Refund.objects.get().pk)
    assert len(told(order, "status")) == 1
    assert money.untold() == []


def test_a_lost_signal_of_what_waits_is_made_good_by_the_sweeper(order: Order) -> None:
    assert money.untold() == []
    RefundAllocation.objects.update(not_before=timezone.now() + timedelta(hours=2))
    assert [move.subject_id for move in money.untold()] == [Refund.objects.get().pk]
