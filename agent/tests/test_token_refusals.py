"""Tokens that open nothing are counted by reason and told in the log, without a word of what was shown."""

import io
import logging
from collections.abc import Callable, Iterator

import pytest
import redis
from django.contrib.auth.models import User
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest

from agent.doors import calls, tokens
from agent.doors.refusals import Reason
from agent.models import ToolToken
from agent.states import Door
from agent.tests.doors import by_mcp, token_for
from backoffice import metrics
from backoffice.logs import JsonLines
from orders.tests import cast

pytestmark = pytest.mark.django_db
NAME = "token_refusals"
SECRET = "rdt_" + "not-a-token-of-ours-at-all-0123456789-abcdef"


@pytest.fixture
def log() -> Iterator[Callable[[], str]]:
    """What the product's own formatter writes."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    logging.getLogger().addHandler(handler)
    yield written.getvalue
    logging.getLogger().removeHandler(handler)


def refused() -> dict[str, float]:
    """What there is of each reason, 0 left out."""
    numbers = {labels[0]: value for (name, labels, _), value in metrics.read_redis().items() if name == NAME}
    assert numbers.keys() == set(Reason), "a series that is missing looks like one that is fine"
    return {reason: value for reason, value in numbers.items() if value}


def expired(token: ToolToken) -> None:
    ToolToken.objects.filter(pk=token.pk).update(expires_at=timezone.now())


def revoked(token: ToolToken) -> None:
    tokens.revoke(token=token, actor=cast.staff("admin"))


def switched_off(token: ToolToken) -> None:
    User.objects.filter(tool_tokens=token).update(is_active=False)


def without_permission(token: ToolToken) -> None:
    cast.staff_user("staff").groups.clear()


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (expired, Reason.EXPIRED),
        (revoked, Reason.REVOKED),
        (switched_off, Reason.ACCOUNT),
        (without_permission, Reason.ACCOUNT),
    ],
)
def test_a_token_of_ours_that_opens_nothing_is_counted_by_its_reason_and_named_by_its_number(
    end: Callable[[ToolToken], None], reason: str, log: Callable[[], str]
) -> None:
    secret, token = token_for(staff="staff")
    assert tokens.identify(secret) is not None
    assert refused() == {}
    end(token)
    for times in (1, 2):
        assert tokens.identify(secret) is None
        assert refused() == {reason: times}
    assert f'"event": "token.refused", "reason": "{reason}", "tool_token_id": {token.pk}' in log()
    assert_unsaid(secret, log())


@pytest.mark.parametrize("shown", [SECRET, "nonsense-0123456789", "rdt_é" + "x" * 40, SECRET * 10])
def test_what_was_never_a_token_is_counted_and_nothing_of_it_is_logged(shown: str, log: Callable[[], str]) -> None:
    assert tokens.identify(shown) is None
    assert refused() == {Reason.UNKNOWN: 1}
    assert '"reason": "unknown", "tool_token_id": null' in log()
    assert_unsaid(shown, log())


def assert_unsaid(secret: str, text: str) -> None:
    """Not even a piece of it."""
    pieces = {secret[place : place + 8] for place in range(len(secret) - 7)}
    assert not [piece for piece in pieces if piece in text]


def test_an_order_of_somebody_else_and_one_that_is_not_there_are_told_apart_here_alone(log: Callable[[], str]) -> None:
    cast.place("5602", who="ming2")
    secret, token = token_for(cast.order_5531().customer)
    who = tokens.identify(secret)
    assert who is not None
    own, foreign, none = (calls.call(who, "get_order", {"order_number": n}, Door.HTTP) for n in ("5531", "5602", "0"))
    assert not own.is_error
    assert foreign == none
    assert refused() == {Reason.FOREIGN_ORDER: 1, Reason.NO_SUCH_ORDER: 1}
    assert f'"reason": "foreign_order", "tool_token_id": {token.pk}' in log()


@pytest.mark.django_db(transaction=True)
def test_a_scraper_reads_it_after_calls_over_mcp() -> None:
    for _ in range(3):
        assert by_mcp(SECRET, "get_order", {"order_number": "5531"}).result["code"] == "token_refused"
    registry = CollectorRegistry(auto_describe=False)
    registry.register(metrics.DeskNumbers())
    page = generate_latest(registry).decode()
    assert 'refund_desk_token_refusals_total{reason="unknown"} 3.0' in page
    assert 'refund_desk_token_refusals_total{reason="expired"} 0.0' in page


def test_a_revoked_token_is_refused_all_the_same_while_redis_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    away = redis.Redis(port=9, socket_connect_timeout=0.2)
    monkeypatch.setattr("agent.doors.refusals.carrier", lambda: away)
    secret, token = token_for(cast.customer())
    revoked(token)
    assert tokens.identify(secret) is None
    assert refused() == {}
