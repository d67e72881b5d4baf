"""Numbers about conversations for the reports: who answered, how soon, and what the model cost.

All of them are about conversations that began in the days asked for, so that they belong together. What a number
means in words stands on the page (`backoffice/screens/report_tables.py`); it says what is said here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final

from django.db.models import (
    Case,
    CharField,
    Count,
    DurationField,
    Exists,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce

from agent.models import Conversation, Message, ModelCall, Turn
from agent.states import LIVE_TURNS, Author
from agent.usage import OFFLINE_SCRIPT
from orders.models import AuditEvent
from orders.periods import Period, Spread, local_day, spread

# What became of a conversation.
ALONE: Final = "alone"
PERSON: Final = "person"
OPEN: Final = "open"
OUTCOMES: Final = (ALONE, PERSON, OPEN)
# The reason under which a colleague stands who came without being asked.
STEPPED_IN: Final = "stepped_in"


@dataclass(frozen=True, slots=True)
class Cost:
    """What conversations have cost, in millionths of a US dollar."""

    conversations: int
    micro: int
    is_script: bool = False  # the stand-in has answered some of it, and is not charged

    @property
    def each(self) -> int | None:
        """Of one conversation, rounded up."""
        return -(-self.micro // self.conversations) if self.conversations else None


def begun(period: Period) -> QuerySet[Conversation]:
    return Conversation.objects.filter(**period.within("created_at")).order_by()


def outcomes_by_day(period: Period) -> dict[date, dict[str, int]]:
    """Conversations by the day they began and by who answered: days without any are left out.

    `alone`: the assistant has answered, nothing of its work is left, and no person was asked for or wrote. `person`:
    one was, or did. `open`: neither yet.
    """
    said = Message.objects.filter(conversation=OuterRef("pk"))
    live = Turn.objects.filter(conversation=OuterRef("pk"), state__in=LIVE_TURNS)
    outcome: Case = Case(
        When(_met_a_person(), then=Value(PERSON)),
        When(Exists(said.filter(author=Author.AGENT)) & ~Exists(live), then=Value(ALONE)),
        default=Value(OPEN),
        output_field=CharField(),
    )
    rows = begun(period).values(outcome=outcome, day=local_day("created_at")).annotate(count=Count("pk"))
    found: dict[date, dict[str, int]] = {}
    for row in rows:
        found.setdefault(row["day"], {})[row["outcome"]] = row["count"]
    return found


def _met_a_person() -> Q:
    by_staff = Message.objects.filter(conversation=OuterRef("pk"), author=Author.STAFF)
    return ~Q(hand_off_reason="") | Q(owner__isnull=False) | Q(Exists(by_staff))


def hand_offs(period: Period) -> Mapping[str, int]:
    """Conversations that met a person, by why one was last asked for; the most frequent first."""
    reason: Case = Case(
        When(hand_off_reason="", then=Value(STEPPED_IN)), default=F("hand_off_reason"), output_field=CharField()
    )
    rows = begun(period).filter(_met_a_person()).values(reason=reason)
    return {row["reason"]: row["count"] for row in rows.annotate(count=Count("pk")).order_by("-count", "reason")}


def first_answer_of_assistant(period: Period) -> Spread:
    """From the customer's first message until the first words of the assistant's first answer.

    Where a colleague had written before it, from the customer's first message after that. When the turn was queued says
    nothing: it is queued anew after each press.
    """
    said = Message.objects.filter(conversation=OuterRef("conversation")).order_by("pk")
    by_staff = Message.objects.filter(
        conversation=OuterRef("conversation"), author=Author.STAFF, created_at__lt=OuterRef("first_text_at")
    )
    answered = by_staff.order_by("-pk").values("pk")[:1]
    asked = said.filter(author=Author.CUSTOMER, pk__gt=Coalesce(OuterRef("answered"), Value(0)))
    answer = (
        Turn.objects.filter(conversation=OuterRef("pk"), first_text_at__isnull=False)
        .annotate(answered=Subquery(answered))
        .annotate(asked=Subquery(asked.values("created_at")[:1]))
        .annotate(took=F("first_text_at") - F("asked"))
    )
    return spread(begun(period), Subquery(answer.order_by("pk").values("took")[:1]))


def first_answer_of_people(period: Period) -> Spread:
    """How long customers had waited for a person when one answered, in answers given in the period."""
    answers = AuditEvent.objects.filter(action="conversation.answered", **period.within("at"))
    waited = answers.filter(outcome__has_key="waited_seconds")
    return spread(waited, Cast(KT("outcome__waited_seconds"), DurationField()))


def cost(period: Period) -> Cost:
    """All that conversations begun in the period have cost, and how many of them asked a model anything."""
    calls = ModelCall.objects.filter(conversation__in=begun(period).values("pk"))
    found = calls.order_by().aggregate(
        conversations=Count("conversation", distinct=True),
        micro=Sum("cost_micro"),
        of_script=Count("pk", filter=Q(model=OFFLINE_SCRIPT)),
    )
    return Cost(found["conversations"], found["micro"] or 0, is_script=found["of_script"] > 0)
