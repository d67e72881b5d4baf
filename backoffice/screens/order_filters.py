"""What the list of orders is narrowed by, as it stands in the address: where the goods are, when, how much, talk."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Final

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.http import QueryDict
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from agent.models import Conversation
from agent.states import ConversationState
from backoffice.screens.forms import money_of
from orders.errors import InvalidInput
from orders.models import LineItem, Order, Shipment
from orders.money import DECIMALS, format_money
from orders.search import Among
from orders.states import ShipmentState
from refunds.models import Refund, Return
from refunds.states import OPEN_RETURNS, RELEASED

OF_ORDER: Final = OuterRef("pk")
NAMES: Final = ("state", "talk", "from", "to", "currency", "over", "under")
OF_MONEY: Final = frozenset({"currency", "over", "under"})
USUAL_CURRENCY: Final = "TWD"
FEW_UNSENT: Final = 1000


def _unsent() -> Among | Exists:
    """Named one by one while they are few, as they are: the database takes a third of all lines for unsent."""
    gone = F("cancelled_quantity") + F("fulfilled_quantity")
    lines = LineItem.objects.filter(quantity__gt=gone)
    orders = list(lines.order_by("order").values_list("order", flat=True).distinct()[: FEW_UNSENT + 1])
    return Among("pk", orders) if len(orders) <= FEW_UNSENT else Exists(lines.filter(order=OF_ORDER))


def _parcel(state: ShipmentState) -> Callable[[], Exists]:
    return lambda: Exists(Shipment.objects.filter(order=OF_ORDER, state=state))


# An order may be in several: some of its goods are on their way, others have come back.
STATES: Final[dict[str, tuple[str | Promise, Callable[[], Among | Exists]]]] = {
    "unsent": (gettext_lazy("Not sent yet"), _unsent),
    "packed": (gettext_lazy("Being packed"), _parcel(ShipmentState.PACKED)),
    "shipped": (gettext_lazy("On its way"), _parcel(ShipmentState.SHIPPED)),
    "delivered": (gettext_lazy("Delivered"), _parcel(ShipmentState.DELIVERED)),
    "lost": (gettext_lazy("Probably lost"), _parcel(ShipmentState.LOST)),
    "returning": (
        gettext_lazy("Coming back"),
        lambda: Exists(Return.objects.filter(order=OF_ORDER, state__in=OPEN_RETURNS)),
    ),
    "refunded": (
        pgettext_lazy("orders", "Refunded"),
        lambda: Exists(Refund.objects.filter(order=OF_ORDER).exclude(state__in=RELEASED)),
    ),
}


@dataclass(frozen=True, slots=True)
class Chip:
    """One thing that narrows the list, in words, and the address of the list without it."""

    text: str
    without: str


@dataclass(slots=True)
class Filters:
    """As the address says it. `wrong` says what of it cannot be used; the rest counts all the same."""

    typed: dict[str, str]
    currencies: list[str]
    search: str = ""
    state: str = ""
    talk: bool = False
    since: date | None = None
    until: date | None = None
    currency: str = ""
    over: int | None = None
    under: int | None = None
    wrong: list[str] = field(default_factory=list)

    @property
    def are_set(self) -> bool:
        return bool(self.used)

    @property
    def used(self) -> dict[str, str]:
        return {name: self.typed[name] for name in NAMES if self.typed.get(name)}

    def address(self, **changed: str) -> str:
        """The query of the list with these changes, from its first page; what is empty is left out."""
        asked = {"q": self.search, **self.used, **changed}
        return urlencode({name: value for name, value in asked.items() if value})

    @property
    def exported(self) -> dict[str, str]:
        """What the list as a file is narrowed by."""
        return {"q": self.search, **self.used} if self.search else self.used

    def chips(self) -> list[Chip]:
        words = {
            "talk": _("a conversation is open"),
            "from": self.since and _("from %(day)s") % {"day": date_format(self.since)},
            "to": self.until and _("until %(day)s") % {"day": date_format(self.until)},
            "currency": self.currency,
            "over": self._amount(self.over, _("from %(amount)s on")),
            "under": self._amount(self.under, _("at most %(amount)s")),
        }
        return [Chip(text, self.address(**{name: ""})) for name, text in words.items() if name in self.used and text]

    def _amount(self, amount: int | None, words: str) -> str:
        return words % {"amount": format_money(amount, self.counted_in)} if amount is not None else ""

    @property
    def counted_in(self) -> str:
        """The currency of the amounts: the chosen one, else the shop's usual."""
        if self.currency or USUAL_CURRENCY in self.currencies or not self.currencies:
            return self.currency or USUAL_CURRENCY
        return self.currencies[0]


def read(query: QueryDict, *, search: str = "", with_money: bool = True) -> Filters:
    """What the address says; what cannot be understood is told in `wrong` and left out.

    Not `with_money`: whoever sees no amounts does not find out about them by narrowing the list either.
    """
    typed = {name: query.get(name, "").strip().replace("\x00", "")[:40] for name in NAMES}
    if not with_money:
        typed |= dict.fromkeys(OF_MONEY, "")
    filters = Filters(typed, currencies_in_use(), search)
    filters.state = typed["state"] if typed["state"] in STATES else ""
    filters.talk = typed["talk"] == "open"
    filters.currency = typed["currency"] if typed["currency"] in filters.currencies else ""
    filters.since, filters.until = _day(filters, "from"), _day(filters, "to")
    filters.over, filters.under = _money(filters, "over"), _money(filters, "under")
    return filters


def _day(filters: Filters, name: str) -> date | None:
    if not filters.typed[name]:
        return None
    try:
        day = date.fromisoformat(filters.typed[name])
    except ValueError:
        filters.wrong.append(_("Write a date like %(example)s.") % {"example": timezone.localdate().isoformat()})
        return None
    return day if 1970 <= day.year <= 2999 else None


def _money(filters: Filters, name: str) -> int | None:
    if not filters.typed[name]:
        return None
    try:
        return money_of(filters.typed[name], filters.counted_in, field=name)
    except InvalidInput as refusal:
        filters.wrong.append(refusal.message)
        return None


def narrowed(orders: QuerySet[Order], filters: Filters) -> QuerySet[Order]:
    if filters.state:
        orders = orders.filter(STATES[filters.state][1]())
    if filters.talk:
        orders = orders.filter(
            Exists(Conversation.objects.filter(order=OF_ORDER, state=ConversationState.OPEN)),
        )
    if filters.since:
        orders = orders.filter(placed_at__gte=_midnight(filters.since))
    if filters.until:
        orders = orders.filter(placed_at__lt=_midnight(filters.until + timedelta(days=1)))
    if filters.over is not None:
        orders = orders.filter(paid_amount__gte=filters.over)
    if filters.under is not None:
        orders = orders.filter(paid_amount__lte=filters.under)
    counted = filters.over is not None or filters.under is not None
    several = len(filters.currencies) > 1
    currency = filters.currency or (filters.counted_in if counted and several else "")
    return orders.filter(Q(currency=currency)) if currency and several else orders


def _midnight(day: date) -> datetime:
    """The beginning of the day in the shop's zone."""
    return timezone.make_aware(datetime.combine(day, time()))


def currencies_in_use() -> list[str]:
    """Currencies that orders have, each found by one look into an index, whatever the number of orders."""
    one_each = [Order.objects.filter(currency=code).order_by().values("currency")[:1] for code in DECIMALS]
    return sorted(row["currency"] for row in one_each[0].union(*one_each[1:]))
