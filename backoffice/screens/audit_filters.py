"""What the history is narrowed by, as its address says it, and its pages: from an event on, not by counting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy

from agent.models import Card
from backoffice.screens.audit_question import Question, understood
from orders.models import AuditEvent
from orders.states import ActorKinds
from orders.words import known_actions

PER_PAGE: Final = 50
NAMES: Final = ("family", "who", "from", "to", "all")
# What an action begins with, by what people ask about.
FAMILIES: Final[Mapping[str, tuple[str | Promise, frozenset[str]]]] = {
    "money": (gettext_lazy("Money"), frozenset({"quote", "refund", "allocation", "attempt", "store_credit"})),
    "decisions": (gettext_lazy("Decisions and rules"), frozenset({"approval", "policy"})),
    "goods": (gettext_lazy("Goods"), frozenset({"order", "shipment", "return", "replacement", "product"})),
    "talk": (
        gettext_lazy("Conversations"),
        frozenset({"conversation", "message", "card", "turn", "mail", "canned_reply"}),
    ),
    "access": (gettext_lazy("Access and files"), frozenset({"customer_link", "export", "alert"})),
}
# Steps of the machine that say nothing of what anybody decided: shown on demand.
QUIET: Final = frozenset({"turn.queued", "turn.running", "turn.waiting", "turn.done", "attempt.sending"})
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
Place = tuple[datetime, int]


@dataclass(frozen=True, slots=True)
class Filters:
    question: Question
    family: str
    who: str
    since: date | None
    until: date | None
    with_quiet: bool

    @property
    def are_set(self) -> bool:
        return bool(self.family or self.who or self.since or self.until)

    def asked(self) -> dict[str, str]:
        """As the address has it; what is not set is left out."""
        values = {
            "q": self.question.text,
            "family": self.family,
            "who": self.who,
            "from": self.since.isoformat() if self.since else "",
            "to": self.until.isoformat() if self.until else "",
            "all": "1" if self.with_quiet else "",
        }
        return {name: value for name, value in values.items() if value}

    def address(self, **changed: str) -> str:
        """The query of the first page with these changes."""
        return urlencode({name: value for name, value in {**self.asked(), **changed}.items() if value})


def read(query: QueryDict) -> Filters:
    """What cannot be understood counts as not said."""
    family, who = query.get("family", ""), query.get("who", "")
    known_person = who.isascii() and who.isdigit() and len(who) < 10
    return Filters(
        question=understood(query.get("q", "")),
        family=family if family in FAMILIES else "",
        who=who if known_person or who in ActorKinds.values else "",
        since=_day(query.get("from", "")),
        until=_day(query.get("to", "")),
        with_quiet=query.get("all") == "1",
    )


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        return None
    return day if 1970 <= day.year <= 2999 else None


def events(filters: Filters) -> QuerySet[AuditEvent]:
    """Without an order yet."""
    if filters.question.events is None:
        return AuditEvent.objects.none()
    rows = AuditEvent.objects.filter(filters.question.events)
    if filters.family:
        rows = rows.filter(action__in=_actions_of(filters.family, filters.with_quiet))
    elif not filters.with_quiet:
        rows = rows.exclude(action__in=sorted(QUIET))
    # Whoever asks by a number wants to see whatever that number has to do with.
    if not filters.with_quiet and not filters.question.subjects:
        rows = rows.exclude(tried_out())
    if filters.who:
        rows = rows.filter(Q(actor_user=int(filters.who)) if filters.who.isdigit() else Q(actor_kind=filters.who))
    if filters.since:
        rows = rows.filter(at__gte=_midnight(filters.since))
    if filters.until:
        rows = rows.filter(at__lt=_midnight(filters.until + timedelta(days=1)))
    return rows


def tried_out() -> Q:
    """What tells of quotes that staff only looked at while choosing: neither pressed nor declined nor offered."""
    told = AuditEvent.objects.filter(subject_type="quote", subject_id=OuterRef("subject_id"))
    by_staff = Exists(told.filter(action="quote.opened", actor_kind=ActorKinds.STAFF))
    used = Exists(told.filter(action__in=["quote.redeemed", "quote.declined"]))
    offered = Exists(Card.objects.filter(quote=OuterRef("subject_id")))
    looked_at = ("quote.opened", "quote.superseded", "quote.expired")
    return Q(action__in=looked_at, subject_type="quote") & Q(by_staff) & ~Q(used) & ~Q(offered)


def _actions_of(family: str, with_quiet: bool) -> Sequence[str]:
    prefixes = FAMILIES[family][1]
    return sorted(
        action
        for action in known_actions()
        if action.partition(".")[0] in prefixes and (with_quiet or action not in QUIET)
    )


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time()))


def beyond(place: Place, *, later: bool) -> Q:
    """Events after the place, or before it. The first part is the index's, the second sets apart equal moments."""
    way = "gt" if later else "lt"
    moment, key = place
    return Q(**{f"at__{way}e": moment}) & (Q(**{f"at__{way}": moment}) | Q(**{f"pk__{way}": key}))


def cursor_of(query: QueryDict) -> tuple[Place, bool] | None:
    """The place that `?after=` or `?before=` names, and whether what comes after it is meant; None for neither."""
    for name in ("after", "before"):
        moment, _dot, key = query.get(name, "").partition(".")
        if moment.isascii() and moment.isdigit() and key.isascii() and key.isdigit() and len(moment) < 18 > len(key):
            return (EPOCH + timedelta(microseconds=int(moment)), int(key)), name == "after"
    return None


def written(event: AuditEvent) -> str:
    """The place of an event as it stands in an address."""
    return f"{(event.at - EPOCH) // timedelta(microseconds=1)}.{event.pk}"


def colleagues() -> QuerySet[User]:
    """Who may have acted at this desk: accounts that belong to no customer."""
    return User.objects.filter(customer__isnull=True).order_by("first_name", "username")
