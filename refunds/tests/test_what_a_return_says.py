"""Once a return has its refund, it says how that stands and what it comes to: never that money went that did not."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from orders.errors import Refusal
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import approvals, returns, selectors, tasks
from refunds.acceptance import accept
from refunds.models import Refund, Return
from refunds.present import return_as_dict
from refunds.refund_words import state_text
from refunds.tests.going_back import earphones, received_return, requested_return, warehouse
from refunds.tests.paying import state_of, switch_on

pytestmark = pytest.mark.django_db(transaction=True)
ONE = (1, 1, "changed_mind")


def said(request: Return) -> tuple[str, str]:
    with translation.override("en"):
        shown = return_as_dict(Return.objects.get(pk=request.pk))
    return shown["state_text"], shown["display"]


def accepted(request: Return) -> Refund:
    accept(return_id=request.pk, actor=warehouse())
    return Refund.objects.get(return_request=request)


def two_socks() -> Order:
    return cast.place("8501", lines=[("襪", 1000, 2)], shipments=[shipment_body({1: 2})])


def test_it_follows_its_refund_from_the_acceptance_on() -> None:
    request = received_return(earphones(1), ONE)
    assert said(request) == ("The goods have arrived and are being looked at", "NT$1,200")
    switch_on("refuse")
    refund = accepted(request)
    assert said(request) == ("On its way to the payment provider", "NT$1,200")
    tasks.send_refund(refund.pk)
    assert state_of(refund) == "failed"
    assert said(request) == ("The payment provider refused it; the shop is looking into it", "NT$1,200")


def test_nor_does_the_refusal_of_what_comes_too_late_call_it_refunded() -> None:
    request = received_return(earphones(1), ONE)
    accepted(request)
    with translation.override("en"), pytest.raises(Refusal) as caught:
        returns.receive(return_id=request.pk, actor=warehouse())
    assert f"{request.pk} (refund arranged)" in caught.value.message


def test_it_says_refunded_once_it_is() -> None:
    request = received_return(earphones(1), ONE)
    tasks.send_refund(accepted(request).pk)
    assert said(request) == ("Refunded", "NT$1,200")


def test_what_came_to_less_is_told_while_it_waits_and_when_it_was_approved() -> None:
    request = received_return(two_socks(), (1, 2, "changed_mind"), found={"li_1": {"accepted": 1, "damaged": 1}})
    assert said(request)[1] == "NT$2,000"
    refund = accepted(request)
    assert said(request) == ("Waiting for a second person of the shop to approve it", "NT$1,000")
    approvals.approve_refund(refund_id=refund.pk, actor=cast.staff("supervisor"), reason="一件損壞")
    tasks.send_refund(refund.pk)
    assert said(request) == ("Refunded", "NT$1,000")


def test_a_refund_that_was_not_approved_says_nothing_for_its_return() -> None:
    request = received_return(two_socks(), (1, 2, "changed_mind"), found={"li_1": {"accepted": 1, "damaged": 1}})
    approvals.reject_refund(refund_id=accepted(request).pk, actor=cast.staff("supervisor"), reason="不行")
    assert said(request) == ("Not accepted; the goods go back to the customer", "NT$2,000")


def test_a_list_of_them_costs_as_many_queries_as_one() -> None:
    counts = []
    for number in ("8511", "8512"):
        order = cast.place(number, lines=[("襪", 100, 3)], shipments=[shipment_body({1: 3})])
        accepted(received_return(order, ONE))
        requested_return(order, ONE)
        with CaptureQueriesContext(connection) as queries:
            shown = [return_as_dict(item)["state_text"] for item in selectors.returns()]
        counts.append(len(queries))
    assert len(shown) == 4
    assert counts[0] == counts[1]
    assert state_text(Refund.objects.earliest("pk")) in shown
