"""One order of the seeded shop as a plan, before any row: what was bought, when, and what became of it.

The same seed, base day and index give the same plan. Amounts come from the money rules themselves, so that every order
of the seeded shop adds up as a real one does.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final, Literal

from backoffice.demo_cast import DELIVERY, FREE_DELIVERY, PICKUP, SAVE100, SAVE150, SOCKS, TEN_PERCENT
from backoffice.demo_goods import GOODS
from refunds import policy

DAYS: Final = 400
# Of the day's orders, how many of a hundred come in each hour in Taipei.
_HOURS: Final = (2, 1, 1, 0, 0, 1, 1, 2, 3, 4, 5, 5, 6, 5, 4, 4, 4, 4, 5, 7, 9, 11, 10, 6)
_FREE_FROM: Final = 1500
_POPULAR: Final = {sku: 40 if ware.price < 500 else 14 if ware.price < 2000 else 1 for sku, ware in GOODS.items()}
_COUPONS: Final = (None, None, None, SAVE150, SAVE100, TEN_PERCENT, SOCKS)

Story = Literal["unsent", "packed", "shipped", "delivered", "lost", "cancelled", "returned", "returning"]


@dataclass(frozen=True, slots=True)
class Line:
    sku: str
    quantity: int


@dataclass(frozen=True, slots=True)
class Plan:
    """`moments` are when it was packed, shipped, delivered, asked about and settled, as far as it came.

    `gone`: the position of the line that left, whole, and what for. `talk`: how many messages were exchanged, 0 for
    none; `waits`: since when the customer has waited for a person.
    """

    index: int
    number: str
    placed_at: datetime
    person: int
    lines: tuple[Line, ...]
    coupon: dict[str, Any] | None
    shipping: dict[str, Any]
    method: str
    story: Story
    moments: dict[str, datetime]
    gone: int
    reason: str
    talk: int
    waits: datetime | None
    last4: str

    @property
    def terms(self) -> policy.Terms:
        """What it was sold under, as the money rules read it."""
        lines = tuple(policy.Line(f"li_{at}", GOODS[each.sku].price, each.quantity) for at, each in _numbered(self))
        coupon = (policy.Discount(**discount_of(self.coupon)),) if self.coupon else ()
        terms = {name: self.shipping[name] for name in ("charged", "standard_fee", "free_from", "waiver")}
        return policy.Terms("TWD", lines, coupon, policy.Shipping(**terms))


def discount_of(coupon: dict[str, Any]) -> dict[str, Any]:
    """A coupon of the demo as the money rules want it, with what its body leaves out."""
    usual = {"settlement": "reprice", "lines": None, "amount": 0, "min_spend": 0, "min_quantity": 0}
    return {**usual, "amount_per_unit": 0, **coupon, "percent": Decimal(coupon.get("percent", 0))}


def plan(seed: str, index: int, *, base: datetime, people: int) -> Plan:
    """The order with this index, placed within `DAYS` before `base`, by one of the first `people` customers."""
    dice = Random(f"{seed}:order:{index}")
    placed_at = _placed(dice, index, base)
    age = (base - placed_at) / timedelta(days=1)
    lines = _lines(dice)
    story = _story(dice, age)
    talk, waits = _talk(dice, story, age, base)
    goods = sum(GOODS[line.sku].price * line.quantity for line in lines)
    return Plan(
        index=index,
        number=f"{placed_at:%y%m%d}-{index + 1:06}",
        placed_at=placed_at,
        person=min(int(dice.random() ** 1.4 * people), people - 1),
        lines=lines,
        coupon=_earned(dice.choice(_COUPONS), lines, goods),
        shipping=PICKUP if dice.random() < 0.45 else FREE_DELIVERY if goods >= _FREE_FROM else DELIVERY,
        method=dice.choices(["card", "wallet", "bank_transfer"], [80, 14, 6])[0],
        story=story,
        moments=_moments(dice, story, placed_at, base),
        gone=dice.randrange(len(lines)),
        reason=dice.choices(["changed_mind", "defective", "wrong_item", "other"], [60, 25, 8, 7])[0],
        talk=talk,
        waits=waits,
        last4=f"{dice.randrange(10**4):04}",
    )


def _numbered(plan: Plan) -> enumerate[Line]:
    return enumerate(plan.lines, start=1)


def _placed(dice: Random, index: int, base: datetime) -> datetime:
    """Evenly over the days, whatever the number of orders: more orders mean fuller days."""
    day = int(DAYS * ((index * 0.6180339887498949) % 1.0))
    hour = dice.choices(range(24), _HOURS)[0]
    ago = timedelta(days=day + 1) - timedelta(hours=hour, minutes=dice.randrange(60), seconds=dice.randrange(60))
    return base - ago


def _lines(dice: Random) -> tuple[Line, ...]:
    skus = list(
        dict.fromkeys(dice.choices(list(_POPULAR), list(_POPULAR.values()), k=dice.choice((1, 1, 1, 2, 2, 3, 4))))
    )
    return tuple(Line(sku, dice.choices((1, 2, 3), (80, 15, 5))[0] if GOODS[sku].price < 900 else 1) for sku in skus)


def _earned(coupon: dict[str, Any] | None, lines: tuple[Line, ...], goods: int) -> dict[str, Any] | None:
    """The coupon, if the basket is worth it."""
    pieces = sum(line.quantity for line in lines)
    fits = coupon and goods >= coupon.get("min_spend", 0) and pieces >= coupon.get("min_quantity", 0)
    return coupon if fits else None


def _story(dice: Random, age: float) -> Story:
    """What is likely at that age; nothing that waits for money, so that no worker finds anything to do."""
    chance = dice.random()
    if age < 1:
        return "unsent" if chance < 0.75 else "packed"
    if age < 2:
        return "unsent" if chance < 0.1 else "packed" if chance < 0.4 else "shipped"
    if age < 5:
        return "shipped" if chance < 0.45 else "delivered"
    if chance < 0.025 and age > 12:
        return "cancelled"
    if chance < 0.065 and age > 20:
        return "returned"
    if chance < 0.125 and age < 16:
        return "returning"
    return "lost" if chance > 0.998 and age > 20 else "delivered"


def _moments(dice: Random, story: Story, placed: datetime, base: datetime) -> dict[str, datetime]:
    packed = placed + timedelta(hours=dice.uniform(3, 20))
    shipped = packed + timedelta(hours=dice.uniform(1, 6))
    delivered = shipped + timedelta(hours=dice.uniform(20, 60))
    asked = (packed if story == "cancelled" else delivered) + timedelta(hours=dice.uniform(2, 60))
    settled = asked + timedelta(hours=dice.uniform(40, 160) if story == "returned" else 0.01)
    reached = {
        "unsent": 0, "packed": 1, "shipped": 2, "lost": 2, "delivered": 3, "returning": 4, "cancelled": 5, "returned": 5
    }[story]  # fmt: skip
    names = ("packed", "shipped", "delivered", "asked", "settled")
    moments = zip(names, (packed, shipped, delivered, asked, settled), strict=True)
    return {name: min(moment, base) for name, moment in list(moments)[:reached]}


def _talk(dice: Random, story: Story, age: float, base: datetime) -> tuple[int, datetime | None]:
    """Somebody with a question, more often where something went wrong; a few of the last days wait for a person."""
    share = 0.3 if story in {"returning", "lost"} else 0.04
    if story in {"cancelled", "returned"} or dice.random() >= share:
        return 0, None
    waits = base - timedelta(minutes=dice.uniform(2, 600)) if age < 3 and dice.random() < 0.5 else None
    return dice.randrange(2, 7), waits
