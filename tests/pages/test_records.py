"""The records (Django admin): quick however many there are, taken away as files, linked to the desk both ways."""

import csv
from datetime import timedelta
from html import unescape
from io import StringIO
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.db.models import AutoField, Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation
from pytest_django import Settings
from rest_framework.authtoken.models import Token

from agent.doors import tokens
from agent.models import (
    Conversation,
    ConversationEvent,
    CopilotDraft,
    CopilotThread,
    CustomerMail,
    DoorCall,
    EvalCase,
    EvalRun,
    Message,
    ModelCall,
    ToolCall,
    Turn,
)
from agent.models_desk import CannedReply, ReadMark, StaffNote
from backoffice.models import Export
from backoffice.permission_words import permission_name
from orders.admin_csv import MOST_ROWS
from orders.announce import announce
from orders.links import issue_link
from orders.models import AuditEvent, CarrierFault, Customer, Order
from orders.store_credit import post
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import compensation, returns
from refunds.alerts import raise_alert
from refunds.models import (
    BooksCompared,
    ProviderEvent,
    Refund,
    SimulatedAcquirer,
    SimulatedCharge,
    SimulatedFault,
    SimulatedRefund,
)
from refunds.states import AlertKind
from refunds.tests.ask import choices
from refunds.tests.paying import attempted, pending_refund
from tests.pages.visiting import refund_card, said, signed_in, text_of

pytestmark = pytest.mark.django_db


def one_of_each() -> None:
    """At least one record of every kind that admin lists."""
    order = cast.order_5531()
    issue_link(order=order, actor=cast.staff())
    announce(order=order, event="goods.cancelled", payload={})
    facts: dict[str, Any] = {"currency": "TWD", "amount": 500, "kind": "granted", "order": order, "actor": cast.SHOP}
    post(customer=order.customer, reference="g-1", **facts)
    CarrierFault.objects.create(kind="down")
    _money(order)
    _talk(order)
    Token.objects.create(user=cast.staff_user())
    run = EvalRun.objects.create(is_stand_in=True, seed=1, repetitions=1, toolsets=["task"], plays_planned=1)
    EvalCase.objects.create(run=run, task="t", repetition=1, tags=[], held_out=False, detail={})
    Export.objects.create(kind="orders", asked_by=cast.staff_user(), language="en", expires_at=timezone.now())


def _money(order: Order) -> None:
    refund = pending_refund(cast.place("6801", lines=[("毛巾", 300, 1)]), (1, 1, "changed_mind"))
    now = timezone.now()
    attempted(refund, provider="stripe")
    back = cast.place("6802", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    returns.request_exchange(order=back, lines=choices((1, 1, "defective")), actor=cast.shopper(), request_ref="t")
    compensation.propose(order=order, amount=50, reason="致歉", actor=cast.staff(), request_ref="t")
    raise_alert(kind=AlertKind.OVERDUE, subject=refund.pk, order=refund.order, refund=refund, facts={})
    ProviderEvent.objects.create(provider="stripe", event_id="evt_1", kind="refund.updated", payload={})
    BooksCompared.objects.create(provider="stripe", since=now, until=now)
    SimulatedRefund.objects.create(
        provider_refund_id="sim_1", idempotency_key="k", charge_ref="c", amount=5, currency="TWD"
    )
    SimulatedCharge.objects.create(charge_ref="c", state="failed")
    SimulatedFault.objects.create(kind="refuse")
    SimulatedAcquirer.objects.create(pk=1)


def _talk(order: Order) -> None:
    talk = refund_card(order).conversation
    turn, now = Turn.objects.get(conversation=talk), timezone.now()
    message = talk.messages.first()
    assert message
    ToolCall.objects.create(
        conversation=talk, turn=turn, message=message, tool_use_id="t", name="get_order", arguments={}
    )
    ModelCall.objects.create(conversation=talk, turn=turn, number=1, attempt=1, started_at=now)
    CustomerMail.objects.create(conversation=talk, kind="answered", key="m", not_before=now)
    StaffNote.objects.create(conversation=talk, staff=cast.staff_user(), text="…")
    ReadMark.objects.create(conversation=talk, staff=cast.staff_user(), read_at=now)
    CopilotThread.objects.create(user=cast.staff_user(), conversation=talk)
    CopilotDraft.objects.create(conversation=talk, user=cast.staff_user(), call_ref="c", text="…", read_to=1)
    CannedReply.objects.create(title="…", text="…", written_by=cast.staff_user())
    _, token = tokens.issue(
        actor=cast.staff("admin"), name="…", expires_at=now + timedelta(days=1), customer=order.customer
    )
    DoorCall.objects.create(door="http", token=token, customer=order.customer, order=order, name="x", arguments={})


def let_copies_in(models: list[type[Model]]) -> None:
    """What the database demands of rows is no part of how often a list asks: for this test it demands nothing."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for model in models:
            table = model._meta.db_table
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            cursor.execute(
                "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype IN ('u', 'c')", [table]
            )
            for (name,) in cursor.fetchall():
                cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
            cursor.execute(
                "SELECT indexrelid::regclass FROM pg_index WHERE indrelid = %s::regclass AND indisunique "
                "AND NOT indisprimary",
                [table],
            )
            for (name,) in cursor.fetchall():
                cursor.execute(f"DROP INDEX {name}")


def copy_until(model: type[Model], count: int) -> None:
    """As many rows as `count`: copies of one, so that they all lead to the same other records."""
    missing = count - model._default_manager.count()
    key = model._meta.pk
    assert key is not None
    rest = ", ".join(f'"{each.column}"' for each in model._meta.concrete_fields if each != key)
    new = f'(SELECT max("{key.column}") FROM {model._meta.db_table}) + n'
    if not isinstance(key, AutoField) and key.get_internal_type() != "BigAutoField":
        new = f"left(\"{key.column}\"::text, 20) || to_char({count} * 1000 + n, 'FM000000')"
    with connection.cursor() as cursor:
        cursor.execute(
            f'INSERT INTO {model._meta.db_table} ("{key.column}", {rest}) '
            f"SELECT {new}, {rest} FROM (SELECT * FROM {model._meta.db_table} LIMIT 1) AS one, "
            f"generate_series(1, {missing}) AS n"
        )


def test_every_list_asks_as_often_for_fifty_rows_as_for_ten(settings: Settings) -> None:
    settings.ORDER_WEBHOOK_URL = "http://127.0.0.1:9/"
    browser = signed_in("admin")
    one_of_each()
    models = list(admin.site._registry)
    assert [model for model in models if not model._default_manager.exists()] == []
    let_copies_in(models)
    counted: dict[int, dict[str, int]] = {}
    for rows in (10, 50):
        for model in models:
            copy_until(model, rows)
        counted[rows] = {model._meta.label: queries(browser, model) for model in models}
    assert counted[50] == counted[10]


def queries(browser: Client, model: type[Model]) -> int:
    with CaptureQueriesContext(connection) as captured:
        answer = browser.get(list_of(model))
        assert answer.status_code == 200, model
    return len(captured)


def list_of(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def test_every_list_can_be_searched_or_narrowed() -> None:
    for model, page in admin.site._registry.items():
        assert page.search_fields or page.list_filter or model is SimulatedAcquirer, model


def take_away(browser: Client, model: type[Model], *keys: Any, query: str = "", **more: str) -> Any:
    return browser.post(list_of(model) + query, {"action": "export_csv", "_selected_action": keys, **more})


def rows_of(answer: Any) -> list[list[str]]:
    return list(csv.reader(StringIO(answer.content.decode().removeprefix("\ufeff"))))


def test_the_chosen_rows_of_a_list_are_a_file_with_what_the_list_shows() -> None:
    order = cast.order_5531()
    cast.place("5600")
    Customer.objects.update(name="=王小明")
    browser = signed_in("auditor", language="en")
    answer = take_away(browser, Order, order.pk)
    assert answer.content.decode().startswith("\ufeff")
    head, row = rows_of(answer)
    assert head[:4] == ["order number", "customer", "placed at", "paid"]
    assert (row[0], row[1], row[3]) == ("5531", "'=王小明", "NT$1,430")
    event = AuditEvent.objects.get(action="export.made")
    assert (event.actor_name, event.outcome, event.chosen["kind"]) == ("auditor", {"rows": 1}, "records:order")


def test_all_rows_that_fit_the_filters_are_taken_where_all_are_chosen() -> None:
    order = cast.order_5531()
    cast.place("5600")
    answer = take_away(signed_in("auditor"), Order, order.pk, select_across="1")
    assert {row[0] for row in rows_of(answer)[1:]} == {"5531", "5600"}
    narrowed = take_away(signed_in("auditor"), Order, order.pk, select_across="1", query="?q=5600")
    assert {row[0] for row in rows_of(narrowed)[1:]} == {"5600"}


def test_what_people_wrote_stands_in_the_file_whole_and_as_they_wrote_it() -> None:
    text = "3 < 5 <b>bold</b> &amp; " + "很長" * 100
    order = cast.order_5531()
    message = said(order, text).messages.get()
    browser = signed_in("auditor", language="en")
    head, row = rows_of(take_away(browser, Message, message.pk))
    assert row[head.index("text")] == text
    assert row[head.index("order")] == "5531"
    event = ConversationEvent.objects.get(kind="message")
    head, row = rows_of(take_away(browser, ConversationEvent, event.pk))
    assert row[head.index("content")] == text


def test_notes_and_read_marks_lead_to_their_conversation() -> None:
    one_of_each()
    browser, talk = signed_in("auditor"), StaffNote.objects.get().conversation
    for model in (StaffNote, ReadMark):
        assert reverse("admin:agent_conversation_change", args=[talk.pk]) in text_of(browser.get(list_of(model)))


def test_too_many_rows_are_refused_with_what_to_do() -> None:
    cast.order_5531()
    let_copies_in([Customer])
    copy_until(Customer, MOST_ROWS + 1)
    browser = signed_in("auditor", language="en")
    page = text_of(
        browser.post(
            list_of(Customer),
            {
                "action": "export_csv",
                "_selected_action": [Customer.objects.values_list("pk", flat=True)[0]],
                "select_across": "1",
            },
            follow=True,
        )
    )
    assert "These are more than 5,000 rows." in page
    assert not AuditEvent.objects.filter(action="export.made").exists()


def test_nobody_takes_records_away_who_may_not_look_at_them() -> None:
    order = cast.order_5531()
    user = cast.user("half", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_payment"))
    browser = Client()
    browser.force_login(user)
    assert take_away(browser, Order, order.pk).status_code == 403
    assert not AuditEvent.objects.filter(action="export.made").exists()


def test_the_front_page_leads_to_the_desk_and_says_what_waits_there() -> None:
    cast.order_5531()
    conversation = refund_card(Order.objects.get()).conversation
    Conversation.objects.filter(pk=conversation.pk).update(needs_person=True, waiting_since=timezone.now())
    page = text_of(signed_in("admin", language="en").get("/admin/"))
    for address in ("/staff/audit/", "/staff/reports/", "/staff/", "/staff/orders/", "/staff/approvals/"):
        assert f'href="{address}"' in page
    assert '<span class="waiting">1 waits</span>' in page
    auditors = text_of(signed_in("auditor", language="en").get("/admin/"))
    assert 'href="/staff/audit/"' in auditors
    assert 'href="/staff/approvals/"' not in auditors


def test_records_lead_to_their_story_and_the_story_to_the_records() -> None:
    refund = pending_refund()
    browser = signed_in("auditor")
    records: list[tuple[Model, str]] = [(refund, refund.pk), (refund.order, "5531")]
    records += [(refund.quote, refund.quote.pk)] if refund.quote else []
    assert len(records) == 3
    for record, question in records:
        address = reverse(f"admin:{record._meta.app_label}_{record._meta.model_name}_change", args=[quote(record.pk)])
        assert f'href="/staff/audit/?q={question}"' in text_of(browser.get(address))
        assert f'href="{address}"' in unescape(text_of(browser.get("/staff/audit/", {"q": question})))
    assert Refund.objects.count() == 1


def test_permissions_are_named_in_the_language_of_the_page() -> None:
    page = unescape(text_of(signed_in("admin").get(reverse("admin:auth_group_change", args=[1]))))
    assert "退款 | 退款 | 可重新送出被拒的退款" in page
    assert "Can " not in page
    user = unescape(text_of(signed_in("admin").get(reverse("admin:auth_user_change", args=[User.objects.get().pk]))))
    assert "訂單 | 訂單 | 可檢視：訂單" in user


def test_every_permission_has_words_in_both_languages() -> None:
    for permission in Permission.objects.select_related("content_type"):
        with translation.override("zh-hant"):
            assert "Can " not in permission_name(permission), permission
        with translation.override("en"):
            assert not any("\u4e00" <= letter <= "\u9fff" for letter in permission_name(permission))
    assert Group.objects.count() >= 5
