"""A gateway is still at a refund that counts as refused here: it is in doubt again, and is not sent a second time."""

from functools import partial
from typing import Any

import pytest

from orders.errors import Refusal
from orders.models import AuditEvent
from orders.tests import cast
from refunds import books, outcome, selectors, send, tasks
from refunds.attention import admit_failure, settle
from refunds.by_hand import paid_by_hand
from refunds.gateways.base import StillPending
from refunds.models import GatewayAttempt, Refund
from refunds.retry import retry
from refunds.states import AllocationState, RefundState, Trouble
from refunds.tests.paying import outcomes, pending_refund, state_of, time_passes
from refunds.tests.reporting import paid_by_stripe, reports
from refunds.tests.stripe_stand_in import Stripe

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def refund(stripe: Stripe) -> Refund:
    """The case, 380: its call was lost on the way, and Stripe knew nothing of it for long enough."""
    refund = pending_refund(paid_by_stripe(stripe), (2, 1, "other"))
    claim = send.claim_allocation(refund.allocations.get().pk)
    assert claim is not None
    outcome.record_refusal(claim.attempt, started_at=None, code="no_record", message="The gateway has no record of it.")
    assert state_of(refund) == RefundState.FAILED
    return refund


def under_way(stripe: Stripe, **changes: Any) -> dict[str, Any]:
    """So it is in Stripe's books after all, as the first attempt's own."""
    metadata = {"idempotency_key": GatewayAttempt.objects.get(number=1).idempotency_key}
    return stripe.refund_at_the_desk("ch_1", 38_000, **{"status": "pending", "metadata": metadata, **changes})


def reports_that_it_is_under_way(made: dict[str, Any]) -> None:
    reports("refund.created", made)


def is_found_in_the_list_of_the_charge(made: dict[str, Any]) -> None:
    books.look_at(Refund.objects.get().allocations.get().payment)


def refused_code(act: Any) -> str:
    with pytest.raises(Refusal) as caught:
        act()
    return caught.value.code


def trouble() -> str:
    return GatewayAttempt.objects.get(number=1).trouble


@pytest.mark.parametrize("news", [reports_that_it_is_under_way, is_found_in_the_list_of_the_charge])
def test_what_stripe_is_still_at_is_in_doubt_again_and_cannot_be_sent_once_more(
    stripe: Stripe, refund: Refund, news: Any
) -> None:
    made = under_way(stripe)
    for _ in range(2):
        news(made)
    assert (state_of(refund), outcomes()) == (RefundState.UNKNOWN, [(1, "unknown")])
    assert refused_code(partial(retry, refund_id=refund.pk, actor=cast.staff())) in {"wrong_state", "paid_already"}
    event = AuditEvent.objects.get(action="attempt.unknown")
    assert (event.outcome["after"], event.outcome["provider_refund_id"]) == ("refused", made["id"])
    made["status"] = "succeeded"
    reports("refund.updated", made)
    assert (state_of(refund), stripe.given_back("ch_1"), stripe.posts()) == (RefundState.SUCCEEDED, 38_000, [])


def test_stripe_is_asked_about_it_until_it_says_what_became_of_it(stripe: Stripe, refund: Refund) -> None:
    made = under_way(stripe)
    reports("refund.created", made)
    stripe.refunds.clear()  # nothing known is no answer any more
    for _ in range(4):
        time_passes(3600)
        tasks.sweep()
    assert state_of(refund) == RefundState.UNKNOWN
    stripe.refunds.append(made | {"status": "failed"})
    time_passes(3600)
    tasks.sweep()
    assert (state_of(refund), outcomes()) == (RefundState.FAILED, [(1, "refused")])


def test_a_worker_that_wakes_up_late_and_was_told_that_it_is_under_way_is_heard(stripe: Stripe, refund: Refund) -> None:
    attempt = GatewayAttempt.objects.get()
    time_passes(60)  # somebody else had it meanwhile
    outcome.record_pending(attempt, StillPending("re_9"), started_at=attempt.started_at)
    assert (state_of(refund), outcomes()) == (RefundState.UNKNOWN, [(1, "unknown")])


def test_what_has_failed_at_stripe_was_under_way_before_and_that_is_no_news(stripe: Stripe, refund: Refund) -> None:
    made = under_way(stripe)
    reports("refund.failed", made | {"status": "failed"})
    reports("refund.created", made)
    assert (state_of(refund), outcomes()) == (RefundState.FAILED, [(1, "refused")])


# --- somebody has ordered it once more already ---
def test_a_second_one_that_was_ordered_and_not_begun_is_not_sent_and_people_see_to_it(
    stripe: Stripe, refund: Refund
) -> None:
    retry(refund_id=refund.pk, actor=cast.staff())
    for _ in range(2):
        reports("refund.created", under_way(stripe) if not stripe.refunds else stripe.refunds[0])
    tasks.send_refund(refund.pk)
    assert (state_of(refund), stripe.posts(), trouble()) == (RefundState.FAILED, [], Trouble.PENDING_AFTER_REFUSAL)
    assert list(selectors.needs_a_look()) == [refund]
    assert refused_code(partial(retry, refund_id=refund.pk, actor=cast.staff())) == "paid_already"
    assert AuditEvent.objects.filter(action="attempt.pending_after_no").count() == 1


def ordered_twice(stripe: Stripe, refund: Refund) -> dict[str, Any]:
    retry(refund_id=refund.pk, actor=cast.staff())
    made = under_way(stripe)
    reports("refund.created", made)
    return made


def test_once_it_is_paid_that_is_the_trouble_and_a_person_settles_it(stripe: Stripe, refund: Refund) -> None:
    made = ordered_twice(stripe, refund)
    made["status"] = "succeeded"
    reports("refund.updated", made)
    assert (state_of(refund), trouble()) == (RefundState.FAILED, Trouble.PAID_AFTER_REFUSAL)
    settle(refund_id=refund.pk, actor=cast.staff(), note="收單行確認已退一次")
    assert (state_of(refund), outcomes(), stripe.posts()) == (RefundState.SUCCEEDED, [(1, "succeeded")], [])


def says_so_itself(refund: Refund, made: dict[str, Any]) -> None:
    reports("refund.failed", made | {"status": "failed"})


def is_known_by_a_person(refund: Refund, made: dict[str, Any]) -> None:
    admit_failure(refund_id=refund.pk, actor=cast.staff(), note="收單行說沒有退成")


@pytest.mark.parametrize("end", [says_so_itself, is_known_by_a_person])
def test_once_it_has_failed_it_can_be_sent_again_and_old_reports_change_nothing(
    stripe: Stripe, refund: Refund, end: Any
) -> None:
    made = ordered_twice(stripe, refund)
    end(refund, made)
    reports("refund.updated", made)
    assert (state_of(refund), trouble()) == (RefundState.FAILED, "")
    retry(refund_id=refund.pk, actor=cast.staff())
    tasks.send_refund(refund.pk)
    assert (state_of(refund), len(stripe.posts())) == (RefundState.SUCCEEDED, 1)


def test_beside_a_newer_payment_it_is_trouble_and_the_newer_one_stays_paid(stripe: Stripe, refund: Refund) -> None:
    retry(refund_id=refund.pk, actor=cast.staff())
    tasks.send_refund(refund.pk)
    reports("refund.created", under_way(stripe))
    assert (state_of(refund), outcomes()) == (RefundState.SUCCEEDED, [(1, "refused"), (2, "succeeded")])
    assert (trouble(), list(selectors.needs_a_look())) == (Trouble.PENDING_AFTER_REFUSAL, [refund])
    admit_failure(refund_id=refund.pk, actor=cast.staff(), note="收單行說沒有退成")
    assert (state_of(refund), selectors.needs_a_look().count()) == (RefundState.SUCCEEDED, 0)


def test_whoever_had_settled_it_hears_that_it_was_paid_twice_after_all(stripe: Stripe, refund: Refund) -> None:
    retry(refund_id=refund.pk, actor=cast.staff())
    tasks.send_refund(refund.pk)
    made = under_way(stripe)
    reports("refund.created", made)
    settle(refund_id=refund.pk, actor=cast.staff(), note="收單行會取消第一筆")
    assert not selectors.needs_a_look().exists()
    made["status"] = "succeeded"
    reports("refund.updated", made)
    assert (trouble(), list(selectors.needs_a_look())) == (Trouble.PAID_AFTER_REFUSAL, [refund])


def test_beside_a_part_that_was_paid_by_hand_it_is_trouble(stripe: Stripe, refund: Refund) -> None:
    paid_by_hand(refund_id=refund.pk, external_ref="匯款 0412", actor=cast.staff("supervisor"), note="今天匯了")
    reports("refund.created", under_way(stripe))
    assert (state_of(refund), trouble()) == (RefundState.SUCCEEDED, Trouble.PENDING_AFTER_REFUSAL)
    assert refund.allocations.get().state == AllocationState.SUCCEEDED
