"""Large refunds wait for a second person: they hold goods and money until a yes, a no, or seven days of neither."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission, User
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from orders.actors import NotAllowed, staff_actor
from orders.errors import InvalidInput, NotFound, Refusal
from orders.links import issue_link
from orders.models import AuditEvent, CustomerLink, Order
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import alerts, approvals, compensation, overrides, release, returns, tasks
from refunds.acceptance import accept
from refunds.approvals import approve_refund as approve
from refunds.approvals import reject_refund as reject
from refunds.models import Approval, Refund, RefundQuote, Return, StaffAlert
from refunds.redeem import redeem
from refunds.signals import approval_ended
from refunds.states import ApprovalKind, ApprovalState, Asker, RefundState
from refunds.tests.ask import ask, choices
from refunds.tests.going_back import returned

pytestmark = pytest.mark.django_db


def large_order() -> Order:
    return cast.place("6501", lines=[("音響", 30_000, 1), ("線", 500, 1)])


def waiting_refund(order: Order | None = None) -> Refund:
    """A refund of 30,000, confirmed by the customer."""
    quote = ask(order or large_order(), (1, 1, "changed_mind"))
    refund = redeem(quote_id=quote.pk, actor=cast.shopper()).refund
    assert refund is not None
    return refund


def test_above_the_policys_amount_it_waits_and_holds_goods_and_money() -> None:
    refund = waiting_refund()
    assert refund.state == RefundState.PENDING_APPROVAL
    assert cast.line(refund.order, 1).cancelled_quantity == 1
    assert cast.payment(refund.order).refunded_amount == 30_000


def test_exactly_the_policys_amount_needs_no_second_person() -> None:
    order = cast.place("6502", lines=[("音響", 20_000, 1)])
    refund = redeem(quote_id=ask(order, (1, 1, "other")).pk, actor=cast.shopper()).refund
    assert refund is not None
    assert refund.state == RefundState.PENDING


def test_the_question_is_written_down_with_who_asked_and_until_when() -> None:
    refund = waiting_refund()
    approval = refund.approval
    assert (approval.kind, approval.state, approval.amount) == (ApprovalKind.AMOUNT, ApprovalState.WAITING, 30_000)
    assert (approval.asked_by_kind, approval.asked_by) == ("customer", cast.customer_user())
    assert approval.expires_at is not None
    assert approval.expires_at - approval.created_at <= release.APPROVAL_LIFE
    assert approval.expires_at > timezone.now() + release.APPROVAL_LIFE - timedelta(minutes=1)
    assert AuditEvent.objects.filter(action="approval.waiting", subject_id=approval.pk).count() == 1


def test_while_it_waits_it_is_not_sent() -> None:
    refund = waiting_refund()
    tasks.send_refund(refund.pk)
    assert not refund.allocations.get().attempts.exists()


def test_while_it_waits_it_counts_as_spent() -> None:
    refund = waiting_refund()
    assert ask(refund.order, (2, 1, "other")).amount == 500


def test_approved_it_is_on_its_way() -> None:
    refund = approve(refund_id=waiting_refund().pk, actor=cast.staff("supervisor"), reason="查證過")
    assert (refund.state, refund.decided_by, refund.decision_reason) == (
        RefundState.PENDING,
        cast.staff_user("supervisor"),
        "查證過",
    )


def test_rejected_it_lets_go_of_goods_and_money_and_can_be_asked_for_anew() -> None:
    refund = reject(refund_id=waiting_refund().pk, actor=cast.staff("supervisor"), reason="不符規定")
    assert refund.state == RefundState.REJECTED
    assert cast.line(refund.order, 1).cancelled_quantity == 0
    assert cast.payment(refund.order).refunded_amount == 0
    assert ask(refund.order, (1, 1, "other")).amount == 30_000


def test_a_no_needs_a_reason() -> None:
    refund = waiting_refund()
    with pytest.raises(InvalidInput) as caught:
        reject(refund_id=refund.pk, actor=cast.staff("supervisor"), reason="")
    assert caught.value.field == "reason"


def test_whoever_confirmed_it_cannot_decide_about_it() -> None:
    boss = cast.staff("supervisor")
    refund = redeem(quote_id=ask(large_order(), (1, 1, "other")).pk, actor=boss, note="來電").refund
    assert refund is not None
    for decide in (approve, reject):
        with pytest.raises(Refusal) as caught:
            decide(refund_id=refund.pk, actor=boss, reason="我自己")
        assert caught.value.code == "own_decision"


def test_whoever_asked_for_the_quote_cannot_decide_about_it() -> None:
    boss = cast.staff("supervisor")
    quote = ask(large_order(), (1, 1, "other"), actor=boss)
    refund = redeem(quote_id=quote.pk, actor=cast.staff(), note="來電").refund
    assert refund is not None
    with pytest.raises(Refusal) as caught:
        approve(refund_id=refund.pk, actor=boss)
    assert caught.value.code == "own_decision"


@pytest.mark.parametrize("role", ["staff", "auditor", "warehouse", "customer"])
def test_it_needs_the_permission(role: str) -> None:
    refund = waiting_refund()
    with pytest.raises(NotAllowed):
        approve(refund_id=refund.pk, actor=cast.shopper() if role == "customer" else cast.staff(role))


def test_what_is_decided_stays_decided() -> None:
    refund = waiting_refund()
    approve(refund_id=refund.pk, actor=cast.staff("supervisor"))
    with pytest.raises(Refusal) as caught:
        reject(refund_id=refund.pk, actor=cast.staff("supervisor"), reason="後悔")
    assert caught.value.code == "wrong_state"
    assert cast.payment(refund.order).refunded_amount == 30_000


def test_after_seven_days_without_an_answer_it_expires_and_lets_go() -> None:
    refund = waiting_refund()
    assert release.expire_approvals() == 0
    Approval.objects.update(expires_at=timezone.now())
    assert release.expire_approvals() == 1
    refund.refresh_from_db()
    assert (refund.state, refund.approval.state) == (RefundState.EXPIRED, ApprovalState.EXPIRED)
    assert cast.payment(refund.order).refunded_amount == 0
    assert cast.line(refund.order, 1).cancelled_quantity == 0
    assert release.expire_approvals() == 0


def test_a_yes_after_seven_days_comes_too_late_even_if_nobody_has_swept() -> None:
    refund = waiting_refund()
    Approval.objects.update(expires_at=timezone.now())
    with pytest.raises(Refusal) as caught:
        approve(refund_id=refund.pk, actor=cast.staff("supervisor"))
    refund.refresh_from_db()
    assert (caught.value.code, refund.state) == ("approval_expired", RefundState.EXPIRED)
    assert cast.payment(refund.order).refunded_amount == 0


def less_than_promised() -> Approval:
    """A return that staff confirmed for the customer with 1,200 promised for a defect, of which 1,050 is left."""
    order = cast.order_5531(shipments=[shipment_body({1: 1, 2: 1})])
    quote = ask(order, (1, 1, "defective"))
    request = redeem(quote_id=quote.pk, actor=cast.staff("admin"), note="來電").return_request
    assert request is not None
    returns.receive(return_id=request.pk, actor=cast.staff("warehouse"))
    accept(return_id=request.pk, actor=cast.staff("warehouse"), found={"li_1": "changed_mind"})
    return Approval.objects.get()


def above_the_limit_after_its_return() -> Approval:
    order = cast.place("6503", lines=[("音響", 30_000, 1)], shipments=[shipment_body({1: 1})])
    returned(order, (1, 1, "changed_mind"))
    return Approval.objects.get()


@pytest.mark.parametrize("asked", [less_than_promised, above_the_limit_after_its_return])
def test_about_goods_that_have_come_back_silence_is_no_answer(asked: Callable[[], Approval]) -> None:
    """Their return would be rejected with nobody looking, and the goods in the warehouse."""
    approval = asked()
    assert approval.expires_at is None
    Approval.objects.update(expires_at=timezone.now() - timedelta(days=1))  # as it was asked before this rule
    assert release.expire_approvals() == 0
    assert Return.objects.get().state == "accepted"
    alerts.raise_overdue(timezone.now() + timedelta(days=15))
    assert {alert.refund_id for alert in StaffAlert.objects.all()} == {approval.refund_id}
    assert approvals.approve(approval_id=approval.pk, actor=cast.staff("supervisor")).state == ApprovalState.APPROVED


def test_questions_about_goods_that_had_come_back_before_this_rule_lose_their_date() -> None:
    about_goods_here, other = above_the_limit_after_its_return(), waiting_refund().approval
    Approval.objects.update(expires_at=timezone.now())
    import_module("refunds.migrations.0013_no_return_is_rejected_by_silence").let_them_wait(apps, connection)
    left = Approval.objects.filter(expires_at=None)
    assert (list(left), other.state) == ([about_goods_here], ApprovalState.WAITING)


def test_less_than_a_return_was_promised_is_a_question_of_its_own() -> None:
    approval = less_than_promised()
    assert (approval.kind, approval.amount) == (ApprovalKind.LESS_THAN_PROMISED, 1050)
    approvals.approve(approval_id=approval.pk, actor=cast.staff("supervisor"))
    assert approval.refund is not None
    approval.refund.refresh_from_db()
    assert (approval.refund.state, approval.refund.return_request.state) == ("pending", "refunded")


@pytest.mark.parametrize("who", ["warehouse", "admin"])
def test_neither_who_accepted_the_goods_nor_who_confirmed_the_return_decides(who: str) -> None:
    approval = less_than_promised()
    member = cast.staff_user(who)
    member.user_permissions.add(Permission.objects.get(codename="approve_refund"))
    with pytest.raises(Refusal) as caught:
        approvals.approve(approval_id=approval.pk, actor=staff_actor(User.objects.get(pk=member.pk)))
    assert caught.value.code == "own_decision"


def test_a_customer_who_works_here_does_not_decide_about_their_own_money() -> None:
    refund = waiting_refund()
    Approval.objects.update(asked_by=None)
    Refund.objects.update(confirmed_by=None)
    RefundQuote.objects.update(asked_by=None)
    account = cast.customer_user()
    account.user_permissions.add(Permission.objects.get(codename="approve_refund"))
    with pytest.raises(Refusal) as caught:
        approve(refund_id=refund.pk, actor=staff_actor(User.objects.get(pk=account.pk)))
    assert caught.value.code == "own_decision"


def too_late_exception() -> Approval:
    order = cast.order_5531()
    cast.delivered_days_ago(order, 10)
    return overrides.ask(order=order, choices=choices((1, 1, "changed_mind")), reason="老客人", actor=cast.staff())


def proposed_compensation() -> Approval:
    return compensation.propose(
        order=cast.order_5531(), amount=100, reason="遲到", actor=cast.staff(), request_ref="call_1"
    )


@pytest.mark.parametrize(
    "asked",
    [lambda: waiting_refund().approval, less_than_promised, proposed_compensation, too_late_exception],
    ids=["amount", "less_than_promised", "compensation", "override"],
)
@pytest.mark.parametrize("over", [{}, {"revoked_at": timezone.now()}, {"expires_at": timezone.now()}])
def test_whoever_made_a_customers_link_could_be_that_customer_and_decides_nothing_of_the_order(
    asked: Callable[[], Approval], over: dict[str, Any]
) -> None:
    approval = asked()
    issue_link(order=approval.order, actor=cast.staff("supervisor"))
    CustomerLink.objects.update(**over)
    for decide in (approvals.approve, approvals.reject):
        with pytest.raises(Refusal) as caught:
            decide(approval_id=approval.pk, actor=cast.staff("supervisor"), reason="我自己")
        assert caught.value.code == "own_decision"
    other = staff_actor(cast.user("other", is_superuser=True))
    assert approvals.approve(approval_id=approval.pk, actor=other, reason="查證過").state == ApprovalState.APPROVED


def test_a_link_to_another_order_keeps_nobody_from_deciding() -> None:
    refund = waiting_refund()
    issue_link(order=cast.order_5531(), actor=cast.staff("supervisor"))
    assert approve(refund_id=refund.pk, actor=cast.staff("supervisor"), reason="查證過").state == RefundState.PENDING


def test_one_person_with_a_link_of_their_own_gets_no_large_refund_through() -> None:
    order, boss, browser = large_order(), cast.staff("supervisor"), Client()
    browser.get(issue_link(order=order, actor=boss)[0])
    quote = ask(order, (1, 1, "other"), asker=Asker.AGENT, asker_ref="conversation:1")
    browser.post(f"/refunds/quotes/{quote.pk}/confirm/", headers={"accept": "application/json"})
    refund = Refund.objects.get()
    assert (refund.confirmed_by_kind, refund.state) == ("customer", RefundState.PENDING_APPROVAL)
    with pytest.raises(Refusal) as caught:
        approve(refund_id=refund.pk, actor=boss)
    assert caught.value.code == "own_decision"


def test_the_database_too_lets_nobody_decide_what_they_asked() -> None:
    refund = waiting_refund()
    with pytest.raises(IntegrityError, match="nobody_decides_what_they_asked"), transaction.atomic():
        Approval.objects.filter(refund=refund).update(decided_by=cast.customer_user())


@pytest.mark.parametrize("decide", [approvals.approve, partial(approvals.reject, reason="不符規定")])
def test_a_missing_question_is_not_found(decide: Callable[..., object]) -> None:
    for missing in ("ap_000000000000", "x", "\x00"):
        with pytest.raises(NotFound):
            decide(approval_id=missing, actor=cast.staff("supervisor"))


def test_a_refund_that_nobody_was_asked_about_cannot_be_decided_about() -> None:
    refund = redeem(quote_id=ask(cast.order_5531(), (2, 1, "other")).pk, actor=cast.shopper()).refund
    assert refund is not None
    with pytest.raises(Refusal) as caught:
        approve(refund_id=refund.pk, actor=cast.staff("supervisor"))
    assert caught.value.code == "wrong_state"


def test_every_end_of_a_question_is_told_after_commit_and_written_down_once(
    django_capture_on_commit_callbacks: Any,
) -> None:
    heard: list[str] = []

    def listen(approval_id: str, **_: object) -> None:
        heard.append(approval_id)

    approval_ended.connect(listen)
    refund = waiting_refund()
    with django_capture_on_commit_callbacks(execute=True):
        reject(refund_id=refund.pk, actor=cast.staff("supervisor"), reason="不符規定")
    approval_ended.disconnect(listen)
    assert heard == [refund.approval.pk]
    event = AuditEvent.objects.get(action="approval.rejected", subject_id=refund.approval.pk)
    assert (event.actor_user, event.chosen["reason"]) == (cast.staff_user("supervisor"), "不符規定")
