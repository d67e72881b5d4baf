"""A part was paid by hand, and its provider reports to have paid it too: whoever settles it says which one stands."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone, translation

from orders.errors import InvalidInput, Refusal
from orders.models import AuditEvent, Order
from orders.tests import cast
from orders.tests.factories import payment_body
from refunds import books, elsewhere, given_back, selectors, tasks
from refunds.attention import admit_failure, settle
from refunds.by_hand import paid_by_hand
from refunds.models import GatewayAttempt, Refund, RefundAllocation
from refunds.present import refund_as_dict
from refunds.retry import retry
from refunds.states import AlertKind, AttemptOutcome, RefundState, Trouble
from refunds.tests.browser import post_json, signed_in
from refunds.tests.paying import outcomes, pending_refund, state_of
from refunds.tests.reporting import alerts_of, paid_by_stripe, refund_told, reports
from refunds.tests.stripe_stand_in import Fault, Stripe

pytestmark = pytest.mark.django_db(transaction=True)
TRANSFER = "匯款 4411"


@pytest.fixture
def order(stripe: Stripe) -> Order:
    return paid_by_stripe(stripe)


@pytest.fixture
def refund(stripe: Stripe, order: Order) -> Refund:
    """The case, 380: refused by Stripe, which has paid it all the same; paid by transfer, and then reported."""
    refund = refused(stripe, order)
    by_hand(refund, TRANSFER)
    reports("refund.created", refund_told(stripe))
    assert GatewayAttempt.objects.get().trouble == Trouble.PAID_AFTER_REFUSAL
    return refund


def refused(stripe: Stripe, order: Order) -> Refund:
    refund = pending_refund(order, (2, 1, "other"))
    stripe.faults.append(Fault(status=402, acted=True))
    tasks.send_refund(refund.pk)
    assert state_of(refund) == RefundState.FAILED
    return refund


def by_hand(refund: Refund, number: str) -> Refund:
    return paid_by_hand(refund_id=refund.pk, external_ref=number, actor=cast.staff("supervisor"), note="匯了")


def settled(refund: Refund, **stands: str) -> Refund:
    return settle(refund_id=refund.pk, actor=cast.staff(), note="與收單行談妥", **stands)


def is_cancelled(stripe: Stripe) -> None:
    stripe.refunds[0]["status"] = "canceled"
    reports("refund.updated", refund_told(stripe))


def refusal_of(act: Callable[[], object]) -> str:
    with pytest.raises(Refusal) as caught:
        act()
    return caught.value.code


def by(refund: Refund) -> list[str]:
    return [to["by"] for to in refund_as_dict(Refund.objects.get(pk=refund.pk))["to"]]


def test_the_transfer_stands_and_nothing_is_sent_once_the_provider_has_taken_its_own_back(
    stripe: Stripe, refund: Refund
) -> None:
    settled(refund, stands="hand")
    assert (state_of(refund), outcomes(), by(refund)) == (RefundState.SUCCEEDED, [(1, "refused")], ["hand"])
    assert not selectors.needs_a_look().exists()
    is_cancelled(stripe)
    assert (state_of(refund), selectors.needs_a_look().count()) == (RefundState.SUCCEEDED, 0)
    for act in (partial(retry, refund_id=refund.pk, actor=cast.staff()), partial(settled, refund)):
        assert refusal_of(act) == "wrong_state"
    assert stripe.given_back("ch_1") == 0
    assert given_back.known(cast.payment(refund.order)) == 380
    assert AuditEvent.objects.get(action="attempt.settled").outcome["stands"] == "hand"


def test_so_it_is_where_the_provider_takes_it_back_before_anybody_has_settled_it(
    stripe: Stripe, refund: Refund
) -> None:
    is_cancelled(stripe)
    assert (state_of(refund), by(refund), GatewayAttempt.objects.get().trouble) == (RefundState.SUCCEEDED, ["hand"], "")
    assert not selectors.needs_a_look().exists()
    reports("refund.created", refund_told(stripe, status="succeeded"))  # older news
    assert not selectors.needs_a_look().exists()


def test_where_nobody_has_paid_by_hand_it_can_be_sent_once_more_then(stripe: Stripe, order: Order) -> None:
    refund = refused(stripe, order)
    retry(refund_id=refund.pk, actor=cast.staff())
    reports("refund.created", refund_told(stripe))
    assert refusal_of(partial(retry, refund_id=refund.pk, actor=cast.staff())) == "paid_already"
    is_cancelled(stripe)
    retry(refund_id=refund.pk, actor=cast.staff())
    tasks.send_refund(refund.pk)
    assert (state_of(refund), stripe.given_back("ch_1")) == (RefundState.SUCCEEDED, 38_000)


def test_the_providers_payment_stands_and_the_transfer_is_forgotten(stripe: Stripe, refund: Refund) -> None:
    settled(refund, stands="provider")
    assert (state_of(refund), outcomes(), by(refund)) == (RefundState.SUCCEEDED, [(1, "succeeded")], ["machine"])
    told = AuditEvent.objects.get(action="attempt.settled").outcome
    assert (told["stands"], told["paid_by_hand"]) == ("provider", TRANSFER)
    body = {"external_ref": TRANSFER, "amount": 100, "payment_id": cast.payment(refund.order).pk, "note": "是這一筆"}
    facts: dict[str, Any] = {**body, "lines": [], "for_goods": False}
    assert elsewhere.record(order=refund.order, body=facts, actor=cast.staff("supervisor")).amount == 100


def test_and_if_that_fails_after_all_it_is_sent_once_more_and_paid_once(stripe: Stripe, refund: Refund) -> None:
    settled(refund, stands="provider")
    is_cancelled(stripe)
    assert (state_of(refund), list(selectors.needs_a_look())) == (RefundState.UNKNOWN, [refund])
    admit_failure(refund_id=refund.pk, actor=cast.staff(), note="收單行取消了")
    retry(refund_id=refund.pk, actor=cast.staff())
    tasks.send_refund(refund.pk)
    assert (state_of(refund), by(refund), stripe.given_back("ch_1")) == (RefundState.SUCCEEDED, ["machine"], 38_000)


def test_a_part_that_stands_as_paid_by_hand_is_paid_and_not_sent_whatever_has_failed(
    stripe: Stripe, refund: Refund
) -> None:
    """As it was settled before anybody was asked which one stands: the number stayed beside the provider's payment."""
    settled(refund, stands="provider")
    RefundAllocation.objects.update(external_ref=TRANSFER)
    is_cancelled(stripe)
    admit_failure(refund_id=refund.pk, actor=cast.staff(), note="收單行取消了")
    assert (state_of(refund), by(refund)) == (RefundState.SUCCEEDED, ["hand"])
    assert refusal_of(partial(retry, refund_id=refund.pk, actor=cast.staff())) == "wrong_state"
    assert given_back.known(cast.payment(refund.order)) == 380


def test_what_was_told_by_hand_and_is_the_providers_own_went_through_the_provider(stripe: Stripe, order: Order) -> None:
    refund = refused(stripe, order)
    by_hand(refund, "re_1")
    reports("refund.created", refund_told(stripe))
    assert (outcomes(), by(refund)) == ([(1, "succeeded")], ["machine"])
    assert by_hand(refund, "re_1").state == RefundState.SUCCEEDED  # told once more
    RefundAllocation.objects.update(external_ref="re_1")  # as rows of before still have it
    is_cancelled(stripe)
    admit_failure(refund_id=refund.pk, actor=cast.staff(), note="收單行取消了")
    assert state_of(refund) == RefundState.FAILED
    by_hand(refund, TRANSFER)
    assert (state_of(refund), by(refund)) == (RefundState.SUCCEEDED, ["hand"])


def test_that_it_has_failed_there_is_told_although_we_never_knew_it_as_paid(stripe: Stripe, order: Order) -> None:
    refund = refused(stripe, order)
    by_hand(refund, "re_1")
    is_cancelled(stripe)
    assert alerts_of(AlertKind.DIFFERENCE) == ["stripe:state:re_1"]


def compared_after(days: int) -> list[str]:
    """So long after it was settled."""
    GatewayAttempt.objects.update(settled_at=timezone.now() - timedelta(days=days))
    until = timezone.now() + timedelta(days=days)
    books.compare(provider="stripe", since=timezone.now() - timedelta(days=1), until=until)
    return alerts_of(AlertKind.DIFFERENCE)


def test_what_the_provider_was_to_take_back_and_has_not_is_told(stripe: Stripe, refund: Refund) -> None:
    settled(refund, stands="hand")
    assert compared_after(2) == []
    assert compared_after(4) == compared_after(5) == ["stripe:still_paid:re_1"]


@pytest.mark.parametrize("stands", ["hand", "provider"])
def test_what_it_has_taken_back_or_what_stands_is_not(stripe: Stripe, refund: Refund, stands: str) -> None:
    settled(refund, stands=stands)
    if stands == "hand":
        is_cancelled(stripe)
    assert compared_after(4) == []


# --- sent to another payment in between ---
@pytest.fixture
def redirected(stripe: Stripe) -> Refund:
    """The first card has refused and paid, the second has refused; a person tells the number of the first's payment."""
    stripe.charge("ch_1", 100_000, payment_intent="pi_1")
    stripe.charge("ch_2", 58_000, payment_intent="pi_2")
    cards = [(1000, "p1", "ch_1"), (580, "p2", "ch_2")]
    payments = [
        {**payment_body(amount, external_id=name), "provider": "stripe", "provider_ref": charge}
        for amount, name, charge in cards
    ]
    order = cast.place("6602", payments=payments)
    refund = refused(stripe, order)
    retry(refund_id=refund.pk, actor=cast.staff(), payment_id=cast.payment(order, 2).pk)
    stripe.faults.append(Fault(status=402))
    tasks.send_refund(refund.pk)
    by_hand(refund, "re_1")
    return refund


def given(refund: Refund) -> list[int]:
    return [cast.payment(refund.order, position).refunded_amount for position in (1, 2)]


def test_the_payment_that_it_is_booked_on_has_not_paid_so_a_person_looks_into_it(
    stripe: Stripe, redirected: Refund
) -> None:
    reports("refund.created", refund_told(stripe))
    assert GatewayAttempt.objects.get(number=1).trouble == Trouble.PAID_AFTER_REFUSAL
    assert (given(redirected), list(selectors.needs_a_look())) == ([0, 380], [redirected])
    settled(redirected)  # there is no other payment that could stand
    attempt = GatewayAttempt.objects.get(number=1)
    assert (attempt.outcome, given(redirected), by(redirected)) == (AttemptOutcome.SUCCEEDED, [380, 0], ["machine"])


# --- at the doors ---
@pytest.mark.parametrize(("stands", "said"), [("both", "Say which"), ("", "Say which"), ("hand", "No part of it")])
def test_what_cannot_be_meant_is_refused(stripe: Stripe, order: Order, stands: str, said: str) -> None:
    refund = refused(stripe, order)
    retry(refund_id=refund.pk, actor=cast.staff())
    reports("refund.created", refund_told(stripe))
    with translation.override("en"), pytest.raises(InvalidInput, match=said) as caught:
        settled(refund, stands=stands)
    assert caught.value.field == "stands"
    assert state_of(refund) == RefundState.FAILED


def test_where_both_have_paid_it_has_to_be_said_which_one_stands(refund: Refund) -> None:
    with pytest.raises(InvalidInput) as caught:
        settled(refund)
    assert caught.value.field == "stands"
    assert (outcomes(), selectors.needs_a_look().count()) == ([(1, "refused")], 1)


def test_it_is_said_by_api(refund: Refund) -> None:
    address, client = f"/api/v1/refunds/{refund.pk}/settle/", signed_in("staff")
    assert post_json(client, address, {"note": "好了"}).json()["field"] == "stands"
    assert post_json(client, address, {"note": "好了", "stands": "both"}).json()["field"] == "stands"
    answer = post_json(client, address, {"note": "匯款已收回", "stands": "provider"})
    assert (answer.status_code, answer.json()["to"][0]["by"]) == (200, "machine")


def test_it_is_said_on_the_page_which_asks_for_it_where_both_have_paid(refund: Refund) -> None:
    client = signed_in("staff")
    page = client.get(f"/staff/refunds/{refund.pk}/settled/").content.decode()
    assert (
        page.count('name="stands"') == page.count(" required ", page.index("<fieldset"), page.index("</fieldset>")) == 2
    )
    assert " checked" not in page, "nothing is chosen for anybody"
    assert TRANSFER in page
    with_no_choice = client.post(f"/staff/refunds/{refund.pk}/settled/", {"note": "好了"}).content.decode()
    assert "人工退款" in with_no_choice
    assert "hand（" not in with_no_choice
    again = client.post(f"/staff/refunds/{refund.pk}/settled/", {"note": " ", "stands": "provider"}).content.decode()
    assert 'value="provider" required checked' in again, "what was chosen stands there again"
    client.post(f"/staff/refunds/{refund.pk}/settled/", {"note": "匯款已收回", "stands": "provider"})
    assert (outcomes(), by(refund)) == ([(1, "succeeded")], ["machine"])
