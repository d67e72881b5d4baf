"""Staff read an order as one story: goods, money, parcels and talk on one time line, and what a refund would leave."""

from datetime import timedelta

import pytest
from django.test import Client

from backoffice.screens.order_timeline import LONGEST
from orders.models import AuditEvent, Order
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import compensation
from refunds.redeem import redeem
from refunds.returns import receive
from refunds.tests.ask import ask
from tests.pages.visiting import quoted, refund_card, said, signed_in, text_of

pytestmark = pytest.mark.django_db


def story(browser: Client, number: str) -> list[tuple[str, str, str]]:
    """Group, words and amount of each entry, the newest first."""
    entries = browser.get(f"/staff/orders/{number}/").context["story"]["entries"]
    return [(entry.group, entry.what, entry.amount) for entry in entries]


def test_goods_money_parcels_and_talk_stand_in_one_line_the_newest_first() -> None:
    order = cast.order_5531()
    said(order, "耳機沒聲音")
    redeem(quote_id=quoted(order).pk, actor=cast.shopper())
    lines = story(signed_in("staff", language="en"), "5531")
    assert lines[-2:] == [("money", "Paid", "NT$1,430"), ("goods", "Order placed", "")]
    told = [(group, what) for group, what, _ in lines]
    for expected in [
        ("parcels", "Goods packed"),
        ("parcels", "Shipment delivered"),
        ("talk", "Conversation begun"),
        ("money", "Quote made"),
        ("money", "Quote confirmed"),
        ("money", "Refund ready to be sent"),
    ]:
        assert expected in told
    assert told.index(("money", "Refund ready to be sent")) < told.index(("money", "Quote made"))
    assert ("money", "Quote confirmed", "NT$230") in lines


def test_an_entry_says_who_did_it_and_why_and_leads_to_its_record() -> None:
    order = cast.place("7001", shipments=[shipment_body({1: 1, 2: 1})])
    back = redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper()).return_request
    assert back
    receive(return_id=back.pk, actor=cast.staff("warehouse"), note="外盒破損")
    entries = signed_in("staff").get("/staff/orders/7001/").context["story"]["entries"]
    received = next(entry for entry in entries if entry.code == back.pk)
    assert received.more == "外盒破損"
    assert "warehouse" in received.who
    assert received.link == f"/staff/returns/{back.pk}/"
    packed = next(entry for entry in entries if entry.group == "parcels")
    assert packed.link == f"#{order.shipments.get().pk}"


def test_a_card_that_was_shown_is_named_once() -> None:
    refund_card(cast.order_5531())
    entries = signed_in("staff").get("/staff/orders/5531/").context["story"]["entries"]
    shown = next(entry for entry in entries if entry.code.startswith("card_"))
    assert (shown.what, shown.who) == ("顯示確認卡", "系統")


def test_what_staff_only_looked_at_while_choosing_is_no_part_of_the_story() -> None:
    cast.order_5531()
    staff = signed_in("staff", language="en")
    form = {"pick": "li_2.cancel", "quantity.li_2.cancel": "1", "reason.li_2.cancel": "changed_mind"}
    staff.post("/staff/orders/5531/quote/", form, headers={"HX-Request": "true"})
    assert "Quote made" not in [what for _, what, _ in story(staff, "5531")]


def happened(order: Order, action: str, times: int) -> None:
    row = {"action": action, "actor_kind": "system", "subject_type": "turn", "subject_id": "1"}
    AuditEvent.objects.bulk_create(AuditEvent(order=order, **row) for _ in range(times))


def test_steps_of_the_machine_push_nothing_out_of_the_story_and_a_cut_one_says_so() -> None:
    order = cast.order_5531()
    redeem(quote_id=quoted(order).pk, actor=cast.shopper())
    staff = signed_in("staff", language="en")
    happened(order, "turn.running", LONGEST + 5)
    told = [what for _, what, _ in story(staff, "5531")]
    assert "Quote confirmed" in told
    assert not any("newest" in what for what in told)
    happened(order, "conversation.noted", LONGEST)
    told = [what for _, what, _ in story(staff, "5531")]
    assert "Quote confirmed" not in told
    assert told.index("Only the newest 200 events are shown here.") == LONGEST
    assert told[-1] == "Order placed"


def test_only_parts_that_have_something_can_be_chosen_and_old_entries_are_folded() -> None:
    order = cast.place("7001")
    for index in range(12):
        reason, ref = "配送延遲", f"test:{index}"
        compensation.propose(order=order, amount=1, reason=reason, actor=cast.staff(), request_ref=ref)
    context = signed_in("staff").get("/staff/orders/7001/").context["story"]
    assert [key for key, _ in context["groups"]] == ["goods", "money"]
    assert [entry.is_older for entry in context["entries"]] == [False] * 10 + [True] * (len(context["entries"]) - 10)


def test_the_warehouse_reads_no_story_of_money() -> None:
    cast.order_5531()
    answer = signed_in("warehouse").get("/staff/orders/5531/")
    assert "story" not in answer.context
    assert "NT$" not in text_of(answer)


def test_earlier_refunds_of_the_customer_stand_beside_with_their_reasons() -> None:
    earlier = cast.place("7001", lines=[("毛巾", 450, 1)])
    redeem(quote_id=ask(earlier, (1, 1, "late_delivery")).pk, actor=cast.shopper())
    cast.order_5531()
    page = text_of(signed_in("staff").get("/staff/orders/5531/"))
    beside = page[page.index('id="earlier-title"') :]
    assert "7001" in beside
    assert "NT$450" in beside
    assert "毛巾 × 1" in beside


def test_the_quote_shows_what_would_stay_and_what_becomes_of_the_coupon() -> None:
    cast.order_5531()
    staff = signed_in("staff", language="en")
    form = {"pick": "li_2.cancel", "quantity.li_2.cancel": "1", "reason.li_2.cancel": "changed_mind"}
    answer = staff.post("/staff/orders/5531/quote/", form, headers={"HX-Request": "true"})
    kept = answer.context["kept"]
    assert [(line.name, line.quantity, line.amount) for line in kept.lines] == [("藍牙耳機", 1, 1200)]
    assert [(discount.before, discount.after, discount.fate) for discount in kept.discounts] == [(150, 0, "lost")]
    assert (kept.total, kept.shipping) == (1200, 0)
    assert "no longer earned" in text_of(answer)


def test_what_stays_counts_what_has_gone_before_and_says_when_nothing_is_left() -> None:
    order = cast.place("7001", lines=[("襪子", 100, 3)])
    redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper())
    form = {"pick": "li_1.cancel", "quantity.li_1.cancel": "1", "reason.li_1.cancel": "changed_mind"}
    staff = signed_in("staff", language="en")
    kept = staff.post("/staff/orders/7001/quote/", form, headers={"HX-Request": "true"}).context["kept"]
    assert [(line.quantity, line.amount) for line in kept.lines] == [(1, 100)]
    all_of_it = staff.post(
        "/staff/orders/7001/quote/", form | {"quantity.li_1.cancel": "2"}, headers={"HX-Request": "true"}
    )
    assert all_of_it.context["kept"].lines == []
    assert "Nothing: the whole order goes back." in text_of(all_of_it)


def test_the_other_ways_open_over_the_page() -> None:
    order = cast.place("7001", shipments=[shipment_body({1: 1})])
    Order.objects.filter(pk=order.pk).update(placed_at=order.placed_at - timedelta(hours=1))
    page = text_of(signed_in("supervisor").get("/staff/orders/7001/"))
    for way in ("exchange", "compensation", "refund-elsewhere", "customer-link"):
        assert f'data-dialog href="/staff/orders/7001/{way}/"' in page


def test_a_customers_link_is_asked_for_and_shown_once() -> None:
    cast.place("7001")
    staff = signed_in("staff")
    assert "/l/" not in text_of(staff.get("/staff/orders/7001/customer-link/"))
    assert "/l/" in text_of(staff.post("/staff/orders/7001/customer-link/"))
    assert "/l/" not in text_of(staff.get("/staff/orders/7001/"))
