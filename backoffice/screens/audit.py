"""The history: one question, one search, and the story in sentences. Who gave back what, when, and why."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from backoffice.screens import audit_filters
from backoffice.screens.audit_facts import Told, told
from backoffice.screens.audit_filters import FAMILIES, PER_PAGE, Filters
from backoffice.screens.gate import HISTORY, staff_screen
from orders.models import AuditEvent, Order
from orders.states import ActorKinds

# A list of colleagues that is longer than this is of no use as a list.
MOST_COLLEAGUES = 200


@dataclass(slots=True)
class Group:
    """Events of one order (None: of no order), the oldest first."""

    order: Order | None
    events: list[Told] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Page:
    events: list[AuditEvent]
    before: str
    after: str


@never_cache
@require_safe
@staff_screen(HISTORY)
def search(request: HttpRequest) -> HttpResponse:
    filters = audit_filters.read(request.GET)
    page = page_of(filters, request)
    context = {
        "here": "audit",
        "filters": filters,
        "question": filters.question,
        "families": [
            {"key": key, "label": label, "query": filters.address(family=key)} for key, (label, _) in FAMILIES.items()
        ],
        "every_family": filters.address(family=""),
        "quiet": filters.address(all="" if filters.with_quiet else "1"),
        "kinds": ActorKinds.choices,
        "colleagues": audit_filters.colleagues()[:MOST_COLLEAGUES],
        "groups": groups_of(page.events, request, filters),
        "before": page.before and filters.address(before=page.before),
        "after": page.after and filters.address(after=page.after),
        "first": filters.address(),
        "export": filters.asked(),
    }
    return render(request, "staff/audit.html", context)


def page_of(filters: Filters, request: HttpRequest) -> Page:
    """A story is read from its beginning on, everything else from the newest event back."""
    rows = audit_filters.events(filters)
    place, forwards = audit_filters.cursor_of(request.GET) or (None, True)
    ascending = filters.question.is_story == forwards
    if place is not None:
        rows = rows.filter(audit_filters.beyond(place, later=ascending))
    found = list(with_order(rows.order_by(*(("at", "pk") if ascending else ("-at", "-pk"))))[: PER_PAGE + 1])
    more, found = len(found) > PER_PAGE, found[:PER_PAGE]
    if not forwards:
        found.reverse()
    if not found:
        return Page([], "", "")
    return Page(
        events=found,
        before=audit_filters.written(found[0]) if (place is not None if forwards else more) else "",
        after=audit_filters.written(found[-1]) if (more if forwards else True) else "",
    )


def with_order(rows: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
    """With all that a sentence names."""
    return rows.select_related("order__customer").prefetch_related("order__lines", "order__payments")


def groups_of(events: Iterable[AuditEvent], request: HttpRequest, filters: Filters) -> list[Group]:
    """By order, in the order in which the page comes to them; inside, the oldest event first."""
    groups: dict[Any, Group] = {}
    for event in events:
        group = groups.setdefault(event.order_id, Group(event.order))
        group.events.append(told(event, request.user, filters.question.subjects))
    for group in groups.values():
        group.events.sort(key=lambda each: (each.at, each.event.pk))
        group.events = _each_reason_once(group.events)
    return list(groups.values())


def _each_reason_once(events: list[Told]) -> list[Told]:
    """One press confirms the quote and sets the refund off: the same words stand at the first of the two only."""
    pairs = zip([None, *events], events, strict=False)
    return [replace(each, quotes=()) if last and last.quotes == each.quotes else each for last, each in pairs]
