"""Each label is that of exactly one field: on pages with several forms, and beneath a dialog that lies over one."""

from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from agent import people
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import alerts, policies
from refunds.redeem import redeem
from refunds.states import AlertKind, RefundState
from refunds.tests.ask import ask
from refunds.tests.going_back import sent_again
from tests.pages.coming_back import received, return_of
from tests.pages.test_refunds_that_need_a_look import failed_after_it_was_paid, refused
from tests.pages.visiting import exchange_card, refund_card, said, signed_in, text_of

pytestmark = pytest.mark.django_db


class Parts(HTMLParser):
    """How often each id stands in a page, what its labels and descriptions name, and which dialogs it opens."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: Counter[str] = Counter()
        self.main: Counter[str] = Counter()
        self.named: set[str] = set()
        self.dialogs: set[str] = set()
        self.in_main = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        self.in_main = self.in_main or tag == "main"
        if "id" in has:
            self.ids[has["id"]] += 1
            self.main[has["id"]] += self.in_main
        if tag == "label" and "for" in has:
            self.named.add(has["for"])
        self.named |= {name for each in ("aria-labelledby", "aria-describedby") for name in has.get(each, "").split()}
        if tag == "a" and "data-dialog" in has:
            self.dialogs.add(has["href"])

    def handle_endtag(self, tag: str) -> None:
        self.in_main = self.in_main and tag != "main"


def conversation_of_a_colleague() -> str:
    refund_card(cast.order_5531())
    conversation = said(Order.objects.get(number="5531"), "我想找真人")
    people.take_over(conversation=conversation, actor=cast.staff())
    return f"/staff/conversations/{conversation.pk}/"


def order_that_moves() -> str:
    order = cast.order_5531()
    refused(order, (2, 1, "late_delivery"))
    exchange_card(order)
    return "/staff/orders/5531/"


def order_with_a_lost_parcel() -> str:
    cast.place("5540", shipments=[shipment_body({1: 1}, state="lost")])
    return "/staff/orders/5540/"


def return_that_has_arrived() -> str:
    order = cast.place("5541", lines=[("襪子", 500, 2), ("毛帽", 600, 1)], shipments=[shipment_body({1: 2, 2: 1})])
    return f"/staff/returns/{received(order, 'defective').pk}/"


def return_on_its_way() -> str:
    order = cast.place("5541", lines=[("襪子", 500, 2)], shipments=[shipment_body({1: 2})])
    return f"/staff/returns/{return_of(order).pk}/"


def what_needs_a_look() -> str:
    refused(cast.place("5542"), (1, 1, "changed_mind"))
    failed_after_it_was_paid(cast.order_5531())
    alerts.raise_alert(kind=AlertKind.OVERDUE, subject="rf_late:statutory", order=None, facts={"days": 16})
    return "/staff/refunds/"


def what_waits_for_approval() -> str:
    for number in ("5619", "5620"):
        order = cast.place(number, lines=[("家庭劇院", 25000, 1)])
        refund = redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper()).refund
        assert refund
        assert refund.state == RefundState.PENDING_APPROVAL
    return "/staff/approvals/"


def goods_to_send() -> str:
    for number in ("5543", "5544"):
        sent_again(cast.place(number, shipments=[shipment_body({1: 1}, state="lost")]), (1, 1, "lost"))
    return "/staff/replacements/"


def rules_that_are_drafted() -> str:
    policies.draft(currency="TWD", actor=cast.staff("marketing"))
    return "/staff/policies/TWD/2/"


def customers_order_with_cards() -> str:
    order = cast.order_5531()
    refund_card(order)
    exchange_card(order)
    return "/orders/5531/"


@pytest.mark.parametrize(
    ("who", "prepare"),
    [
        ("admin", conversation_of_a_colleague),
        ("admin", order_that_moves),
        ("admin", order_with_a_lost_parcel),
        ("admin", return_that_has_arrived),
        ("admin", return_on_its_way),
        ("admin", what_needs_a_look),
        ("supervisor", what_waits_for_approval),
        ("warehouse", goods_to_send),
        ("supervisor", rules_that_are_drafted),
        ("supervisor", lambda: "/staff/answers/"),
        ("auditor", lambda: "/staff/audit/?q=5531"),
        ("supervisor", lambda: "/staff/orders/"),
        ("supervisor", lambda: "/staff/reports/"),
        ("ming", customers_order_with_cards),
    ],
)
def test_each_label_names_one_field_also_while_a_dialog_lies_over_the_page(
    who: str, prepare: Callable[[], str]
) -> None:
    address = prepare()
    browser = signed_in(who)
    answer = browser.get(address)
    assert answer.status_code == 200
    page = Parts(text_of(answer))
    assert page.named
    assert {name: page.ids[name] for name in page.named if page.ids[name] != 1} == {}
    for link in sorted(page.dialogs):
        form = Parts(text_of(browser.get(link)))
        assert form.main, link
        both = page.ids + form.main
        assert {name: both[name] for name in page.named | form.named if both[name] != 1} == {}, link
