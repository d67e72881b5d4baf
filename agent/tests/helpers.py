"""A customer who talks, a worker that works in this process, and what both leave behind."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from django.db import connections

from agent import events, intake, loop, turns
from agent.models import Card, Conversation, Message, ToolCall, Turn
from agent.offline.control import Control
from agent.states import Author
from agent.tools import executor
from backoffice.screens.cards import carry_out
from orders.actors import agent_actor, customer_actor
from orders.models import Order
from orders.tests import cast
from refunds import quotes, redeem
from refunds.models import Refund, RefundQuote
from refunds.outcome import move_refund
from refunds.states import Asker, RefundState

CASE = {"line_item_id": "li_2", "quantity": 1, "reason": "late_delivery", "action": None}
EARPHONES = {"line_item_id": "li_1", "quantity": 1, "reason": "defective"}
SAME_AGAIN = {**EARPHONES, "product_id": None}


def hear(order: Order, text: str = "hello", *, language: str = "en", client_ref: str | None = None) -> Message:
    """The order's customer says something. English, so that a test can read the product's own words."""
    return intake.say(order=order, customer=order.customer, text=text, language=language, client_ref=client_ref)


def talk(order: Order) -> Conversation:
    """The newest conversation about the order, as it is in the database now."""
    return Conversation.objects.filter(order=order).order_by("-pk")[0]


def newest_turn(order: Order) -> Turn:
    return Turn.objects.filter(conversation__order=order).order_by("-pk")[0]


def work(order: Order) -> Turn:
    """What a worker does with the order's newest turn; the turn as it is then."""
    turn = newest_turn(order)
    loop.run(turn.pk)
    turn.refresh_from_db()
    return turn


def hold(order: Order) -> turns.Lease:
    """Take the order's newest turn, as a worker does."""
    lease = turns.take(newest_turn(order).pk)
    assert lease is not None
    return lease


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "input": arguments}


def reply(text: str = "", *calls: dict[str, Any], stop_reason: str | None = None) -> dict[str, Any]:
    """A scripted reply of the stand-in."""
    return {"text": text, "tool_uses": list(calls), "stop_reason": stop_reason}


def quoted(order: Order, *lines: dict[str, Any]) -> RefundQuote:
    """A quote as the agent asks for it in the order's conversation; the case of order 5531 if nothing else is said."""
    conversation = talk(order)
    return quotes.ask(
        order=order,
        choices=quotes.parse_choices({"lines": list(lines) or [CASE]}),
        actor=agent_actor(order.customer),
        asker=Asker.AGENT,
        asker_ref=f"conversation:{conversation.pk}",
        conversation_ref=str(conversation.pk),
    )


def asked(order: Order, *calls: dict[str, Any], text: str = "") -> list[ToolCall]:
    """A kept reply with calls that have not been run, in the newest turn."""
    conversation, turn = talk(order), newest_turn(order)
    first = ToolCall.objects.count() + 1
    blocks = [
        {"type": "tool_use", "id": f"toolu_{first + index}", "name": each["name"], "input": each["input"]}
        for index, each in enumerate(calls)
    ]
    message = Message.objects.create(
        conversation=conversation,
        turn=turn,
        author=Author.AGENT,
        content=[{"type": "text", "text": text}, *blocks] if text else blocks,
        stop_reason="tool_use",
        heard=conversation.messages.order_by("-pk")[0].pk,
    )
    return [_kept(turn, message, block) for block in blocks]


def _kept(turn: Turn, message: Message, block: dict[str, Any]) -> ToolCall:
    with events.writing(turn.conversation_id) as locked:
        made = ToolCall.objects.create(
            conversation=locked,
            turn=turn,
            message=message,
            tool_use_id=block["id"],
            name=block["name"],
            arguments=block["input"],
        )
        executor.tell_work(locked, made, "started")
    return made


def press(card: Card) -> None:
    """The customer presses: a quote is redeemed, any other card is carried out as on its page."""
    actor = customer_actor(card.conversation.customer)
    if card.quote_id:
        redeem.redeem(quote_id=card.quote_id, actor=actor)
    else:
        carry_out(card, actor)


def becomes(refund: Refund, *states: RefundState) -> None:
    """The refund's moves, one after the other, as the shop makes them."""
    for state in states:
        move_refund(refund=refund, to=state, actor=cast.SHOP)


@contextmanager
def working(order: Order, model: Control) -> Iterator[None]:
    """The body runs while a worker waits for the model; afterwards the worker is waited for."""
    before = len(model.requests())
    worker = threading.Thread(target=_work_elsewhere, args=(newest_turn(order).pk,))
    worker.start()
    try:
        assert until(lambda: len(model.requests()) > before), "the model was not asked"
        yield
    finally:
        worker.join(30)
    assert not worker.is_alive()


def _work_elsewhere(turn_id: int) -> None:
    try:
        loop.run(turn_id)
    finally:
        connections.close_all()


def at_once(*actions: Callable[[], Any]) -> list[Any]:
    """Run the actions in threads that start together, each on its own connection."""
    start = threading.Barrier(len(actions))

    def run(action: Callable[[], Any]) -> Any:
        start.wait()
        try:
            return action()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(run, actions))


class Meanwhile:
    """Something that another thread does on its own connection, from `begin` on."""

    def __init__(self, action: Callable[[], Any], pool: ThreadPoolExecutor) -> None:
        self._action, self._pool = action, pool
        self._future: Future[Any] | None = None

    def begin(self) -> None:
        self._future = self._pool.submit(self._run)

    def _run(self) -> Any:
        try:
            return self._action()
        finally:
            connections.close_all()

    def result(self) -> Any:
        assert self._future is not None
        return self._future.result(timeout=20)


@contextmanager
def meanwhile(action: Callable[[], Any]) -> Iterator[Meanwhile]:
    with ThreadPoolExecutor(1) as pool:
        yield Meanwhile(action, pool)


def until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Wait for something that another thread does; False if it does not come about."""
    pause = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if condition():
            return True
        pause.wait(0.02)
    return False


def told(order: Order, kind: str) -> list[dict[str, Any]]:
    """The data of the page's events of one kind, in order, of the newest conversation."""
    return [event.data for event in talk(order).events.filter(kind=kind).order_by("number")]


def texts(order: Order, author: str = Author.AGENT) -> list[str]:
    """What the page was shown of one author."""
    return [data["text"] for data in told(order, "message") if data["author"] == author]


def results(order: Order) -> list[dict[str, Any]]:
    """The answers of all calls, in order."""
    return [each.result or {} for each in ToolCall.objects.filter(conversation__order=order).order_by("pk")]


def refused_requests(model: Control) -> list[str]:
    """What the stand-in would not take, as the real API would not."""
    return [entry["error"] for entry in model.requests() if entry["error"] and entry["status"] == 400]


def ephemeral(order: Order, kind: str) -> list[dict[str, Any]]:
    """The data of the passing events of one kind that Redis still has for the order's page."""
    conversation = talk(order)
    page = events.page_key(conversation.order_id, conversation.customer_id).encode()
    entries: Any = events.carrier().xrange(events.TOLD_KEY)
    mine = [entry for _, entry in entries if entry.get(b"page") == page]
    return [json.loads(entry[b"data"]) for entry in mine if entry[b"kind"].decode() == kind]


def last_request(model: Control) -> list[dict[str, Any]]:
    """The messages of the newest request, without the marks for the cache."""
    messages: Sequence[dict[str, Any]] = model.requests()[-1]["body"]["messages"]
    return [{"role": each["role"], "content": [_unmarked(block) for block in each["content"]]} for each in messages]


def _unmarked(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}
