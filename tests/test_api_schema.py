"""The API does what its own page says: whatever is sent, it answers with a status and a body that the schema names, and
never with a server's error.

Requests are generated from the schema by schemathesis and sent to the product itself over WSGI, by a superuser's token
and by a customer's, in a small shop where something of every kind is under way (`tests/api_shop.py`). The same
requests in every run; `EXAMPLES=300` searches further, at random. Most of what is generated is refused, so each
operation is also asked once for what it can do (`tests/api_successes.py`).
"""

import os
import random
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from pytest_django import DjangoDbBlocker
from schemathesis.config import SchemathesisConfig
from schemathesis.core.result import Ok

from tests.api_shop import Shop, open_shop
from tests.api_successes import successes

EXAMPLES: Final = int(os.environ.get("EXAMPLES") or "0")
# That the schema's grammar allows a body does not make it fit the shop, and a wrong one may have been mended by
# `with_known`: what is accepted and refused is for other tests.
NOT_ASKED: Final = ("positive_data_acceptance", "negative_data_rejection")
CONFIG: Final = SchemathesisConfig.from_dict(
    {
        "seed": 5531,
        "generation": {"max-examples": EXAMPLES or 10, "deterministic": not EXAMPLES, "database": "none"},
        "checks": {name: {"enabled": False} for name in NOT_ASKED},
        "phases": {"coverage": {"enabled": bool(EXAMPLES)}},
    }
)
pytestmark = pytest.mark.django_db
CHOICE: Final = re.compile("[a-z_]{3,}")
# What the shop has, by the names that the page uses.
KNOWN: Final[dict[str, list[Any]]] = {}

schema = schemathesis.openapi.from_wsgi("/api/v1/schema/", get_wsgi_application(), config=CONFIG)


def with_known(case: schemathesis.Case) -> schemathesis.Case:
    """Most of what was generated becomes something that the shop has and can read: not much happens to the rest."""
    dice = random.Random(zlib.crc32(repr((case.path_parameters, case.query, case.body)).encode()))
    share = dice.choice([0.5, 1, 1, 1])
    for part in ("path_parameters", "query", "body"):
        setattr(case, part, _with_known(getattr(case, part), "", dice, share))
    return case


def _with_known(value: Any, name: str, dice: random.Random, share: float) -> Any:
    if isinstance(value, dict):
        return {key: _with_known(below, key, dice, share) for key, below in value.items()}
    if isinstance(value, list):
        return [_with_known(below, name, dice, share) for below in value]
    known = KNOWN.get(name) or ([] if type(value) is not str or CHOICE.fullmatch(value) else ["說明"])
    return dice.choice(known) if known and dice.random() < share else value


@pytest.fixture(scope="module")
def shop(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Shop]:
    """Opened once for all operations, around the transaction of each, and rolled back in the end."""
    whole = transaction.atomic()
    # As the test's own: a service that wants to be outermost is not held up by it.
    whole._from_testcase = True  # type: ignore[attr-defined]
    with django_db_blocker.unblock(), connection_survives_requests(), whole:
        opened = open_shop()
        KNOWN.update(opened.known)
        yield opened
        transaction.set_rollback(True)


@contextmanager
def connection_survives_requests() -> Iterator[None]:
    """As Django's own test client does it: a request's end would close the connection, and the transaction with it."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@schema.parametrize()
def test_staff_are_answered_as_the_page_says(case: schemathesis.Case, shop: Shop) -> None:
    check(case, shop.tokens["staff"])


@schema.parametrize()
def test_customers_are_answered_as_the_page_says(case: schemathesis.Case, shop: Shop) -> None:
    check(case, shop.tokens["customer"])


def check(case: schemathesis.Case, token: str) -> None:
    with_known(case).call_and_validate(headers={"Authorization": f"Token {token}"})


OPERATIONS: Final = {
    f"{found.ok().method.upper()} {found.ok().path}": found.ok()
    for found in schema.get_all_operations()
    if isinstance(found, Ok)
}


def test_every_operation_is_asked_once_for_what_it_can_do(shop: Shop) -> None:
    left_out = sorted(set(OPERATIONS) ^ set(successes(shop)))
    assert not left_out, f"not asked, or not there any more: {', '.join(left_out)}"


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_succeeds_is_answered_as_the_page_says(name: str, shop: Shop) -> None:
    success = successes(shop)[name]
    body = {} if success.body is None else {"body": success.body, "media_type": "application/json"}
    case = OPERATIONS[name].Case(path_parameters=success.path, query=success.query, **body)
    answer = case.call_and_validate(headers={"Authorization": f"Token {shop.tokens[success.by]}"})
    assert 200 <= answer.status_code < 300, answer.text
