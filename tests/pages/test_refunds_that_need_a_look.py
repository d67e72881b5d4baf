"""A refund that the provider has refused is seen by those who can do something about it, and says what they can do."""

import pytest
from django.db import connection

from orders.models import AuditEvent, Order
from orders.tests import cast
from orders.tests.factories import payment_body
from refunds.models import GatewayAttempt, Refund
from refunds.redeem import redeem
from refunds.selectors import needs_a_look
from refunds.states import AllocationState, AttemptOutcome, RefundState, Trouble
from refunds.tests.ask import Asked, ask
from refunds.tests.paying import attempted, pending_refund
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db
STORE_CREDIT = {"method": "store_credit", "last4": ""}


def refused(order: Order, *asked: Asked, refused_parts: str = "") -> Refund:
    """A refund of which the provider has refused every part, or those of one payment method."""
    refund = redeem(quote_id=ask(order, *asked).pk, actor=cast.shopper()).refund
    assert refund
    parts = refund.allocations.all()
    parts.update(state=AllocationState.SUCCEEDED)
    (parts.filter(payment__method=refused_parts) if refused_parts else parts).update(state=AllocationState.FAILED)
    Refund.objects.filter(pk=refund.pk).update(state=RefundState.FAILED)
    return refund


def paid_twice(number: str) -> Order:
    """Paid by card (500) and from store credit (300)."""
    payments = [payment_body(500), payment_body(300, external_id="p2", **STORE_CREDIT)]
    return cast.place(number, lines=[("手機支架", 500, 1), ("充電線", 300, 1)], payments=payments)


@pytest.mark.parametrize("name", ["staff", "supervisor"])
def test_it_is_listed_and_counted_on_every_staff_page(name: str) -> None:
    browser = signed_in(name)
    assert "待處理款項</span></a>" in text_of(browser.get("/staff/orders/"))
    refund = refused(cast.order_5531(), (2, 1, "late_delivery"))
    assert '待處理款項</span><b class="count">1</b>' in text_of(browser.get("/staff/orders/"))
    page = text_of(browser.get("/staff/refunds/"))
    assert refund.pk in page
    assert 'href="/staff/orders/5531/"' in page
    assert "金流商已拒絕 NT$230，這筆錢尚未退出" in page


def test_it_is_counted_above_the_approvals_and_shown_in_its_own_list_alone() -> None:
    supervisor = signed_in("supervisor", language="en")
    assert "needs a look" not in text_of(supervisor.get("/staff/approvals/"))
    refund = refused(cast.order_5531(), (2, 1, "late_delivery"))
    page = text_of(supervisor.get("/staff/approvals/"))
    assert "1 matter of money needs a look." in page
    assert refund.pk not in page
    assert "needs a look." not in text_of(supervisor.get("/staff/approvals/?all=1"))
    refused(cast.place("9104"), (1, 1, "changed_mind"))
    assert "2 matters of money need a look." in text_of(supervisor.get("/staff/approvals/"))


def test_an_empty_list_says_what_would_be_there() -> None:
    assert "被金流商拒絕的退款會出現在這裡" in text_of(signed_in("staff").get("/staff/refunds/"))


def test_sent_again_from_the_list_it_leads_back_to_the_list_which_is_empty_then() -> None:
    refund = refused(cast.order_5531(), (2, 1, "late_delivery"))
    form = {"next": "/staff/refunds/", "note": "卡片已更新"}
    answer = signed_in("staff").post(f"/staff/refunds/{refund.pk}/retry/", form, follow=True)
    assert answer.request["PATH_INFO"] == "/staff/refunds/"
    assert refund.pk not in text_of(answer).replace(f"{refund.pk} 正在重新送出", "")
    assert AuditEvent.objects.filter(action="allocation.retried").get().chosen["note"] == "卡片已更新"


def test_another_payment_with_enough_left_can_take_it() -> None:
    order = paid_twice("9101")
    refund = refused(order, (2, 1, "changed_mind"))
    credit = cast.payment(order, 2)
    staff = signed_in("staff")
    retry = f"/staff/refunds/{refund.pk}/retry/"
    assert f'href="{retry}?next=/staff/orders/9101/"' in text_of(staff.get("/staff/orders/9101/"))
    assert f'<option value="{credit.pk}">' in text_of(staff.get(retry))
    assert "備註，可不填" in text_of(staff.get(retry))
    staff.post(retry, {"payment_id": credit.pk})
    assert refund.allocations.get().payment == credit


def test_a_payment_that_cannot_take_it_is_not_offered_and_is_refused_in_words() -> None:
    order = paid_twice("9102")
    refund = refused(order, (1, 1, "changed_mind"))
    credit = cast.payment(order, 2)
    staff = signed_in("staff")
    assert f'value="{credit.pk}"' not in text_of(staff.get(f"/staff/refunds/{refund.pk}/retry/"))
    answer = staff.post(f"/staff/refunds/{refund.pk}/retry/", {"payment_id": credit.pk}, follow=True)
    assert "無法退回 NT$500" in text_of(answer)
    refund.refresh_from_db()
    assert refund.state == RefundState.FAILED


def test_where_only_a_part_was_refused_the_page_says_which_is_paid() -> None:
    order = paid_twice("9103")
    refused(order, (1, 1, "changed_mind"), (2, 1, "changed_mind"), refused_parts="store_credit")
    page = text_of(signed_in("staff").get("/staff/orders/9103/"))
    assert "金流商已拒絕 NT$300，另外的 NT$500 已退出" in page
    assert "尚未退出" not in page


@pytest.mark.parametrize(("part", "whole"), [("unknown", "unknown"), ("pending", "pending")])
def test_a_refused_part_is_listed_with_its_buttons_while_the_other_is_under_way(part: str, whole: str) -> None:
    refund = refused(paid_twice("9109"), (1, 1, "changed_mind"), (2, 1, "changed_mind"), refused_parts="store_credit")
    refund.allocations.filter(state=AllocationState.SUCCEEDED).update(state=part)
    Refund.objects.filter(pk=refund.pk).update(state=whole)
    page = text_of(signed_in("supervisor", language="en").get("/staff/refunds/"))
    assert "The provider has refused NT$300. NT$500 are on their way or being checked" in page
    for button in ("retry", "paid-by-hand"):
        assert f"/staff/refunds/{refund.pk}/{button}/" in page


def test_what_was_paid_after_a_refusal_is_settled_with_a_note_and_not_sent_again() -> None:
    refund = refused(cast.order_5531(), (2, 1, "late_delivery"))
    late = Trouble.PAID_AFTER_REFUSAL
    attempted(refund, outcome=AttemptOutcome.REFUSED, trouble=late, provider_refund_id="sim_late")
    staff = signed_in("staff")
    page = text_of(staff.get("/staff/refunds/"))
    assert "請先與金流商釐清" in page
    assert f"/staff/refunds/{refund.pk}/retry/" not in page
    button = f"/staff/refunds/{refund.pk}/settled/"
    assert f'data-dialog href="{button}?next=/staff/refunds/"' in page
    asked = text_of(staff.get(f"{button}?next=/staff/refunds/"))
    assert f'action="{button}"' in asked
    assert 'name="next" value="/staff/refunds/"' in asked
    answer = staff.post(button, {"note": " "})
    assert answer.status_code == 400
    assert 'aria-invalid="true"' in text_of(answer)
    assert refund.pk in text_of(staff.get("/staff/refunds/"))
    answer = staff.post(button, {"note": "金流商確認只退了一次", "next": "/staff/refunds/"}, follow=True)
    refund.refresh_from_db()
    assert refund.state == RefundState.SUCCEEDED
    assert f"{refund.pk} 已記為退款完成" in text_of(answer)
    assert "所有退款都在處理中或已完成" in text_of(answer)
    assert "<textarea" not in text_of(staff.get(button)), "what is over has no form"


def test_what_a_person_has_paid_by_hand_is_booked_with_its_number_by_those_who_may() -> None:
    refund = refused(cast.order_5531(), (2, 1, "late_delivery"))
    by_hand = f"/staff/refunds/{refund.pk}/paid-by-hand/"
    staff, supervisor = signed_in("staff"), signed_in("supervisor")
    assert by_hand not in text_of(staff.get("/staff/refunds/"))
    assert staff.post(by_hand).status_code == 403
    assert f'href="{by_hand}?next=/staff/refunds/"' in text_of(supervisor.get("/staff/refunds/"))
    answer = supervisor.post(by_hand, {"external_ref": "", "note": "現金退還"})
    assert answer.status_code == 400
    assert ">現金退還</textarea>" in text_of(answer)
    supervisor.post(by_hand, {"external_ref": "收據 17", "note": "現金退還"})
    refund.refresh_from_db()
    assert (refund.state, refund.external_ref) == (RefundState.SUCCEEDED, "收據 17")


def test_what_failed_after_it_was_paid_is_admitted_with_what_the_provider_said_and_can_be_sent_again_then() -> None:
    refund = failed_after_it_was_paid(cast.order_5531())
    staff, button = signed_in("staff"), f"/staff/refunds/{refund.pk}/failed/"
    page = text_of(staff.get("/staff/refunds/"))
    for way in ("settled", "failed"):
        assert f'data-dialog href="/staff/refunds/{refund.pk}/{way}/?next=/staff/refunds/"' in page
    assert f'action="{button}"' in text_of(staff.get(button))
    assert signed_in("auditor").get(button).status_code == 403
    answer = staff.post(button, {"note": " "})
    assert (answer.status_code, 'aria-invalid="true"' in text_of(answer)) == (400, True)
    said = text_of(staff.post(button, {"note": "收單行說退款失敗", "next": "/staff/refunds/"}, follow=True))
    refund.refresh_from_db()
    assert refund.state == RefundState.FAILED
    assert f"{refund.pk} 確定退款失敗" in said
    assert f"/staff/refunds/{refund.pk}/retry/" in said
    assert "<textarea" not in text_of(staff.get(button)), "what is over has no form"


def failed_after_it_was_paid(order: Order) -> Refund:
    """A refund that the provider had paid, and then reported as failed."""
    refund = pending_refund(order, (2, 1, "late_delivery"))
    failed = Trouble.FAILED_AFTER_PAYMENT
    attempted(refund, outcome=AttemptOutcome.SUCCEEDED, trouble=failed, provider_refund_id="sim_back")
    refund.allocations.update(state=AllocationState.UNKNOWN)
    Refund.objects.filter(pk=refund.pk).update(state=RefundState.UNKNOWN)
    return refund


def test_they_are_looked_up_among_very_many_refunds() -> None:
    first = attempted(pending_refund(cast.order_5531(), (2, 1, "late_delivery")), outcome=AttemptOutcome.REFUSED)
    part, others = first.allocation, range(2, 2000)
    GatewayAttempt.objects.bulk_create(
        GatewayAttempt(
            allocation=part,
            payment=part.payment,
            number=number,
            provider=first.provider,
            idempotency_key=f"{part.pk}-{number}",
            started_at=first.started_at,
            outcome=AttemptOutcome.REFUSED,
        )
        for number in others
    )
    with connection.cursor() as cursor:
        # What the planner goes by; without it, it guesses from how large a file happens to be.
        cursor.execute("ANALYZE refunds_gatewayattempt")
        # It holds nearly every attempt of a real shop, and none of these.
        cursor.execute("DROP INDEX one_attempt_not_refused")
        cursor.execute("SET LOCAL enable_seqscan = off")
    plan = needs_a_look().explain()
    for index in ("allocation_refused", "attempt_in_doubt", "attempt_unsettled_trouble", "refund_of_unknown_goods"):
        assert index in plan
