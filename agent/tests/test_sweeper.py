"""The sweeper finds what lost jobs have left: a broker that was away, an emptied Redis, a worker that is gone."""

import base64
import json
from collections.abc import Callable, Generator
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.conf import settings
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from agent import cards, events, history, sent_again, sweep, turns
from agent.models import Card, Conversation, Turn
from agent.states import CardKind, TurnState
from agent.tests.helpers import at_once, hear, hold, newest_turn, talk, texts, told
from agent.tools.base import CardSpec
from backoffice import celery_app
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db
# A round and a job take less.
A_MOMENT = timedelta(seconds=5)
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
    address = settings.REDIS_URL
    with monkeypatch.context() as away:
        settings.REDIS_URL = NOBODY_LISTENS
        away.setattr(celery_app.conf, "broker_write_url", NOBODY_LISTENS)
        away.setattr(celery_app.amqp, "_producer_pool", None)

        def come_back() -> None:
            away.undo()
            settings.REDIS_URL = address

        yield come_back


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


def waiting(redis_server: redis.Redis) -> set[int]:
    """The turns for which jobs wait."""
    entries = [json.loads(entry) for entry in redis_server.lrange("chat", 0, -1)]
    return {json.loads(base64.b64decode(entry["body"]))[0][0] for entry in entries}


def test_each_round_reaches_turns_that_the_one_before_did_not(
    redis_server: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Committed,
) -> None:
    monkeypatch.setattr(sweep, "JOBS_AT_ONCE", 2)
    lost: list[int] = []
    for number in ("5601", "5602", "5603"):
        hear(placed := cast.place(number))
        long_ago(placed, queued_at=60 - len(lost))
        lost.append(newest_turn(placed).pk)
    swept(django_capture_on_commit_callbacks)
    assert waiting(redis_server) == {*lost[:2]}
    swept(django_capture_on_commit_callbacks)
    assert waiting(redis_server) == {*lost}
    assert redis_server.llen("chat") == 3, "those of the first round have got theirs just now"


def test_where_redis_does_not_say_when_a_job_was_sent_again_one_is_sent(
    order: Order, jobs: Callable[[], int], settings: Settings, django_capture_on_commit_callbacks: Committed
) -> None:
    hear(order)
    long_ago(order, queued_at=60)
    settings.REDIS_URL = NOBODY_LISTENS
    for expected in (1, 2):
        swept(django_capture_on_commit_callbacks)
        assert jobs() == expected


def test_a_job_that_was_sent_again_and_lost_again_is_sent_once_more_later(
    order: Order,
    jobs: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Committed,
) -> None:
    hear(order)
    long_ago(order, queued_at=60)
    swept(django_capture_on_commit_callbacks)
    swept(django_capture_on_commit_callbacks)
    assert jobs() == 1
    monkeypatch.setattr(sent_again, "NOT_BEFORE_SECONDS", 0)
    swept(django_capture_on_commit_callbacks)
    assert jobs() == 2


def test_a_turn_that_is_lost_anew_does_not_wait_because_of_the_job_that_it_was_sent_before(
    order: Order, jobs: Callable[[], int], django_capture_on_commit_callbacks: Committed
) -> None:
    hear(order)
    long_ago(order, queued_at=60)
    swept(django_capture_on_commit_callbacks)
    hold(order)
    long_ago(order, lease_until=1)
    swept(django_capture_on_commit_callbacks)
    assert jobs() == 2


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


def test_a_search_that_breaks_does_not_keep_the_others_from_looking(order: Order, settings: Settings) -> None:
    """As it does where a number in the settings is beyond what a date can hold."""
    settings.AGENT_LATE_SECONDS = 10**12
    hear(order)
    with events.writing(talk(order).pk) as conversation:
        spec = CardSpec(kind=CardKind.EXCHANGE, expires_at=timezone.now() - timedelta(seconds=1))
        cards.open_card(conversation=conversation, call=None, spec=spec)
    sweep.sweep()
    assert Card.objects.get().state == "expired"


# --- how soon, by the settings that a shop runs with ---
WITHIN = timedelta(seconds=30)


def test_a_lost_job_is_found_within_half_a_minute() -> None:
    """At worst the turn grows old right after a round: then the next one finds it, and needs a moment itself."""
    assert turns.QUEUED_TOO_LONG + timedelta(seconds=settings.SWEEP_SECONDS) <= WITHIN - A_MOMENT


def test_so_is_one_that_was_sent_again_and_lost_again() -> None:
    assert timedelta(seconds=sent_again.NOT_BEFORE_SECONDS + settings.SWEEP_SECONDS) <= WITHIN - A_MOMENT


def test_the_turn_of_a_worker_that_died_is_found_within_half_a_minute() -> None:
    """It dies right after a renewal, and its lease ends right after a round."""
    assert timedelta(seconds=settings.AGENT_LEASE_SECONDS + settings.SWEEP_SECONDS) <= WITHIN - A_MOMENT
    schedule = settings.CELERY_BEAT_SCHEDULE["agent.tasks.sweep"]
    assert schedule["schedule"] == settings.SWEEP_SECONDS


def test_a_lease_lives_for_as_long_as_the_settings_say(order: Order) -> None:
    """What the bound is computed from is what a worker that dies leaves behind."""
    hear(order)
    hold(order)
    until = newest_turn(order).lease_until
    assert until is not None
    assert until - timezone.now() <= timedelta(seconds=settings.AGENT_LEASE_SECONDS)


def test_rounds_of_the_sweeper_do_not_wait_behind_turns() -> None:
    """All of the chat's threads may sit before a silent model."""
    routes = settings.CELERY_TASK_ROUTES
    assert routes["agent.tasks.sweep"]["queue"] not in {routes["agent.*"]["queue"], routes["refunds.*"]["queue"]}


# --- nobody gets to it at all ---
def late(order: Order, seconds: int = 0) -> None:
    long_ago(order, queued_at=settings.AGENT_LATE_SECONDS + seconds)


def lines(order: Order) -> list[str]:
    return texts(order, "system")


def test_a_customer_whom_no_worker_gets_to_is_told_so_once_and_offered_a_person(order: Order) -> None:
    hear(order, "is anybody there?")
    late(order, 1)
    sweep.sweep()
    sweep.sweep()
    (line,) = lines(order)
    assert ("It is kept" in line, "ask for a person" in line) == (True, True)
    assert newest_turn(order).state == TurnState.QUEUED


def test_so_is_one_whose_worker_died_and_nobody_took_its_place(order: Order) -> None:
    hear(order)
    hold(order)
    late(order, 60)
    long_ago(order, lease_until=settings.AGENT_LATE_SECONDS + 1)
    sweep.sweep()
    assert len(lines(order)) == 1


def test_a_turn_that_is_being_worked_on_is_not_late(order: Order) -> None:
    hear(order)
    hold(order)
    late(order, 60)
    sweep.sweep()
    assert lines(order) == []


def test_a_moment_of_patience_comes_first(order: Order) -> None:
    hear(order)
    late(order, -5)
    sweep.sweep()
    assert lines(order) == []


@pytest.mark.parametrize(
    "there", [{"owner": "staff"}, {"needs_person": True}, {"state": "closed"}], ids=["has it", "was asked", "closed it"]
)
def test_where_a_person_is_there_or_on_the_way_nothing_is_said(order: Order, there: dict[str, Any]) -> None:
    hear(order)
    late(order, 1)
    fields = {**there, "waiting_since": timezone.now()}
    if "owner" in fields:
        fields["owner"] = cast.staff_user()
    Conversation.objects.update(**fields)
    sweep.sweep()
    assert lines(order) == []


def test_whoever_is_late_again_with_another_answer_is_told_again(order: Order) -> None:
    hear(order)
    late(order, 1)
    sweep.sweep()
    turns.move(talk(order), newest_turn(order), TurnState.QUEUED, TurnState.DONE)
    hear(order, "and now?")
    late(order, 1)
    sweep.sweep()
    assert len(lines(order)) == 2


def test_two_sweepers_at_once_say_it_once(transactional_db: None) -> None:
    order = cast.order_5531()
    hear(order)
    late(order, 1)
    at_once(*[sweep.sweep] * 3)
    assert len(lines(order)) == 1


def test_the_model_knows_that_the_customer_had_to_wait(order: Order) -> None:
    hear(order, "hello")
    late(order, 1)
    sweep.sweep()
    told = history.messages_for_model(talk(order))[-1]["content"]
    assert "<from_system>your answer is now late: " in told[-1]["text"]
