"""The stand-in model, once for the session; each test gets it with an empty memory and the settings that lead to it."""

from collections.abc import Generator

import pytest
from pytest_django import Settings

from agent import asking, stopping, stream
from agent.offline.control import Control
from agent.offline.server import OfflineModel
from agent.tests.helpers import hear
from agent.tests.wire import Wire, serving
from orders.models import Order
from orders.tests import cast


@pytest.fixture(scope="session")
def stand_in() -> Generator[OfflineModel]:
    with OfflineModel(port=0) as running:
        yield running


@pytest.fixture
def model(stand_in: OfflineModel, settings: Settings) -> Control:
    """The stand-in's control: what it is to answer, how it is to misbehave, what it was asked."""
    settings.ANTHROPIC_BASE_URL = stand_in.url
    stand_in.control.reset()
    return stand_in.control


@pytest.fixture
def wire(settings: Settings) -> Generator[Wire]:
    """A server that sends exactly the frames it is given, in place of the stand-in."""
    with serving() as wire:
        settings.ANTHROPIC_BASE_URL = wire.url
        yield wire


@pytest.fixture(autouse=True)
def worker_goes_on() -> Generator[None]:
    """A test that asks the worker to stop must not stop the next one."""
    yield
    stopping.requested.clear()


@pytest.fixture
def asked_order(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Order:
    """The customer has said something. Between two tries of the model there is next to no pause."""
    monkeypatch.setattr(asking, "PAUSE_SECONDS", 0.001)
    order = cast.order_5531()
    hear(order)
    return order


@pytest.fixture
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages look at the database often, so that a test of a lost event takes no quarter of a minute."""
    monkeypatch.setattr(stream, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(stream, "WITHOUT_REDIS_SECONDS", 0.05)


@pytest.fixture
def order_of_three_lines(transactional_db: None) -> Order:
    """The customer has said three things about order 5531."""
    order = cast.order_5531()
    for text in ("one", "two", "three"):
        hear(order, text)
    return order
