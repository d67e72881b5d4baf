"""Orders by what a person remembers of them, fast however many there are.

Each kind of thing is looked for by its own index (migrations 0006 and 0009) and gives its newest few orders; together
they are the page. One query over all kinds would read every order.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from django.db.models import BooleanField, F, Func, Model, Q, QuerySet, Value

from orders.models import Customer, LineItem, Order, Shipment

SHORTEST_PHONE_END: Final = 3
# From here on a leading zero may be the +886 of the same number.
WHOLE_PHONE: Final = 9
PIECE: Final = 3
# So many customers are named one by one in the question for their orders; more are left to the database to join.
MANY_CUSTOMERS: Final = 5000

Place = tuple[datetime, int]


class HasPieces(Func):
    """Whether a text has all pieces of another: a rough sieve with an index, made exact by the comparison after it."""

    output_field = BooleanField()

    def __init__(self, field: str, words: str, *, shortest: int, longest: int) -> None:
        sizes = f", {shortest}, {longest})"
        self.template = f"orders_pieces(%(expressions)s{sizes}"
        self.arg_joiner = f"{sizes} @> orders_pieces("
        super().__init__(F(field), Value(words))


class PhoneEnds(Func):
    """Whether the digits of a phone number end with these, whatever stands between them."""

    output_field = BooleanField()
    template = "orders_digits_backwards(%(expressions)s"
    arg_joiner = ") LIKE "

    def __init__(self, field: str, digits: str) -> None:
        super().__init__(F(field), Value(f"{digits[::-1]}%"))


class Among(Func):
    """Whether a key is one of these, however many they are: a table that the database makes of one value.

    With `IN (…)` each is a value of its own, and beside a join each row is compared with all of them.
    """

    output_field = BooleanField()
    arg_joiner = " IN (SELECT unnest("

    def __init__(self, field: str, keys: Sequence[int] | Sequence[str]) -> None:
        kind = "text" if keys and isinstance(keys[0], str) else "bigint"
        self.template = f"%(expressions)s::{kind}[]))"
        super().__init__(F(field), Value(list(keys)))


def matching(orders: QuerySet[Order], search: str, *, limit: int, oldest: bool = False) -> list[Place]:
    """When placed and the key of the newest `limit` of `orders` that fit, newest first; of the oldest, if so asked.

    By number, customer's name or e-mail, end of the phone number, tracking number. `orders` may be narrowed already
    and must not be ordered or cut.
    """
    return _places(_branches(orders, search), limit, oldest)


def count(orders: QuerySet[Order], search: str, *, limit: int) -> int:
    """How many of `orders` fit, counted by the database up to `limit`: none of them is read."""
    parts = [branch.order_by().values("pk")[:limit] for branch in _branches(orders, search)]
    return min(parts[0].union(*parts[1:]).count(), limit)


def only_one(search: str) -> str | None:
    """The number of the order that this is the whole number of, or that has the one parcel with this tracking number.

    None where it is neither, or several.
    """
    number = search.lstrip("#") or search
    exact = Order.objects.filter(number__in={search, number, number.upper(), number.lower()})
    found = list(exact.values_list("number", flat=True)[:2])
    if not found:
        by_parcel = Order.objects.filter(pk__in=_by_parcel(search))
        found = list(by_parcel.values_list("number", flat=True)[:2])
    return found[0] if len(found) == 1 else None


def _branches(orders: QuerySet[Order], search: str) -> list[QuerySet[Order]]:
    number = search.lstrip("#") or search
    branches = [orders.filter(_number_has(number)), orders.filter(pk__in=_by_parcel(search))]
    found = customers(search)
    known = list(found.values_list("pk", flat=True)[: MANY_CUSTOMERS + 1])
    if len(known) > MANY_CUSTOMERS:
        branches.append(orders.filter(customer__in=found))
    elif known:
        branches.append(orders.filter(Among("customer_id", known)))
    return branches


def _places(branches: Sequence[QuerySet[Order]], limit: int, oldest: bool) -> list[Place]:
    parts = [_first(branch, limit, oldest).values_list("placed_at", "pk") for branch in branches]
    rows: list[Place] = sorted(parts[0].union(*parts[1:]), reverse=not oldest)[:limit]
    return sorted(rows, reverse=True)


def _first(orders: QuerySet[Order], count: int, oldest: bool) -> QuerySet[Order]:
    return orders.order_by("placed_at", "pk")[:count] if oldest else orders.order_by("-placed_at", "-pk")[:count]


def _by_parcel(search: str) -> list[int]:
    """Orders that have a parcel with this tracking number: looked up first, so that no plan can walk all orders."""
    parcels = Shipment.objects.filter(_tracked_as(search))
    return list(parcels.order_by().values_list("order_id", flat=True)[:MANY_CUSTOMERS])


def customers(search: str) -> QuerySet[Customer]:
    """Customers by a part of the name, of the e-mail, or the end of the phone number."""
    fits = Q()
    for field in ("name", "email", "phone"):
        fits |= has_part(Customer, field, search) or Q()
    return Customer.objects.filter(fits)


def knows_parts(model: type[Model], field: str) -> bool:
    """Whether parts of this field have an index."""
    return (model, field) in _PARTS


def has_part(model: type[Model], field: str, words: str) -> Q | None:
    """What has these words in a field that `knows_parts`, asked so that its index answers; None where none can."""
    return _PARTS[model, field](words)


def _name_has(words: str) -> Q | None:
    return Q(HasPieces("name", words, shortest=1, longest=2)) & Q(name__icontains=words)


def _email_has(words: str) -> Q | None:
    if len(words) < PIECE or not words.isascii():
        return None
    return Q(HasPieces("email", words, shortest=PIECE, longest=PIECE)) & Q(email__icontains=words)


def _phone_ends(words: str) -> Q | None:
    digits = words.replace("-", "").replace(" ", "").removeprefix("+886").lstrip("+")
    if not (digits.isascii() and digits.isdigit() and len(digits) >= SHORTEST_PHONE_END):
        return None
    return Q(PhoneEnds("phone", digits[1:] if len(digits) >= WHOLE_PHONE and digits[0] == "0" else digits))


def _number_has(words: str) -> Q | None:
    """Any part of the number from three characters on, before that its beginning."""
    if len(words) < PIECE:
        return Q(number__startswith=words)
    return Q(HasPieces("number", words, shortest=PIECE, longest=PIECE)) & Q(number__icontains=words)


def _sku_has(words: str) -> Q | None:
    if len(words) < PIECE:
        return None
    return Q(HasPieces("sku", words, shortest=PIECE, longest=PIECE)) & Q(sku__icontains=words)


def _tracked_as(words: str) -> Q:
    """The whole of a carrier's number: nobody remembers a part of it."""
    return Q(tracking_number__iexact=words) & ~Q(tracking_number="")


# The indexes are made by the migrations 0006 and 0009, each for just the question that is asked here.
_PARTS: Final[Mapping[tuple[type[Model], str], Callable[[str], Q | None]]] = {
    (Customer, "name"): _name_has,
    (Customer, "email"): _email_has,
    (Customer, "phone"): _phone_ends,
    (Order, "number"): _number_has,
    (LineItem, "name"): _name_has,
    (LineItem, "sku"): _sku_has,
    (Shipment, "tracking_number"): _tracked_as,
}
