"""A payment provider that does not answer costs a round a few time-outs, and other providers' work comes first."""

from collections.abc import Iterable

import pytest

from orders.models import Payment
from orders.tests import cast
from refunds import gateways, provider_events, tasks
from refunds.gateways.base import CONNECTED, Capabilities, Charge, GatewayAnswer, GatewayTimeout, ProviderRefund
from refunds.models import ProviderEvent, Refund
from refunds.states import RefundState
from refunds.tests.paying import pending_refund, state_of, time_passes

pytestmark = pytest.mark.django_db(transaction=True)


class Provider:
    """Answers or does not. `calls`: the names of all providers that were called, in order."""

    def __init__(self, name: str, calls: list[str], *, answers: bool) -> None:
        self.name, self.calls, self.answers = name, calls, answers
        self.nothing_known_is_final_after = None

    def refund(self, *, charge: Charge, amount: int, idempotency_key: str) -> GatewayAnswer:
        self._called()
        return GatewayAnswer(idempotency_key, amount, charge.currency)

    def refunds_of(self, *, charge: Charge) -> Iterable[ProviderRefund]:
        self._called()
        return []

    def _called(self) -> None:
        self.calls.append(self.name)
        if not self.answers:
            raise GatewayTimeout


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two providers: the name of the dead one comes first in every order of names."""
    made: list[str] = []
    for name in ("dead", "lively"):
        monkeypatch.setitem(gateways._GATEWAYS, name, Provider(name, made, answers=name == "lively"))
        monkeypatch.setitem(CONNECTED, name, Capabilities)
    return made


def forgotten(number: str, provider: str) -> Refund:
    order = cast.place(number, lines=[("書", 100, 1)])
    order.payments.update(provider=provider)
    return pending_refund(order, (1, 1, "other"))


def told_of_a_refund(number: str, provider: str) -> ProviderEvent:
    """The provider reports one that we never asked for, so it is asked what it has given back of the charge."""
    order = cast.place(number, lines=[("書", 100, 1)])
    order.payments.update(provider=provider, provider_ref=f"ch_{number}")
    return ProviderEvent.objects.create(
        provider=provider,
        event_id=f"evt_{number}",
        kind="charge.refunded",
        payload={"data": {"object": {"id": f"ch_{number}", "amount_refunded": 5000, "currency": "twd"}}},
    )


def test_forgotten_refunds_of_a_dead_provider_cost_a_round_three_time_outs(calls: list[str]) -> None:
    refunds = [forgotten(number, "dead") for number in ("6401", "6402", "6403", "6404", "6405")]
    time_passes(60)
    tasks.send_forgotten()
    assert calls == ["dead"] * 3
    tasks.send_forgotten()
    assert (len(calls), {state_of(refund) for refund in refunds}) == (5, {RefundState.UNKNOWN})


def test_other_providers_wait_for_one_of_them_and_later_for_none(calls: list[str]) -> None:
    for number in ("6401", "6402", "6403", "6404"):
        forgotten(number, "dead")
    younger = [forgotten(number, "lively") for number in ("6405", "6406")]
    time_passes(60)
    tasks.send_forgotten()
    assert calls == ["dead", "lively", "lively", "dead", "dead"]
    assert {state_of(refund) for refund in younger} == {RefundState.SUCCEEDED}
    forgotten("6407", "lively")
    time_passes(60)
    tasks.send_forgotten()  # by now it is known who owes an answer
    assert calls[5:] == ["lively", "dead"]


def test_however_many_are_forgotten_of_one_the_others_are_in_the_round(
    calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "BATCH", 2)
    for number in ("6401", "6402", "6403"):
        forgotten(number, "dead")
    forgotten("6404", "lively")
    time_passes(60)
    tasks.send_forgotten()
    assert sorted(calls) == ["dead", "dead", "lively"]


def test_store_credit_does_not_wait_with_the_provider_whose_name_it_carries(calls: list[str]) -> None:
    for number in ("6401", "6402", "6403", "6404"):
        forgotten(number, "dead")
    credit = forgotten("6405", "dead")
    Payment.objects.filter(order=credit.order).update(method="store_credit")
    time_passes(60)
    tasks.send_forgotten()
    assert (calls, state_of(credit)) == (["dead"] * 3, RefundState.SUCCEEDED)


def test_messages_that_make_a_dead_provider_be_asked_do_not_keep_the_others(calls: list[str]) -> None:
    for number in ("6401", "6402", "6403", "6404"):
        told_of_a_refund(number, "dead")
    told_of_a_refund("6405", "lively")
    provider_events.apply_waiting()
    assert calls == ["dead", "lively", "dead", "dead"]
    assert sorted(ProviderEvent.objects.filter(provider="dead").values_list("attempts", flat=True)) == [0, 1, 1, 1]


def test_a_message_that_was_left_comes_first_in_the_next_round(calls: list[str]) -> None:
    for number in ("6401", "6402", "6403", "6404"):
        told_of_a_refund(number, "dead")
    provider_events.apply_waiting()
    provider_events.apply_waiting()
    assert len(calls) == 4
    assert set(ProviderEvent.objects.values_list("attempts", flat=True)) == {1}
