"""Which lists can be taken away as files: what narrows them, which columns they have, and who may have them.

Each is read batch by batch from a place in it on, by the index that sorts it: a file of 100,000 rows holds no more rows
in memory than one of 1,000, and a worker that comes later goes on where another stopped.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _

from backoffice.screens import audit_facts, audit_filters, order_filters
from backoffice.screens.gate import EXPORT_GOODS, EXPORT_MONEY, HISTORY, may
from orders import search as finding
from orders.actors import Actor
from orders.csv_text import Cell, plain_amount
from orders.models import AuditEvent, Order
from orders.prose import listed
from orders.words import action_name, actor_name, shipping_name, told_as
from refunds import selectors
from refunds.models import Refund, Return
from refunds.states import OPEN_RETURNS, RefundState, ReturnState

Filters = Mapping[str, str]
# Where in the list a batch ended: the value it is sorted by, and the key.
Cursor = list[Any]


class Kind(ABC):
    """One list. `narrows`: the names in its address that it understands."""

    name: str
    permissions: tuple[str, ...]
    narrows: tuple[str, ...]
    # What it is sorted by, newest first, and then by key.
    sorted_by: str

    @abstractmethod
    def rows(self, filters: Filters) -> QuerySet[Any]:
        """All rows, not sorted, with nothing joined."""

    @abstractmethod
    def with_all(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows with everything that `cells` reads."""

    @abstractmethod
    def columns(self) -> Sequence[str]: ...

    @abstractmethod
    def cells(self, record: Any) -> Sequence[Cell]: ...

    def is_open_to(self, user: AbstractBaseUser | AnonymousUser) -> bool:
        return may(user, self.permissions)

    def permission_of(self, actor: Actor) -> str:
        """The one of its permissions that the actor has; the first where none."""
        held = [each for each in self.permissions if actor.user and actor.user.has_perm(each)]
        return (held or self.permissions)[0]

    def filters_of(self, query: QueryDict) -> dict[str, str]:
        """What of the query the list understands, as it is kept."""
        return {name: value for name in self.narrows if (value := query.get(name, "").replace("\x00", "")[:100])}

    def count(self, filters: Filters, most: int) -> int:
        """How many rows there are, counted up to `most`."""
        return self.rows(filters).order_by()[:most].count()

    def batch(self, filters: Filters, cursor: Cursor | None, size: int) -> tuple[list[Any], Cursor | None]:
        """The next `size` rows behind the cursor, and where they end; None where there were none."""
        rows = self.rows(filters)
        if cursor:
            moment, key = datetime.fromisoformat(cursor[0]), cursor[1]
            before = Q(**{f"{self.sorted_by}__lt": moment}) | Q(pk__lt=key)
            rows = rows.filter(Q(**{f"{self.sorted_by}__lte": moment}) & before)
        records = list(self.with_all(rows).order_by(f"-{self.sorted_by}", "-pk")[:size])
        if not records:
            return [], None
        last = records[-1]
        return records, [getattr(last, self.sorted_by).isoformat(), last.pk]


class Orders(Kind):
    name = "orders"
    permissions = EXPORT_MONEY
    narrows = ("q", "state", "talk", "from", "to", "currency", "over", "under")
    sorted_by = "placed_at"

    def rows(self, filters: Filters) -> QuerySet[Any]:
        query = QueryDict(mutable=True)
        query.update(dict(filters))
        return order_filters.narrowed(Order.objects.all(), order_filters.read(query))

    def with_all(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.select_related("customer").prefetch_related("payments", "lines")

    def count(self, filters: Filters, most: int) -> int:
        if not filters.get("q"):
            return super().count(filters, most)
        return finding.count(self.rows(filters), filters["q"], limit=most)

    def batch(self, filters: Filters, cursor: Cursor | None, size: int) -> tuple[list[Any], Cursor | None]:
        """Searched as the list is: by several indexes, of which each gives its newest."""
        if not filters.get("q"):
            return super().batch(filters, cursor, size)
        rows = self.rows(filters)
        if cursor:
            moment, key = datetime.fromisoformat(cursor[0]), cursor[1]
            rows = rows.filter(Q(placed_at__lte=moment) & (Q(placed_at__lt=moment) | Q(pk__lt=key)))
        places = finding.matching(rows, filters["q"], limit=size)
        if not places:
            return [], None
        found = self.with_all(Order.objects.filter(pk__in=[key for _placed, key in places]))
        return list(found.order_by("-placed_at", "-pk")), [places[-1][0].isoformat(), places[-1][1]]

    def columns(self) -> Sequence[str]:
        return (
            _("Order"),
            _("Placed at"),
            _("Customer"),
            _("E-mail"),
            _("Goods"),
            _("Shipping method"),
            _("Paid"),
            _("Given back"),
            _("Currency"),
        )

    def cells(self, record: Order) -> Sequence[Cell]:
        payments = list(record.payments.all())
        return (
            record.number,
            record.placed_at,
            record.customer.name,
            record.customer.email,
            listed(f"{line.name} × {line.quantity}" for line in record.lines.all()),
            shipping_name(record.shipping_method),
            plain_amount(sum(payment.amount for payment in payments), record.currency),
            plain_amount(sum(payment.refunded_amount for payment in payments), record.currency),
            record.currency,
        )


class Refunds(Kind):
    name = "refunds"
    permissions = EXPORT_MONEY
    narrows = ("state", "from", "to")
    sorted_by = "created_at"

    def rows(self, filters: Filters) -> QuerySet[Any]:
        rows = _within(Refund.objects.all(), filters, "created_at")
        state = filters.get("state", "")
        return rows.filter(state=state) if state in RefundState.values else rows

    def with_all(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.select_related("order__customer", "confirmed_by", "decided_by").prefetch_related(
            "quote__lines__line_item", "quote__lines__shipment_line__product"
        )

    def columns(self) -> Sequence[str]:
        return (
            _("Refund"),
            _("Order"),
            _("Customer"),
            _("Kind"),
            _("State"),
            _("Amount"),
            _("Currency"),
            _("Goods"),
            _("Reasons"),
            _("Confirmed by"),
            _("Note"),
            _("Decided by"),
            _("Confirmed at"),
            _("Money back at"),
        )

    def cells(self, record: Refund) -> Sequence[Cell]:
        lines = list(record.quote.lines.all()) if record.quote else []
        return (
            record.pk,
            record.order.number,
            record.order.customer.name,
            record.get_kind_display(),
            record.get_state_display(),
            plain_amount(record.amount, record.currency),
            record.currency,
            listed(f"{line.name} × {line.quantity}" for line in lines),
            listed(dict.fromkeys(str(line.get_reason_display()) for line in lines)),
            _person(record.confirmed_by) or str(record.get_confirmed_by_kind_display()),
            record.note,
            _person(record.decided_by),
            record.created_at,
            record.finished_at if record.state == RefundState.SUCCEEDED else None,
        )


class ReturnedGoods(Kind):
    """Returns as whoever handles the goods has them: what comes back and why, and nothing about money."""

    name = "returned_goods"
    permissions: tuple[str, ...] = EXPORT_GOODS
    narrows = ("q", "state", "from", "to")
    sorted_by = "created_at"

    def rows(self, filters: Filters) -> QuerySet[Any]:
        rows = _within(selectors.ending_with(filters.get("q", "")), filters, "created_at")
        state = filters.get("state", "")
        if state == "open":
            return rows.filter(state__in=OPEN_RETURNS)
        return rows.filter(state=state) if state in ReturnState.values else rows

    def with_all(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.select_related("order__customer").prefetch_related(
            "lines__line_item", "lines__shipment_line__product"
        )

    def columns(self) -> Sequence[str]:
        return (
            _("Return"),
            _("Order"),
            _("Customer"),
            _("Kind"),
            _("State"),
            _("Goods"),
            _("Reasons"),
            _("Asked for at"),
        )

    def cells(self, record: Return) -> Sequence[Cell]:
        lines = list(record.lines.all())
        return (
            record.pk,
            record.order.number,
            record.order.customer.name,
            record.get_kind_display(),
            record.get_state_display(),
            listed(f"{line.name} × {line.quantity}" for line in lines),
            listed(dict.fromkeys(str(line.get_reason_display()) for line in lines)),
            record.created_at,
        )


class Returns(ReturnedGoods):
    """The same with what was promised and what became of it, for whoever may see money."""

    name = "returns"
    permissions = EXPORT_MONEY

    def with_all(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return super().with_all(rows).select_related("quote")

    def columns(self) -> Sequence[str]:
        return (*super().columns(), _("Amount promised"), _("Currency"), _("Refund"))

    def cells(self, record: Return) -> Sequence[Cell]:
        promised = plain_amount(record.quote.amount, record.quote.currency) if record.quote else None
        return (*super().cells(record), promised, record.order.currency, record.refund_id)


class History(Kind):
    name = "audit"
    permissions = HISTORY
    narrows = ("q", "family", "who", "from", "to", "all")
    sorted_by = "at"

    def rows(self, filters: Filters) -> QuerySet[Any]:
        query = QueryDict(mutable=True)
        query.update(dict(filters))
        return audit_filters.events(audit_filters.read(query))

    def with_all(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.select_related("order__customer").prefetch_related("order__lines", "order__payments")

    def columns(self) -> Sequence[str]:
        return (
            _("Time"),
            _("Order"),
            _("Who"),
            _("Kind of actor"),
            _("What happened"),
            _("Amount"),
            _("Currency"),
            _("Why"),
            _("About"),
            _("Action"),
            _("Code"),
        )

    def cells(self, record: AuditEvent) -> Sequence[Cell]:
        amount = audit_facts.amount_of(record)
        return (
            record.at,
            record.order.number if record.order else "",
            actor_name(record),
            str(record.get_actor_kind_display()),
            audit_facts.sentence_of(record),
            plain_amount(*amount) if amount else None,
            amount[1] if amount else "",
            audit_facts.reason_of(record),
            audit_facts.about(record),
            action_name(told_as(record)),
            record.action,
        )


_ALL: Final = (Orders(), Refunds(), Returns(), ReturnedGoods(), History())
KINDS: Final[Mapping[str, Kind]] = {kind.name: kind for kind in _ALL}
# What a list is without its money: another list, so that a worker, and whoever takes the file away, is asked for the
# right that goes with what stands in it.
_WITHOUT_MONEY: Final[Mapping[str, str]] = {"returns": "returned_goods"}


def open_to(name: str, user: AbstractBaseUser | AnonymousUser) -> Kind | None:
    """The list of this name as this person may have it. None: there is none. Raises `PermissionDenied`."""
    kind = KINDS.get(name)
    while kind is not None and not kind.is_open_to(user):
        if kind.name not in _WITHOUT_MONEY:
            raise PermissionDenied
        kind = KINDS[_WITHOUT_MONEY[kind.name]]
    return kind


def _within(rows: QuerySet[Any], filters: Filters, field: str) -> QuerySet[Any]:
    """Between two days, both in it; what is no day narrows nothing."""
    for name, way, more in (("from", "gte", 0), ("to", "lt", 1)):
        try:
            day = date.fromisoformat(filters.get(name, "")) + timedelta(days=more)
        except (ValueError, OverflowError):
            continue
        rows = rows.filter(**{f"{field}__{way}": timezone.make_aware(datetime.combine(day, time()))})
    return rows


def _person(user: Any) -> str:
    return (user.get_full_name() or user.get_username()) if user else ""
