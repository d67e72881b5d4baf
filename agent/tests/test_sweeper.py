"""The sweeper finds what lost jobs have left: a broker that was away, an emptied Redis, a worker that is gone."""

from collections.abc import Callable, Generator
from datetime import timedelta

import pytest
import redis
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from agent import cards, events, sweep, turns
from agent.models import Card, Turn
from agent.states import CardKind, TurnState
from agent.tests.helpers import hear, hold, newest_turn, talk, told
from agent.tools.base import CardSpec
from backoffice import celery_app
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db
NOBODY_LISTENS = "redis://127.0.0.1:9/0"
Committed = DjangoCaptureOnCommitCallbacks


@pytest.fixture
def order() -> Order:
    return cast.order_5531()


@pytest.fixture
def jobs(redis_server: redis.Redis) -> Callable[[], int]:
    """How many jobs wait for the chat's workers."""
    return lambda: int(redis_server.llen("chat"))


@pytest.fixture
def no_broker(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Generator[Callable[[], None]]:
    """Redis cannot be reached, neither for jobs nor for events; calling it brings Redis back."""
    with monkeypatch.context() as away:
        away.setattr(settings, "REDIS_URL", NOBODY_LISTENS)
        away.setattr(celery_app.conf, "broker_write_url", NOBODY_LISTENS)
        away.setattr(celery_app.amqp, "_producer_pool", None)
        yield away.undo


def long_ago(order: Order, **fields: int) -> None:
    """Move a moment of the newest turn into the past, in seconds."""
    moments = {name: timezone.now() - timedelta(seconds=seconds) for name, seconds in fields.items()}
    Turn.objects.filter(pk=newest_turn(order).pk).update(**moments)


def swept(captured: Committed) -> None:
    with captured(execute=True):
        sweep.sweep()


def test_words_said_while_the_broker_is_away_are_kept_and_queued_later(
    order: Order,
    jobs: Callable[[], int],
    no_broker: Callable[[], None],
    django_capture_on_commit_callbacks: Committed,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        message = hear(order, "is anybody there?")
    assert (message.text, newest_turn(order).state) == ("is anybody there?", TurnState.QUEUED)
    assert [data["message_id"] for data in told(order, "message")] == [message.pk]

    no_broker()
    assert jobs() == 0
    long_ago(order, queued_at=9)
    swept(django_capture_on_commit_callbacks)
    assert jobs() == 1


def test_a_turn_just_queued_is_left_to_its_own_job(
    order: Order, jobs: Callable[[], int], django_capture_on_commit_callbacks: Committed
) -> None:
    hear(order)
    swept(django_capture_on_commit_callbacks)
    assert jobs() == 0


def test_a_running_turn_whose_worker_is_gone_gets_another(
    order: Order, jobs: Callable[[], int], django_capture_on_commit_callbacks: Committed
) -> None:
    hear(order)
    hold(order)
    long_ago(order, lease_until=1)
    swept(django_capture_on_commit_callbacks)
    assert jobs() == 1
    assert turns.take(newest_turn(order).pk) is not None


def test_a_turn_that_is_being_worked_on_is_left_alone(
    order: Order, jobs: Callable[[], int], django_capture_on_commit_callbacks: Committed
) -> None:
    hear(order)
    hold(order)
    long_ago(order, queued_at=600)
    swept(django_capture_on_commit_callbacks)
    assert jobs() == 0
    assert newest_turn(order).state == TurnState.RUNNING


@pytest.mark.parametrize("state", [TurnState.DONE, TurnState.FAILED])
def test_a_turn_that_is_over_stays_over(
    order: Order, jobs: Callable[[], int], django_capture_on_commit_callbacks: Committed, state: TurnState
) -> None:
    hear(order)
    Turn.objects.update(state=state)
    long_ago(order, queued_at=600)
    swept(django_capture_on_commit_callbacks)
    assert jobs() == 0


def test_a_waiting_turn_without_an_open_card_goes_on(
    order: Order, jobs: Callable[[], int], django_capture_on_commit_callbacks: Committed
) -> None:
    hear(order)
    hold(order)
    turns.move(talk(order), newest_turn(order), TurnState.RUNNING, TurnState.WAITING)
    swept(django_capture_on_commit_callbacks)
    assert (newest_turn(order).state, jobs()) == (TurnState.QUEUED, 1)


def test_one_card_that_cannot_be_repaired_does_not_keep_others_waiting(order: Order) -> None:
    hear(order)
    over = timezone.now() - timedelta(seconds=1)
    with events.writing(talk(order).pk) as conversation:
        made = [
            cards.open_card(
                conversation=conversation, call=None, spec=CardSpec(kind=CardKind.EXCHANGE, expires_at=over)
            )
            for _ in range(2)
        ]
    Card.objects.filter(pk=made[0].pk).update(payload=[])
    sweep.sweep()
    assert Card.objects.get(pk=made[1].pk).state == "expired"
