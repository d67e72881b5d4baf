"""Goods come back: the desk of whoever opens the parcel, and the customer who keeps them after all."""

import pytest
from django.db import connection
from django.utils.dateformat import format as date_format
from django.utils.timezone import localtime

from orders.tests import cast
from orders.tests.factories import ago, line_body, shipment_body
from refunds import approvals, selectors
from refunds.acceptance import accept
from refunds.models import Refund, Return
from refunds.states import ReturnState
from refunds.tests.going_back import exchange, received_return, warehouse
from refunds.tests.old_rules import published_long_ago
from tests.pages.coming_back import both_delivered, received, return_of, state_of
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db


def test_a_return_is_received_accepted_and_the_refund_follows() -> None:
    order = cast.place("9003", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    back = return_of(order)
    warehouse = signed_in("warehouse")
    assert back.pk in text_of(warehouse.get("/staff/returns/"))
    warehouse.post(f"/staff/returns/{back.pk}/receive/")
    assert state_of(back) == "received"
    answer = warehouse.post(f"/staff/returns/{back.pk}/accept/", {"next": "/staff/orders/9003/"}, follow=True)
    assert answer.request["PATH_INFO"] == "/staff/orders/9003/"
    assert state_of(back) == "refunded"
    assert Refund.objects.get().amount == 500
    assert "目前沒有退貨" in text_of(warehouse.get("/staff/returns/"))


@pytest.mark.parametrize(
    ("state", "badge"),
    [("pending", 'tone-wait">退款已送出'), ("failed", 'tone-bad">退款未成功'), ("succeeded", 'tone-good">已退款')],
)
def test_a_return_is_shown_as_its_refund_stands_and_with_what_that_comes_to(state: str, badge: str) -> None:
    order = cast.place("9019", lines=[("襪子", 500, 2)], shipments=[shipment_body({1: 2})])
    back = received_return(order, (1, 2, "changed_mind"), found={"li_1": {"accepted": 1, "damaged": 1}})
    accept(return_id=back.pk, actor=warehouse())
    approvals.approve_refund(refund_id=Refund.objects.get().pk, actor=cast.staff("supervisor"), reason="一件損壞")
    Refund.objects.update(state=state)
    customers = text_of(signed_in("ming").get("/orders/9019/"))
    assert customers.count(badge) == 2  # the refund's row and the return's
    assert customers.count('<strong class="amount">NT$500<') == 2
    for page in (f"/staff/returns/{back.pk}/", "/staff/orders/9019/"):
        shown = text_of(signed_in("staff").get(page))
        assert badge in shown
        assert '<span class="amount">NT$500</span>' in shown


def test_the_warehouse_can_say_of_an_exchange_that_a_claim_does_not_hold() -> None:
    published_long_ago(excluded_categories=["audio"])
    order = cast.place("9020", lines=[line_body(1, "耳機", 1200, category="audio")], shipments=[shipment_body({1: 1})])
    back = exchange(order, (1, 1, "defective"))
    desk, page = signed_in("warehouse"), f"/staff/returns/{back.pk}/"
    desk.post(f"{page}receive/")
    assert '<select name="found.li_1">' in text_of(desk.get(page))
    refused = text_of(desk.post(f"{page}accept/", {"found.li_1": "changed_mind"}, follow=True))
    assert "只有瑕疵或寄錯時才能換貨" in refused
    assert '<option value="changed_mind" selected>' in refused
    assert state_of(back) == "received"


def test_the_number_on_the_parcel_or_its_end_leads_to_the_return() -> None:
    back = return_of(cast.place("9017", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})]))
    warehouse = signed_in("warehouse")
    for typed in (back.pk, back.pk[-6:].upper(), f" {back.pk} "):
        answer = warehouse.get("/staff/returns/", {"q": typed}, follow=True)
        assert answer.request["PATH_INFO"] == f"/staff/returns/{back.pk}/"
    assert warehouse.get("/staff/returns/", {"q": "nothing"}).status_code == 200
    for foreign in ("rt_000000000000", "rt_%00", "nothing"):
        assert warehouse.get(f"/staff/returns/{foreign}/").status_code == 404
        assert warehouse.post(f"/staff/returns/{foreign}/receive/").status_code == 404


def test_the_end_of_a_number_is_looked_up_in_its_index_and_may_hold_any_sign() -> None:
    return_of(cast.place("9017", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})]))
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "return_number_backwards" in selectors.ending_with("x7q").explain()
    for sign in ("%", "_", "\\"):
        assert not selectors.ending_with(sign).exists()


def test_the_desk_waits_for_a_number_and_after_an_acceptance_for_the_next() -> None:
    back = return_of(cast.place("9023", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})]))
    warehouse, page = signed_in("warehouse"), f"/staff/returns/{back.pk}/"
    assert " autofocus>" in text_of(warehouse.get("/staff/returns/"))
    assert " autofocus>" not in text_of(warehouse.get(page))
    warehouse.post(f"{page}receive/")
    shown = text_of(warehouse.post(f"{page}accept/", follow=True))
    assert 'action="/staff/returns/"' in shown
    assert " autofocus>" in shown


def test_goods_that_are_not_accepted_need_a_reason_and_count_as_delivered_again() -> None:
    order = cast.place("9004", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    back = return_of(order)
    warehouse = signed_in("warehouse")
    warehouse.post(f"/staff/returns/{back.pk}/reject/", {"note": ""})
    assert state_of(back) == "requested"
    warehouse.post(f"/staff/returns/{back.pk}/reject/", {"note": "已拆封使用"})
    assert state_of(back) == "rejected"
    assert "已送達" in text_of(signed_in("ming").get("/orders/9004/"))


def test_the_page_of_a_return_tells_what_happened_by_whom_and_why() -> None:
    back = return_of(cast.place("9018", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})]))
    warehouse = signed_in("warehouse", language="en")
    warehouse.post(f"/staff/returns/{back.pk}/receive/", {"count.li_1.damaged": "1", "note": "盒子破了"})
    warehouse.post(f"/staff/returns/{back.pk}/reject/", {"note": "已拆封使用"})
    page = " ".join(text_of(warehouse.get(f"/staff/returns/{back.pk}/")).split())
    steps = page[page.index("What happened so far") :]
    told = [steps.index(words) for words in ("return asked for", "盒子破了", "return rejected", "已拆封使用")]
    assert told == sorted(told)
    assert '<span class="meta">warehouse</span>' in steps
    assert '<span class="badge tone-bad">damaged by the customer × 1</span>' in page


def test_beside_the_state_of_a_return_stands_when_it_came_into_it() -> None:
    back = return_of(cast.place("9021", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})]))
    Return.objects.update(created_at=ago(days=3))
    warehouse = signed_in("warehouse")
    warehouse.post(f"/staff/returns/{back.pk}/receive/")
    shown = text_of(warehouse.get(f"/staff/returns/{back.pk}/"))
    assert f'已收到</span><span class="meta">{date_format(localtime(), "m/d")} ' in shown


def test_support_sees_returns_but_has_no_buttons_for_them() -> None:
    order = cast.place("9005", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    back = return_of(order)
    staff = signed_in("staff")
    assert f"/staff/returns/{back.pk}/" in text_of(staff.get("/staff/returns/"))
    assert "receive/" not in text_of(staff.get(f"/staff/returns/{back.pk}/"))
    assert staff.post(f"/staff/returns/{back.pk}/receive/").status_code == 403


def test_a_way_back_to_another_site_is_not_taken() -> None:
    order = cast.place("9006", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    back = return_of(order)
    answer = signed_in("warehouse").post(f"/staff/returns/{back.pk}/receive/", {"next": "//elsewhere.example/"})
    assert answer["Location"] == f"/staff/returns/{back.pk}/"


def test_the_warehouse_says_per_line_what_it_found_and_less_than_promised_waits_for_a_second_person() -> None:
    back = received(both_delivered("9007"), "defective")
    warehouse, supervisor = signed_in("warehouse"), signed_in("supervisor")
    page = text_of(warehouse.get(f"/staff/returns/{back.pk}/"))
    assert '<select name="found.li_1">' in page
    assert "如顧客所述：商品瑕疵" in page
    answer = warehouse.post(f"/staff/returns/{back.pk}/accept/", {"found.li_1": "changed_mind"}, follow=True)
    assert "退款須由另一位同事核准" in text_of(answer)
    assert "NT$" not in text_of(answer)
    assert state_of(back) == "accepted"

    assert "計算為 NT$1,050，低於原先答應的 NT$1,200" in text_of(supervisor.get("/staff/returns/"))
    approvals = text_of(supervisor.get("/staff/approvals/"))
    assert "原先答應顧客退 NT$1,200，依實際收到的商品計算為 NT$1,050" in approvals
    refund = Refund.objects.get()
    supervisor.post(f"/staff/approvals/{refund.approval.pk}/approve/", {"reason": "倉庫驗收無瑕疵"})
    assert (state_of(refund), refund.amount, state_of(back)) == ("pending", 1050, "refunded")


def test_what_was_found_as_the_customer_said_is_refunded_as_promised() -> None:
    back = received(both_delivered("9008"), "defective")
    answer = signed_in("warehouse").post(f"/staff/returns/{back.pk}/accept/", {"found.li_1": ""}, follow=True)
    assert "退款處理中" in text_of(answer)
    assert (Refund.objects.get().amount, state_of(back)) == (1200, "refunded")


@pytest.mark.parametrize("field", [{"found.li_2": "defective"}, {"found.li_1": "lost"}, {"found.": "other"}])
def test_a_forged_finding_is_refused_in_words_and_nothing_moves(field: dict[str, str]) -> None:
    back = received(both_delivered("9009"), "defective")
    answer = signed_in("warehouse").post(f"/staff/returns/{back.pk}/accept/", field, follow=True)
    assert 'class="notice tone-bad"' in text_of(answer)
    assert state_of(back) == "received"


def test_a_customer_keeps_the_goods_after_all_until_they_have_come_back() -> None:
    order = cast.place("9010", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    back, ming = return_of(order), signed_in("ming")
    button = f"/orders/9010/returns/{back.pk}/withdraw/"
    assert f'action="{button}"' in text_of(ming.get("/orders/9010/"))
    answer = ming.post(button, follow=True)
    assert "商品由您保留" in text_of(answer)
    assert "已送達" in text_of(answer)
    assert button not in text_of(answer)
    assert state_of(back) == "withdrawn"


def test_goods_that_have_come_back_are_not_withdrawn_any_more() -> None:
    back = received(both_delivered("9011"), "defective")
    ming = signed_in("ming")
    button = f"/orders/9011/returns/{back.pk}/withdraw/"
    assert button not in text_of(ming.get("/orders/9011/"))
    assert "現在無法這麼做" in text_of(ming.post(button, follow=True))
    assert state_of(back) == "received"


def test_a_return_is_withdrawn_by_its_own_customer_at_its_own_order_by_post_alone() -> None:
    back = return_of(cast.place("9012", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})]))
    cast.place("9013")
    cast.place("9014", who="ming2")
    ming = signed_in("ming")
    assert ming.get(f"/orders/9012/returns/{back.pk}/withdraw/").status_code == 405
    assert ming.post(f"/orders/9013/returns/{back.pk}/withdraw/").status_code == 404
    assert ming.post("/orders/9012/returns/rt_%00/withdraw/").status_code == 404
    assert signed_in("ming2").post(f"/orders/9014/returns/{back.pk}/withdraw/").status_code == 404
    assert signed_in("staff").post(f"/orders/9012/returns/{back.pk}/withdraw/").status_code == 404
    assert state_of(back) == "requested"


def test_support_withdraws_a_return_in_the_customers_name() -> None:
    back = return_of(cast.place("9015", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})]))
    button = f"/staff/returns/{back.pk}/withdraw/"
    for press in (signed_in("warehouse").get, signed_in("warehouse").post):
        assert press(button).status_code == 403
    staff = signed_in("staff")
    assert f'data-dialog href="{button}"' in text_of(staff.get(f"/staff/returns/{back.pk}/"))
    assert "襪子 × 1" in text_of(staff.get(button))
    form = {"note": "顧客來電", "next": "/staff/orders/9015/"}
    answer = staff.post(button, form, follow=True)
    assert answer.request["PATH_INFO"] == "/staff/orders/9015/"
    assert state_of(back) == "withdrawn"
    assert "<textarea" not in text_of(staff.get(button)), "what is over has no form"


def test_a_large_return_that_comes_to_what_was_promised_waits_without_a_word_of_less() -> None:
    order = cast.place("9016", lines=[("家庭劇院", 25000, 1)], shipments=[shipment_body({1: 1})])
    back = received(order, "changed_mind")
    supervisor = signed_in("supervisor")
    supervisor.post(f"/staff/returns/{back.pk}/accept/")
    page = text_of(supervisor.get("/staff/returns/"))
    assert "退款須由另一位同事核准" in page
    assert "低於原先答應" not in page
    assert "原先答應" not in text_of(supervisor.get("/staff/approvals/"))


def three_on_their_way(number: str) -> Return:
    """Three pairs of socks, announced by their customer."""
    return return_of(cast.place(number, lines=[("襪子", 500, 3)], shipments=[shipment_body({1: 3})]), quantity=3)


def counts(**found: str) -> dict[str, str]:
    return {f"count.li_1.{state}": count for state, count in found.items()}


def test_the_parcel_is_counted_piece_by_piece_and_only_accepted_pieces_are_refunded() -> None:
    back = three_on_their_way("9018")
    warehouse = signed_in("warehouse")
    page = text_of(warehouse.get(f"/staff/returns/{back.pk}/"))
    assert 'name="count.li_1.accepted" value="3"' in page
    form = counts(accepted="1", damaged="1", short="1", wrong_item="0") | {"note": "一雙破損，一雙缺件"}
    warehouse.post(f"/staff/returns/{back.pk}/receive/", form)
    found = {finding.found: finding.quantity for finding in back.lines.get().findings.all()}
    assert (state_of(back), found) == ("received", {"accepted": 1, "damaged": 1, "short": 1})
    warehouse.post(f"/staff/returns/{back.pk}/accept/")
    assert Refund.objects.get().amount == 500


def test_a_miscount_is_corrected_before_the_goods_are_accepted() -> None:
    back = three_on_their_way("9019")
    warehouse = signed_in("warehouse")
    receive = f"/staff/returns/{back.pk}/receive/"
    warehouse.post(receive, counts(accepted="2", damaged="1"))
    assert 'name="count.li_1.damaged" value="1"' in text_of(warehouse.get(f"/staff/returns/{back.pk}/"))
    warehouse.post(receive, counts(accepted="3", damaged="0"))
    assert [finding.found for finding in back.lines.get().findings.all()] == ["accepted"]


@pytest.mark.parametrize("wrong", [{"accepted": "2"}, {"accepted": "4"}, {"accepted": "x", "short": "3"}])
def test_counts_that_do_not_come_to_what_was_announced_are_refused_and_kept_as_typed(wrong: dict[str, str]) -> None:
    back = three_on_their_way("9020")
    warehouse = signed_in("warehouse")
    answer = warehouse.post(f"/staff/returns/{back.pk}/receive/", counts(**wrong) | {"note": "數量有誤"}, follow=True)
    page = text_of(answer)
    assert 'class="notice tone-bad"' in page
    for state, count in wrong.items():
        assert f'name="count.li_1.{state}" value="{count}"' in page
    assert 'value="數量有誤"' in page
    assert state_of(back) == ReturnState.REQUESTED
    assert 'value="數量有誤"' not in text_of(warehouse.get(f"/staff/returns/{back.pk}/"))


def test_a_refusal_is_asked_for_with_the_goods_and_without_its_reason_the_form_comes_again() -> None:
    back = three_on_their_way("9021")
    warehouse, reject = signed_in("warehouse"), f"/staff/returns/{back.pk}/reject/"
    assert f'data-dialog href="{reject}"' in text_of(warehouse.get(f"/staff/returns/{back.pk}/"))
    assert "× 3" in text_of(warehouse.get(reject))
    answer = warehouse.post(reject, {"note": " "})
    assert answer.status_code == 400
    assert 'aria-invalid="true"' in text_of(answer)
    warehouse.post(reject, {"note": "已拆封使用"})
    assert f'action="{reject}"' not in text_of(warehouse.get(reject)), "what is over has no form"


def test_the_customer_reads_what_was_found_of_the_goods() -> None:
    back = three_on_their_way("9022")
    signed_in("warehouse").post(f"/staff/returns/{back.pk}/receive/", counts(accepted="2", damaged="1"))
    page = text_of(signed_in("ming", language="en").get("/orders/9022/"))
    assert "damaged goods" in page
