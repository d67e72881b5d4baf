"""One question to the history: which events it is about. An order, a refund, a return, an approval, a person.

Whatever is typed is looked up by its own index first, and the events are then read by the order's, or the person's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Concat
from django.utils.translation import gettext as _

from orders import search as finding
from orders.models import AuditEvent, Customer, Order, Payment, Shipment
from orders.states import ActorKinds
from refunds.models import Approval, GatewayAttempt, Refund, RefundAllocation, RefundQuote, Replacement, Return

LONGEST: Final = 100
# Of a name that many bear, the newest orders.
MOST_ORDERS: Final = 200
MOST_PEOPLE: Final = 20
# What a question for one customer begins with; what follows is the shop's own number of theirs.
CUSTOMER: Final = "customer"
# Whose events carry a name that no account may have any more. Customers are found by their orders.
NOT_CUSTOMERS: Final = (ActorKinds.STAFF, ActorKinds.SYSTEM)


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
    return _record(text) or _one_customer(text) or _one_order(text) or _people_and_orders(text)


def _record(text: str) -> Question | None:
    """By a public number of money or goods: `rf_…`, `rt_…`, `ap_…`, `rq_…`, `rp_…`, `sh_…`, `pay_…`, `ra_…`."""
    number = text.lower()
    found = _BY_PREFIX.get(number.partition("_")[0])
    if found is None or "_" not in number:
        return None
    return found(number) or Question(text, None)


def _one_customer(text: str) -> Question | None:
    """By `customer:` and the shop's own number: of several people of one name the one that is meant."""
    prefix, _colon, number = text.partition(":")
    if prefix != CUSTOMER or not number:
        return None
    customer = Customer.objects.filter(external_id=number).first()
    if customer is None:
        return Question(text, None)
    events = Q(order__in=Order.objects.filter(customer=customer).values("pk"))
    if customer.user_id:
        events |= Q(actor_user=customer.user_id)
    about = _("customer %(name)s (%(number)s)") % {"name": customer.name, "number": customer.external_id}
    return Question(text, events, [about], is_story=True)


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
    acted = Q(actor_kind__in=NOT_CUSTOMERS, actor_name=text)
    has_acted = AuditEvent.objects.filter(acted).exists()
    events = acted if has_acted else Q()
    about = []
    if colleagues:
        events |= Q(actor_user__in=[each.pk for each in colleagues])
        about += [_("colleague %(name)s") % {"name": each.get_full_name() or each.username} for each in colleagues]
    elif has_acted:
        about.append(_("what “%(name)s” has done") % {"name": text})
    if orders:
        events |= Q(order__in=orders)
        more = len(orders) == MOST_ORDERS
        words = _("the newest %(count)s orders that fit") if more else _("%(count)s orders that fit")
        about.append(words % {"count": len(orders)} if len(orders) > 1 else _("one order that fits"))
    return Question(text, events if about else None, about, is_story=len(orders) == 1 and len(about) == 1)


def _colleagues(text: str) -> QuerySet[User]:
    """Accounts of the shop, by any part of their name in either order, as it is written in Chinese or in English.

    Those of customers are found by their orders.
    """
    orders = (("last_name", "first_name"), ("first_name", "last_name"))
    whole = Concat(*_joined(orders, ""), Value("\n"), *_joined(orders, " "))
    rows = User.objects.filter(customer__isnull=True).annotate(whole_names=whole)
    return rows.filter(Q(username__iexact=text) | Q(whole_names__icontains=text)).order_by("pk")[:MOST_PEOPLE]


def _joined(orders: Sequence[Sequence[str]], between: str) -> list[Any]:
    """The names in each of these orders, a line each."""
    parts: list[Any] = []
    for first, second in orders:
        parts += [F(first), Value(between), F(second), Value("\n")]
    return parts


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
