"""Cards that cost nothing, drawn by the script and by the server alike, and pressed: address, resend, exchange."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, expect

from backoffice.local.stack import Stack
from orders.tests.factories import FREE_DELIVERY, ago, line_body, order_body, shipment_body
from tests.browser.visit import WAIT, Visit
from tests.stack import Visitor, rows, wait_until

Open = Callable[..., Visit]
HOME = {
    "recipient": "王小明",
    "phone": "0912345678",
    "postal_code": "220",
    "city": "新北市",
    "district": "板橋區",
    "street": "中山路一段 1 號",
}
NEW = "請改寄到106台北市大安區和平東路一段1號3樓"


def order_with_everything(stack: Stack, number: str) -> str:
    """Earphones that have arrived, a case that is not packed, a stand that was lost; sent home."""
    lost = {"packed_at": ago(days=21).isoformat(), "shipped_at": ago(days=20).isoformat()}
    with Visitor(stack, "supervisor") as supervisor:
        known = supervisor.get("/api/v1/orders/5531/").json()["customer"]
        body: dict[str, Any] = order_body(
            number,
            lines=[
                line_body(1, "藍牙耳機", 1200, sku="EAR", category="audio"),
                line_body(2, "耳機殼", 380, sku="CASE"),
                line_body(3, "手機支架", 450, sku="STAND"),
            ],
            shipping=FREE_DELIVERY,
            shipments=[shipment_body({1: 1}), shipment_body({3: 1}, state="shipped", external_id="s3", **lost)],
            customer={key: known[key] for key in ("external_id", "name", "email", "phone") if known.get(key)},
            placed_at=ago(days=25).isoformat(),
            shipping_address=HOME,
        )
        answer = supervisor.post_json("/api/v1/orders/", body)
        assert answer.status_code in {200, 201}, answer.text
    return number


def words(card: Locator) -> str:
    return " ".join(card.inner_text().split())


def shown_part(card: Locator) -> str:
    """What the card says of goods and places, whoever drew it."""
    return " ".join(" ".join(card.locator(".card-items, .card-places").all_inner_texts()).split())


def test_an_address_card_is_drawn_alike_by_script_and_server_and_changes_the_address(visit: Open, stack: Stack) -> None:
    number = order_with_everything(stack, "5531-address")
    ming = visit("ming")
    ming.open_order(number)
    ming.write(NEW)
    drawn_by_script = shown_part(ming.sees(ming.card("address")))
    assert "中山路一段 1 號" in drawn_by_script
    assert "和平東路一段1號3樓" in drawn_by_script
    ming.shoot("11-address")
    ming.page.reload()
    card = ming.sees(ming.card("address"))
    assert shown_part(card) == drawn_by_script
    card.locator("form[data-press=confirm] button").click()
    done = ming.sees(ming.card("address", "confirmed"))
    expect(done).to_contain_text("新")
    expect(ming.said_by("agent").filter(has_text="和平東路一段1號3樓").last).to_be_visible(timeout=WAIT)
    with Visitor(stack, "supervisor") as supervisor:
        assert supervisor.get(f"/api/v1/orders/{number}/").json()["shipping_address"]["street"] == "和平東路一段1號3樓"
    assert ming.problems == []


def test_lost_goods_are_sent_again_by_a_press_on_a_phone(visit: Open, stack: Stack) -> None:
    number = order_with_everything(stack, "5531-lost")
    ming = visit("ming", device="phone")
    ming.open_order(number)
    ming.write("包裹一直沒到，請重新寄")
    card = ming.sees(ming.card("resend"))
    assert "手機支架" in words(card)
    assert ming.fits_the_width()
    ming.shoot("12-resend")
    drawn_by_script = shown_part(card)
    ming.page.reload()
    card = ming.sees(ming.card("resend"))
    assert shown_part(card) == drawn_by_script
    card.locator("form[data-press=confirm] button").click()
    ming.sees(ming.card("resend", "confirmed"))
    expect(ming.said_by("agent").filter(has_text="rp_").last).to_be_visible(timeout=WAIT)
    assert ming.problems == []


def reserved(stack: Stack, sku: str) -> int:
    return int(rows(stack, "select reserved from orders_product where sku = %s", sku)[0]["reserved"])


def replacements(stack: Stack, number: str) -> list[dict[str, Any]]:
    """What is put aside for the order: number and state of the replacement, the return it hangs on, and its product."""
    return rows(
        stack,
        "select r.id, r.state, r.return_request_id, p.sku, l.quantity from refunds_replacement r "
        "join orders_order o on o.id = r.order_id join refunds_replacementline l on l.replacement_id = r.id "
        "left join orders_product p on p.id = l.product_id where o.number = %s",
        number,
    )


def test_an_exchange_for_another_product_of_the_same_price_by_a_press(visit: Open, stack: Stack) -> None:
    number = order_with_everything(stack, "5531-white")
    before = reserved(stack, "EAR-WHITE")
    ming = visit("ming")
    ming.open_order(number)
    ming.write("藍牙耳機想換成白色的")
    card = ming.sees(ming.card("exchange"))
    drawn_by_script = shown_part(card)
    expect(card.locator(".card-item-name")).to_contain_text("藍牙耳機 × 1")
    expect(card.locator(".card-becomes")).to_have_text("藍牙耳機 白")
    assert replacements(stack, number) == []
    ming.shoot("13-exchange")
    ming.page.reload()
    card = ming.sees(ming.card("exchange"))
    assert shown_part(card) == drawn_by_script

    ming.press(card, "確認換貨")
    ming.sees(ming.card("exchange", "confirmed"))
    (put_aside,) = wait_until(lambda: replacements(stack, number))
    assert (put_aside["state"], put_aside["sku"], put_aside["quantity"]) == ("reserved", "EAR-WHITE", 1)
    assert reserved(stack, "EAR-WHITE") == before + 1
    ming.sees(ming.said_by("agent").filter(has_text=put_aside["return_request_id"]))
    ming.page.reload()
    so_far = ming.page.locator("#order-side")
    expect(so_far).to_contain_text("換貨中")
    expect(so_far).to_contain_text(put_aside["return_request_id"])
    expect(so_far).to_contain_text("藍牙耳機 白 × 1")
    assert ming.problems == []

    auditor = visit("auditor")
    auditor.page.goto(f"/admin/refunds/replacement/{put_aside['id']}/change/")
    expect(auditor.page.locator("#content")).to_contain_text("藍牙耳機 白")
    expect(auditor.page.locator("#content")).to_contain_text(put_aside["return_request_id"])


def test_a_card_that_is_taken_back_when_something_else_is_written_says_so_on_the_open_page(
    visit: Open, stack: Stack
) -> None:
    number = order_with_everything(stack, "5531-other-words")
    ming = visit("ming")
    ming.open_order(number)
    ming.write(NEW)
    ming.sees(ming.card("address"))
    ming.write("請問你們幾點下班？")
    card = ming.sees(ming.card("address", "declined"))
    said_by_script = words(card)
    assert "您傳了新訊息，這張確認卡已收回" in said_by_script
    assert "您選擇" not in said_by_script
    ming.page.reload()
    assert words(ming.sees(ming.card("address", "declined"))) == said_by_script
    assert ming.problems == []
