"""How much the agent may do: per turn, per conversation and per customer in 24 hours. All of it stands in the settings.

A turn asks before every request to the model, in the transaction that decides to go on. Messages per minute are counted
where they come in (`agent/intake.py`). Costs are those of the shop's bill for the model, not customers' money.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.conf import settings
from django.db import connection
from django.db.models import Max, Q
from django.utils import timezone
from django.utils.translation import gettext as translate

from agent import plain
from agent.history import NextStep
from agent.models import Conversation, ModelCall, ToolCall, Turn
from agent.states import Author, TurnState
from orders.errors import Refusal

DAY = timedelta(hours=24)
# A reply was kept, or one that broke had begun.
HAS_COST = Q(steps__gt=0) | Q(cost_micro__gt=0)
MICRO_IN_A_CENT = 10_000
# As many conversations of one customer may be at work at once, far from a limit, without passing it.
FEWEST_TO_THE_LIMIT = 10
FEWEST_MINUTES = 2
MOST_WORKERS_LOST = 5
SAME_AGAIN, TOO_MANY = "same_call_again", "too_many_calls_in_turn"


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit that is reached: `name` is the turn's error and names the words. `hand_off`: waiting will not help.

    `again_at`: when the agent may answer the customer again, for limits that pass; `minutes`: in how many it may, where
    that depends on what is at work now.
    """

    name: str
    hand_off: bool = False
    again_at: datetime | None = None
    minutes: int = 0

    @property
    def values(self) -> dict[str, str | int]:
        """What the words say of it: the time by the shop's clock, rounded up so that it is not said too early."""
        if self.again_at is None:
            return {"minutes": self.minutes} if self.minutes else {}
        return {"when": f"{timezone.localtime(self.again_at + timedelta(seconds=59)):%m/%d %H:%M}"}


def reached(conversation: Conversation, turn: Turn, step: NextStep, *, out_of_time: bool) -> Limit | None:
    """The first limit that keeps the turn from its next step. Inside `holding`.

    What the model has asked for already is still run, unless it takes workers down or has no time.
    """
    if step == "run_tools":
        return _of_work(turn, out_of_time=out_of_time)
    return _of_work(turn, out_of_time=out_of_time) or _of_turn(turn) or _of_totals(conversation, turn)


def _of_work(turn: Turn, *, out_of_time: bool) -> Limit | None:
    if turn.failures >= MOST_WORKERS_LOST:
        # The next worker would follow those that it has taken down with it.
        return Limit("workers_lost", hand_off=True)
    return Limit("seconds") if out_of_time else None


def _of_turn(turn: Turn) -> Limit | None:
    if turn.steps > 1 and _in_circles(turn):
        return Limit("circles", hand_off=True)
    if turn.steps >= settings.AGENT_MAX_STEPS:
        return Limit("steps")
    if turn.input_tokens + turn.cached_tokens + turn.output_tokens >= settings.AGENT_MAX_TURN_TOKENS:
        return Limit("tokens")
    return None


def conversation_is_full(conversation: Conversation) -> bool:
    """May the agent not answer in it any more, however long one waits?"""
    return _of_conversation(_totals(conversation), first=True) is not None


def _of_conversation(totals: dict[str, int], *, first: bool) -> Limit | None:
    if totals["spent"] >= settings.AGENT_MAX_CENTS_PER_CONVERSATION * MICRO_IN_A_CENT:
        return Limit("conversation_spend", hand_off=True)
    if first and totals["turns"] >= settings.AGENT_MAX_TURNS_PER_CONVERSATION:
        return Limit("conversation_turns", hand_off=True)
    return None


def _of_totals(conversation: Conversation, turn: Turn) -> Limit | None:
    """Turns are counted before a turn's first request only: one that has begun may come to its end."""
    totals = _totals(conversation)
    if limit := _of_conversation(totals, first=turn.steps == 0):
        return limit
    near_cost = _is_near(totals["day_spent"] // MICRO_IN_A_CENT, settings.AGENT_MAX_CENTS_PER_CUSTOMER_DAY)
    if near_cost or _is_near(totals["day_turns"], settings.AGENT_MAX_TURNS_PER_CUSTOMER_DAY):
        return _of_the_day(conversation, turn)
    return None


def _is_near(used: int, most: int) -> bool:
    """So near that what the customer's other conversations are at could pass the limit."""
    return used >= most - max(most // 10, FEWEST_TO_THE_LIMIT)


def _of_the_day(conversation: Conversation, turn: Turn) -> Limit | None:
    """Near a limit, a customer's conversations decide one after the other, and what is at work counts for the next.

    It counts as a turn, and with what the dearest request of the day has cost, for nobody knows yet what it will cost.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"customer_day:{conversation.customer_id}"])
    counted = _day_of(conversation)
    if limit := _of_day_cost(counted):
        return limit
    others = [each for each in counted if each.turn_id != turn.pk]
    over = len(others) - settings.AGENT_MAX_TURNS_PER_CUSTOMER_DAY
    if turn.steps == 0 and over >= 0:
        return Limit("customer_turns", again_at=others[over].queued_at + DAY)
    if not turn.counts_already:
        turn.counts_already = True
        turn.save(update_fields=["counts_already"])
    return None


def _of_day_cost(counted: list["_Counted"]) -> Limit | None:
    """When so many turns are a day old that what is left is below the limit, the agent may go on.

    Where only what others are expected to cost reaches it, that is known as soon as they have come to their end.
    """
    most = settings.AGENT_MAX_CENTS_PER_CUSTOMER_DAY * MICRO_IN_A_CENT
    left = sum(each.cost for each in counted)
    if left < most:
        expected = sum(each.expected for each in counted)
        return Limit("busy", minutes=_minutes_of_a_turn()) if left + expected >= most else None
    for each in counted:
        left -= each.cost
        if left < most:
            break
    return Limit("customer_spend", again_at=each.queued_at + DAY)


def _minutes_of_a_turn() -> int:
    return max(ceil(settings.AGENT_MAX_TURN_SECONDS / 60), FEWEST_MINUTES)


def _totals(conversation: Conversation) -> dict[str, int]:
    """Turns in which the model has cost something, and micro-dollars: of the conversation, and of the last 24 hours."""
    found = plain.row(_TOTALS, conversation.pk, timezone.now() - DAY, conversation.customer_id) or ()
    return dict(zip(("turns", "spent", "day_turns", "day_spent"), found, strict=True))


_TOTALS = """
select count(*) filter (where here and has_cost), coalesce(sum(cost_micro) filter (where here), 0)::bigint,
       count(*) filter (where today and has_cost), coalesce(sum(cost_micro) filter (where today), 0)::bigint
from (
  select conversation_id = %s as here, queued_at > %s as today, steps > 0 or cost_micro > 0 as has_cost, cost_micro
  from agent_turn turn join agent_conversation talk on talk.id = turn.conversation_id where talk.customer_id = %s
) turns where here or today
"""


@dataclass(frozen=True, slots=True)
class _Counted:
    """A turn of the customer's day. In micro-dollars its `cost`, and what more is `expected` where it is at work."""

    turn_id: int
    queued_at: datetime
    cost: int
    expected: int


def _day_of(conversation: Conversation) -> list[_Counted]:
    """The turns that count for the customer's day, oldest first; other conversations' as they are at work."""
    at_work = Q(state__in=[TurnState.QUEUED, TurnState.RUNNING], counts_already=True)
    turns = Turn.objects.filter(
        conversation__customer=conversation.customer_id, queued_at__gt=timezone.now() - DAY
    ).order_by("queued_at", "pk")
    busy = set(turns.filter(at_work).exclude(conversation=conversation).values_list("pk", flat=True))
    dearest = ModelCall.objects.filter(turn__in=turns.order_by()).aggregate(most=Max("cost_micro"))["most"] or 0
    rows = turns.filter(HAS_COST | at_work).values_list("pk", "queued_at", "cost_micro")
    return [_Counted(pk, queued_at, cost, dearest * (pk in busy)) for pk, queued_at, cost in rows]


def check_call(call: ToolCall) -> None:
    """Raises a Refusal that tells the model what to do, for a call that is too much for its turn."""
    before = ToolCall.objects.filter(turn=call.turn_id, pk__lt=call.pk)
    if before.count() >= settings.AGENT_MAX_TOOL_CALLS_PER_TURN:
        raise Refusal(
            TOO_MANY,
            translate("Too many calls for one answer: this one was not run."),
            hint=translate(
                "Call no more tools now. Tell the customer what you have found out so far, or offer them a person."
            ),
        )
    if before.filter(name=call.name, arguments=call.arguments).count() >= settings.AGENT_MAX_SAME_CALLS:
        raise Refusal(
            SAME_AGAIN,
            translate("You have made this very call %(count)s times already: it was not run again.")
            % {"count": settings.AGENT_MAX_SAME_CALLS},
            hint=translate("Use the answers you have, change the arguments, or tell the customer what is missing."),
        )


def _in_circles(turn: Turn) -> bool:
    """Were calls of the last two replies refused by `check_call`? The model has been told, and did not listen."""
    replies = turn.messages.filter(author=Author.AGENT).order_by("-pk")[:2]
    refused = Q(is_error=True, result__code__in=[SAME_AGAIN, TOO_MANY])
    return len(replies) == 2 and all(reply.tool_calls.filter(refused).exists() for reply in replies)
