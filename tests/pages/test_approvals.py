"""A second person decides, with the reasons before their eyes; whoever asked leaves it to somebody else."""

import re

import pytest
from django.utils import timezone

from orders.links import issue_link
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import ago, line_body, shipment_body
from refunds import approvals, compensation, overrides
from refunds.acceptance import accept
from refunds.models import Approval, Refund
from refunds.redeem import redeem
from refunds.states import ApprovalState
from refunds.tests.ask import ask, choices
from refunds.tests.going_back import received_return, returned
from refunds.tests.old_rules import published_long_ago
from tests.pages.coming_back import state_of
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db


def large_refund() -> Refund:
    """A refund above the policy's amount: it waits for a second person."""
    order = cast.place("9001", lines=[("家庭劇院", 25000, 1)])
    redeemed = redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper())
    assert redeemed.refund
    return redeemed.refund


def test_a_large_refund_waits_with_its_reasons_and_is_approved() -> None:
    refund = large_refund()
    supervisor = signed_in("supervisor")
    page = text_of(supervisor.get("/staff/approvals/"))
    assert refund.pk in page
    assert "NT$25,000" in page
    assert "家庭劇院" in page
    answer = supervisor.post(f"/staff/approvals/{refund.approval.pk}/approve/", {"reason": "已確認"}, follow=True)
    assert "已核准" in text_of(answer)
    assert state_of(refund) == "pending"
    assert "目前沒有待核准的退款" in text_of(supervisor.get("/staff/approvals/"))


def test_a_decision_leads_back_to_the_page_it_was_asked_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backoffice.screens.approvals.PER_PAGE", 1)
    order = cast.place("9002", lines=[("襪子", 500, 1)])
    for ref in ("a", "b"):
        compensation.propose(order=order, amount=10, reason="配送延遲", actor=cast.staff(), request_ref=ref)
    supervisor = signed_in("supervisor")
    second = f"/staff/approvals/?{supervisor.get('/staff/approvals/').context['sheet'].later}"
    (form,) = re.findall(r'href="(/staff/approvals/[^"]+/approve/[^"]+)"', text_of(supervisor.get(second)))
    page = text_of(supervisor.get(form))
    assert f'name="next" value="{second}"' in page
    answer = supervisor.post(form, {"next": second})
    assert answer["Location"] == second
    assert supervisor.get(second)["Location"] == "/staff/approvals/?"


def test_what_waits_until_somebody_decides_shows_no_date() -> None:
    """Its goods have come back: silence is no answer."""
    order = cast.place("9003", lines=[("家庭劇院", 25000, 1)], shipments=[shipment_body({1: 1})])
    returned(order, (1, 1, "changed_mind"))
    approval = Approval.objects.get()
    page = text_of(signed_in("supervisor", language="en").get("/staff/approvals/"))
    assert "until somebody decides: the goods are here" in page
    (shown,) = (
        signed_in("supervisor").get("/api/v1/approvals/", headers={"accept": "application/json"}).json()["results"]
    )
    assert (shown["approval_id"], shown["expires_at"]) == (approval.pk, None)


def test_of_a_claim_that_does_not_hold_it_says_what_was_claimed_and_what_was_found() -> None:
    published_long_ago(excluded_categories=["hygiene"])
    line = line_body(1, "牙刷", 700, category="hygiene")
    order = cast.place("9004", lines=[line], shipments=[shipment_body({1: 1})])
    back = received_return(order, (1, 1, "defective"))
    accept(return_id=back.pk, actor=cast.staff("warehouse"), found={"li_1": "changed_mind"})
    page = text_of(signed_in("supervisor").get("/staff/approvals/"))
    assert "「牙刷」以「商品瑕疵」退回，驗收結果：商品無異常。" in page
    assert "原先答應" not in page[page.index("牙刷") :]


def test_a_part_that_brings_the_order_above_the_limit_says_so() -> None:
    order = cast.place("9003", lines=[("家庭劇院", 15000, 2)])
    for _ in range(2):
        redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper())
    said = 'class="notice tone-wait"'
    assert said in text_of(signed_in("supervisor").get("/staff/approvals/"))
    approvals.reject_refund(
        refund_id=Approval.objects.get().refund_id or "", actor=cast.staff("supervisor"), reason="不符"
    )
    large_refund()
    assert said not in text_of(signed_in("supervisor").get("/staff/approvals/"))


def test_rejecting_needs_a_reason_which_is_shown_with_who_gave_it() -> None:
    refund = large_refund()
    supervisor = signed_in("supervisor")
    path = f"/staff/approvals/{refund.approval.pk}/reject/"
    answer = supervisor.post(path, {"reason": ""})
    assert answer.status_code == 400
    assert 'class="notice tone-bad"' in text_of(answer)
    assert state_of(refund) == "pending_approval"
    supervisor.post(path, {"reason": "序號不符"})
    assert state_of(refund) == "rejected"
    for page in ("/staff/approvals/?all=1", f"/staff/orders/{refund.order.number}/"):
        shown = text_of(signed_in("supervisor", language="en").get(page))
        assert "decided by supervisor" in shown
        assert "序號不符" in shown


@pytest.mark.parametrize("note", ["", "已電話確認"])
def test_approving_takes_a_note_and_needs_none(note: str) -> None:
    refund = large_refund()
    supervisor = signed_in("supervisor", language="en")
    supervisor.post(f"/staff/approvals/{refund.approval.pk}/approve/", {"reason": note})
    approval = Approval.objects.get()
    assert (approval.state, approval.decision_reason) == ("approved", note)
    shown = text_of(supervisor.get("/staff/approvals/?all=1"))
    assert "decided by supervisor" in shown
    assert f'<blockquote class="reason">{note}</blockquote>' in shown or not note


@pytest.mark.parametrize(
    ("code", "words"),
    [("undecided", "nobody decided in time"), ("order_changed", "the order had changed meanwhile")],
)
def test_what_nobody_decided_says_why_it_ended(code: str, words: str) -> None:
    refund = large_refund()
    Approval.objects.filter(pk=refund.approval.pk).update(
        state=ApprovalState.EXPIRED, decided_at=timezone.now(), decision_reason=code
    )
    shown = text_of(signed_in("supervisor", language="en").get("/staff/approvals/?all=1"))
    assert words in shown
    assert code not in shown


def test_whoever_confirmed_it_is_told_that_somebody_else_decides() -> None:
    order = cast.place("9002", lines=[("家庭劇院", 25000, 1)])
    quote = ask(order, (1, 1, "changed_mind"), actor=cast.staff("supervisor"))
    redeem(quote_id=quote.pk, actor=cast.staff("supervisor"), note="顧客來電")
    supervisor = signed_in("supervisor")
    assert "須由其他人決定" in text_of(supervisor.get("/staff/approvals/"))
    refund = Refund.objects.get()
    supervisor.post(f"/staff/approvals/{refund.approval.pk}/approve/", {"reason": "自己核准"})
    assert state_of(refund) == "pending_approval"


def test_whoever_made_the_customers_link_is_told_that_somebody_else_decides() -> None:
    refund = large_refund()
    issue_link(order=refund.order, actor=cast.staff("supervisor"))
    page = text_of(signed_in("supervisor").get("/staff/approvals/"))
    assert "須由其他人決定" in page
    assert f"/staff/approvals/{refund.approval.pk}/approve/" not in page


def too_late_order(number: str) -> Order:
    """Socks that came 12 days ago: the time for returns is over."""
    order = cast.place(number, lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    cast.delivered_days_ago(order, 12)
    return order


def asked_exception(order: Order, *, by: str = "staff") -> Approval:
    lines = choices((1, 1, "changed_mind"))
    return overrides.ask(order=order, choices=lines, reason="住院中，無法如期退貨", actor=cast.staff(by))


def proposed(order: Order, *, by: str = "staff") -> Approval:
    return compensation.propose(
        order=order, amount=100, reason="配送延遲致歉", actor=cast.staff(by), request_ref=f"test:{order.number}"
    )


def test_a_compensation_shows_who_asked_and_why_and_is_paid_when_it_is_approved() -> None:
    asked = proposed(cast.order_5531())
    supervisor = signed_in("supervisor")
    page = text_of(supervisor.get("/staff/approvals/"))
    assert "配送延遲致歉" in page
    assert "NT$100" in page
    assert asked.pk in page
    supervisor.post(f"/staff/approvals/{asked.pk}/approve/", {"reason": "合理"})
    refund = Refund.objects.get()
    assert (state_of(asked), refund.kind, refund.amount) == ("approved", "compensation", 100)
    theirs = text_of(signed_in("ming").get("/orders/5531/"))
    assert f"補償 <code>{refund.pk}</code>" in theirs
    assert '<span class="badge tone-info">補償</span>' in text_of(signed_in("staff").get("/staff/orders/5531/"))


def test_an_exception_shows_the_rule_and_the_steps_and_opens_the_return() -> None:
    order = too_late_order("9201")
    asked = asked_exception(order)
    supervisor = signed_in("supervisor", language="en")
    page = text_of(supervisor.get("/staff/approvals/"))
    assert "the time for returns is over" in page
    assert "住院中，無法如期退貨" in page
    supervisor.post(f"/staff/approvals/{asked.pk}/approve/", {"reason": "情有可原"})
    assert state_of(asked) == "approved"
    assert order.returns.get().quote == asked.quote


def test_goods_that_are_not_taken_back_and_have_come_back_show_the_rule_and_the_promise() -> None:
    published_long_ago(excluded_categories=["audio"])
    request = received_return(cast.order_5531(shipments=[shipment_body({1: 1, 2: 1})]), (1, 1, "defective"))
    accept(return_id=request.pk, actor=cast.staff("warehouse"), found={"li_1": "changed_mind"})
    page = text_of(signed_in("supervisor").get("/staff/approvals/"))
    for said in ("此類商品不可退貨", request.pk, "NT$1,200", "NT$1,050"):
        assert said in page


def test_ones_own_question_is_shown_without_buttons_and_a_forged_press_is_refused() -> None:
    asked = proposed(cast.order_5531(), by="supervisor")
    supervisor = signed_in("supervisor")
    page = text_of(supervisor.get("/staff/approvals/"))
    assert asked.pk in page
    assert f"/staff/approvals/{asked.pk}/approve/" not in page
    supervisor.post(f"/staff/approvals/{asked.pk}/approve/", {"reason": "自己核准"})
    assert state_of(asked) == ApprovalState.WAITING


def test_a_reason_that_was_refused_stands_in_the_form_again() -> None:
    asked = proposed(cast.order_5531())
    supervisor = signed_in("supervisor")
    too_long = "長" * 1001
    page = text_of(supervisor.post(f"/staff/approvals/{asked.pk}/reject/", {"reason": too_long}))
    assert f">{too_long}</textarea>" in page


def test_a_decision_is_asked_for_with_what_it_is_about_and_leads_back_to_where_it_was_pressed() -> None:
    refund = large_refund()
    supervisor = signed_in("supervisor", language="en")
    path = f"/staff/approvals/{refund.approval.pk}/approve/?next=/staff/orders/9001/"
    page = text_of(supervisor.get(path))
    for shown in ("Approve NT$25,000", "家庭劇院", "asked by", "Comes to", 'name="next" value="/staff/orders/9001/"'):
        assert shown in page
    answer = supervisor.post(path, {"reason": "", "next": "/staff/orders/9001/"})
    assert answer["Location"] == "/staff/orders/9001/"
    elsewhere = text_of(supervisor.get(path.replace("/staff/orders/9001/", "//elsewhere.example/")))
    assert 'href="//elsewhere.example/' not in elsewhere


def test_a_dialog_is_told_where_to_go_on_and_what_was_done_is_said_there() -> None:
    path = f"/staff/approvals/{large_refund().approval.pk}/approve/"
    supervisor = signed_in("supervisor", language="en")
    answer = supervisor.post(path, {"reason": ""}, headers={"X-Dialog": "1"})
    assert (answer.status_code, answer["X-Dialog-Next"]) == (204, "/staff/approvals/")
    assert "Approved: NT$25,000." in text_of(supervisor.get("/staff/approvals/"))


@pytest.mark.parametrize("way", ["approve", "reject"])
def test_what_is_decided_or_ones_own_has_no_form(way: str) -> None:
    own = proposed(cast.order_5531(), by="supervisor")
    decided = large_refund().approval
    approvals.reject(approval_id=decided.pk, actor=cast.staff("admin"), reason="不符")
    supervisor = signed_in("supervisor")
    for approval in (own, decided):
        page = text_of(supervisor.get(f"/staff/approvals/{approval.pk}/{way}/"))
        assert approval.pk in page
        assert 'name="reason"' not in page


@pytest.mark.parametrize(("days", "tone"), [(0, "info"), (1, "wait"), (3, "bad")])
def test_how_long_it_has_waited_stands_out_the_more_the_longer(days: int, tone: str) -> None:
    asked = proposed(cast.order_5531())
    Approval.objects.filter(pk=asked.pk).update(created_at=ago(days=days, hours=1))
    page = text_of(signed_in("supervisor").get("/staff/approvals/"))
    assert f'<span class="badge tone-{tone}"><svg' in page


def test_what_was_decided_stays_to_be_read() -> None:
    asked = proposed(cast.order_5531())
    supervisor = signed_in("supervisor")
    supervisor.post(f"/staff/approvals/{asked.pk}/reject/", {"reason": "金額過高"})
    assert asked.pk not in text_of(supervisor.get("/staff/approvals/"))
    page = text_of(supervisor.get("/staff/approvals/?all=1"))
    assert asked.pk in page
    assert "金額過高" in page


def test_support_sees_on_the_order_what_waits_but_cannot_decide_it() -> None:
    asked = proposed(cast.order_5531())
    page = text_of(signed_in("staff").get("/staff/orders/5531/"))
    assert asked.pk in page
    assert "approve/" not in page


def test_how_many_wait_stands_beside_the_word_on_every_page() -> None:
    proposed(cast.order_5531())
    page = text_of(signed_in("supervisor").get("/staff/orders/"))
    assert '核准</span><b class="count">1</b>' in page


@pytest.mark.parametrize("number", ["ap_000000000000", "nothing", "ap_%00"])
def test_an_approval_that_does_not_exist_is_a_404(number: str) -> None:
    assert signed_in("supervisor").post(f"/staff/approvals/{number}/approve/").status_code == 404
