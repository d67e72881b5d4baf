"""Whatever happens in a shop, in any order, its books agree: a state machine on the real database and services.

Orders under random terms are packed, shipped, delivered and lost; people ask, press, refuse, send back, exchange,
withdraw, decide; the gateway refuses or falls silent; time passes. Some of it happens one by one (`*_events.py`), some
as a story that goes on to an end (`*_stories.py`). After every step all of `books.py` must hold, the history must have
told every move, and what was refused must have changed nothing. `EXAMPLES=500` searches further.

That the books notice what is wrong is shown in `test_the_books_notice.py`, and that everything worth trying was tried
is counted when all lives are over (`what_happened.py`).
"""

import os
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import invariant, run_state_machine_as_test
from pytest_django import Settings

from refunds import gateways
from refunds.gateways import simulated
from refunds.stripe_facts import PROVIDER
from refunds.tests.conftest import disconnect
from refunds.tests.stripe_stand_in import WEBHOOK_SECRET
from tests.generated import rows, what_happened
from tests.generated.books import CHECKS
from tests.generated.money_stories import MoneyStories
from tests.generated.rows import Rows

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES: Final = int(os.environ.get("EXAMPLES") or "0")
# A failing life is told as it was found. To make it shorter takes many lives more, so only who searches waits for that.
PHASES: Final = [Phase.generate, *([Phase.shrink] if EXAMPLES else [])]
# Short runs, of which each begins anew: after ten lives hypothesis goes on with variations of what it has had already.
LIVES: Final = 9
RUNS: Final = max(3, EXAMPLES // LIVES)
GENERATED: Final = settings(
    max_examples=LIVES,
    stateful_step_count=28,
    derandomize=not EXAMPLES,
    phases=PHASES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)


class AShopsLife(MoneyStories):
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
        self.look_at_units()
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


@pytest.fixture
def provider_that_calls(settings: Settings) -> Iterator[None]:
    """The simulated gateway under a second name, whose refunds are reported over the webhook's door."""
    settings.STRIPE_WEBHOOK_SECRET = WEBHOOK_SECRET
    gateways.connect(PROVIDER, simulated.SimulatedGateway(), simulated.abilities)
    yield
    disconnect(PROVIDER)


@pytest.mark.timeout(0 if EXAMPLES else 300)
@pytest.mark.usefixtures("provider_that_calls")
def test_whatever_happens_in_a_shop_its_books_agree() -> None:
    lives: list[Rows] = []

    class Remembered(AShopsLife):
        def teardown(self) -> None:
            super().teardown()
            lives.append(self.now)

    for number in range(RUNS):
        run_state_machine_as_test(Remembered if EXAMPLES else seed(number)(Remembered), settings=GENERATED)
    counts = what_happened.count(lives)
    assert all(counts[name] >= least for name, (_, least) in what_happened.AT_LEAST.items()), (
        f"lives went by without it:\n{what_happened.as_table(counts)}"
    )
