"""Quoting and sending respect what an acquirer can do: void, wait, or a person. Nothing is called done that was not."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone, translation

from orders.errors import Refusal
from orders.models import AuditEvent, Order, Payment
from orders.tests import cast
from orders.tests.race import at_once, wait_until_blocked
from refunds import gateways, send, tasks
from refunds.charges import charge_of
from refunds.gateways.base import GatewayRefused
from refunds.models import GatewayAttempt, Refund, RefundAllocation, RefundQuote, SimulatedAcquirer
from refunds.present import moment, refund_as_dict
from refunds.redeem import redeem
from refunds.retry import retry
from refunds.states import RefundState
from refunds.tests.ask import ask
from refunds.tests.paying import outcomes, paid_out, pending_refund, state_of, time_passes

pytestmark = pytest.mark.django_db(transaction=True)


def acquirer(**abilities: Any) -> None:
    SimulatedAcquirer.objects.update_or_create(pk=1, defaults=abilities)


def voids_only_today() -> None:
    """Before closing it only takes whole charges back; and everything that was captured just now is open."""
    hour = (timezone.localtime().hour + 2) % 24
    acquirer(refund_before_closing=False, void_before_closing=True, closing_hour=hour)


def captured(order: Order, moment: datetime) -> Order:
    Payment.objects.filter(order=order).update(captured_at=moment)
    return order


def just_paid(number: str = "6101") -> Order:
    return captured(cast.place(number, lines=[("書", 100, 2)]), timezone.now() - timedelta(minutes=1))


def code_of_asking(order: Order, quantity: int) -> str:
    with pytest.raises(Refusal) as caught:
        ask(order, (1, quantity, "other"))
    assert not RefundQuote.objects.exists()
    return caught.value.code


# --- before closing ---
def test_a_whole_charge_that_is_not_closed_is_voided() -> None:
    voids_only_today()
    refund = pending_refund(just_paid(), (1, 2, "other"))
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out()) == (RefundState.SUCCEEDED, [200])
    assert GatewayAttempt.objects.get().kind == "void"


def test_a_part_of_it_waits_until_after_closing_and_is_sent_then_without_anybody() -> None:
    voids_only_today()
    refund = pending_refund(just_paid(), (1, 1, "other"))
    tasks.send_refund(refund.pk)
    time_passes(60)
    tasks.sweep()
    part = RefundAllocation.objects.get()
    assert (state_of(refund), paid_out(), outcomes()) == (RefundState.PENDING, [], [])
    assert part.not_before is not None
    assert timezone.now() < part.not_before < timezone.now() + timedelta(hours=3)
    assert AuditEvent.objects.filter(action="allocation.waits").count() == 1
    captured(refund.order, timezone.now() - timedelta(days=2))  # and the day is closed
    RefundAllocation.objects.update(not_before=timezone.now() - timedelta(seconds=1))
    tasks.sweep()
    assert (state_of(refund), paid_out()) == (RefundState.SUCCEEDED, [100])


def test_what_waits_says_from_when_on_it_is_taken() -> None:
    voids_only_today()
    refund = pending_refund(just_paid(), (1, 1, "other"))
    assert refund_as_dict(refund)["waits_until"] is None
    tasks.send_refund(refund.pk)
    shown, until = refund_as_dict(Refund.objects.get()), RefundAllocation.objects.get().not_before
    assert (shown["state"], shown["waits_until"]) == (RefundState.PENDING, moment(until))
    with translation.override("en"):
        assert refund_as_dict(refund)["state_text"].startswith("The payment provider takes it from")
    RefundAllocation.objects.update(not_before=timezone.now() - timedelta(seconds=1))
    assert refund_as_dict(Refund.objects.get())["waits_until"] is None


def test_what_waits_is_not_even_tried_before_its_time() -> None:
    voids_only_today()
    refund = pending_refund(just_paid(), (1, 1, "other"))
    tasks.send_refund(refund.pk)
    SimulatedAcquirer.objects.all().delete()  # it could be taken now, and nobody asks before the time has come
    time_passes(60)
    tasks.sweep()
    tasks.send_refund(refund.pk)
    assert (state_of(refund), outcomes()) == (RefundState.PENDING, [])


def test_a_void_whose_worker_died_is_asked_about_under_its_key() -> None:
    voids_only_today()
    refund = pending_refund(just_paid(), (1, 2, "other"))
    claim = send.claim_allocation(refund.allocations.get().pk)
    assert claim is not None
    send._call(claim)  # and here the worker dies
    time_passes(16)
    tasks.sweep()
    assert (state_of(refund), paid_out(), outcomes()) == (RefundState.SUCCEEDED, [200], [(1, "succeeded")])


# --- one refund a day ---
def test_where_one_refund_a_day_is_taken_the_second_waits_for_tomorrow() -> None:
    acquirer(refunds_per_day=1)
    order = cast.place("6102", lines=[("書", 100, 2)])
    first, second = (pending_refund(order, (1, 1, "other")) for _ in range(2))
    for refund in (first, second):
        tasks.send_refund(refund.pk)
    assert (state_of(first), state_of(second), paid_out()) == (RefundState.SUCCEEDED, RefundState.PENDING, [100])
    not_before = RefundAllocation.objects.get(refund=second).not_before
    assert not_before is not None
    assert timezone.localtime(not_before).date() == timezone.localdate() + timedelta(days=1)


def test_two_workers_at_once_send_one_of_two_refunds_that_day() -> None:
    acquirer(refunds_per_day=1)
    order = cast.place("6108", lines=[("書", 100, 2)])
    refunds = [pending_refund(order, (1, 1, "other")) for _ in range(2)]
    at_once([partial(tasks.send_refund, refund.pk) for refund in refunds])
    assert sorted(map(state_of, refunds)) == [RefundState.PENDING, RefundState.SUCCEEDED]


def test_claims_of_one_payment_wait_for_each_other() -> None:
    refund = pending_refund(cast.place("6109", lines=[("書", 100, 2)]), (1, 1, "other"))
    part = refund.allocations.get()
    with ThreadPoolExecutor(1) as other, transaction.atomic():
        Payment.objects.select_for_update(no_key=True).get(pk=part.payment_id)
        claimed = other.submit(_claim, part.pk)
        wait_until_blocked(1)
        assert not claimed.done()
        transaction.set_rollback(True)
    assert claimed.result(20)


def _claim(allocation_id: str) -> bool:
    try:
        return send.claim_allocation(allocation_id) is not None
    finally:
        connection.close()


# --- only whole charges, and for a time ---
def test_a_part_of_a_charge_that_only_goes_back_whole_is_a_persons_from_the_first() -> None:
    acquirer(partial_refunds=False)
    order = cast.place("6103", lines=[("書", 100, 2)])
    assert code_of_asking(order, 1) == "needs_a_person"
    refund = pending_refund(order, (1, 2, "other"))
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out()) == (RefundState.SUCCEEDED, [200])


def test_a_charge_that_is_too_old_is_a_persons_from_the_first() -> None:
    acquirer(window_days=90)
    order = captured(cast.place("6104", lines=[("書", 100, 2)]), timezone.now() - timedelta(days=92))
    assert code_of_asking(order, 2) == "needs_a_person"


def test_a_window_that_ends_between_quote_and_press_changes_nothing_but_the_answer() -> None:
    order = cast.place("6105", lines=[("書", 100, 2)])
    quote = ask(order, (1, 1, "other"))
    acquirer(window_days=1)
    captured(order, timezone.now() - timedelta(days=3))
    with pytest.raises(Refusal) as caught:
        redeem(quote_id=quote.pk, actor=cast.shopper())
    assert (caught.value.code, cast.line(order, 1).cancelled_quantity) == ("needs_a_person", 0)


@pytest.mark.parametrize(
    ("abilities", "code"), [({"partial_refunds": False}, "cannot_partial"), ({"window_days": 1}, "window_over")]
)
def test_what_a_machine_can_no_more_do_when_it_is_sent_fails_in_plain_sight(
    abilities: dict[str, Any], code: str
) -> None:
    refund = pending_refund(cast.place("6106", lines=[("書", 100, 2)]), (1, 1, "other"))
    acquirer(**abilities)
    captured(refund.order, timezone.now() - timedelta(days=3))
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out(), outcomes()) == (RefundState.FAILED, [], [(1, "refused")])
    assert GatewayAttempt.objects.get().code == code
    retry(refund_id=refund.pk, actor=cast.staff())  # a person may try; it is no more possible than before
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out()) == (RefundState.FAILED, [])
    assert set(GatewayAttempt.objects.values_list("code", flat=True)) == {code}


# --- the acquirer knows its own limits ---
@pytest.mark.parametrize(
    ("abilities", "call", "code"),
    [
        ({"partial_refunds": False}, {"amount": 100}, "only_whole_charges"),
        ({"window_days": 1}, {"amount": 200}, "window_over"),
        ({"refund_before_closing": False, "closing_hour": 0}, {"amount": 200}, None),
        ({"void_before_closing": True}, {}, "already_closed"),
    ],
)
def test_asked_for_what_it_cannot_do_the_acquirer_refuses(
    abilities: dict[str, Any], call: dict[str, int], code: str | None
) -> None:
    order = captured(cast.place("6107", lines=[("書", 100, 2)]), timezone.now() - timedelta(days=3))
    acquirer(**abilities)
    gateway, charge = gateways.get("simulated"), charge_of(cast.payment(order))
    ask_it = gateway.refund if call else gateway.void
    if code is None:
        ask_it(charge=charge, idempotency_key="k", **call)
        assert paid_out() == [200]
        return
    with pytest.raises(GatewayRefused) as caught:
        ask_it(charge=charge, idempotency_key="k", **call)
    assert (caught.value.code, paid_out()) == (code, [])


def test_an_open_charge_is_not_refunded_by_an_acquirer_that_only_voids() -> None:
    voids_only_today()
    charge = charge_of(cast.payment(just_paid()))
    with pytest.raises(GatewayRefused) as caught:
        gateways.get("simulated").refund(charge=charge, amount=100, idempotency_key="k")
    assert caught.value.code == "not_closed_yet"


# --- the switch ---
def test_the_command_sets_what_it_can_do_and_without_options_everything(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("gateway_abilities", "--whole-only", "--closing-hour=22", "--void-before-closing", "--window-days=90")
    row = SimulatedAcquirer.objects.get()
    assert (row.partial_refunds, row.refund_before_closing, row.void_before_closing) == (False, False, True)
    assert (row.closing_hour, row.window_days, row.refunds_per_day) == (22, 90, None)
    call_command("gateway_abilities")
    row.refresh_from_db()
    assert (row.partial_refunds, row.refund_before_closing, row.closing_hour) == (True, True, None)
    assert "window_days: None" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--closing-hour=24", "--window-days=0", "--void-before-closing"])
def test_the_command_refuses_what_makes_no_sense(option: str) -> None:
    with pytest.raises(CommandError):
        call_command("gateway_abilities", option)
    assert not SimulatedAcquirer.objects.exists()
