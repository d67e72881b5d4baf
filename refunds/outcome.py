"""A refund's state: derived from its allocations, moved by compare-and-set, with an audit row and a notice.

Also the one place where a gateway's answer is written down. Nothing here calls a gateway.
"""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

import structlog
from django.db import transaction
from django.utils import timezone

from orders import audit
from orders.actors import Actor, system_actor
from refunds import locks
from refunds.gateways.base import GatewayAnswer, GatewayRefused, StillPending
from refunds.models import GatewayAttempt, Refund, RefundAllocation
from refunds.notices import tell_on_commit
from refunds.signals import refund_moved
from refunds.states import (
    ELSEWHERE_MOVES,
    FINISHED,
    REFUND_MOVES,
    UNDECIDED,
    AllocationState,
    AttemptOutcome,
    RefundKind,
    RefundState,
    Trouble,
)

log = structlog.get_logger(__name__)
PAYMENTS = system_actor("payments")
# The code of an attempt that the gateway has taken and not decided.
PENDING: Final = "pending"
# What an attempt's fate makes of its allocation.
_ALLOCATION_STATES = {
    AttemptOutcome.REFUSED: AllocationState.FAILED,
    AttemptOutcome.UNKNOWN: AllocationState.UNKNOWN,
}


class WrongMove(Exception):
    """A state that does not lead to the wanted one. A mistake in the caller, or a lost race: nothing was changed."""


def move_refund(*, refund: Refund, to: RefundState, actor: Actor, reason: str = "", **fields: Any) -> None:
    """Compare-and-set along the moves of its kind, with audit and notice, in the caller's transaction.

    Raises WrongMove.
    """
    before = refund.state
    moves = ELSEWHERE_MOVES if refund.kind == RefundKind.ELSEWHERE else REFUND_MOVES
    if to not in moves[before]:
        raise WrongMove(f"{refund.pk}: {before} → {to}")
    # What was made elsewhere keeps the day on which it was paid back, as it was told.
    if refund.kind != RefundKind.ELSEWHERE and (to in FINISHED or before in FINISHED):
        fields["finished_at"] = timezone.now() if to in FINISHED else None
    if Refund.objects.filter(pk=refund.pk, state=before).update(state=to, **fields) != 1:
        raise WrongMove(f"{refund.pk} is not {before} any more")
    refund.refresh_from_db()
    record_state(refund, actor, outcome={"from": before, "reason": reason})


def record_state(
    refund: Refund, actor: Actor, *, outcome: dict[str, Any], chosen: dict[str, Any] | None = None
) -> None:
    """The audit row and the notice of the state that the refund has come into."""
    undone = refund.kind == RefundKind.ELSEWHERE and refund.state == RefundState.REJECTED
    audit.record(
        action="refund.undone" if undone else f"refund.{refund.state}",
        actor=actor,
        subject_type="refund",
        subject_id=refund.pk,
        order=refund.order,
        chosen=chosen,
        computed={"amount": refund.amount, "currency": refund.currency},
        outcome={"state": refund.state, **outcome},
        correlation={"quote_id": refund.quote_id} if refund.quote_id else {},
    )
    tell_on_commit(refund_moved, refund_id=refund.pk)


def derived(states: Iterable[str]) -> RefundState:
    """The state of a refund whose parts are in `states`. What is still to be sent comes first, doubt before failure."""
    found = set(states)
    for part, whole in (
        (AllocationState.PENDING, RefundState.PENDING),
        (AllocationState.UNKNOWN, RefundState.UNKNOWN),
        (AllocationState.FAILED, RefundState.FAILED),
    ):
        if part in found:
            return whole
    return RefundState.SUCCEEDED


def follow_allocations(refund: Refund, *, actor: Actor = PAYMENTS, reason: str = "") -> None:
    """Move the refund to the state that its allocations make, if it is another one. With the refund locked."""
    state = derived(refund.allocations.values_list("state", flat=True))
    if state != refund.state:
        move_refund(refund=refund, to=state, actor=actor, reason=reason)


def record_success(attempt: GatewayAttempt, answer: GatewayAnswer) -> None:
    """The gateway has paid. A fact, whoever reports it and however late; the same report again is nothing new.

    If exactly what was asked for has been paid, by the attempt that counts, the attempt has succeeded, even if it was
    taken for refused. Anything else is trouble: written down, not counted as paid, and shown to people. A refund that
    the gateway has made and then called failed stays so: a success of the same number is older news.
    """
    with transaction.atomic():
        refund, allocation = locks.refund_and_allocation(attempt.allocation_id)
        known = GatewayAttempt.objects.get(pk=attempt.pk)
        late = known.outcome == AttemptOutcome.REFUSED
        if known.outcome == AttemptOutcome.SUCCEEDED:
            return
        if late and not known.trouble and known.provider_refund_id == answer.provider_refund_id:
            return
        if (answer.amount, answer.currency) != (allocation.amount, refund.currency):
            _flag(known, Trouble.AMOUNT_DIFFERS, answer, refund, allocation)
        elif late and _is_told_by_hand(allocation, known, answer):
            count_as_paid(known, allocation, provider_refund_id=answer.provider_refund_id, trouble="")
            facts = {"provider_refund_id": answer.provider_refund_id, "after": "allocation.paid_by_hand"}
            _audit_attempt(known, AttemptOutcome.SUCCEEDED, facts, refund)
        elif late and (allocation.state != AllocationState.FAILED or allocation.attempt != known.number):
            _flag(known, Trouble.PAID_AFTER_REFUSAL, answer, refund, allocation)
        else:
            count_as_paid(known, allocation, provider_refund_id=answer.provider_refund_id, trouble="")
            facts = {"provider_refund_id": answer.provider_refund_id, "after": known.outcome}
            _audit_attempt(known, AttemptOutcome.SUCCEEDED, facts, refund)
            follow_allocations(refund, reason=Trouble.PAID_AFTER_REFUSAL if late else "")


def _is_told_by_hand(allocation: RefundAllocation, attempt: GatewayAttempt, answer: GatewayAnswer) -> bool:
    """Whether a person had found this very refund at the provider's and booked it: it is the same money."""
    told = (allocation.state, allocation.external_ref) == (AllocationState.SUCCEEDED, answer.provider_refund_id)
    return told and attempt.payment_id == allocation.payment_id


def count_as_paid(attempt: GatewayAttempt, allocation: RefundAllocation, **fields: Any) -> None:
    """This attempt is the one that has paid its allocation, and nobody by hand. With the refund and it locked."""
    now = timezone.now()
    GatewayAttempt.objects.filter(pk=attempt.pk).update(outcome=AttemptOutcome.SUCCEEDED, answered_at=now, **fields)
    allocation.state, allocation.external_ref = AllocationState.SUCCEEDED, ""
    allocation.save(update_fields=["state", "external_ref"])


def _flag(
    known: GatewayAttempt,
    trouble: Trouble,
    answer: GatewayAnswer | StillPending,
    refund: Refund,
    allocation: RefundAllocation,
) -> None:
    """Write down once what no machine may settle, and see that nothing more is paid meanwhile.

    What was under way and is now paid is trouble of another kind, and news even to whoever had settled the first.
    """
    if known.trouble not in {"", Trouble.PENDING_AFTER_REFUSAL} or known.trouble == trouble:
        return
    number = answer.provider_refund_id or known.provider_refund_id
    fields: dict[str, Any] = {"trouble": trouble, "settled_at": None, "provider_refund_id": number}
    if known.outcome in UNDECIDED:
        fields |= {"outcome": AttemptOutcome.UNKNOWN, "code": trouble, "answered_at": timezone.now()}
        allocation.state = AllocationState.UNKNOWN
    elif allocation.state == AllocationState.PENDING and not _begun(allocation):
        allocation.state = AllocationState.FAILED  # a person had ordered it to be sent once more: not now
    GatewayAttempt.objects.filter(pk=known.pk).update(**fields)
    allocation.save(update_fields=["state"])
    log.error(f"gateway.{trouble}", attempt=known.idempotency_key, refund_id=refund.pk)
    asked = {"amount": allocation.amount, "currency": refund.currency}
    _audit_attempt(known, trouble, {"asked": asked, "answered": asdict(answer)}, refund)
    follow_allocations(refund, reason=trouble)


def _begun(allocation: RefundAllocation) -> bool:
    return allocation.attempts.filter(number=allocation.attempt).exists()


def record_no(attempt: GatewayAttempt, refusal: GatewayRefused, *, started_at: datetime | None) -> None:
    """What the gateway says when it refuses; with its own number, where it had made a refund that has failed."""
    record_refusal(
        attempt,
        started_at=started_at,
        code=refusal.code,
        message=refusal.message,
        provider_refund_id=refusal.provider_refund_id,
    )


def record_refusal(
    attempt: GatewayAttempt, *, started_at: datetime | None, code: str, message: str, provider_refund_id: str = ""
) -> None:
    """The gateway has definitely not paid and will not, for this attempt.

    `started_at` is the claim under which the call was made: whoever lost the claim to another worker reports nothing.
    """
    fields = {"code": code[:64], "message": message[:240]}
    if provider_refund_id:
        fields["provider_refund_id"] = provider_refund_id
    if not _record(attempt, AttemptOutcome.REFUSED, started_at, **fields) and provider_refund_id:
        _end_late_doubt(attempt, fields)


def record_doubt(attempt: GatewayAttempt, *, started_at: datetime, code: str = "timeout") -> None:
    """No outcome in time. Nobody may send it again; `reconcile` asks."""
    _record(attempt, AttemptOutcome.UNKNOWN, started_at, code=code)


def record_pending(attempt: GatewayAttempt, pending: StillPending, *, started_at: datetime) -> None:
    """The gateway has taken it and is not done: not paid, not refused, and never sent again; `reconcile` asks."""
    if not _record(attempt, AttemptOutcome.UNKNOWN, started_at, **_under_way(pending)):
        note_pending(attempt, pending)


def note_pending(attempt: GatewayAttempt, pending: StillPending) -> None:
    """The gateway knows of the refund and is at it, whoever reports that and however late.

    Where it was asked about doubt, "nothing known" will be no answer any more. What was taken for refused is in doubt
    again, so that nobody sends it once more; if somebody has ordered that already, or has paid by hand, it is trouble.
    A refund that the gateway has made and then called failed stays so: that it was under way is older news.
    """
    with transaction.atomic():
        refund, allocation = locks.refund_and_allocation(attempt.allocation_id)
        known = GatewayAttempt.objects.get(pk=attempt.pk)
        if known.outcome == AttemptOutcome.UNKNOWN:
            GatewayAttempt.objects.filter(pk=known.pk).update(**_under_way(pending))
        if known.outcome != AttemptOutcome.REFUSED or _is_older(pending, known):
            return
        if allocation.state == AllocationState.FAILED and allocation.attempt == known.number and not known.trouble:
            _doubt_again(known, pending, refund, allocation)
        else:
            _flag(known, Trouble.PENDING_AFTER_REFUSAL, pending, refund, allocation)


def _under_way(pending: StillPending) -> dict[str, Any]:
    number = pending.provider_refund_id
    return {"code": PENDING, **({"provider_refund_id": number} if number else {})}


def _is_older(pending: StillPending, known: GatewayAttempt) -> bool:
    """Whether it is about the very refund that the gateway has called failed since."""
    number = known.provider_refund_id
    return bool(number) and not known.trouble and pending.provider_refund_id in {"", number}


def _doubt_again(known: GatewayAttempt, pending: StillPending, refund: Refund, allocation: RefundAllocation) -> None:
    fields = {**_under_way(pending), "message": ""}
    GatewayAttempt.objects.filter(pk=known.pk).update(
        outcome=AttemptOutcome.UNKNOWN, answered_at=timezone.now(), **fields
    )
    _audit_attempt(known, AttemptOutcome.UNKNOWN, {**fields, "after": known.outcome}, refund)
    allocation.state = AllocationState.UNKNOWN
    allocation.save(update_fields=["state"])
    follow_allocations(refund, reason=PENDING)


def _end_late_doubt(attempt: GatewayAttempt, fields: dict[str, Any]) -> None:
    """What was reported as paid or under way after a refusal has failed: the first no was right, whatever a person
    has said of it since, and nobody need see to it."""
    with transaction.atomic():
        refund, _ = locks.refund_and_allocation(attempt.allocation_id)
        doubted = GatewayAttempt.objects.filter(
            pk=attempt.pk,
            outcome=AttemptOutcome.REFUSED,
            trouble__in=[Trouble.PAID_AFTER_REFUSAL, Trouble.PENDING_AFTER_REFUSAL],
            provider_refund_id=fields["provider_refund_id"],
        )
        if doubted.update(trouble="", **fields) == 1:
            _audit_attempt(attempt, AttemptOutcome.REFUSED, fields, refund)


def record_failed_after_payment(attempt: GatewayAttempt, *, code: str, message: str) -> bool:
    """The gateway had paid and now says that it failed after all: the money is back at the shop. A person's matter.

    The refund is in doubt again, for nobody may read that it was paid and no machine may pay twice: a person says
    which it is (`attention.py`). True if it is news; else nothing is written.
    """
    with transaction.atomic():
        refund, allocation = locks.refund_and_allocation(attempt.allocation_id)
        paid = GatewayAttempt.objects.filter(pk=attempt.pk, outcome=AttemptOutcome.SUCCEEDED)
        fields = {"trouble": Trouble.FAILED_AFTER_PAYMENT, "code": code[:64], "message": message[:240]}
        if paid.exclude(trouble=Trouble.FAILED_AFTER_PAYMENT).update(settled_at=None, **fields) != 1:
            return False
        log.error(f"gateway.{Trouble.FAILED_AFTER_PAYMENT}", attempt=attempt.idempotency_key, refund_id=refund.pk)
        _audit_attempt(attempt, Trouble.FAILED_AFTER_PAYMENT, fields, refund)
        if allocation.state == AllocationState.SUCCEEDED:
            allocation.state = AllocationState.UNKNOWN
            allocation.save(update_fields=["state"])
            follow_allocations(refund, reason=Trouble.FAILED_AFTER_PAYMENT)
        return True


def _record(attempt: GatewayAttempt, outcome: AttemptOutcome, claim: datetime | None, **fields: Any) -> bool:
    """An outcome that is no payment: it never takes the place of one, nor of another no. Whether it is news."""
    with transaction.atomic():
        refund, allocation = locks.refund_and_allocation(attempt.allocation_id)
        undecided = GatewayAttempt.objects.filter(pk=attempt.pk, outcome__in=UNDECIDED)
        if claim is not None:
            undecided = undecided.filter(started_at=claim)
        moved = undecided.update(outcome=outcome, answered_at=timezone.now(), **fields)
        if moved != 1:  # decided already, or another worker's to decide
            return False
        _audit_attempt(attempt, outcome, fields, refund)
        allocation.state = _ALLOCATION_STATES[outcome]
        allocation.save(update_fields=["state"])
        follow_allocations(refund, reason=fields.get("code", ""))
        return True


def _audit_attempt(attempt: GatewayAttempt, outcome: str, fields: dict[str, Any], refund: Refund) -> None:
    audit.record(
        action=f"attempt.{outcome}",
        actor=PAYMENTS,
        subject_type="gateway_attempt",
        subject_id=str(attempt.pk),
        order=refund.order,
        outcome=fields,
        correlation={"refund_id": refund.pk, "idempotency_key": attempt.idempotency_key},
    )
