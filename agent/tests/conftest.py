"""The stand-in model, once for the session; each test gets it with an empty memory and the settings that lead to it."""

from collections.abc import Generator

import pytest
from pytest_django import Settings

from agent import stopping
from agent.offline.control import Control
from agent.offline.server import OfflineModel
from agent.tests.wire import Wire, serving


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
