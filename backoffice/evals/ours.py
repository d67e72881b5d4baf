"""The toolset `task`: the desk as customers meet it. Its loop, its tools, its cards, and the buttons on the page."""

from typing import Final

from django.db.models import QuerySet

from agent import intake, loop, turns
from agent.models import Card, Conversation, Message, ModelCall, ToolCall, Turn
from agent.states import Author, CardState, ToolCallState, TurnState
from backoffice.evals.talk import Talk
from backoffice.evals.tasks import Step
from backoffice.evals.world import World

MOST_ROUNDS: Final = 20


class OurDesk:
    """The agent's side, and the customer's hands. What it says and does is read from the rows afterwards."""

    def __init__(self, world: World, talk: Talk) -> None:
        self.world, self.talk = world, talk
        self._last_message = 0
        self._answered: set[int] = set()

    @property
    def conversation(self) -> Conversation | None:
        return Conversation.objects.filter(order=self.world.order).order_by("-pk").first()

    def step(self, step: Step) -> None:
        if step.kind == "says":
            self.says(self.world.words(step.value))
        elif step.kind in {"presses", "declines"}:
            self._end_cards(step.value, declines=step.kind == "declines")
        self._read()

    def says(self, text: str) -> None:
        self.talk.add("customer", text)
        order = self.world.order
        intake.say(order=order, customer=order.customer, text=text, language=self.world.task.language)
        self._work()
        self._read()

    def is_waiting_for_words(self, step: Step) -> bool:
        """Is there nothing that the customer could press?"""
        return not self._open_cards("all").exists()

    def _open_cards(self, kind: str) -> QuerySet[Card]:
        found = Card.objects.filter(conversation__order=self.world.order, state=CardState.OPEN).order_by("created_at")
        return found if kind == "all" else found.filter(kind=kind)

    def _end_cards(self, kind: str, *, declines: bool) -> None:
        """The customer sees to what is on the page; what comes up after a press is theirs to see to as well."""
        seen: set[str] = set()
        while card := self._open_cards(kind).exclude(pk__in=seen).first():
            seen.add(card.pk)
            answer = self.world.browser.decline(card) if declines else self.world.browser.press(card)
            title = str(card.payload.get("button", card.kind))
            self.talk.add("card", title, name="decline" if declines else "confirm", result=answer)
            self.world.pay()
            self._work()
            self._read()

    def _work(self) -> None:
        """What the worker does: run the queued turn, until there is none."""
        for _ in range(MOST_ROUNDS):
            conversation = self.conversation
            turn = turns.live_turn(conversation) if conversation else None
            if turn is None or turn.state != TurnState.QUEUED:
                return
            loop.run(turn.pk)

    def _read(self) -> None:
        """Add to the talk what has come to be since it was last read: words, calls, and late answers of calls."""
        conversation = self.conversation
        if conversation is None:
            return
        for message in conversation.messages.filter(pk__gt=self._last_message).order_by("pk"):
            self._last_message = message.pk
            self._add(message)
            self._add_answers(conversation.tool_calls.filter(message=message))
        # Answers that came later: by a press, or because something had run out.
        self._add_answers(conversation.tool_calls.all())

    def _add_answers(self, calls: QuerySet[ToolCall]) -> None:
        for call in calls.filter(state=ToolCallState.ANSWERED).exclude(pk__in=self._answered).order_by("pk"):
            self._answered.add(call.pk)
            self.talk.add("tool", name=call.name, input=call.arguments, result=call.result, is_error=call.is_error)

    def _add(self, message: Message) -> None:
        if message.author == Author.AGENT and message.text:
            self.talk.add("agent", message.text)
        elif message.author in {Author.SYSTEM, Author.STAFF}:
            self.talk.add("system", message.text)

    def close(self) -> None:
        """Read what is left, and what it has cost."""
        self._read()
        for call in ToolCall.objects.filter(conversation__order=self.world.order).exclude(state=ToolCallState.ANSWERED):
            self.talk.add("tool", name=call.name, input=call.arguments)
        used = self.talk.used
        for each in ModelCall.objects.filter(conversation__order=self.world.order):
            used.requests += 1
            used.fresh += each.input_tokens + each.written_tokens
            used.cached += each.cached_tokens
            used.output += each.output_tokens
            used.cost_micro += each.cost_micro
        last = Turn.objects.filter(conversation__order=self.world.order).order_by("-pk").first()
        self.talk.broken = last.error if last and last.state == TurnState.FAILED else ""
