"""A turn has one worker at a time: the lease, its renewal, and the fence before a worker that wakes up late."""

from datetime import timedelta

import pytest
import redis
from django.db import transaction
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from agent import calls, events, limits, loop, stopping, turns
from agent.models import Message, ModelCall, Turn
from agent.offline.control import Control
from agent.states import TurnState
from agent.tests import dying
from agent.tests.dying import Dying
from agent.tests.helpers import (
    asked,
    at_once,
    call,
    hear,
    hold,
    meanwhile,
    newest_turn,
    reply,
    talk,
    texts,
    told,
    until,
    work,
)
from agent.turns import LeaseLost, holding
from orders.models import AuditEvent, Order
from orders.tests import cast


@pytest.fixture
def order(db: None) -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def grow_stale(order: Order) -> None:
    """As if the worker had not been heard of for a while."""
    Turn.objects.filter(pk=newest_turn(order).pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_a_turn_is_taken_once(order: Order) -> None:
    turn = newest_turn(order)
    assert turns.take(turn.pk) is not None
    assert turns.take(turn.pk) is None


def test_a_turn_that_is_over_or_was_never_there_is_not_taken(order: Order) -> None:
    turn = newest_turn(order)
    turns.move(talk(order), turn, TurnState.QUEUED, TurnState.DONE)
    assert turns.take(turn.pk) is None
    assert turns.take(0) is None


def test_a_stale_lease_is_taken_over_and_the_old_holder_can_write_no_more(order: Order) -> None:
    old = hold(order)
    grow_stale(order)
    new = hold(order)

    with pytest.raises(LeaseLost), holding(old):
        pytest.fail("a worker that woke up late was let in")
    with holding(new) as (_, turn):
        assert turn.failures == 1


def test_a_lease_that_has_ended_lets_nobody_write_even_before_another_has_it(order: Order) -> None:
    lease = hold(order)
    grow_stale(order)
    with pytest.raises(LeaseLost), holding(lease):
        pytest.fail("a lease that was over was honoured")


def test_a_turn_that_was_ended_cannot_be_written_to(order: Order) -> None:
    lease = hold(order)
    turns.move(talk(order), newest_turn(order), TurnState.RUNNING, TurnState.DONE)
    with pytest.raises(LeaseLost), holding(lease):
        pytest.fail("a turn that is over was written to")


def test_a_state_moves_only_from_the_stated_one(order: Order) -> None:
    turn = newest_turn(order)
    with pytest.raises(LeaseLost):
        turns.move(talk(order), turn, TurnState.WAITING, TurnState.DONE)
    turn.refresh_from_db()
    assert turn.state == TurnState.QUEUED


def taken(order: Order, seconds_ago: int) -> None:
    taken_at = timezone.now() - timedelta(seconds=seconds_ago)
    Turn.objects.filter(pk=newest_turn(order).pk).update(taken_at=taken_at)


def test_the_next_worker_knows_how_long_was_worked_and_not_how_long_was_waited(order: Order) -> None:
    assert hold(order).worked == timedelta()
    taken(order, 50)
    turns.move(talk(order), newest_turn(order), TurnState.RUNNING, TurnState.WAITING)
    taken(order, 5000)
    with events.writing(talk(order).pk) as conversation:
        turns.queue_turn(conversation)
    assert hold(order).worked // timedelta(seconds=1) == 50
    taken(order, 30)
    turns.move(talk(order), newest_turn(order), TurnState.RUNNING, TurnState.QUEUED)
    assert hold(order).worked // timedelta(seconds=1) == 80


def test_a_worker_that_died_has_worked_until_its_lease_ended(order: Order) -> None:
    hold(order)
    taken(order, 100)
    Turn.objects.update(lease_until=timezone.now() - timedelta(seconds=40))
    assert round(hold(order).worked.total_seconds()) == 60


def test_every_move_is_audited_and_shown(order: Order) -> None:
    lease = hold(order)
    with holding(lease) as (conversation, turn):
        turns.move(conversation, turn, TurnState.RUNNING, TurnState.FAILED, error="x")
    rows = AuditEvent.objects.filter(subject_type="turn", subject_id=str(lease.turn_id)).order_by("pk")
    assert [row.action for row in rows] == ["turn.queued", "turn.running", "turn.failed"]
    assert [(data["state"], data["retry"]) for data in told(order, "turn")] == [
        ("queued", False),
        ("running", False),
        ("failed", True),
    ]


def test_queueing_again_is_the_same_turn_with_another_job(
    order: Order, redis_server: redis.Redis, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True), events.writing(talk(order).pk) as conversation:
        assert turns.queue_turn(conversation) == turns.queue_turn(conversation) == newest_turn(order)
    assert Turn.objects.count() == 1
    assert redis_server.llen("chat") == 2


def test_a_running_turn_needs_no_second_job(
    order: Order, redis_server: redis.Redis, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    hold(order)
    with django_capture_on_commit_callbacks(execute=True), events.writing(talk(order).pk) as conversation:
        assert turns.queue_turn(conversation).state == TurnState.RUNNING
    assert redis_server.llen("chat") == 0


def test_new_words_end_a_waiting_turn_and_begin_one_with_limits_of_its_own(order: Order) -> None:
    hold(order)
    first = newest_turn(order)
    turns.move(talk(order), first, TurnState.RUNNING, TurnState.WAITING)
    hear(order, "something else")
    first.refresh_from_db()
    assert (first.state, newest_turn(order).state) == (TurnState.DONE, TurnState.QUEUED)


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_get_one_lease() -> None:
    order = cast.order_5531()
    hear(order)
    leases = at_once(*[lambda: turns.take(newest_turn(order).pk)] * 4)
    assert len([lease for lease in leases if lease]) == 1


@pytest.mark.django_db(transaction=True)
def test_the_keeper_renews_a_lease_while_its_turn_waits_for_the_model(settings: Settings) -> None:
    settings.AGENT_LEASE_SECONDS = 1
    order = cast.order_5531()
    hear(order)
    lease = hold(order)
    first_end = newest_turn(order).lease_until
    assert first_end is not None
    keeper = turns.Keeper()
    with keeper.keep(lease):
        assert until(lambda: timezone.now() > first_end + timedelta(seconds=0.2))
        assert keeper.holds(lease)
        with holding(lease):
            pass
    assert until(lambda: (newest_turn(order).lease_until or first_end) < timezone.now())


@pytest.mark.django_db(transaction=True)
def test_the_keeper_notices_a_lease_that_is_gone_and_does_not_bring_it_back(settings: Settings) -> None:
    settings.AGENT_LEASE_SECONDS = 0.4
    order = cast.order_5531()
    hear(order)
    lease = hold(order)
    grow_stale(order)
    keeper = turns.Keeper()
    with keeper.keep(lease):
        assert until(lambda: not keeper.holds(lease))
    assert turns.take(lease.turn_id) is not None


@pytest.mark.django_db(transaction=True)
def test_a_turn_whose_row_is_locked_for_long_does_not_keep_others_from_being_renewed(settings: Settings) -> None:
    settings.AGENT_LEASE_SECONDS = 60
    locked, free = cast.order_5531(), cast.place("5602")
    leases = []
    for order in (locked, free):
        hear(order)
        leases.append(hold(order))
    settings.AGENT_LEASE_SECONDS = 120
    before = newest_turn(free).lease_until
    assert before is not None
    keeper = turns.Keeper()

    def renewed() -> bool:
        keeper._renew([lease.token for lease in leases])
        return True

    with transaction.atomic(), meanwhile(renewed) as elsewhere:
        Turn.objects.select_for_update(no_key=True).get(pk=newest_turn(locked).pk)
        elsewhere.begin()
        assert elsewhere.result()
    after = newest_turn(free).lease_until
    assert after is not None
    assert after > before + timedelta(seconds=40)
    assert keeper.holds(leases[0])


@pytest.mark.django_db(transaction=True)
def test_the_turn_of_a_thread_that_hangs_is_given_to_another_worker(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.AGENT_LEASE_SECONDS = 0.4
    settings.AGENT_MAX_TURN_SECONDS = 0.5
    monkeypatch.setattr(turns, "HELD_BEYOND_SECONDS", 0.5)
    order = cast.order_5531()
    hear(order)
    lease = hold(order)
    keeper = turns.Keeper()
    with keeper.keep(lease):
        assert until(lambda: turns.take(lease.turn_id) is not None)
        assert not keeper.holds(lease)
    assert newest_turn(order).worked >= timedelta(seconds=1)


@pytest.mark.django_db(transaction=True)
def test_a_job_delivered_again_or_late_does_nothing(model: Control) -> None:
    order = cast.order_5531()
    hear(order)
    model.script([reply("Hello!")])
    assert work(order).state == TurnState.DONE
    events_before = talk(order).last_event

    loop.run(newest_turn(order).pk)

    assert talk(order).last_event == events_before
    assert texts(order) == ["Hello!"]
    assert len(model.requests()) == 1


@pytest.mark.django_db(transaction=True)
def test_two_deliveries_at_once_answer_once(model: Control) -> None:
    order = cast.order_5531()
    hear(order)
    model.script([reply("Hello!")])
    at_once(*[lambda: loop.run(newest_turn(order).pk)] * 3)
    assert Message.objects.filter(author="agent").count() == 1
    assert newest_turn(order).state == TurnState.DONE


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_goes_down_hands_its_turn_on(model: Control, redis_server: redis.Redis) -> None:
    order = cast.order_5531()
    hear(order)
    redis_server.flushdb()
    stopping.requested.set()
    assert work(order).state == TurnState.QUEUED
    assert redis_server.llen("chat") == 1
    assert model.requests() == []


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_takes_every_worker_down_with_it_ends_in_words(model: Control) -> None:
    order = cast.order_5531()
    hear(order)
    for _ in range(limits.MOST_WORKERS_LOST):
        hold(order)
        grow_stale(order)
    assert work(order).state == TurnState.FAILED
    assert texts(order, "system")
    assert model.requests() == []


@pytest.mark.django_db(transaction=True)
def test_a_first_decision_that_takes_its_worker_down_is_counted_once_a_job_has_been_lost(model: Control) -> None:
    order = cast.order_5531()
    hear(order)
    assert Dying(dying.work, order, "turn_taken.before", 1).end() is None
    assert newest_turn(order).state == TurnState.QUEUED, "of the first job nothing is left"
    Turn.objects.update(queued_at=timezone.now() - turns.QUEUED_TOO_LONG)
    assert Dying(dying.work, order, "step_decided.before", 1).end() is None
    assert newest_turn(order).state == TurnState.RUNNING, "the second one had the turn before it decided"
    grow_stale(order)
    assert work(order).failures == 1


@pytest.mark.django_db(transaction=True)
def test_a_first_decision_that_breaks_is_met_again_under_a_lease_and_ends_in_words(model: Control) -> None:
    order = cast.order_5531()
    hear(order)
    Message.objects.filter(conversation__order=order).update(content=[])
    turn = work(order)
    assert (turn.state, turn.error) == (TurnState.FAILED, "internal error")
    assert texts(order, "system")
    assert talk(order).needs_person
    assert model.requests() == []


def test_a_lease_counts_from_the_end_of_a_decision_that_took_long(order: Order, settings: Settings) -> None:
    with turns.taking(newest_turn(order).pk) as taken:
        assert taken is not None
        _, _, turn = taken
        turn.lease_until = timezone.now() + timedelta(seconds=1)
        Turn.objects.filter(pk=turn.pk).update(lease_until=turn.lease_until)
        turns.lengthen(turn)
    until = newest_turn(order).lease_until
    assert until is not None
    assert until > timezone.now() + timedelta(seconds=settings.AGENT_LEASE_SECONDS / 2)


def test_a_worker_that_goes_down_begins_no_request(order: Order) -> None:
    stopping.requested.set()
    try:
        loop.run(newest_turn(order).pk)
    finally:
        stopping.requested.clear()
    assert newest_turn(order).state == TurnState.QUEUED
    assert not ModelCall.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_so_does_one_whose_tool_does(model: Control) -> None:
    order = cast.order_5531()
    hear(order)
    (deadly,) = asked(order, call("get_order"))
    for _ in range(limits.MOST_WORKERS_LOST):
        hold(order)
        grow_stale(order)
    assert work(order).error == "workers_lost"
    assert texts(order, "system")
    assert talk(order).needs_person
    deadly.refresh_from_db()
    assert deadly.result == calls.NO_ANSWER
    hear(order, "hello again")
    assert work(order).state == TurnState.DONE


@pytest.mark.django_db(transaction=True)
def test_no_tool_is_begun_when_the_turn_has_no_time_left(model: Control, settings: Settings) -> None:
    settings.AGENT_MAX_TURN_SECONDS = -1
    order = cast.order_5531()
    hear(order)
    (late,) = asked(order, call("get_order"))
    assert work(order).error == "seconds"
    late.refresh_from_db()
    assert late.result == calls.NO_ANSWER


@pytest.mark.django_db(transaction=True)
def test_a_process_that_was_stopped_in_the_middle_of_a_reply_wakes_up_and_says_nothing(
    model: Control, settings: Settings
) -> None:
    settings.AGENT_LEASE_SECONDS = 2
    order = cast.order_5531()
    hear(order)
    model.misbehave("slow", times=1, seconds=0.5)
    stalled = Dying(dying.work, order, "reply_kept.after")
    assert until(lambda: len(model.requests()) == 1)
    with stalled.stopped():
        grow_stale(order)
        model.script([reply("Hello from the second worker!")])
        assert work(order).state == TurnState.DONE
        events_before = talk(order).last_event
    passed = stalled.end()

    assert passed is not None
    assert "reply_kept.before" not in passed
    assert texts(order) == ["Hello from the second worker!"]
    assert talk(order).last_event == events_before
