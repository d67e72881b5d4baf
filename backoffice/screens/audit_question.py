"""One question to the history: which events it is about. An order, a refund, a return, an approval, a person.

Whatever is typed is looked up by its own index first, and the events are then read by the order's, or the person's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from orders import search as finding
from orders.models import Order, Payment, Shipment
from refunds.models import Approval, GatewayAttempt, Refund, RefundAllocation, RefundQuote, Replacement, Return

LONGEST: Final = 100
# Of a name that many bear, the newest orders.
MOST_ORDERS: Final = 200
MOST_PEOPLE: Final = 20


@dataclass(frozen=True, slots=True)
class Question:
    """What was found. `events` None: nothing that the question can mean. `is_story`: read from its beginning on.

    `subjects`: numbers that the events are marked for; `order`: the one order that it is about.
    """

    text: str
    events: Q | None
    about: Sequence[str] = ()
    is_story: bool = False
    order: Order | None = None
    subjects: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Ids:
    """The records that one refund, return or approval hangs together with."""

    quotes: set[str] = field(default_factory=set)
    refunds: set[str] = field(default_factory=set)
    returns: set[str] = field(default_factory=set)
    approvals: set[str] = field(default_factory=set)
    replacements: set[str] = field(default_factory=set)


def understood(text: str) -> Question:
    text = text.strip().replace("\x00", "")[:LONGEST]
    if not text:
        return Question("", Q())
    return _record(text) or _one_order(text) or _people_and_orders(text)


def _record(text: str) -> Question | None:
    """By a public number of money or goods: `rf_…`, `rt_…`, `ap_…`, `rq_…`, `rp_…`, `sh_…`, `pay_…`, `ra_…`."""
    number = text.lower()
    found = _BY_PREFIX.get(number.partition("_")[0])
    if found is None or "_" not in number:
        return None
    return found(number) or Question(text, None)


def _one_order(text: str) -> Question | None:
    number = finding.only_one(text)
    order = Order.objects.select_related("customer").filter(number=number).first() if number else None
    if order is None:
        return None
    return Question(text, Q(order=order), [_order_words(order)], is_story=True, order=order)


def _people_and_orders(text: str) -> Question:
    """Colleagues by any part of their name, customers and orders as the desk's search finds them."""
    colleagues = list(_colleagues(text))
    orders = [key for _placed, key in finding.matching(Order.objects.all(), text, limit=MOST_ORDERS)]
    events = Q()
    about = []
    if colleagues:
        events |= Q(actor_user__in=[each.pk for each in colleagues])
        about += [_("colleague %(name)s") % {"name": each.get_full_name() or each.username} for each in colleagues]
    if orders:
        events |= Q(order__in=orders)
        more = len(orders) == MOST_ORDERS
        words = _("the newest %(count)s orders that fit") if more else _("%(count)s orders that fit")
        about.append(words % {"count": len(orders)} if len(orders) > 1 else _("one order that fits"))
    return Question(text, events if colleagues or orders else None, about, is_story=len(orders) == 1 and not colleagues)


def _colleagues(text: str) -> QuerySet[User]:
    """Accounts of the shop: those of customers are found by their orders."""
    named = Q(username__iexact=text) | Q(first_name__icontains=text) | Q(last_name__icontains=text)
    rows = User.objects.filter(named, customer__isnull=True)
    return rows.order_by("pk")[:MOST_PEOPLE]


def _order_words(order: Order) -> str:
    return _("order %(number)s of %(name)s") % {"number": order.number, "name": order.customer.name}


# --- what hangs together with a record --------------------------------------------------------------------------------
def _refund(number: str) -> Question | None:
    return _story(number, Refund.objects.filter(pk=number).values_list("order", flat=True).first())


def _return(number: str) -> Question | None:
    return _story(number, Return.objects.filter(pk=number).values_list("order", flat=True).first())


def _approval(number: str) -> Question | None:
    return _story(number, Approval.objects.filter(pk=number).values_list("order", flat=True).first())


def _quote(number: str) -> Question | None:
    return _story(number, RefundQuote.objects.filter(pk=number).values_list("order", flat=True).first())


def _replacement(number: str) -> Question | None:
    return _story(number, Replacement.objects.filter(pk=number).values_list("order", flat=True).first())


def _allocation(number: str) -> Question | None:
    refund = RefundAllocation.objects.filter(pk=number).values_list("refund", flat=True).first()
    return _refund(refund) if refund else None


def _whole_order(order_id: int | None, number: str) -> Question | None:
    order = Order.objects.select_related("customer").filter(pk=order_id).first() if order_id else None
    if order is None:
        return None
    about = [_order_words(order)]
    return Question(number, Q(order=order), about, is_story=True, order=order, subjects=frozenset({number}))


def _shipment(number: str) -> Question | None:
    return _whole_order(Shipment.objects.filter(pk=number).values_list("order", flat=True).first(), number)


def _payment(number: str) -> Question | None:
    return _whole_order(Payment.objects.filter(pk=number).values_list("order", flat=True).first(), number)


_BY_PREFIX: Final[Mapping[str, Callable[[str], Question | None]]] = {
    "rf": _refund,
    "rt": _return,
    "ap": _approval,
    "rq": _quote,
    "rp": _replacement,
    "ra": _allocation,
    "sh": _shipment,
    "pay": _payment,
}


def _story(number: str, order_id: int | None) -> Question | None:
    """Everything of the order that has to do with this record: from the quote to the money."""
    order = Order.objects.select_related("customer").filter(pk=order_id).first() if order_id else None
    if order is None:
        return None
    ids = _hanging_together(number, order)
    about = [number, _order_words(order)]
    return Question(number, _events_of(ids, order), about, is_story=True, order=order, subjects=frozenset({number}))


def _hanging_together(number: str, order: Order) -> _Ids:
    """Quote, refund, return, approval and replacement point to each other: followed until nothing new is found."""
    links: list[tuple[str | None, ...]] = [
        *Refund.objects.filter(order=order).values_list("pk", "quote"),
        *Return.objects.filter(order=order).values_list("pk", "quote", "refund"),
        *Approval.objects.filter(order=order).values_list("pk", "quote", "refund"),
        *Replacement.objects.filter(order=order).values_list("pk", "return_request"),
    ]
    found = {number}
    while new := {key for link in links if found & set(link) for key in link if key} - found:
        found |= new
    ids = _Ids()
    for kind, prefix in (
        (ids.quotes, "rq"),
        (ids.refunds, "rf"),
        (ids.returns, "rt"),
        (ids.approvals, "ap"),
        (ids.replacements, "rp"),
    ):
        kind |= {key for key in found if key.startswith(f"{prefix}_")}
    return ids


def _events_of(ids: _Ids, order: Order) -> Q:
    parts = RefundAllocation.objects.filter(refund__in=ids.refunds).values_list("pk", flat=True)
    attempts = GatewayAttempt.objects.filter(allocation__refund__in=ids.refunds).values_list("pk", flat=True)
    subjects: dict[str, Sequence[Any]] = {
        "quote": sorted(ids.quotes),
        "refund": sorted(ids.refunds),
        "return": sorted(ids.returns),
        "approval": sorted(ids.approvals),
        "replacement": sorted(ids.replacements),
        "allocation": list(parts),
        "gateway_attempt": [str(pk) for pk in attempts],
    }
    named = Q(correlation__refund_id__in=sorted(ids.refunds)) | Q(correlation__quote_id__in=sorted(ids.quotes))
    named |= Q(chosen__quote_id__in=sorted(ids.quotes)) | Q(correlation__return_id__in=sorted(ids.returns))
    for kind, keys in subjects.items():
        if keys:
            named |= Q(subject_type=kind, subject_id__in=keys)
    return Q(order=order) & named
