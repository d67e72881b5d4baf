"""A gateway reports that it has paid: late, after a refusal, or another sum. Facts are taken; nothing is paid twice."""

from datetime import timedelta
from typing import Any

import pytest

from orders.actors import NotAllowed
from orders.errors import InvalidInput, Refusal
from orders.models import AuditEvent
from orders.tests import cast
from orders.tests.factories import payment_body
from refunds import gateways, outcome, selectors, send, tasks
from refunds.attention import settle
from refunds.gateways.base import Charge, GatewayAnswer, StillPending
from refunds.models import GatewayAttempt, Refund
from refunds.retry import retry
from refunds.states import RefundState
from refunds.tests.paying import outcomes, paid_out, pending_refund, state_of, switch_on, time_passes

pytestmark = pytest.mark.django_db(transaction=True)
PAID = GatewayAnswer("sim_late", 230, "TWD")


def refused() -> Refund:
    switch_on("refuse")
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    assert state_of(refund) == RefundState.FAILED
    return refund


def first_attempt() -> GatewayAttempt:
    return GatewayAttempt.objects.get(number=1)


def audited(action: str) -> int:
    return AuditEvent.objects.filter(action=action).count()


def to_look_at() -> list[Refund]:
    return list(selectors.needs_a_look())


def code_of(act: Any, **options: Any) -> str:
    with pytest.raises(Refusal) as caught:
        act(**options)
    return caught.value.code


# --- paid after a refusal ---
def test_a_payment_reported_after_the_refusal_is_taken_as_the_fact_it_is() -> None:
    refund = refused()
    outcome.record_success(first_attempt(), PAID)
    outcome.record_success(first_attempt(), PAID)
    assert (state_of(refund), outcomes()) == (RefundState.SUCCEEDED, [(1, "succeeded")])
    assert AuditEvent.objects.filter(action="attempt.succeeded").get().outcome["after"] == "refused"
    assert audited("refund.succeeded") == 1
    assert code_of(retry, refund_id=refund.pk, actor=cast.staff()) == "wrong_state"
    assert to_look_at() == []


def test_one_half_reported_as_paid_leaves_the_other_to_be_sent_once_more() -> None:
    payments = [payment_body(50), payment_body(30, external_id="p2", method="wallet", last4="")]
    order = cast.place("6210", lines=[("杯", 40, 2)], payments=payments)
    switch_on("refuse", times=2)
    refund = pending_refund(order, (1, 2, "other"))
    tasks.send_refund(refund.pk)
    half = refund.allocations.get(amount=50).attempts.get()
    outcome.record_success(half, GatewayAnswer("sim_late", 50, "TWD"))
    assert state_of(refund) == RefundState.FAILED
    retry(refund_id=refund.pk, actor=cast.staff())
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out()) == (RefundState.SUCCEEDED, [30])


def test_a_payment_reported_while_it_is_ordered_once_more_stops_the_second_one() -> None:
    refund = refused()
    retry(refund_id=refund.pk, actor=cast.staff())
    outcome.record_success(first_attempt(), PAID)
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out(), to_look_at()) == (RefundState.FAILED, [], [refund])
    assert audited("attempt.paid_after_refusal") == 1
    assert code_of(retry, refund_id=refund.pk, actor=cast.staff()) == "paid_already"


def test_a_payment_reported_beside_a_newer_one_is_written_down_once_and_flagged() -> None:
    refund = refused()
    retry(refund_id=refund.pk, actor=cast.staff())
    tasks.send_refund(refund.pk)
    for _ in range(2):
        outcome.record_success(first_attempt(), PAID)
    assert (state_of(refund), outcomes()) == (RefundState.SUCCEEDED, [(1, "refused"), (2, "succeeded")])
    assert (audited("attempt.paid_after_refusal"), to_look_at()) == (1, [refund])


# --- another sum than was asked for ---
@pytest.mark.parametrize(
    "answer", [GatewayAnswer("sim_1", 23_000, "TWD"), GatewayAnswer("sim_1", 2, "TWD"), GatewayAnswer("x", 230, "USD")]
)
def test_an_answer_that_is_not_what_was_asked_for_is_never_a_success(answer: GatewayAnswer) -> None:
    refund = pending_refund()
    claim = send.claim_allocation(refund.allocations.get().pk)
    assert claim is not None
    for _ in range(2):
        outcome.record_success(claim.attempt, answer)
    assert (state_of(refund), outcomes()) == (RefundState.UNKNOWN, [(1, "unknown")])
    event = AuditEvent.objects.get(action="attempt.amount_differs")
    assert event.outcome["asked"] == {"amount": 230, "currency": "TWD"}
    assert event.outcome["answered"]["amount"] == answer.amount
    assert to_look_at() == [refund]


def test_asking_again_ends_that_doubt_only_when_the_sum_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    hundredfold = Answering(GatewayAnswer("q_1", 23_000, "TWD"))
    monkeypatch.setitem(gateways._GATEWAYS, "simulated", hundredfold)
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    for known in (hundredfold.answer, None):
        hundredfold.answer = known
        for _ in range(4):
            time_passes(3600)
            tasks.sweep()
        assert state_of(refund) == RefundState.UNKNOWN
    hundredfold.answer = GatewayAnswer("q_1", 230, "TWD")
    time_passes(2 * 3600)
    tasks.sweep()
    assert (state_of(refund), audited("attempt.amount_differs"), to_look_at()) == (RefundState.SUCCEEDED, 1, [])


class Answering:
    """A gateway that always says the same, to whatever is asked of it."""

    nothing_known_is_final_after = timedelta(seconds=30)

    def __init__(self, answer: GatewayAnswer | None) -> None:
        self.answer = answer

    def refund(self, *, charge: Charge, amount: int, idempotency_key: str) -> GatewayAnswer:
        assert self.answer is not None
        return self.answer

    def find(self, *, charge: Charge, idempotency_key: str) -> GatewayAnswer | StillPending | None:
        return self.answer


# --- what people see, and how they end it ---
def test_people_see_what_failed_and_what_is_in_doubt_for_more_than_a_day() -> None:
    failed = refused()
    switch_on("timeout_before")
    in_doubt = pending_refund(cast.place("6211", lines=[("書", 100, 1)]), (1, 1, "other"))
    tasks.send_refund(in_doubt.pk)
    well = pending_refund(cast.place("6212", lines=[("書", 100, 1)]), (1, 1, "other"))
    tasks.send_refund(well.pk)
    assert to_look_at() == [failed]
    time_passes(25 * 3600)
    assert to_look_at() == [failed, in_doubt]


def test_a_person_who_has_settled_it_counts_the_part_as_paid() -> None:
    refund = refused()
    retry(refund_id=refund.pk, actor=cast.staff())
    outcome.record_success(first_attempt(), PAID)
    settle(refund_id=refund.pk, actor=cast.staff(), note="金流商確認只付了一次")
    assert (state_of(refund), outcomes(), to_look_at()) == (RefundState.SUCCEEDED, [(1, "succeeded")], [])
    assert AuditEvent.objects.get(action="attempt.settled").chosen["note"] == "金流商確認只付了一次"
    again = {"refund_id": refund.pk, "actor": cast.staff(), "note": "再一次"}
    assert code_of(settle, **again) == "wrong_state"


def test_what_was_paid_twice_leaves_the_list_once_it_is_settled() -> None:
    refund = refused()
    retry(refund_id=refund.pk, actor=cast.staff())
    tasks.send_refund(refund.pk)
    outcome.record_success(first_attempt(), PAID)
    settle(refund_id=refund.pk, actor=cast.staff(), note="金流商收回第一筆")
    assert (to_look_at(), outcomes()) == ([], [(1, "refused"), (2, "succeeded")])


# --- sent to another payment in between: the books follow the money ---
def sent_to_another_payment() -> Refund:
    """The card had refused, a person sent the part to the bank account, and then the card is reported to have paid."""
    payments = [payment_body(1000), payment_body(580, external_id="p2", method="bank_transfer", last4="")]
    switch_on("refuse")
    refund = pending_refund(cast.place("6213", payments=payments), (2, 1, "other"))
    tasks.send_refund(refund.pk)
    retry(refund_id=refund.pk, actor=cast.staff(), payment_id=cast.payment(refund.order, 2).pk)
    assert booked_on(refund) == [0, 380]
    return refund


def booked_on(refund: Refund) -> list[int]:
    return [cast.payment(refund.order, position).refunded_amount for position in (1, 2)]


CARD_HAS_PAID = GatewayAnswer("sim_late", 380, "TWD")


def test_money_that_the_first_payment_has_paid_is_booked_there_once_a_person_settles_it() -> None:
    refund = sent_to_another_payment()
    outcome.record_success(first_attempt(), CARD_HAS_PAID)
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out(), booked_on(refund)) == (RefundState.FAILED, [], [0, 380])
    settle(refund_id=refund.pk, actor=cast.staff(), note="金流商確認由卡片退出")
    assert (state_of(refund), booked_on(refund)) == (RefundState.SUCCEEDED, [380, 0])
    part = refund.allocations.get()
    assert (part.payment, part.attempts.get(outcome="succeeded").number) == (cast.payment(refund.order), 1)
    moved = AuditEvent.objects.get(action="attempt.settled").outcome["booked_on"]
    assert moved == {"before": cast.payment(refund.order, 2).pk, "after": cast.payment(refund.order).pk}


def test_so_it_is_where_the_other_payment_had_refused_as_well() -> None:
    refund = sent_to_another_payment()
    switch_on("refuse")
    tasks.send_refund(refund.pk)
    outcome.record_success(first_attempt(), CARD_HAS_PAID)
    settle(refund_id=refund.pk, actor=cast.staff(), note="金流商確認由卡片退出")
    assert (state_of(refund), booked_on(refund), paid_out()) == (RefundState.SUCCEEDED, [380, 0], [])


def test_where_the_other_payment_has_paid_too_its_money_stays_booked_there() -> None:
    refund = sent_to_another_payment()
    tasks.send_refund(refund.pk)
    outcome.record_success(first_attempt(), CARD_HAS_PAID)
    settle(refund_id=refund.pk, actor=cast.staff(), note="金流商收回卡片那一筆")
    assert (state_of(refund), booked_on(refund), paid_out()) == (RefundState.SUCCEEDED, [0, 380], [380])


def test_a_payment_whose_books_are_full_meanwhile_is_not_settled_silently() -> None:
    refund = sent_to_another_payment()
    outcome.record_success(first_attempt(), CARD_HAS_PAID)
    card = cast.payment(refund.order)
    card.refunded_amount = 700
    card.save(update_fields=["refunded_amount"])
    act = {"refund_id": refund.pk, "actor": cast.staff(), "note": "金流商確認由卡片退出"}
    assert code_of(settle, **act) == "payment_cannot_take"
    assert (state_of(refund), booked_on(refund), to_look_at()) == (RefundState.FAILED, [700, 380], [refund])


def test_nothing_is_settled_while_a_newer_attempt_is_on_its_way() -> None:
    refund = refused()
    retry(refund_id=refund.pk, actor=cast.staff())
    assert send.claim_allocation(refund.allocations.get().pk)
    outcome.record_success(first_attempt(), PAID)
    assert code_of(settle, refund_id=refund.pk, actor=cast.staff(), note="好了") == "wrong_state"
    assert outcomes() == [(1, "refused"), (2, "sending")]


def test_settling_needs_the_permission_and_a_reason() -> None:
    refund = refused()
    for actor in (cast.staff("auditor"), cast.shopper()):
        with pytest.raises(NotAllowed):
            settle(refund_id=refund.pk, actor=actor, note="好了")
    with pytest.raises(InvalidInput):
        settle(refund_id=refund.pk, actor=cast.staff(), note=" ")
