"""Whatever happens in a shop, in any order, its books agree: a state machine on the real database and services.

Orders under random terms are packed, shipped, delivered and lost; people ask, press, refuse, send back, exchange,
withdraw, decide; the gateway refuses or falls silent; time passes. After every step all of `books.py` must hold, the
history must have told every move, and what was refused must have changed nothing. `EXAMPLES=500` searches further.

That the books notice what is wrong is shown in `test_the_books_notice.py`.
"""

import os
from collections.abc import Iterator
from typing import Final

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import invariant, run_state_machine_as_test

from orders.models import Order
from refunds.goods import unit_groups
from tests.generated import rows
from tests.generated.books import CHECKS
from tests.generated.life import OF_UNITS
from tests.generated.money_events import MoneyEvents

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES: Final = int(os.environ.get("EXAMPLES") or "0")
# A failing life is told as it was found. To make it shorter takes many lives more, so only who searches waits for that.
PHASES: Final = [Phase.generate, *([Phase.shrink] if EXAMPLES else [])]
GENERATED: Final = settings(
    max_examples=EXAMPLES or 25,
    stateful_step_count=30,
    derandomize=not EXAMPLES,
    phases=PHASES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)


class AShopsLife(MoneyEvents):
    """What must always hold, whatever happens."""

    @invariant()
    def the_books_agree(self) -> None:
        for check in CHECKS:
            check(self.now)

    @invariant()
    def the_history_tells_every_move(self) -> None:
        self.history.follow(self.now)

    @invariant()
    def every_unit_stands_somewhere(self) -> None:
        there = {table: rows_now for table, rows_now in self.now.items() if table in OF_UNITS}
        if there == self.of_units:
            return
        self.of_units = there
        orders = Order.objects.order_by("pk")
        self.units = [group for order in orders for group in unit_groups(order, now=timezone.now())]
        for line in self.now["orders_lineitem"]:
            units = [group.quantity for group in self.units if group.line.pk == line["id"]]
            assert all(quantity > 0 for quantity in units)
            assert sum(units) == line["quantity"]


@pytest.fixture(autouse=True)
def policies_are_kept() -> Iterator[None]:
    rows.keep_policies()
    yield
    rows.clear()
    rows.forget_policies()


@pytest.mark.timeout(0 if EXAMPLES else 300)
def test_whatever_happens_in_a_shop_its_books_agree() -> None:
    run_state_machine_as_test(AShopsLife, settings=GENERATED)
