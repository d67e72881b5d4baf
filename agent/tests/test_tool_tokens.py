"""Tokens: issued and revoked in the records, shown once, kept as a hash; what they do not open is nothing at all."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agent.doors import tokens
from agent.models import ToolToken
from agent.states import TokenScope
from agent.tests.doors import by_mcp, listed_by_mcp, token_for
from orders.actors import NotAllowed
from orders.errors import InvalidInput
from orders.models import AuditEvent
from orders.tests import cast

pytestmark = pytest.mark.django_db
ADD = reverse("admin:agent_tooltoken_add")
LIST = reverse("admin:agent_tooltoken_changelist")


def signed_in(role: str) -> Client:
    browser = Client(headers={"Accept-Language": "en"})
    browser.force_login(cast.staff_user(role))
    return browser


def form(**more: str) -> dict[str, str]:
    moment = timezone.localtime(timezone.now() + timedelta(days=3))
    usual = {"name": "laptop", "customer_id": "c-ming", "staff": ""}
    return {**usual, "expires_at_0": f"{moment:%Y-%m-%d}", "expires_at_1": f"{moment:%H:%M:%S}", **more}


def test_a_token_opens_its_customer_until_it_ends_or_is_revoked() -> None:
    customer = cast.customer()
    secret, token = token_for(customer)
    who = tokens.identify(secret)
    assert who is not None
    assert (who.customer, who.user, who.token) == (customer, None, token)
    token.refresh_from_db()
    assert token.last_used_at is not None
    ToolToken.objects.update(expires_at=timezone.now())
    assert tokens.identify(secret) is None
    ToolToken.objects.update(expires_at=timezone.now() + timedelta(days=1))
    assert tokens.revoke(token=token, actor=cast.staff("admin"))
    assert not tokens.revoke(token=token, actor=cast.staff("admin"))
    assert tokens.identify(secret) is None


@pytest.mark.parametrize("secret", ["", "rdt_", "rdt_" + "x" * 43, "rdt_é", "x" * 10_000, "rdt_\x00"])
def test_a_wrong_token_opens_nothing(secret: str) -> None:
    token_for(cast.customer())
    assert tokens.identify(secret) is None


def test_only_the_hash_is_kept_and_the_beginning() -> None:
    secret, token = token_for(cast.customer())
    assert len(secret) > 43
    assert secret.startswith(token.prefix)
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(t)::text FROM agent_tooltoken t")
        (kept,) = cursor.fetchone()
    assert secret[len(token.prefix) :] not in kept
    assert secret[len(token.prefix) :] not in str(list(AuditEvent.objects.values()))


def test_a_colleagues_token_opens_nothing_without_the_permission_or_the_account() -> None:
    user = cast.staff_user()
    secret, _ = token_for(staff="staff")
    assert tokens.identify(secret) is not None
    user.groups.clear()
    assert tokens.identify(secret) is None
    user.user_permissions.add(Permission.objects.get(codename="use_copilot"))
    assert tokens.identify(secret) is not None
    type(user).objects.filter(pk=user.pk).update(is_active=False)
    assert tokens.identify(secret) is None


def test_nor_does_that_of_a_customer_whose_account_is_switched_off() -> None:
    secret, _ = token_for(cast.customer())
    type(cast.customer_user()).objects.filter(username="ming").update(is_active=False)
    assert tokens.identify(secret) is None
    without, _ = token_for(cast.customer("mei"))
    assert tokens.identify(without) is not None


@pytest.mark.parametrize("role", ["staff", "supervisor", "auditor"])
def test_only_who_may_issues_and_revokes(role: str) -> None:
    _, token = token_for(cast.customer())
    for refused in (
        lambda: tokens.revoke(token=token, actor=cast.staff(role)),
        lambda: tokens.issue(
            actor=cast.staff(role), name="x", expires_at=timezone.now() + timedelta(1), customer=cast.customer()
        ),
    ):
        with pytest.raises(NotAllowed):
            refused()
    if role != "staff":
        browser = signed_in(role)
        assert browser.post(ADD, form()).status_code == 403
        browser.post(LIST, {"action": "revoke", "_selected_action": [token.pk]})
    token.refresh_from_db()
    assert token.revoked_at is None
    assert ToolToken.objects.count() == 1


@pytest.mark.parametrize("days", [-1, 0, 367])
def test_a_token_ends_in_the_future_and_within_a_year(days: float) -> None:
    with pytest.raises(InvalidInput):
        token_for(cast.customer(), days=days)


def test_the_form_offers_as_staff_only_accounts_that_may_use_the_tools_of_colleagues() -> None:
    cast.customer()
    for role in ("staff", "supervisor", "warehouse", "auditor"):
        cast.staff_user(role)
    page = unescape(signed_in("admin").get(ADD).content.decode())
    field = page[page.index('<select name="staff"') :].split("</select>")[0]
    assert set(re.findall(r">([\w-]+)</option>", field)) - {"---------"} == {"staff", "supervisor", "admin"}
    ming = cast.customer_user().pk
    answer = signed_in("admin").post(ADD, form(customer_id="", staff=str(ming)))
    assert answer.status_code == 200
    assert not ToolToken.objects.exists()


def test_the_frameworks_own_tokens_are_named_in_chinese_beside_ours() -> None:
    browser = signed_in("admin")
    page = unescape(browser.get("/admin/", headers={"Accept-Language": "zh-TW"}).content.decode())
    assert "API 權杖" in page
    assert "Tokens" not in page
    assert "TOKEN" not in page


def test_a_token_is_issued_in_the_records_shown_once_and_revoked_there() -> None:
    cast.customer()
    browser = signed_in("admin")
    answer = browser.post(ADD, form())
    found = re.search(r"rdt_[\w-]{43}", answer.content.decode())
    assert found is not None
    assert "no-store" in answer["Cache-Control"]
    token = ToolToken.objects.get()
    assert (token.scope, token.customer, token.made_by.username) == (TokenScope.CUSTOMER, cast.customer(), "admin")
    change = reverse("admin:agent_tooltoken_change", args=[token.pk])
    for page in (LIST, change):
        shown = unescape(browser.get(page).content.decode())
        assert token.prefix in shown
        assert found[0] not in shown
        assert token.hash not in shown
    assert browser.post(change, form()).status_code == 403
    browser.post(LIST, {"action": "revoke", "_selected_action": [token.pk]})
    assert tokens.identify(found[0]) is None
    actions = AuditEvent.objects.filter(subject_type="tool_token").order_by("pk")
    assert [(event.action, event.actor_name, event.chosen["customer"]) for event in actions] == [
        ("tool_token.issued", "admin", "c-ming"),
        ("tool_token.revoked", "admin", "c-ming"),
    ]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"customer_id": "nobody"}, "customer_id"),
        ({"customer_id": ""}, "customer_id"),
        ({"name": ""}, "name"),
        ({"expires_at_0": "2020-01-01"}, "expires_at"),
        ({"expires_at_0": ""}, "expires_at"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(wrong: dict[str, str], field: str) -> None:
    cast.customer()
    errors: Any = signed_in("admin").post(ADD, form(**wrong)).context["adminform"].errors
    assert list(errors) == [field]
    assert not ToolToken.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_token_that_is_revoked_between_two_calls_has_no_tools_any_more() -> None:
    cast.order_5531()
    secret, token = token_for(cast.customer())
    assert listed_by_mcp(secret)
    tokens.revoke(token=token, actor=cast.staff("admin"))
    assert listed_by_mcp(secret) == []
    answer = by_mcp(secret, "get_order", {"order_number": "5531"})
    assert (answer.is_error, answer.result["code"]) == (True, "token_refused")
