"""Hypothesis strategies: orders under random terms, and the ways in which their goods can leave."""

import os
from typing import Literal, NamedTuple, get_args

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from refunds.allocation import PaymentLeft
from refunds.policy import Departure, Discount, Line, Rules, SettlementAction, Shipping, Terms
from refunds.terms import DiscountKind, SettlementMode, Waiver

# The same examples in every run, so that a red build means a changed rule. `EXAMPLES=5000` searches further, at random.
EXAMPLES = int(os.environ.get("EXAMPLES", "0"))
GENERATED = settings(
    max_examples=EXAMPLES or 150,
    derandomize=not EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)

amounts = st.one_of(st.integers(0, 12), st.integers(0, 3000))
percents = st.decimals(min_value=0, max_value=100, places=2, allow_nan=False, allow_infinity=False)


class Request(NamedTuple):
    """Goods that leave together."""

    action: SettlementAction
    asked: tuple[Departure, ...]


@st.composite
def lines(draw: st.DrawFn) -> tuple[Line, ...]:
    goods = draw(st.lists(st.tuples(amounts, st.integers(1, 4)), min_size=1, max_size=4))
    return tuple(Line(f"li_{number}", unit, count) for number, (unit, count) in enumerate(goods, start=1))


@st.composite
def discounts(draw: st.DrawFn, ids: list[str]) -> Discount:
    return Discount(
        code="CODE",
        label="label",
        kind=draw(st.sampled_from(get_args(DiscountKind))),
        settlement=draw(st.sampled_from(get_args(SettlementMode))),
        lines=draw(st.none() | st.frozensets(st.sampled_from(ids))),
        amount=draw(amounts),
        percent=draw(percents),
        min_spend=draw(st.just(0) | st.integers(0, 6000)),
        min_quantity=draw(st.integers(0, 6)),
        amount_per_unit=draw(amounts),
    )


@st.composite
def shippings(draw: st.DrawFn) -> Shipping:
    waiver: Waiver | None = draw(st.none() | st.sampled_from(get_args(Waiver)))
    charged = draw(amounts) if waiver is None else 0
    return Shipping(charged, standard_fee=draw(amounts), free_from=draw(st.integers(0, 6000)), waiver=waiver)


@st.composite
def all_terms(draw: st.DrawFn) -> Terms:
    goods = draw(lines())
    ids = [line.line_item_id for line in goods]
    return Terms("TWD", goods, tuple(draw(st.lists(discounts(ids), max_size=3))), draw(shippings()))


@st.composite
def ways_to_leave(draw: st.DrawFn, terms: Terms) -> list[Request]:
    """Every unit of the order leaves exactly once, in a random order and in random company."""
    units = [line.line_item_id for line in terms.lines for _ in range(line.quantity)]
    shuffled = draw(st.permutations(units))
    requests: list[Request] = []
    while shuffled:
        size = draw(st.integers(1, len(shuffled)))
        action: SettlementAction = draw(st.sampled_from(get_args(SettlementAction)))
        fault: Literal[True] | None = True if action == "lost" else None
        asked = tuple(Departure(line, 1, fault or draw(st.booleans())) for line in shuffled[:size])
        requests.append(Request(action, asked))
        shuffled = shuffled[size:]
    return requests


rules = st.builds(Rules, return_fee=st.sampled_from([0, 80, 5000]), return_fee_enabled=st.booleans())


@st.composite
def payments_for(draw: st.DrawFn, paid: int) -> list[PaymentLeft]:
    """Payments that together come to `paid`."""
    cuts = sorted(draw(st.lists(st.integers(0, paid), max_size=3)))
    parts = [end - start for start, end in zip([0, *cuts], [*cuts, paid], strict=True)]
    methods = draw(
        st.lists(st.sampled_from(["card", "store_credit", "bank"]), min_size=len(parts), max_size=len(parts))
    )
    pairs = zip(methods, parts, strict=True)
    return [PaymentLeft(f"pay_{number}", method, part, number) for number, (method, part) in enumerate(pairs)]
