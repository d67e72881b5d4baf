"""Auditors see what came back, what was sent instead, who decided what, and what providers told; all of it linked."""

from datetime import timedelta
from html import unescape

import pytest
from django.contrib.admin.utils import quote
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from orders.models import Order, Shipment
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import alerts, compensation, replacements, returns
from refunds.acceptance import accept
from refunds.models import (
    Approval,
    BooksCompared,
    GatewayAttempt,
    ProviderEvent,
    Refund,
    Replacement,
    Return,
    SimulatedAcquirer,
    StaffAlert,
)
from refunds.states import AlertKind, AttemptOutcome
from refunds.tests.ask import choices
from refunds.tests.browser import signed_in
from refunds.tests.paying import attempted, pending_refund

pytestmark = pytest.mark.django_db
RECORDS: list[type[Model]] = [Return, Replacement, Approval, ProviderEvent, StaffAlert, BooksCompared]


@pytest.fixture
def auditor() -> Client:
    """An auditor, after an exchange with a piece short, a proposal, a paid refund, a webhook, an alert and a report."""
    exchanged("6801")
    order = Order.objects.get(number="6801")
    compensation.propose(order=order, amount=50, reason="致歉", actor=cast.staff(), request_ref="test")
    refund = paid(cast.place("6802", lines=[("毛巾", 300, 1)]))
    ProviderEvent.objects.create(
        provider="stripe", event_id="evt_1", kind="refund.updated", payload={"id": "re_1", "amount": 30000}
    )
    facts = {"days": 11}
    alerts.raise_alert(kind=AlertKind.OVERDUE, subject=refund.pk, order=refund.order, refund=refund, facts=facts)
    now = timezone.now()
    differences = [{"difference": "missing_here", "number": "re_9"}]
    BooksCompared.objects.create(
        provider="stripe", since=now - timedelta(days=1), until=now, checked=4, differences=differences
    )
    return signed_in("auditor")


def exchanged(number: str) -> Replacement:
    """Two pieces were announced, one came; its replacement is sent."""
    order = cast.place(number, lines=[("襪子", 500, 2)], shipments=[shipment_body({1: 2})])
    lines = choices((1, 2, "defective"))
    made = returns.request_exchange(order=order, lines=lines, actor=cast.shopper(), request_ref=f"test:{number}")
    warehouse = cast.staff("warehouse")
    returns.receive(return_id=made.pk, actor=warehouse, found={"li_1": {"accepted": 1, "short": 1}})
    accept(return_id=made.pk, actor=warehouse)
    return replacements.send(replacement_id=made.replacement.pk, actor=warehouse, tracking_number=f"TN-{number}")


def paid(order: Order) -> Refund:
    refund = pending_refund(order, (1, 1, "changed_mind"))
    attempted(refund, provider="stripe", provider_refund_id="re_1", outcome=AttemptOutcome.SUCCEEDED)
    return refund


def address(model: type[Model], page: str, *args: str | int) -> str:
    keys = [quote(key) for key in args]
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=keys)


def page_of(record: Model) -> str:
    return address(type(record), "change", record.pk)


def shown(client: Client, where: str) -> str:
    answer = client.get(where)
    assert answer.status_code == 200, where
    return unescape(answer.content.decode())


@pytest.mark.parametrize("model", RECORDS)
def test_every_record_is_listed_looked_at_and_changed_by_nobody(auditor: Client, model: type[Model]) -> None:
    record = model._default_manager.first()
    assert record is not None
    assert page_of(record) in shown(auditor, address(model, "changelist"))
    assert 'name="_save"' not in shown(auditor, page_of(record))
    for browser in (auditor, signed_in("admin")):
        for refused in (page_of(record), address(model, "add"), address(model, "delete", record.pk)):
            assert browser.post(refused, {"post": "yes"}).status_code == 403


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Return, "6801"),
        (Replacement, "TN-6801"),
        (Approval, "致歉"),
        (ProviderEvent, "re_1"),
        (StaffAlert, "6802"),
        (BooksCompared, "re_9"),
    ],
)
def test_each_list_is_searched_by_what_people_have_in_their_hands(
    auditor: Client, model: type[Model], words: str
) -> None:
    record = model._default_manager.get()
    assert page_of(record) in shown(auditor, f"{address(model, 'changelist')}?q={words}")
    assert page_of(record) not in shown(auditor, f"{address(model, 'changelist')}?q=nothing-like-it")


@pytest.mark.parametrize(
    ("model", "query"),
    [
        (Return, "lines__findings__found__exact=short"),
        (Replacement, "kind__exact=exchange"),
        (Approval, "kind__exact=compensation"),
        (ProviderEvent, "applied_at__isempty=1"),
        (StaffAlert, "settled_at__isempty=1"),
        (BooksCompared, "provider__exact=stripe"),
        (GatewayAttempt, "kind__exact=refund"),
        (Refund, "kind__exact=goods"),
    ],
)
def test_each_list_is_filtered(auditor: Client, model: type[Model], query: str) -> None:
    record = model._default_manager.first()
    assert record is not None
    assert page_of(record) in shown(auditor, f"{address(model, 'changelist')}?{query}")


def test_a_return_tells_what_was_found_and_leads_to_what_was_sent_instead_and_back(auditor: Client) -> None:
    back, sent = Return.objects.get(), Replacement.objects.get()
    page = shown(auditor, page_of(back))
    assert "缺件 × 1" in page
    assert page_of(sent) in shown(auditor, address(Return, "changelist"))
    replacement = shown(auditor, page_of(sent))
    assert page_of(back) in replacement
    assert sent.shipment is not None
    assert page_of(sent.shipment) in replacement
    of_order = f"{address(Replacement, 'changelist')}?order__id__exact={back.order_id}"
    assert of_order in shown(auditor, page_of(back.order))
    assert f"{address(Replacement, 'changelist')}?shipment__id__exact={sent.shipment_id}" in shown(
        auditor, page_of(Shipment.objects.get(is_replacement=True))
    )


def test_an_attempt_leads_to_what_the_provider_told_of_it_and_an_alert_to_its_refund(auditor: Client) -> None:
    attempt, refund = GatewayAttempt.objects.get(), Refund.objects.get()
    assert f"{address(ProviderEvent, 'changelist')}?q=re_1" in shown(auditor, page_of(attempt))
    assert page_of(refund) in shown(auditor, address(StaffAlert, "changelist"))
    assert f"{address(StaffAlert, 'changelist')}?refund__id__exact={refund.pk}" in shown(auditor, page_of(refund))


def test_the_history_leads_to_what_it_is_about(auditor: Client) -> None:
    history = shown(auditor, reverse("admin:orders_auditevent_changelist"))
    for record in (Return.objects.get(), Replacement.objects.get(), Approval.objects.get(), StaffAlert.objects.get()):
        assert page_of(record) in history


def test_lists_cost_the_same_for_many_rows_as_for_few(auditor: Client) -> None:
    lists = [address(model, "changelist") for model in (Return, Replacement, Approval, StaffAlert)]
    before = {path: queries(auditor, path) for path in lists}
    for index in range(6):
        order = exchanged(f"69{index}").order
        ref = f"more:{index}"
        compensation.propose(order=order, amount=5, reason="致歉", actor=cast.staff(), request_ref=ref)
        alerts.raise_alert(kind=AlertKind.OVERDUE, subject=ref, order=order, facts={"days": 11})
    assert {path: queries(auditor, path) for path in lists} == before


def queries(browser: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert browser.get(path).status_code == 200
    return len(captured)


def test_only_the_superuser_says_what_the_simulated_gateway_can_do_and_there_is_one_row(auditor: Client) -> None:
    add = address(SimulatedAcquirer, "add")
    form = {"void_before_closing": "on", "closing_hour": "22"}
    assert auditor.post(add, form).status_code == 403
    admin = signed_in("admin")
    assert admin.post(add, form).status_code == 302
    acquirer = SimulatedAcquirer.objects.get()
    assert (acquirer.pk, acquirer.partial_refunds, acquirer.closing_hour) == (1, False, 22)
    assert admin.post(add, form).status_code == 403
    assert admin.post(page_of(acquirer), {**form, "closing_hour": "23"}).status_code == 302
