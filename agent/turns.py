"""A turn's states, moved from a stated old value, with its audit row and the page told; and the lease that holds it."""

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

import structlog
from django.conf import settings
from django.db import Error, connection, transaction
from django.utils import timezone

from agent import events, plain
from agent.models import Conversation, CopilotThread, Turn
from agent.states import LIVE_TURNS, ConversationState, TurnState
from orders import audit
from orders.actors import system_actor
from orders.jobs import enqueue_on_commit

log = structlog.get_logger(__name__)
# A job that has not begun by then is lost, or its worker died before it had the turn.
QUEUED_TOO_LONG = timedelta(seconds=8)
# A step that was begun in time may end a little late.
HELD_BEYOND_SECONDS = 60


class LeaseLost(Exception):
    """Another worker holds the turn, or it has ended: stop, and write nothing."""


@dataclass(frozen=True, slots=True)
class Lease:
    """`worked`: how long the turn was worked on before, by whomever. `resumed`: it has waited for a press meanwhile.
    `fresh`: no job for it can have been lost yet.
    """

    turn_id: int
    conversation_id: int
    token: str
    worked: timedelta
    resumed: bool
    fresh: bool


def live_turn(conversation: Conversation) -> Turn | None:
    return plain.one(Turn, _LIVE, conversation.pk, [state.value for state in LIVE_TURNS])


_LIVE = "select * from agent_turn where conversation_id = %s and state = any(%s)"


def queue_turn(conversation: Conversation, *, afresh: bool = False) -> Turn:
    """See to it that a job will look at the conversation: a new turn, or the waiting one again. Inside `writing`.

    `afresh` ends a waiting turn and begins a new one, with limits of its own: the customer has said something new. A
    queued or running turn is left alone: it finds what was said by itself.
    """
    turn = live_turn(conversation)
    if turn and turn.state == TurnState.WAITING and afresh:
        move(conversation, turn, TurnState.WAITING, TurnState.DONE)
        turn = None
    if turn is None:
        turn = Turn.objects.create(conversation=conversation, queued_at=timezone.now())
        _announce(conversation, turn)
    elif turn.state == TurnState.WAITING:
        move(conversation, turn, TurnState.WAITING, TurnState.QUEUED, queued_at=timezone.now())
    elif turn.state == TurnState.RUNNING:
        return turn
    send_job(turn)
    return turn


def send_job(turn: Turn) -> None:
    from agent.tasks import run_turn  # the task module imports the loop, which imports this one

    enqueue_on_commit(run_turn, turn.pk)


def move(conversation: Conversation, turn: Turn, old: str, new: str, **fields: Any) -> None:
    """Compare-and-set. Raises `LeaseLost` if the turn is not in state `old` any more. Inside `writing`."""
    if new in {TurnState.DONE, TurnState.FAILED}:
        fields["finished_at"] = timezone.now()
    if new != TurnState.RUNNING:
        fields |= {"lease_token": "", "lease_until": None, "worked": worked(turn, until=timezone.now())}
    if Turn.objects.filter(pk=turn.pk, state=old).update(state=new, **fields) != 1:
        raise LeaseLost(turn.pk)
    for name, value in {"state": new, **fields}.items():
        setattr(turn, name, value)
    _announce(conversation, turn)


def worked(turn: Turn, *, until: datetime) -> timedelta:
    """How long it was worked on up to then: by its present worker and by those before."""
    if turn.state != TurnState.RUNNING or turn.taken_at is None:
        return turn.worked
    return turn.worked + max(until - turn.taken_at, timedelta())


def _announce(conversation: Conversation, turn: Turn) -> None:
    log.info("turn.moved", conversation_id=conversation.pk, turn_id=turn.pk, state=turn.state, error=turn.error)
    audit.record(
        action=f"turn.{turn.state}",
        actor=system_actor("agent", conversation_id=conversation.pk, turn_id=turn.pk),
        subject_type="turn",
        subject_id=str(turn.pk),
        order_id=conversation.order_id,
        outcome={"error": turn.error} if turn.error else {},
    )
    events.add(conversation, "turn", {"turn": turn.pk, "state": turn.state, "retry": turn.state == TurnState.FAILED})


def lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.AGENT_LEASE_SECONDS)


@contextmanager
def taking(turn_id: int) -> Iterator[tuple[Lease, Conversation, Turn] | None]:
    """Get hold of a turn that is queued, or whose worker has died, and go on in the transaction that does.

    None: somebody else has it, or it is over.
    """
    with transaction.atomic(), events.saving("turn_taken"):
        conversation = events.locked("talk.id = (select conversation_id from agent_turn where id = %s)", turn_id)
        turn = plain.one(Turn, _TURN, turn_id) if conversation else None
        yield _taken(conversation, turn) if conversation and turn and _is_free(turn) else None


_TURN = "select * from agent_turn where id = %s"


def _is_free(turn: Turn) -> bool:
    left = turn.state == TurnState.RUNNING and turn.lease_until is not None and turn.lease_until < timezone.now()
    return turn.state == TurnState.QUEUED or left


def _taken(conversation: Conversation, turn: Turn) -> tuple[Lease, Conversation, Turn]:
    now, worker_lost = timezone.now(), turn.state == TurnState.RUNNING
    fresh = not worker_lost and turn.queued_at > now - QUEUED_TOO_LONG
    resumed = turn.started_at is not None and turn.queued_at > turn.started_at
    # When a worker died nobody knows: at the end of its lease at the latest.
    before = worked(turn, until=turn.lease_until or now)
    token = secrets.token_hex(16)
    move(
        conversation,
        turn,
        turn.state,
        TurnState.RUNNING,
        lease_token=token,
        lease_until=lease_end(),
        started_at=turn.started_at or now,
        taken_at=now,
        worked=before,
        failures=turn.failures + worker_lost,
    )
    return Lease(turn.pk, conversation.pk, token, before, resumed, fresh), conversation, turn


def lengthen(turn: Turn) -> None:
    """In the transaction that took it, at its end: a lease counts from then on where that transaction took long."""
    most = timedelta(seconds=settings.AGENT_LEASE_SECONDS)
    if turn.lease_until is not None and turn.lease_until - timezone.now() < most * 2 / 3:
        Turn.objects.filter(pk=turn.pk).update(lease_until=lease_end())


def take(turn_id: int) -> Lease | None:
    """`taking`, and nothing more in its transaction."""
    with taking(turn_id) as taken:
        return taken[0] if taken else None


class Silenced(LeaseLost):
    """A person has the conversation, or it is closed: the agent says and does nothing more in it."""


@contextmanager
def holding(lease: Lease, save: str = "", *, to_end: bool = False) -> Iterator[tuple[Conversation, Turn]]:
    """`writing`, and only while the lease is still ours: a worker that woke up late is stopped here.

    So is one that would talk over a person; `to_end` is for what only closes the turn's own books. Raises `LeaseLost`.
    """
    with events.writing(lease.conversation_id, save) as conversation:
        turn = plain.one(Turn, _TURN, lease.turn_id)
        if turn is None or not _holds(turn, lease):
            raise LeaseLost(lease.turn_id)
        if not to_end:
            may_speak(conversation)
        yield conversation, turn


def _holds(turn: Turn, lease: Lease) -> bool:
    until = turn.lease_until
    return (turn.state, turn.lease_token) == (TurnState.RUNNING, lease.token) and bool(until and until > timezone.now())


def may_speak(conversation: Conversation) -> None:
    """Raises `Silenced` where a person has the conversation, or it is closed. Inside `writing`."""
    if conversation.owner_id or conversation.state == ConversationState.CLOSED:
        raise Silenced(conversation.pk)


class Held(Protocol):
    """Whatever has a lease's token."""

    @property
    def token(self) -> str: ...


class Keeper:
    """Renews the leases that this process holds, from one thread, while its turns wait for the model.

    Not for longer than a turn may take and `HELD_BEYOND_SECONDS`: whose thread hangs would never be given to another
    worker. `rows`: whose leases they are, with `lease_token` and `lease_until`.
    """

    def __init__(self, rows: type[Turn] | type[CopilotThread] = Turn) -> None:
        self._rows = rows
        self._tokens: dict[str, float] = {}
        self._lost: set[str] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def keep(self, lease: Held) -> Iterator[None]:
        with self._lock:
            self._tokens[lease.token] = time.monotonic() + settings.AGENT_MAX_TURN_SECONDS + HELD_BEYOND_SECONDS
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="lease-keeper", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._tokens.pop(lease.token, None)
                self._lost.discard(lease.token)

    def holds(self, lease: Held) -> bool:
        """False once a renewal has found the lease gone, or it was let go: the turn is ended or somebody else's."""
        return lease.token not in self._lost

    def _run(self) -> None:
        while True:
            time.sleep(settings.AGENT_LEASE_SECONDS / 4)
            tokens = self._still_to_be_held()
            if tokens:
                self._renew(tokens)

    def _still_to_be_held(self) -> list[str]:
        with self._lock:
            overdue = {token for token, end in self._tokens.items() if end <= time.monotonic()} - self._lost
            self._lost |= overdue
            held = [token for token in self._tokens if token not in self._lost]
        if overdue:
            # Here, because the thread that hangs says nothing. When the leases end, the sweeper finds their turns.
            log.error("lease.let_go", leases=len(overdue))
        return held

    def _renew(self, tokens: list[str]) -> None:
        try:
            # A lease that has already ended stays ended: its turn may be somebody else's by now.
            held = self._rows._default_manager.filter(lease_token__in=tokens, lease_until__gt=timezone.now())
            with transaction.atomic():
                # A row that a long transaction has is renewed in the next round; the others do not wait for it.
                free = list(held.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True))
                held.filter(pk__in=free).update(lease_until=lease_end())
            kept = set(held.values_list("lease_token", flat=True))
            with self._lock:
                self._lost |= (set(tokens) & self._tokens.keys()) - kept
        except Error as error:
            log.warning("lease.not_renewed", error=str(error))
        finally:
            connection.close()


keeper = Keeper()
