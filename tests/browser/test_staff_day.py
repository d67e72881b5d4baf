"""Staff at their screens: the same 230 from the same code, a person in the conversation, a model that is away."""

from collections.abc import Callable

from playwright.sync_api import expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_accessible import grave
from tests.browser.visit import WAIT, Visit
from tests.flows.chat import paid_out, refund_of
from tests.stack import wait_until

Open = Callable[..., Visit]


def test_staff_tick_the_case_see_the_same_230_and_confirm_with_a_reason(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "staff-230")
    staff = visit("staff")
    staff.page.goto(f"/staff/orders/{number}/")
    staff.page.get_by_label("耳機殼 CASE").check()
    quote = staff.sees(staff.page.locator("[data-quote]"))
    expect(quote).to_contain_text("NT$230")
    expect(quote).to_contain_text("滿 1,500 折 150")
    staff.shoot("11-staff-quote")
    staff.page.locator("#quote-note").fill("顧客來電要求取消")
    staff.page.get_by_role("button", name="確認退款 NT$230").click()
    wait_until(lambda: (refund_of(stack, number) or {}).get("state") == "succeeded")
    assert paid_out(stack, number) == [230]
    staff.page.goto(f"/staff/orders/{number}/")
    expect(staff.page.locator("main")).to_contain_text("已取消")
    expect(staff.page.locator("main")).to_contain_text("顧客來電要求取消")
    staff.shoot("12-staff-refunded")
    assert staff.problems == []


def test_a_person_takes_over_answers_and_gives_back(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "staff-talk")
    ming, staff = visit("ming", device="phone"), visit("staff")
    ming.open_order(number)
    ming.write("我想找真人客服")
    ming.sees(ming.page.locator("[data-slot=person]:visible"))
    staff.page.goto("/staff/?state=needs_person")
    staff.shoot("13-queue")
    staff.page.locator(".queue-row").filter(has_text=number).click()
    staff.sees(staff.page.get_by_text("我想找真人客服"))
    staff.page.get_by_role("button", name="接手").click()
    staff.page.locator("#reply").fill("您好，我是真人客服，請說。")
    staff.page.get_by_role("button", name="送出").click()
    ming.sees(ming.said_by("staff").filter(has_text="我是真人客服"))
    before = ming.said_by("agent").count()
    ming.write("太好了，耳機壞了")
    staff.sees(staff.page.get_by_text("太好了，耳機壞了"))
    staff.shoot("14-conversation")
    expect(ming.said_by("agent")).to_have_count(before)
    staff.page.get_by_role("button", name="交還小幫手").click()
    expect(ming.said_by("agent").nth(before)).to_be_visible(timeout=WAIT)
    ming.shoot("15-person")
    assert ming.problems == []
    assert staff.problems == []


def test_a_model_that_is_away_is_told_a_person_offered_and_the_turn_tried_again(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "model-away")
    ming = visit("ming")
    ming.open_order(number)
    stack.hold("model")
    stack.kill("model")
    try:
        ming.write("耳機左耳沒聲音")
        failed = ming.sees(ming.page.locator("[data-slot=failed]:visible"))
        ming.shoot("16-model-away")
        assert grave(ming.page) == set()
        expect(failed.get_by_role("button", name="找真人")).to_be_visible()
    finally:
        stack.release("model")
    stack.wait_ready()
    before = ming.said_by("agent").count()
    failed.get_by_role("button", name="再試一次").click()
    expect(ming.said_by("agent").nth(before)).to_be_visible(timeout=WAIT)
    assert ming.problems == []
