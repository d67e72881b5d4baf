"""The page of calls from outside: what one program did, in order, with how long it took; and who may see it."""

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

from agent.doors import calls, sessions
from agent.doors.identity import Identity
from agent.models import DoorCall, ToolToken
from agent.states import Door
from agent.tests.doors import token_for
from agent.tests.helpers import CASE, hear, talk
from backoffice.screens.door_calls import steps_of
from orders.models import Order
from orders.tests import cast
from tests.pages.visiting import signed_in, stranger, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    with translation.override("en"):
        yield


@pytest.fixture
def order() -> Order:
    return cast.order_5531()


@pytest.fixture
def token(order: Order) -> ToolToken:
    return token_for(order.customer)[1]


def called(token: ToolToken, name: str = "get_order", *, minutes: float = 0, **arguments: Any) -> DoorCall:
    """A call of the program's, so many minutes ago."""
    who = Identity(customer=token.customer, token=token)
    calls.call(who, name, {"order_number": "5531", **arguments}, Door.HTTP)
    call = DoorCall.objects.latest("pk")
    call.created_at -= timedelta(minutes=minutes)
    call.save()
    return call


def address(call: DoorCall) -> str:
    return f"/staff/door-calls/{call.pk}/"


def page(call: DoorCall, name: str = "staff", language: str = "en") -> str:
    return text_of(signed_in(name, language=language).get(address(call)))


def test_calls_of_one_program_stand_in_order_with_arguments_answers_and_time(token: ToolToken) -> None:
    called(token, minutes=3)
    wrong = called(token, "quote_refund", minutes=2, lines=[{**CASE, "quantity": 2}])
    last = called(token, "quote_refund", lines=[CASE])
    steps = steps_of(sessions.around(wrong).calls, chosen=wrong.pk)
    assert [(step.title, step.badge, step.tone, step.is_chosen) for step in steps] == [
        ("get_order", "answered", "good", False),
        ("quote_refund", "invalid_argument", "bad", True),
        ("quote_refund", "answered", "good", False),
    ]
    assert all(re.fullmatch(r"0\.\d{3} s|\d\.\d\d s", step.duration) for step in steps)
    assert steps[-1].after == "+3 min 0 s"
    said = page(wrong)
    whose = (token.name, f"{token.prefix}…", "王小明")
    for each in (*whose, "invalid_argument", '"quantity": 2', "li_2 = 耳機殼", last.ref):
        assert each in unescape(said)
    assert said.count('class="trace-step"') == 3
    assert said.count('aria-current="step"') == 1


def test_a_pause_ends_a_session_and_the_neighbours_are_led_to(token: ToolToken) -> None:
    long_ago = called(token, minutes=40)
    before = called(token, minutes=25)
    middle = [called(token, minutes=minutes) for minutes in (13, 12)]
    after = called(token, minutes=1)
    session = sessions.around(middle[1])
    assert ([each.pk for each in session.calls], session.earlier, session.later) == (
        [each.pk for each in middle],
        before.pk,
        after.pk,
    )
    assert f'href="{address(before)}"' in page(middle[0])
    assert f'href="{address(after)}"' in page(middle[0])
    assert sessions.around(long_ago).earlier is None
    assert sessions.around(after).later is None


def test_a_session_without_a_pause_is_cut_where_it_gets_too_long(
    token: ToolToken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MOST", 2)
    made = [called(token) for _ in range(7)]
    session = sessions.around(made[3])
    assert ([each.pk for each in session.calls], session.earlier, session.later) == (
        [each.pk for each in made[1:6]],
        made[0].pk,
        made[6].pk,
    )


def test_what_others_called_meanwhile_is_not_there(token: ToolToken, order: Order) -> None:
    mine = called(token)
    _, second = token_for(order.customer)
    called(second)
    calls.call(Identity(customer=order.customer), "get_order", {"order_number": "5531"}, Door.SHELL)
    by_shell = DoorCall.objects.latest("pk")
    calls.call(Identity(user=cast.staff_user()), "customers_search", {"query": "王小明"}, Door.SHELL)
    of_staff = DoorCall.objects.latest("pk")
    for call, says in ((mine, token.prefix), (by_shell, "The server's shell"), (of_staff, "for colleague staff")):
        assert [each.pk for each in sessions.around(call).calls] == [call.pk]
        assert says in page(call)


def test_a_call_without_an_answer_is_at_work_until_its_process_must_have_ended(token: ToolToken) -> None:
    call = called(token)
    rows = DoorCall.objects.filter(pk=call.pk)
    rows.update(result=None, duration_ms=None)
    assert [told in page(call) for told in ("at work", "no answer", "ended in the middle")] == [True, False, False]
    rows.update(created_at=timezone.now() - timedelta(seconds=settings.AGENT_MAX_TURN_SECONDS + 1))
    assert [told in page(call) for told in ("at work", "no answer", "ended in the middle")] == [False, True, True]


def test_what_a_program_sends_is_no_markup(token: ToolToken) -> None:
    called(token, "<script>alert(1)</script>", note="<img src=x onerror=alert(1)>")
    said = page(DoorCall.objects.latest("pk"))
    assert "&lt;script&gt;alert(1)" in said
    assert "<script>alert" not in said
    assert "<img src=x" not in said


def test_goods_are_named_only_where_all_calls_are_about_one_order(token: ToolToken) -> None:
    call = called(token, "quote_refund", lines=[CASE])
    assert "li_2 = 耳機殼" in page(call)
    cast.place("5601")
    called(token, order_number="5601")
    assert "li_2 = " not in page(call)


def test_staff_and_auditors_see_it_the_warehouse_and_customers_do_not(token: ToolToken) -> None:
    path = address(called(token))
    opens = {name: signed_in(name).get(path).status_code for name in ("staff", "supervisor", "auditor", "admin")}
    assert set(opens.values()) == {200}, opens
    closed = {name: signed_in(name).get(path).status_code for name in ("warehouse", "marketing", "ming")}
    assert set(closed.values()) == {403}, closed
    assert stranger().get(path).status_code == 302
    assert signed_in("staff").post(path).status_code == 405
    assert signed_in("staff").get("/staff/door-calls/999999/").status_code == 404


@pytest.mark.parametrize(("held", "status"), [("view_tooltoken", 403), ("view_doorcall", 200)])
def test_who_looks_needs_the_permission_of_calls(token: ToolToken, held: str, status: int) -> None:
    path = address(called(token))
    browser = signed_in("ming2")
    permission = Permission.objects.get(content_type__app_label="agent", codename=held)
    cast.customer_user("ming2").user_permissions.set([permission])
    assert browser.get(path).status_code == status


def test_token_call_conversation_and_report_lead_to_it(token: ToolToken, order: Order) -> None:
    hear(order)
    call = called(token)
    link = f'href="{address(call)}"'
    auditor = signed_in("auditor")
    assert link in text_of(auditor.get(f"/admin/agent/tooltoken/{token.pk}/change/"))
    assert link in text_of(auditor.get(f"/admin/agent/doorcall/{call.pk}/change/"))
    conversation = f"/staff/conversations/{talk(order).pk}/"
    assert link in text_of(signed_in("staff").get(conversation))
    DoorCall.objects.update(conversation=None)
    assert "/staff/door-calls/" not in text_of(signed_in("staff").get(conversation))
    _, unused = token_for(order.customer)
    assert "/staff/door-calls/" not in text_of(auditor.get(f"/admin/agent/tooltoken/{unused.pk}/change/"))


def test_a_long_session_costs_as_many_queries_as_a_short_one(token: ToolToken) -> None:
    browser = signed_in("staff")

    def queries(call: DoorCall) -> int:
        with CaptureQueriesContext(connection) as counted:
            assert browser.get(address(call)).status_code == 200
        return len(counted)

    first = called(token)
    queries(first)  # what a first visit reads once
    few = queries(first)
    for _ in range(6):
        called(token)
    assert queries(first) == few


def test_it_is_there_in_chinese(token: ToolToken) -> None:
    said = page(called(token, minutes=1), language="zh-TW")
    for each in ("Tool calls from outside", "Refused", "Step by step", "answered"):
        assert each not in said
    assert timezone.localtime(DoorCall.objects.get().created_at).strftime("%Y-%m-%d") in said
