"""3 think: one turn, from the rows to the rows.

Every round asks the database what has to be done (`history.next_step`), does one step of it, and keeps it: a worker
that is killed leaves rows from which the next one goes on. Neither transaction nor connection is held while the model
talks.
"""

import random
import threading
import time
from dataclasses import dataclass
from typing import Any

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, connections
from django.utils import translation
from django.utils.translation import gettext as translate

from agent import cards, client, events, history, people, turns
from agent.models import Conversation, Message, ToolCall, Turn
from agent.prompts import read_prompt
from agent.states import Author, ConversationState, ToolCallState, TurnState
from agent.text import page_length
from agent.tools import executor, registry
from agent.turns import Lease, LeaseLost, holding
from orders.actors import system_actor

log = structlog.get_logger(__name__)
PIECES_GATHERED_SECONDS = 0.1
MODEL_TRIES = 3
PAUSE_SECONDS = 0.5
MOST_WORKERS_LOST = 5
stop_requested = threading.Event()


@dataclass
class Draft:
    """The text of a reply while it is being written: shown in pieces, worth nothing until the reply is whole."""

    conversation: Conversation
    key: str
    waiting: str = ""
    shown: int = 0
    shown_at: float = 0.0
    kept: bool = False

    def add(self, piece: str) -> None:
        self.waiting += piece
        if time.monotonic() - self.shown_at >= PIECES_GATHERED_SECONDS:
            self.show()

    def show(self) -> None:
        if self.waiting:
            data = {"draft": self.key, "offset": self.shown, "text": self.waiting}
            events.tell_now(self.conversation, "delta", data)
            self.shown += page_length(self.waiting)
            self.waiting, self.shown_at = "", time.monotonic()

    def drop_unless_kept(self) -> None:
        if self.shown and not self.kept:
            events.tell_now(self.conversation, "draft_dropped", {"draft": self.key})


def run(turn_id: int) -> None:
    """Work on a turn until it waits or is over. Delivered twice, or late, it does nothing."""
    lease = turns.take(turn_id)
    if lease is None:
        return
    who = {"conversation_id": lease.conversation_id, "turn_id": lease.turn_id}
    with turns.keeper.keep(lease), structlog.contextvars.bound_contextvars(**who):
        try:
            _work(lease)
        except LeaseLost:
            log.info("turn.left", turn=turn_id)
        except client.Stopped:
            _hand_on(lease)
        except (OperationalError, InterfaceError) as error:
            # The database is away. Nothing is lost with the lease: when it ends, a sweeper finds the turn.
            log.warning("turn.database_away", turn=turn_id, error=str(error))
        except Exception:
            log.exception("turn.broke", turn=turn_id)
            _fail(lease, "internal error")


def _work(lease: Lease) -> None:
    """Step by step until there is nothing to do; a turn that has ended meanwhile shows as `LeaseLost`."""
    deadline = time.monotonic() + settings.AGENT_MAX_TURN_SECONDS
    while True:
        step = _decide(lease, out_of_time=time.monotonic() > deadline)
        if step == "run_tools":
            _run_tools(lease)
        elif step == "call_model":
            _call_model(lease, deadline)
        else:
            return


def _decide(lease: Lease, *, out_of_time: bool) -> history.NextStep:
    """What comes next; a turn that waits or is over is moved there in the same transaction that finds it out."""
    with holding(lease) as (conversation, turn):
        if conversation.owner_id or conversation.state == ConversationState.CLOSED:
            turns.move(conversation, turn, TurnState.RUNNING, TurnState.DONE)
            return "done"
        step = history.next_step(conversation)
        if step == "wait" and _spoke_before_the_card(conversation):
            cards.decline_open(conversation, actor=system_actor("agent"), why="The customer wrote in between.")
            step = history.next_step(conversation)
        if step == "wait":
            turns.move(conversation, turn, TurnState.RUNNING, TurnState.WAITING)
        elif step == "done":
            turns.move(conversation, turn, TurnState.RUNNING, TurnState.DONE)
        elif step == "call_model" and (out_of_time or _too_much(turn)):
            _end_in_words(conversation, turn, "limit")
            return "done"
        return step


def _too_much(turn: Turn) -> bool:
    """Too many steps or tokens; or it has taken so many workers down with it that the next one would follow them."""
    if turn.input_tokens + turn.cached_tokens + turn.output_tokens >= settings.AGENT_MAX_TURN_TOKENS:
        return True
    return turn.steps >= settings.AGENT_MAX_STEPS or turn.failures >= MOST_WORKERS_LOST


def _spoke_before_the_card(conversation: Conversation) -> bool:
    """The customer wrote while the reply was being made that ends in a card: they answered without having seen it."""
    last = conversation.messages.filter(author=Author.AGENT).order_by("-id").first()
    return history.unheard(conversation, last)


def _run_tools(lease: Lease) -> None:
    asked = ToolCall.objects.filter(conversation_id=lease.conversation_id, state=ToolCallState.ASKED).order_by("id")
    for call_id in list(asked.values_list("pk", flat=True)):
        _stop_if_asked()
        executor.run_call(lease, call_id)


def _call_model(lease: Lease, deadline: float) -> None:
    """One reply, asked for up to three times; then it is kept, or the turn ends in words."""
    with holding(lease) as (conversation, turn):
        messages = history.messages_for_model(conversation)
        heard = history.newest_message(conversation)
        number = turn.steps + 1
    for attempt in range(1, MODEL_TRIES + 1):
        _stop_if_asked()
        if time.monotonic() > deadline:
            _fail(lease, "limit")
            return
        connections.close_all()
        draft = Draft(conversation, key=f"t{lease.turn_id}s{number}a{attempt}.{lease.token[:6]}")
        try:
            reply = _ask(lease, messages, draft, deadline)
            _keep(lease, reply, draft, heard)
            return
        except client.ModelFailed as failure:
            log.warning("model.failed", reason=failure.reason, attempt=attempt, retryable=failure.retryable)
            if not failure.retryable or attempt == MODEL_TRIES:
                _fail(lease, failure.reason)
                return
            pause = failure.after if failure.after is not None else PAUSE_SECONDS * 2**attempt * (1 + random.random())
        finally:
            # Whatever was the matter, also that the turn is no longer ours: half a reply may not stay on the page.
            draft.drop_unless_kept()
        _pause(pause)


def _ask(lease: Lease, messages: list[dict[str, Any]], draft: Draft, deadline: float) -> client.Reply:
    def going_on() -> bool:
        if time.monotonic() > deadline:
            raise client.ModelFailed("limit", retryable=False)
        return not stop_requested.is_set() and turns.keeper.holds(lease)

    reply = client.reply_to(
        system=[{"type": "text", "text": read_prompt("order_page"), "cache_control": {"type": "ephemeral"}}],
        tools=registry.definitions(),
        messages=_with_cache_mark(messages),
        on_text=draft.add,
        going_on=going_on,
    )
    draft.show()
    return reply


def _with_cache_mark(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same messages with a cache breakpoint on the last block: the next step's request begins with all of this."""
    last = messages[-1]
    *blocks, end = last["content"]
    return [*messages[:-1], {**last, "content": [*blocks, {**end, "cache_control": {"type": "ephemeral"}}]}]


def _keep(lease: Lease, reply: client.Reply, draft: Draft, heard: int) -> None:
    """The reply becomes rows: the message, its tool calls, what it cost. Then the page's draft gives way to it."""
    with holding(lease) as (conversation, turn):
        if conversation.owner_id:
            return
        _count(turn, reply)
        if history.overtaken(conversation, heard):
            # The page reads of a refusal already: words that know nothing of it may not be the last. It is said anew.
            return
        content = _whole_blocks(reply)
        if not _says_anything(content):
            _end_in_words(conversation, turn, "empty" if reply.stop_reason in GOOD_ENDINGS else reply.stop_reason)
            return
        message = Message.objects.create(
            conversation=conversation,
            turn=turn,
            author=Author.AGENT,
            content=content,
            stop_reason=reply.stop_reason,
            heard=heard,
        )
        if message.text.strip():
            people.tell_message(conversation, message, draft=draft.key)
        _ask_tools(conversation, turn, message)
        if reply.stop_reason not in GOOD_ENDINGS:
            _end_in_words(conversation, turn, reply.stop_reason)
    draft.kept = bool(message.text.strip())


def _count(turn: Turn, reply: client.Reply) -> None:
    Turn.objects.filter(pk=turn.pk).update(
        steps=turn.steps + 1,
        model=reply.model[:60],
        input_tokens=turn.input_tokens + reply.input_tokens,
        cached_tokens=turn.cached_tokens + reply.cached_tokens,
        output_tokens=turn.output_tokens + reply.output_tokens,
    )
    turn.refresh_from_db()


GOOD_ENDINGS = frozenset({"end_turn", "stop_sequence", "tool_use", "pause_turn"})


def _whole_blocks(reply: client.Reply) -> list[client.Block]:
    """Calls run on stop reason `tool_use` only: a reply that was cut may hold half of the arguments.

    What a refusal had begun to say is dropped: sent back, it would make the model refuse whatever comes next.
    """
    if reply.stop_reason == "refusal":
        return []
    if reply.stop_reason == "tool_use":
        return reply.content
    return [block for block in reply.content if block.get("type") != "tool_use"]


def _says_anything(content: list[client.Block]) -> bool:
    return any(block.get("type") == "tool_use" or block.get("text", "").strip() for block in content)


def _ask_tools(conversation: Conversation, turn: Turn, message: Message) -> None:
    with translation.override(conversation.language):
        for block in message.content:
            if block.get("type") == "tool_use":
                call = ToolCall.objects.create(
                    conversation=conversation,
                    turn=turn,
                    message=message,
                    tool_use_id=block["id"],
                    name=block["name"][:64],
                    arguments=block["input"],
                )
                executor.tell_work(conversation, call, "started")


def _end_in_words(conversation: Conversation, turn: Turn, why: str) -> None:
    """The turn fails, and the customer reads that it did and what they can do. Inside `holding`."""
    with translation.override(conversation.language):
        text = _FAREWELLS.get(why, _FAREWELLS["other"])()
        people.say_as_system(conversation, text)
    turns.move(conversation, turn, TurnState.RUNNING, TurnState.FAILED, error=why[:240], failures=turn.failures + 1)


_FAREWELLS = {
    "limit": lambda: translate(
        "I could not finish this by myself. Nothing has been changed without your confirmation. You can try again, or "
        "ask for a person."
    ),
    "refusal": lambda: translate("I cannot help with this here. You can ask for a person."),
    "max_tokens": lambda: translate("My answer became too long and was cut. You can try again, or ask for a person."),
    "other": lambda: translate(
        "The assistant cannot be reached right now. Your message is kept. You can try again in a moment, or ask for a "
        "person."
    ),
}


def _fail(lease: Lease, reason: str) -> None:
    try:
        with holding(lease) as (conversation, turn):
            _end_in_words(conversation, turn, reason)
    except LeaseLost:
        log.info("turn.left", turn=lease.turn_id)


def _hand_on(lease: Lease) -> None:
    """This worker is going down: the turn is queued again, and a sweeper of another one finds it."""
    try:
        with holding(lease) as (conversation, turn):
            turns.move(conversation, turn, TurnState.RUNNING, TurnState.QUEUED)
            turns.send_job(turn)
    except LeaseLost:
        log.info("turn.left", turn=lease.turn_id)


def _stop_if_asked() -> None:
    if stop_requested.is_set():
        raise client.Stopped


def _pause(seconds: float) -> None:
    if stop_requested.wait(min(seconds, 20)):
        raise client.Stopped
