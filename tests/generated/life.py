"""What the rules of `test_a_shops_life.py` share: trying something, looking at the rows, and settling again by hand."""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from orders.actors import Actor, NotAllowed
from orders.errors import Refusal
from orders.models import Order
from orders.tests import cast
from refunds.goods import UnitGroup, unit_groups
from refunds.policy import Departure, Terms
from refunds.snapshot import terms_of
from refunds.tests.test_policy_properties import UnitByUnit
from tests.generated import books, rows
from tests.generated.rows import Row, by_id
from tests.generated.transitions import Followed

STAFF: Final = ("staff", "supervisor", "warehouse", "admin")
# A refusal that finds something over commits its ending, and nothing else (docs/money.md, States): by its code, what
# that touches. Where days to decide are over, everything that was held is let go of.
_QUOTE: Final = {"refunds_refundquote", "orders_auditevent"}
_HELD: Final = {"orders_lineitem", "orders_shipmentline", "orders_payment", "orders_orderannouncement"}
ENDINGS: Final = {
    "quote_expired": _QUOTE,
    "order_changed": _QUOTE | {"refunds_approval"},
    "approval_expired": _QUOTE | _HELD | {"refunds_approval", "refunds_refund", "refunds_return"},
}
# What the place of a unit follows from.
OF_UNITS: Final = {
    "orders_lineitem",
    "orders_shipment",
    "orders_shipmentline",
    "refunds_refund",
    "refunds_replacement",
    "refunds_replacementline",
    "refunds_return",
}


Condition = Callable[["Life"], bool]
Handler = TypeVar("Handler", bound=Callable[..., None])


@dataclass(frozen=True)
class Event:
    """What may happen to a shop: when it makes sense, how often beside others, and what it needs to be told.

    `is_story`: several things after one another, that chance alone would hardly bring into this order.
    """

    possible: Condition
    weight: int
    facts: st.SearchStrategy[dict[str, Any]]
    is_story: bool = False


EVENTS: Final[dict[str, Event]] = {}


def event(possible: Condition, *, weight: int = 1, **facts: st.SearchStrategy[Any]) -> Callable[[Handler], Handler]:
    """The method is something that may happen; it is named after it in a failing life.

    Rules of hypothesis would do, if it did not switch most of them off in most lives: nothing comes back then that was
    not packed, sold and asked for before.
    """

    def add(handler: Handler) -> Handler:
        EVENTS[handler.__name__] = Event(possible, weight, st.fixed_dictionaries(facts))
        return handler

    return add


def story(possible: Condition, *, weight: int = 5, **facts: st.SearchStrategy[Any]) -> Callable[[Handler], Handler]:
    """An event that goes on to some end. Each life knows a few of them only (`stories`), and those it sees often."""

    def add(handler: Handler) -> Handler:
        EVENTS[handler.__name__] = Event(possible, weight, st.fixed_dictionaries(facts), is_story=True)
        return handler

    return add


def stories() -> st.SearchStrategy[list[str]]:
    """Some of the stories: with all of them at once no life would see the same one twice."""
    names = st.deferred(lambda: st.sampled_from([name for name, known in EVENTS.items() if known.is_story]))
    return st.lists(names, min_size=6, max_size=6, unique=True)


def always(life: "Life") -> bool:
    return True


def has(table: str, *states: str) -> Condition:
    """There is a row of the table in one of these states, or in any if none is named."""
    return lambda life: any(not states or row["state"] in states for row in life.now[table])


def has_units(*states: str) -> Condition:
    """There are units in one of these states (`refunds/eligibility.py`)."""
    return lambda life: any(group.state in states for group in life.units)


def possible_events(life: "Life") -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """As cards are dealt: each as often as its weight says, before any comes again. What hypothesis likes to repeat
    would be most of a life otherwise."""
    there = {
        name: known.weight
        for name, known in EVENTS.items()
        if (not known.is_story or name in life.stories) and known.possible(life)
    }
    rounds = 1 + min(life.happened[name] // weight for name, weight in there.items())
    names = [name for name, weight in there.items() for _ in range(weight * rounds - life.happened[name])]
    return st.sampled_from(names).flatmap(lambda name: st.tuples(st.just(name), EVENTS[name].facts))


class Crashes(logging.Handler):
    """What went wrong in a job that must go on all the same, and says so in the log only."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if '"exception":' in record.getMessage():
            self.told.append(record.getMessage())


class Life(RuleBasedStateMachine):
    """One shop with its orders. `now` are all rows as the last step has left them."""

    def __init__(self) -> None:
        super().__init__()
        rows.clear()
        self.people: dict[str, Actor] = {name: cast.shopper(name) for name in ("ming", "ming2")}
        self.people |= {name: cast.staff(name) for name in STAFF}
        self.now = rows.read()
        self.history = Followed()
        self.history.begin(self.now)
        self.terms: dict[int, Terms] = {}
        self.units: list[UnitGroup] = []
        self.of_units: rows.Rows = {}
        self.stories: list[str] = []
        self.happened: Counter[str] = Counter()
        self.tried = 0
        self.crashes = Crashes()
        logging.getLogger("refunds").addHandler(self.crashes)

    def teardown(self) -> None:
        logging.getLogger("refunds").removeHandler(self.crashes)

    @rule(what=st.runner().flatmap(possible_events))
    def happens(self, what: tuple[str, dict[str, Any]]) -> None:
        name, facts = what
        self.happened[name] += 1
        getattr(self, name)(**facts)

    def attempt(self, action: Callable[[], object]) -> bool:
        """Do it, and look at everything. If it was refused (False), nothing may have changed."""
        self.tried += 1
        before, refusal = self.now, None
        try:
            action()
        except (Refusal, NotAllowed) as refused:
            refusal = refused
        self.now = rows.read()
        if refusal is not None:
            self.check_nothing_changed(before, refusal)
        self.check_new_settlements(before)
        assert not self.crashes.told
        return refusal is None

    def look_at_units(self) -> None:
        """Where every unit stands, if anything has changed of what that follows from."""
        there = {table: rows_now for table, rows_now in self.now.items() if table in OF_UNITS}
        if there != self.of_units:
            self.of_units = there
            orders = Order.objects.order_by("pk")
            self.units = [group for order in orders for group in unit_groups(order, now=timezone.now())]

    def check_nothing_changed(self, before: rows.Rows, refusal: Exception) -> None:
        changed = rows.differing(before, self.now)
        allowed = ENDINGS.get(refusal.code, set()) if isinstance(refusal, Refusal) else set()
        assert set(changed) <= allowed, f"{refusal!r} has changed {changed}"

    def check_new_settlements(self, before: rows.Rows) -> None:
        known = {quote["id"] for quote in before["refunds_refundquote"] if quote["state"] == "redeemed"}
        elsewhere = {item["quote_id"] for item in self.now["refunds_refund"] if item["kind"] == "elsewhere"}
        for quote in self.now["refunds_refundquote"]:
            if quote["state"] == "redeemed" and quote["id"] not in known | elsewhere:
                self.check_settlement(quote)

    def check_settlement(self, quote: Row) -> None:
        """What was just settled leaves the customer with exactly the price of what they keep, and the fees."""
        order_id = quote["order_id"]
        spent = books.spent_quotes(self.now, order_id)
        paid = books.total(self.of(order_id, "orders_payment"))
        over = paid - books.total(spent) - books.fees_due(self.now, order_id) - self.price_of_kept(order_id)
        codes = {step["code"] for step in quote["steps"]}
        if "floor" in codes:
            assert over < 0
            assert quote["amount"] == 0
        elif "payment_limit" in codes:
            assert over > 0
        else:
            assert over == 0, f"{quote['id']} leaves {over} over"

    def price_of_kept(self, order_id: int) -> int:
        """By the second telling of the pricing rule, unit by unit."""
        if order_id not in self.terms:
            self.terms[order_id] = terms_of(Order.objects.get(pk=order_id))
        names = {line["id"]: line["line_item_id"] for line in self.of(order_id, "orders_lineitem")}
        gone = [Departure(names[line], units, fault) for (line, fault), units in books.gone(self.now, order_id).items()]
        return UnitByUnit(self.terms[order_id], gone).total()

    def of(self, order_id: int, table: str) -> list[Row]:
        return [row for row in self.now[table] if row["order_id"] == order_id]

    def pick(self, table: str, number: int, *states: str) -> Row:
        """A row of the table: one in one of these states, but at times any."""
        found = self.now[table]
        fitting = [row for row in found if row["state"] in states]
        wanted = found if number == 11 or not fitting else fitting
        return wanted[number % len(wanted)]

    def order(self, number: int) -> Order:
        found = self.now["orders_order"]
        return Order.objects.get(pk=found[number % len(found)]["id"])

    def row(self, table: str, **which: Any) -> Row | None:
        """The newest row with these values."""
        found = [row for row in self.now[table] if all(row[name] == value for name, value in which.items())]
        return found[-1] if found else None

    def newest(self, table: str, **which: Any) -> Row:
        found = self.row(table, **which)
        assert found is not None, f"{table} has no row with {which}"
        return found

    def actor(self, who: str, order_id: int) -> Actor:
        """`owner` is the customer whose order it is; everybody else goes by their name."""
        if who != "owner":
            return self.people[who]
        customer_id = by_id(self.now["orders_order"])[order_id]["customer_id"]
        customers = [person for person in self.people.values() if person.customer]
        return next(person for person in customers if person.customer and person.customer.pk == customer_id)
