"""Auditors see every record of the money in admin, linked to each other; only the demo's switches can be changed."""

from html import unescape
from io import StringIO

import pytest
from django.contrib.admin.utils import quote
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from orders.models import AuditEvent
from orders.tests import cast
from refunds import tasks
from refunds.models import (
    GatewayAttempt,
    Refund,
    RefundAllocation,
    RefundPolicy,
    RefundQuote,
    Return,
    SimulatedFault,
    SimulatedRefund,
)
from refunds.redeem import redeem
from refunds.tests.ask import ask
from refunds.tests.browser import signed_in
from refunds.tests.paying import pending_refund, switch_on

pytestmark = pytest.mark.django_db(transaction=True)
RECORDS: list[type[Model]] = [
    RefundPolicy,
    RefundQuote,
    Refund,
    RefundAllocation,
    GatewayAttempt,
    Return,
    SimulatedRefund,
]


@pytest.fixture
def auditor() -> Client:
    """An auditor, after one refund was paid and one return was asked for."""
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    redeem(quote_id=ask(refund.order, (1, 1, "changed_mind")).pk, actor=cast.shopper())
    switch_on("refuse")
    return signed_in("auditor")


def address(model: type[Model], page: str, *args: str | int) -> str:
    keys = [quote(key) for key in args]
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=keys)


def shown(client: Client, where: str) -> str:
    answer = client.get(where)
    assert answer.status_code == 200, where
    return unescape(answer.content.decode())


def test_every_record_can_be_found_and_looked_at_and_not_changed(auditor: Client) -> None:
    for model in RECORDS:
        record = model._default_manager.first()
        assert record is not None, model
        assert str(record) in shown(
            auditor, f"{address(model, 'changelist')}?q={record}".replace(" ", "+").split("?")[0]
        )
        page = address(model, "change", record.pk)
        assert 'name="_save"' not in shown(auditor, page)
        for refused in (page, address(model, "add"), address(model, "delete", record.pk)):
            assert auditor.post(refused, {"post": "yes"}).status_code == 403


def test_even_the_superuser_changes_no_record(auditor: Client) -> None:
    admin = signed_in("admin")
    for model in RECORDS:
        record = model._default_manager.first()
        assert record is not None
        assert admin.post(address(model, "change", record.pk), {"amount": "1"}).status_code == 403


def test_records_can_be_searched_by_order_and_by_number(auditor: Client) -> None:
    refund = Refund.objects.get()
    for model in (RefundQuote, Refund, RefundAllocation, GatewayAttempt, Return):
        record = model._default_manager.first()
        assert str(record) in shown(auditor, f"{address(model, 'changelist')}?q=5531")
    assert refund.pk in shown(auditor, f"{address(Refund, 'changelist')}?q={refund.quote_id}")
    assert refund.pk not in shown(auditor, f"{address(Refund, 'changelist')}?q=nothing-like-it")


def test_a_search_asks_each_table_by_itself_and_for_whole_numbers(auditor: Client) -> None:
    refund = Refund.objects.get()
    with CaptureQueriesContext(connection) as captured:
        assert refund.pk in shown(auditor, f"{address(Refund, 'changelist')}?q=5531")
    searches = [query["sql"] for query in captured if "'5531'" in query["sql"]]
    assert any("orders_order" in sql for sql in searches)
    assert not any("UPPER" in sql or " OR " in sql for sql in searches)
    assert refund.pk not in shown(auditor, f"{address(Refund, 'changelist')}?q=553")


def test_the_whole_story_is_linked_from_the_refund(auditor: Client) -> None:
    refund = Refund.objects.get()
    assert refund.quote_id
    page = shown(auditor, address(Refund, "change", refund.pk))
    assert address(RefundQuote, "change", refund.quote_id) in page
    assert address(RefundAllocation, "change", refund.allocations.get().pk) in page
    allocation = shown(auditor, address(RefundAllocation, "change", refund.allocations.get().pk))
    assert address(GatewayAttempt, "change", GatewayAttempt.objects.get().pk) in allocation
    events = f"{reverse('admin:orders_auditevent_changelist')}?subject_type__exact=refund&subject_id__exact={refund.pk}"
    assert events in page
    attempt = shown(auditor, address(GatewayAttempt, "change", GatewayAttempt.objects.get().pk))
    assert events in attempt
    assert f'href="/staff/audit/?q={refund.pk}"' in attempt
    history = shown(auditor, events)
    assert "refund.succeeded" in history
    assert address(Refund, "change", refund.pk) in history


def in_chinese(client: Client, where: str) -> str:
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "zh-TW"
    return shown(client, where)


def test_an_amount_is_money_and_its_steps_are_sentences_wherever_it_is_shown(auditor: Client) -> None:
    refund = Refund.objects.get()
    assert refund.quote_id
    event = AuditEvent.objects.get(action="quote.redeemed", subject_id=refund.quote_id)
    for page in (
        address(RefundQuote, "change", refund.quote_id),
        address(Refund, "change", refund.pk),
        address(AuditEvent, "change", event.pk),
    ):
        text = in_chinese(auditor, page)
        assert "<td>耳機殼</td><td>NT$380</td>" in text
        assert "不再適用" in text
        assert "NT$230" in text
    for model in (RefundQuote, Refund, RefundAllocation, GatewayAttempt, SimulatedRefund):
        assert "NT$230" in in_chinese(auditor, address(model, "changelist")), model
    assert "NT$20,000" in in_chinese(auditor, address(RefundPolicy, "changelist"))


def test_the_history_is_told_in_words_beside_the_codes(auditor: Client) -> None:
    text = in_chinese(auditor, address(AuditEvent, "changelist"))
    for words in ("退款成功", "refund.succeeded", "金流商已退款", "退款處理", "顧客", "退款試算"):
        assert words in text
    assert "關閉" in in_chinese(auditor, address(Refund, "change", Refund.objects.get().pk))


def test_only_the_superuser_switches_faults(auditor: Client) -> None:
    fault = SimulatedFault.objects.get()
    page = address(SimulatedFault, "change", fault.pk)
    assert auditor.post(page, {"kind": "slow", "remaining": 5, "seconds": 1}).status_code == 403
    assert signed_in("admin").post(page, {"kind": "slow", "remaining": 5, "seconds": 1}).status_code == 302
    fault.refresh_from_db()
    assert (fault.kind, fault.remaining) == ("slow", 5)


def test_a_fault_is_switched_on_and_off_by_command() -> None:
    said = StringIO()
    call_command("gateway_fault", "timeout_after", "--times", "2", "--seconds", "0.5", stdout=said)
    assert said.getvalue() == "The next 2 calls of the simulated gateway: timeout_after, 0.5 s.\n"
    fault = SimulatedFault.objects.get()
    assert (fault.kind, fault.remaining, fault.seconds) == ("timeout_after", 2, 0.5)
    SimulatedFault.objects.create(kind="slow", remaining=0, seconds=1)
    said = StringIO()
    call_command("gateway_fault", "off", stdout=said)
    assert not SimulatedFault.objects.exists()
    assert said.getvalue() == "Switched off: 1.\n"
    for wrong in (["--times", "-3"], ["--times", "0"], ["--seconds", "-1"], ["--seconds", "nan"]):
        with pytest.raises(CommandError):
            call_command("gateway_fault", "slow", *wrong)
