"""The inbox of staff: conversations by who has to do something, whose job they are, and what somebody remembers.

Long lists are read from a place on, by the index of their order (`agent_conversation.conversation_newest`), and counts
stop where a person would not count on (`MOST_COUNTED`).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import BooleanField, Exists, Func, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce

from agent import selectors
from agent.models import Card, Conversation, Message, ReadMark
from agent.states import Author, CardState, ConversationState
from orders import search
from orders.models import Order

STATES: Final = (*selectors.QUEUES, "all")
WHOSE: Final = ("all", "mine", "unassigned")
MOST_COUNTED: Final = 999
PER_PAGE: Final = 25
# Of orders that fit, those with the newest conversations would be better; there are hardly ever so many.
MOST_ORDERS: Final = 500
MOST_FOUND: Final = 5000
PIECE: Final = 2
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
PEOPLE: Final = (Author.CUSTOMER, Author.STAFF)


class SaysPieces(Func):
    """Whether words have all pieces of others: a sieve with an index (`agent_message_pieces`), made exact after it."""

    output_field = BooleanField()
    template = "orders_pieces(%(expressions)s, 2, 2)"
    arg_joiner = ", 2, 2) @> orders_pieces("


@dataclass(frozen=True, slots=True)
class Place:
    """A row's place in the list: what it is sorted by, and its number."""

    moment: datetime
    number: int

    def __str__(self) -> str:
        return f"{(self.moment - EPOCH) // MICROSECOND}-{self.number}"


@dataclass(frozen=True, slots=True)
class Slice:
    """The rows of a page; `before` and `after` are its first and last place where there is more beyond, else None."""

    rows: list[Any]
    before: Place | None
    after: Place | None


def place(text: str) -> Place | None:
    """The place that an address names; None for anything that was never given out."""
    micro, dash, number = text.partition("-")
    if not (dash and (micro + number).isascii() and micro.isdigit() and number.isdigit() and len(text) < 36):
        return None
    try:
        return Place(EPOCH + int(micro) * MICROSECOND, int(number))
    except OverflowError:
        return None


def conversations(*, state: str, whose: str, user: User, found: Q | None = None) -> QuerySet[Conversation]:
    """What stands in a view of the inbox, in its order. `found`: what somebody looks for, of `found`."""
    rows = _whose(selectors.queue("" if state == "all" else state), whose, user)
    return rows.filter(found) if found else rows


def _whose(rows: QuerySet[Conversation], whose: str, user: User) -> QuerySet[Conversation]:
    if whose == "mine":
        return rows.filter(Q(assignee=user) | Q(owner=user))
    return rows.filter(assignee=None, owner=None) if whose == "unassigned" else rows


def found(words: str) -> Q | None:
    """Which conversations have these words, looked for once for all the lists and counts of a page; None without any.

    By the order and its customer (`orders/search.py`), else by what customer or staff have said. Where more than
    `MOST_FOUND` have it in what was said, they are not named one by one: each list looks for them by itself.
    """
    if not words:
        return None
    talked_about = Order.objects.filter(Exists(Conversation.objects.filter(order=OuterRef("pk"))))
    orders = [number for _, number in search.matching(talked_about, words, limit=MOST_ORDERS)]
    either = Q(search.Among("order_id", orders)) if orders else Q()
    if len(words) >= PIECE:
        keys = list(said(words).values_list("conversation", flat=True).distinct()[: MOST_FOUND + 1])
        if len(keys) > MOST_FOUND:
            either |= Q(pk__in=said(words).values("conversation"))
        elif keys:
            either |= Q(search.Among("pk", keys))
    return either or Q(pk__in=[])


def said(words: str) -> QuerySet[Message]:
    """What customers and staff have said with these words in it."""
    has_pieces = Q(SaysPieces(KT("content__0__text"), Value(words)))
    return Message.objects.filter(has_pieces, author__in=PEOPLE, content__0__text__icontains=words).order_by()


def count(rows: QuerySet[Conversation]) -> int:
    """How many, but no more than one above `MOST_COUNTED`."""
    return rows.order_by()[: MOST_COUNTED + 1].count()


def page(rows: QuerySet[Conversation], *, longest_first: bool, after: Place | None, before: Place | None) -> Slice:
    """The rows behind `after`, or those in front of `before`; without either the first ones.

    `longest_first`: sorted by since when the customer waits, else the newest first.
    """
    key = "waiting_since" if longest_first else "updated_at"
    backwards = before is not None
    at = before or after
    # Up the list is down in time, unless those who have waited longest stand above.
    rising = longest_first != backwards
    if at is not None:
        beyond = "gt" if rising else "lt"
        same = Q(**{key: at.moment, f"pk__{beyond}": at.number})
        rows = rows.filter(Q(**{f"{key}__{beyond}": at.moment}) | same, **{f"{key}__{beyond}e": at.moment})
    sign = "" if rising else "-"
    there = list(rows.order_by(f"{sign}{key}", f"{sign}pk")[: PER_PAGE + 1])
    more = len(there) > PER_PAGE
    there = there[:PER_PAGE]
    if backwards:
        there.reverse()
    first = Place(getattr(there[0], key), there[0].pk) if there else None
    last = Place(getattr(there[-1], key), there[-1].pk) if there else None
    before_it = more if backwards else after is not None
    behind_it = True if backwards else more
    return Slice(there, first if before_it else None, last if behind_it else None)


def as_rows(rows: QuerySet[Conversation], user: User) -> QuerySet[Conversation]:
    """With what a row of the list shows, in the same query: the last words and who said them, what is open, what the
    reader has not read.
    """
    spoken = Message.objects.filter(conversation=OuterRef("pk")).exclude(author=Author.SYSTEM)
    newest = spoken.filter(content__contains=[{"type": "text"}]).order_by("-id")
    read_to = ReadMark.objects.filter(conversation=OuterRef("conversation"), staff=user).values("read_to")
    unread = Message.objects.filter(
        conversation=OuterRef("pk"), author=Author.CUSTOMER, pk__gt=Coalesce(Subquery(read_to), Value(0))
    )
    return rows.annotate(
        last_content=Subquery(newest.values("content")[:1]),
        last_author=Subquery(newest.values("author")[:1]),
        last_at=Subquery(newest.values("created_at")[:1]),
        has_card=Exists(Card.objects.filter(conversation=OuterRef("pk"), state=CardState.OPEN)),
        is_unread=Exists(unread),
        was_read=Exists(ReadMark.objects.filter(conversation=OuterRef("pk"), staff=user)),
    )


def stands_out(row: Any) -> bool:
    """Has the customer written something that the reader should see?

    Not where nobody ever had to look, nor where a colleague has answered it.
    """
    somebodys = row.needs_person or row.owner_id or row.assignee_id or row.was_read
    unanswered = row.last_author != Author.STAFF and row.state == ConversationState.OPEN
    return bool(row.is_unread and somebodys and unanswered)


def waiting_for_people() -> int:
    """How many wait for a person now, capped as `count`: the number beside the inbox."""
    return count(Conversation.objects.filter(selectors.NEEDS_PERSON))
