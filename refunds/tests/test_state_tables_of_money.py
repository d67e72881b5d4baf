"""Money on its way, walked as `test_state_tables.py` walks the rest: the gateway insists on real transactions."""

from typing import Any, Final

import pytest

from orders.tests import cast
from orders.tests.factories import payment_body
from refunds import (
    approvals,
    elsewhere,
    outcome,
    reconcile,
    release,
    send,
    tasks,
)
from refunds.attention import admit_failure
from refunds.elsewhere_undone import undo
from refunds.gateways.base import GatewayAnswer, StillPending
from refunds.models import GatewayAttempt, Refund
from refunds.retry import retry
from refunds.states import (
    ATTEMPT_MOVES,
    ELSEWHERE_MOVES,
    REFUND_MOVES,
)
from refunds.tests.machines import (
    NOTE,
    Door,
    Machine,
    a_week_passes,
    boss,
    large_refund,
    order,
    walk,
)
from refunds.tests.paying import pending_refund, switch_on, time_passes


def send_it(refund: Refund) -> None:
    tasks.send_refund(refund.pk)


def send_while(fault: str) -> Door:
    def sent(refund: Refund) -> None:
        switch_on(fault)
        send_it(refund)

    return sent


def ask_the_gateway(refund: Refund) -> None:
    """As often as it takes to be sure that it knows nothing, or until it says that it has paid."""
    for _ in range(3):
        time_passes(60)
        reconcile.reconcile()


def attempt_of(refund: Refund) -> GatewayAttempt:
    return GatewayAttempt.objects.filter(allocation__refund=refund).latest("pk")


def paid(attempt: GatewayAttempt) -> None:
    """The gateway says so: exactly what was asked for."""
    allocation = attempt.allocation
    answer = GatewayAnswer(f"re_{attempt.pk}", allocation.amount, allocation.refund.currency)
    outcome.record_success(attempt, answer)


def refused(attempt: GatewayAttempt) -> None:
    outcome.record_refusal(attempt, started_at=None, code="declined", message="")


def refused_late(refund: Refund) -> None:
    if GatewayAttempt.objects.filter(allocation__refund=refund).exists():
        refused(attempt_of(refund))


def failed_after_all(attempt: GatewayAttempt) -> None:
    """The gateway takes back what it had said."""
    outcome.record_failed_after_payment(attempt, code="expired_card", message="")


def under_way_after_all(attempt: GatewayAttempt) -> None:
    """The gateway knows of it, whatever it had said before."""
    outcome.note_pending(attempt, StillPending(f"re_{attempt.pk}"))


def doubted(attempt: GatewayAttempt) -> None:
    outcome.record_doubt(attempt, started_at=attempt.started_at)


REFUND_DOORS: Final[dict[Any, Door]] = {
    "pending": lambda refund: retry(refund_id=refund.pk, actor=cast.staff(), note=NOTE),
    ("pending_approval", "pending"): lambda refund: approvals.approve_refund(
        refund_id=refund.pk, actor=boss(), reason=NOTE
    ),
    "rejected": lambda refund: approvals.reject_refund(refund_id=refund.pk, actor=boss(), reason=NOTE),
    "expired": lambda refund: release.expire_approvals(),
    "succeeded": send_it,
    ("unknown", "succeeded"): ask_the_gateway,
    ("failed", "succeeded"): lambda refund: paid(attempt_of(refund)),
    "failed": refused_late,
    ("pending", "failed"): send_while("refuse"),
    ("unknown", "failed"): ask_the_gateway,
    ("pending", "unknown"): send_while("timeout_after"),
    ("succeeded", "unknown"): lambda refund: failed_after_all(attempt_of(refund)),
    ("failed", "unknown"): lambda refund: under_way_after_all(attempt_of(refund)),
}


def half_refused() -> Refund:
    """In doubt, with a part that was refused: that one can be sent again meanwhile."""
    payments = [payment_body(1000), payment_body(580, external_id="p2")]
    refund = pending_refund(order(payments=payments), (1, 1, "other"), (2, 1, "other"))
    for fault in ("refuse", "timeout_after"):
        switch_on(fault)
    send_it(refund)
    return refund


def make_refund(before: str, after: str) -> Refund:
    if before in {"pending_approval", "rejected", "expired"}:
        approval = large_refund()
        assert approval.refund is not None
        if before == "expired":
            a_week_passes(approval)
        if before != "pending_approval":
            REFUND_DOORS[before](approval.refund)
        if after == "expired":
            a_week_passes(approval)
        return approval.refund
    if (before, after) == ("unknown", "pending"):
        return half_refused()
    refund = pending_refund(order(), (2, 1, "other"))
    if before == "unknown":
        send_while("timeout_before" if after == "failed" else "timeout_after")(refund)
    elif before != "pending":
        (send_it if before == "succeeded" else send_while("refuse"))(refund)
    return refund


def move_refund(refund: Refund, to: str) -> None:
    outcome.move_refund(refund=refund, to=to, actor=boss())  # type: ignore[arg-type]


def make_attempt(before: str, after: str) -> GatewayAttempt:
    refund = pending_refund(order(), (2, 1, "other"))
    assert send.claim_allocation(refund.allocations.get().pk)
    attempt = attempt_of(refund)
    if before != "sending":
        ATTEMPT_DOORS[before](attempt)
    if (before, after) == ("succeeded", "refused"):
        failed_after_all(attempt)
    return attempt


def admitted(attempt: GatewayAttempt) -> None:
    admit_failure(refund_id=attempt.allocation.refund_id, actor=boss(), note=NOTE)


ATTEMPT_DOORS: Final[dict[Any, Door]] = {
    "succeeded": paid,
    "refused": refused,
    ("succeeded", "refused"): admitted,
    ("refused", "unknown"): under_way_after_all,
    "unknown": doubted,
}


def make_elsewhere(before: str, after: str) -> Refund:
    bought = order()
    number = f"re_{bought.number}"
    body = {"external_ref": number, "amount": 100, "payment_id": bought.payments.get().pk, "note": NOTE}
    refund = elsewhere.record(order=bought, body=body, actor=boss())
    if before == "rejected":
        undo_it(refund)
    return refund


def undo_it(refund: Refund) -> None:
    undo(refund_id=refund.pk, actor=boss(), note=NOTE)


PAYING: Final = {
    "refund made elsewhere": Machine(
        "refund",
        ELSEWHERE_MOVES,
        make_elsewhere,
        {
            "rejected": undo_it,
            "pending": lambda refund: retry(refund_id=refund.pk, actor=boss(), note=NOTE),
            "failed": lambda refund: admit_failure(refund_id=refund.pk, actor=boss(), note=NOTE),
        },
        move_refund,
        words={"rejected": "undone"},
    ),
    "refund": Machine("refund", REFUND_MOVES, make_refund, REFUND_DOORS, move_refund),
    "attempt": Machine(
        "gateway_attempt",
        ATTEMPT_MOVES,
        make_attempt,
        ATTEMPT_DOORS,
        action="attempt",
        state="outcome",
        # A doubt that is doubted again stays the same doubt.
        not_a_move=frozenset({("unknown", "unknown")}),
    ),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("name", "before"), [(name, before) for name, each in PAYING.items() for before in each.moves])
def test_a_move_of_money_is_told_once_and_every_other_changes_nothing(name: str, before: str) -> None:
    walk(PAYING[name], before)
