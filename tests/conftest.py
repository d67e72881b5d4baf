"""Fixtures for the tests that cross all apps."""

from collections.abc import Generator

import pytest

from backoffice.local.stack import Stack
from tests.stack import running_stack


@pytest.fixture(scope="session")
def stack() -> Generator[Stack]:
    """The whole desk with the demo's data, shared by the session: web, workers, beat, stand-in model, own servers.

    A test that kills or holds one of its processes brings it back before it ends.
    """
    with running_stack() as running:
        yield running
