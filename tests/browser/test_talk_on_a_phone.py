"""A member of staff reads a talk on a phone: the newest words first, and the page moves for nothing but news."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.visit import WAIT, Visit
from tests.flows.chat import say
from tests.stack import Visitor, rows, wait_until

Open = Callable[..., Visit]
OF_ORDER = "select c.id from agent_conversation c join orders_order o on o.id = c.order_id where o.number = %s"


@dataclass
class Talk:
    """A conversation longer than a phone's window, which a colleague has taken over: nobody answers by themselves."""

    stack: Stack
    customer: Visitor
    number: str
    address: str

    def goes_on(self, *said: str) -> None:
        for words in said:
            say(self.customer, self.number, words)


def long_talk(stack: Stack, customer: Visitor, label: str) -> Talk:
    number = another_5531(stack, label)
    say(customer, number, "我想找真人客服")
    wait_until(lambda: rows(stack, f"{OF_ORDER} and c.needs_person", number))
    address = f"/staff/conversations/{rows(stack, OF_ORDER, number)[0]['id']}/"
    with Visitor(stack, "staff") as colleague:
        colleague.post(f"{address}take-over/", {})
    talk = Talk(stack, customer, number, address)
    talk.goes_on(*(f"第 {count} 件事：耳機左邊沒有聲音，重新配對也一樣。" for count in range(1, 13)))
    return talk


def place(visit: Visit) -> float:
    return float(visit.page.evaluate("scrollY"))


def asked_again(visit: Visit, times: int = 2) -> None:
    """The page has asked for news, and there was none."""
    for _ in range(times):
        with visit.page.expect_response(lambda answer: "/log/" in answer.url and answer.status == 204):
            pass


def test_a_talk_opens_at_its_newest_words_and_stays_there_while_nothing_is_new(visit: Open, stack: Stack) -> None:
    with Visitor(stack, "ming") as ming:
        talk = long_talk(stack, ming, "phone-talk-opens")
        staff = visit("staff", device="phone")
        staff.page.goto(talk.address)
        lines = staff.page.locator(".talk-line")
        expect(lines.last).to_be_in_viewport(ratio=1)
        expect(staff.page.locator("#reply")).to_be_in_viewport(ratio=1)
        expect(staff.page.locator(".talk-head")).not_to_be_in_viewport()
        there = place(staff)
        assert there > 0
        asked_again(staff)
        assert place(staff) == there
        talk.goes_on("還有一件事：盒子也壓壞了。", "照片在這裡。")
        expect(lines.last).to_contain_text("照片在這裡。", timeout=WAIT)
        expect(lines.last).to_be_in_viewport(ratio=1)
        assert place(staff) > there
    assert staff.problems == []


def test_whoever_reads_further_up_or_came_for_another_place_is_left_there(visit: Open, stack: Stack) -> None:
    with Visitor(stack, "ming") as ming:
        talk = long_talk(stack, ming, "phone-talk-top")
        staff = visit("staff", device="phone")
        staff.page.goto(talk.address)
        staff.page.evaluate("scrollTo(0, 0)")
        talk.goes_on("請問還在嗎？")
        expect(staff.page.locator("#log")).to_contain_text("請問還在嗎？", timeout=WAIT)
        asked_again(staff, times=1)
        assert place(staff) == 0
        expect(staff.page.locator(".talk-head")).to_be_in_viewport()
        staff.page.goto("/staff/")
        staff.page.goto(f"{talk.address}#talk-order")
        asked_again(staff, times=1)
        expect(staff.page.locator("#talk-order h2")).to_be_in_viewport()
    assert staff.problems == []


def test_whoever_comes_back_finds_the_place_that_they_left(visit: Open, stack: Stack) -> None:
    with Visitor(stack, "ming") as ming:
        talk = long_talk(stack, ming, "phone-talk-back")
        staff = visit("staff", device="phone")
        staff.page.goto(talk.address)
        staff.page.evaluate("scrollTo(0, 200)")
        staff.page.reload()
        asked_again(staff, times=1)
        assert place(staff) == 200
    assert staff.problems == []


def test_beside_the_list_and_the_order_the_talk_scrolls_and_the_page_does_not(visit: Open, stack: Stack) -> None:
    with Visitor(stack, "ming") as ming:
        talk = long_talk(stack, ming, "desk-talk")
        staff = visit("staff")
        staff.page.goto(talk.address)
        expect(staff.page.locator(".talk-line").last).to_be_in_viewport(ratio=1)
        asked_again(staff, times=1)
        assert place(staff) == 0
    assert staff.problems == []
