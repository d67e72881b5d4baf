"""Stripe, asked through its own library over HTTP: what its answers mean, and that nothing is ever paid twice."""

import threading

import pytest
from pytest_django import Settings

from orders.models import Order
from orders.tests import cast
from orders.tests.factories import payment_body
from refunds import gateways, retry, send, tasks
from refunds.charges import charge_of
from refunds.gateways import stripe as stripe_gateway
from refunds.gateways.base import (
    CONNECTED,
    LOOKUPS,
    Charge,
    GatewayAnswer,
    GatewayRefused,
    GatewayTimeout,
    StillPending,
)
from refunds.models import GatewayAttempt, Refund
from refunds.states import RefundState
from refunds.stripe_facts import from_stripe, to_stripe
from refunds.tests.paying import outcomes, pending_refund, state_of, time_passes
from refunds.tests.stripe_stand_in import Fault, Stripe

pytestmark = pytest.mark.django_db(transaction=True)


def paid_by_stripe(stripe: Stripe, number: str = "6501", provider_ref: str = "ch_1") -> Order:
    """Earphones 1,200 and a case 380, paid by one charge of Stripe's."""
    stripe.charge("ch_1", 158_000, payment_intent="pi_1")
    payment = {**payment_body(1580), "provider": "stripe", "provider_ref": provider_ref}
    return cast.place(number, payments=[payment])


def refund_of_the_case(stripe: Stripe, **options: str) -> Refund:
    return pending_refund(paid_by_stripe(stripe, **options), (2, 1, "other"))


def attempt() -> GatewayAttempt:
    return GatewayAttempt.objects.latest("pk")


# --- what is sent, and what the answers mean ---
def test_it_is_paid_in_hundredths_under_the_attempts_own_key(stripe: Stripe) -> None:
    refund = refund_of_the_case(stripe)
    tasks.send_refund(refund.pk)
    assert (state_of(refund), outcomes()) == (RefundState.SUCCEEDED, [(1, "succeeded")])
    (sent,) = stripe.posts()
    key = f"{refund.allocations.get().pk}-1"
    assert (sent["charge"], sent["amount"], sent["metadata[idempotency_key]"]) == ("ch_1", "38000", key)
    assert stripe.keys_sent() == [key]
    assert attempt().provider_refund_id == "re_1"


def test_a_payment_that_the_shop_knows_by_its_payment_intent_is_paid_back_by_that(stripe: Stripe) -> None:
    refund = refund_of_the_case(stripe, provider_ref="pi_1")
    tasks.send_refund(refund.pk)
    assert state_of(refund) == RefundState.SUCCEEDED
    assert stripe.posts()[0]["payment_intent"] == "pi_1"


@pytest.mark.parametrize("reference", ["ch_1", "pi_1"])
@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"status": "succeeded"}, "succeeded"),
        ({"status": "failed"}, "failed"),
        ({"status": "pending"}, "pending"),
        ({"status": "succeeded", "captured": False}, "pending"),
    ],
)
def test_what_has_become_of_a_charge_is_asked_without_holding_the_gateway(
    stripe: Stripe, reference: str, theirs: dict[str, object], ours: str
) -> None:
    order = paid_by_stripe(stripe, provider_ref=reference)
    stripe.charges["ch_1"] |= theirs
    stripe.refund_at_the_desk("ch_1", 23_000)
    found = LOOKUPS["stripe"](charge_of(cast.payment(order)))
    assert (found.state, [line.amount for line in found.refunds]) == (ours, [230])


def test_a_charge_that_stripe_does_not_know_is_doubt_and_no_failure(stripe: Stripe) -> None:
    order = paid_by_stripe(stripe, provider_ref="ch_unknown")
    with pytest.raises(GatewayTimeout):
        LOOKUPS["stripe"](charge_of(cast.payment(order)))


@pytest.mark.parametrize(
    ("amount", "currency", "theirs"), [(230, "TWD", 23_000), (5800, "JPY", 5800), (1029, "USD", 1029)]
)
def test_amounts_are_converted_once_by_a_table(amount: int, currency: str, theirs: int) -> None:
    assert to_stripe(amount, currency) == theirs
    assert from_stripe(theirs, currency.lower()) == (amount, currency)


@pytest.mark.parametrize(("theirs", "currency"), [(23_050, "twd"), (22_950, "twd"), (100, "kwd")])
def test_what_is_no_whole_unit_of_ours_equals_none_of_them(theirs: int, currency: str) -> None:
    assert from_stripe(theirs, currency)[1] not in {"TWD", "KWD"}


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "charge_disputed"), (401, "wrong_api_key"), (402, "expired_or_canceled_card"), (403, "key_lacks_rights")],
)
def test_a_definite_no_is_a_refusal_with_a_code_that_says_what_to_do(stripe: Stripe, status: int, code: str) -> None:
    refund = refund_of_the_case(stripe)
    stripe.faults.append(Fault(status=status))
    tasks.send_refund(refund.pk)
    assert (state_of(refund), attempt().code, stripe.refunds) == (RefundState.FAILED, code, [])
    retry.retry(refund_id=refund.pk, actor=cast.staff())
    tasks.send_refund(refund.pk)
    assert (state_of(refund), outcomes()) == (RefundState.SUCCEEDED, [(1, "refused"), (2, "succeeded")])
    assert len(set(stripe.keys_sent())) == 2


def test_a_key_of_stripe_that_is_wrong_is_refused_by_the_stand_in_itself(stripe: Stripe, settings: Settings) -> None:
    settings.STRIPE_API_KEY = "sk_test_of_another_shop"
    gateways.connect("stripe", stripe_gateway.from_settings())
    tasks.send_refund(refund_of_the_case(stripe).pk)
    assert attempt().code == "wrong_api_key"
    assert "STRIPE_API_KEY" in attempt().message


def test_more_than_the_charge_has_left_is_stripes_to_refuse(stripe: Stripe) -> None:
    order = paid_by_stripe(stripe)
    stripe.refund_at_the_desk("ch_1", 150_000)
    refund = pending_refund(order, (2, 1, "other"))
    tasks.send_refund(refund.pk)
    assert (state_of(refund), attempt().code) == (RefundState.FAILED, "amount_too_large")


# --- doubt: asked about, never sent under a new key ---
DOUBTS = [
    Fault(status=500),
    Fault(status=503, acted=True),
    Fault(status=429),
    Fault(status=409),
    Fault(hang_up=True),
    Fault(hang_up=True, acted=True),
]


@pytest.mark.parametrize("fault", DOUBTS, ids=str)
def test_no_definite_answer_is_doubt_that_asking_ends(stripe: Stripe, fault: Fault) -> None:
    refund = refund_of_the_case(stripe)
    stripe.faults.append(fault)
    tasks.send_refund(refund.pk)
    assert (state_of(refund), outcomes()) == (RefundState.UNKNOWN, [(1, "unknown")])
    for _ in range(5):
        time_passes(20 * 60)
        tasks.sweep()
    ended = RefundState.SUCCEEDED if fault.acted else RefundState.FAILED
    assert (state_of(refund), len(stripe.posts()), len(stripe.refunds)) == (ended, 1, int(fault.acted))


def test_silence_ends_with_the_time_out_and_is_doubt(stripe: Stripe) -> None:
    impatient = stripe_gateway.StripeGateway(api_key="sk_test_stand_in", api_base=stripe.url, timeout=0.5)
    gateways.connect("stripe", impatient)
    refund = refund_of_the_case(stripe)
    stripe.faults.append(Fault(slow=True, acted=True))
    tasks.send_refund(refund.pk)
    assert state_of(refund) == RefundState.UNKNOWN
    tasks.sweep()
    assert (state_of(refund), len(stripe.posts())) == (RefundState.SUCCEEDED, 1)


def test_nothing_known_is_no_refusal_before_stripes_own_time_is_over(stripe: Stripe) -> None:
    refund = refund_of_the_case(stripe)
    stripe.faults.append(Fault(hang_up=True))
    tasks.send_refund(refund.pk)
    for _ in range(4):
        time_passes(100)
        tasks.sweep()
    assert (state_of(refund), attempt().times_asked) == (RefundState.UNKNOWN, 4)


@pytest.mark.parametrize("status", [401, 403, 429, 500])
def test_a_question_that_is_refused_says_nothing_about_the_refund(stripe: Stripe, status: int) -> None:
    refund = refund_of_the_case(stripe)
    stripe.faults.append(Fault(hang_up=True, acted=True))
    tasks.send_refund(refund.pk)
    stripe.faults.append(Fault(method="GET", status=status))
    tasks.sweep()
    assert (state_of(refund), outcomes()) == (RefundState.UNKNOWN, [(1, "unknown")])
    time_passes(20)
    tasks.sweep()
    assert state_of(refund) == RefundState.SUCCEEDED


def test_a_worker_that_died_around_the_call_is_replaced_under_the_same_key(stripe: Stripe) -> None:
    refund = refund_of_the_case(stripe)
    assert send.claim_allocation(refund.allocations.get().pk)  # and here the worker dies
    time_passes(16)
    tasks.sweep()
    assert (state_of(refund), stripe.keys_sent()) == (RefundState.SUCCEEDED, [attempt().idempotency_key])


def test_the_refund_is_found_on_whatever_page_of_the_charges_list_it_stands(stripe: Stripe) -> None:
    refund = refund_of_the_case(stripe)
    stripe.faults.append(Fault(hang_up=True, acted=True))
    tasks.send_refund(refund.pk)
    stripe.page = 2
    for _ in range(5):
        stripe.refund_at_the_desk("ch_1", 100)
    tasks.sweep()
    assert state_of(refund) == RefundState.SUCCEEDED
    assert sum(method == "GET" for method, *_ in stripe.calls) == 3


@pytest.mark.parametrize("status", ["pending", "requires_action"])
def test_what_stripe_has_not_decided_is_asked_about_for_as_long_as_it_takes(stripe: Stripe, status: str) -> None:
    stripe.status = status
    refund = refund_of_the_case(stripe)
    tasks.send_refund(refund.pk)
    for _ in range(12):
        time_passes(2 * 3600)
        tasks.sweep()
    assert (state_of(refund), len(stripe.posts())) == (RefundState.UNKNOWN, 1)
    assert (attempt().code, attempt().provider_refund_id) == ("pending", "re_1")
    stripe.refunds[0]["status"] = "succeeded"
    time_passes(2 * 3600)
    tasks.sweep()
    assert state_of(refund) == RefundState.SUCCEEDED


@pytest.mark.parametrize("status", ["failed", "canceled"])
def test_what_stripe_calls_failed_is_a_definite_no(stripe: Stripe, status: str) -> None:
    stripe.status = "pending"
    refund = refund_of_the_case(stripe)
    tasks.send_refund(refund.pk)
    stripe.refunds[0] |= {"status": status, "failure_reason": "lost_or_stolen_card"}
    time_passes(20)
    tasks.sweep()
    assert (state_of(refund), attempt().code) == (RefundState.FAILED, "lost_or_stolen_card")


# --- the gateway itself ---
def test_where_stripe_is_set_up_the_simulated_gateway_pays_nobody(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PAYMENT_GATEWAY, settings.STRIPE_API_KEY = "stripe", "sk_test_1"
    monkeypatch.setattr(gateways, "_GATEWAYS", {})
    before = dict(CONNECTED)
    CONNECTED.clear()
    try:
        gateways.connect_configured()
        assert set(CONNECTED) == set(gateways._GATEWAYS) == {"store_credit", "stripe"}
    finally:
        CONNECTED.clear()
        CONNECTED.update(before)


def test_the_same_key_pays_once_and_another_sum_under_it_is_no_refusal(stripe: Stripe) -> None:
    charge, gateway = _charge(stripe), gateways.get("stripe")
    first = gateway.refund(charge=charge, amount=380, idempotency_key="k")
    assert first == gateway.refund(charge=charge, amount=380, idempotency_key="k") == GatewayAnswer("re_1", 380, "TWD")
    with pytest.raises(GatewayTimeout):  # something was paid under this key, so it is not "refused"
        gateway.refund(charge=charge, amount=381, idempotency_key="k")
    assert gateway.find(charge=charge, idempotency_key="k") == first
    assert gateway.find(charge=charge, idempotency_key="other") is None
    assert len(stripe.refunds) == 1


def test_the_same_key_at_once_pays_once(stripe: Stripe) -> None:
    charge, gateway = _charge(stripe), gateways.get("stripe")
    answers: list[GatewayAnswer | StillPending] = []

    def pay() -> None:
        answers.append(gateway.refund(charge=charge, amount=380, idempotency_key="k"))

    threads = [threading.Thread(target=pay) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(answers), len(set(answers)), len(stripe.refunds)) == (4, 1, 1)


def test_before_stripe_has_settled_a_charge_the_whole_of_it_goes_back_by_a_refund(stripe: Stripe) -> None:
    assert gateways.get("stripe").void(charge=_charge(stripe), idempotency_key="v") == GatewayAnswer(
        "re_1", 1580, "TWD"
    )


def test_a_charge_that_stripe_does_not_know_was_never_given_back(stripe: Stripe) -> None:
    charge = _charge(stripe)
    stripe.charges.clear()
    assert gateways.get("stripe").find(charge=charge, idempotency_key="k") is None
    with pytest.raises(GatewayRefused, match="resource_missing"):
        gateways.get("stripe").refund(charge=charge, amount=1, idempotency_key="k")


def _charge(stripe: Stripe) -> Charge:
    return charge_of(cast.payment(paid_by_stripe(stripe)))
