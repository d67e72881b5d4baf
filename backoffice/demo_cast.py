"""The cast of the demo as data: people, and orders in every state. Amounts are NT$, dates are days before today.

`body(order, now=…)` gives the body by which the shop would have sent the order in (`orders/bodies.py`).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from backoffice.demo_goods import GOODS

PASSWORD: Final = "demo"
FIRST_ORDER: Final = "5531"


@dataclass(frozen=True, slots=True)
class Member:
    """A sign-in of the demo. `group` is the role's group; `is_staff` opens the records in admin."""

    username: str
    name: str
    group: str = ""
    is_staff: bool = False
    is_superuser: bool = False


@dataclass(frozen=True, slots=True)
class Buyer:
    external_id: str
    name: str
    email: str = ""
    username: str = ""


@dataclass(frozen=True, slots=True)
class Parcel:
    """Goods on their way: `goods` is `{position of the line: quantity}`; the rest are days ago."""

    state: str
    goods: dict[int, int]
    packed: float
    shipped: float | None = None
    delivered: float | None = None


@dataclass(frozen=True, slots=True)
class DemoOrder:
    """`goods` are (sku, quantity), `paid` are (method, amount, last four digits), `placed` is days ago."""

    number: str
    buyer: str
    placed: float
    goods: tuple[tuple[str, int], ...]
    paid: tuple[tuple[str, int, str], ...]
    shipping: dict[str, Any]
    discounts: tuple[dict[str, Any], ...] = ()
    parcels: tuple[Parcel, ...] = ()


@dataclass(frozen=True, slots=True)
class Credit:
    """An entry in a buyer's store credit; `amount` is negative where it was spent, on the order of this number."""

    buyer: str
    amount: int
    kind: str
    note: str
    number: str = ""


@dataclass(frozen=True, slots=True)
class Settled:
    """What has been asked for on an order before the demo begins, by the member of staff who did it."""

    number: str
    line_item_id: str
    reason: str
    exchange: bool = False


MEMBERS: Final = (
    Member("ming", "王小明"),
    Member("ming2", "王小明"),
    Member("staff", "客服", group="support"),
    Member("supervisor", "客服主管", group="supervisor", is_staff=True),
    Member("warehouse", "倉庫", group="warehouse"),
    Member("auditor", "稽核", group="auditor", is_staff=True),
    Member("marketing", "行銷", group="marketing"),
    Member("admin", "系統管理員", is_staff=True, is_superuser=True),
)

BUYERS: Final = (
    Buyer("demo-ming", "王小明", "ming@example.com", username="ming"),
    Buyer("demo-ming2", "王小明", "ming2@example.com", username="ming2"),
    *(
        Buyer(f"demo-{letter.lower()}", f"示範顧客 {letter}", f"{letter.lower()}@example.com")
        for letter in "ABCDEFGHJK"
    ),
)

PICKUP: Final = {"method": "store_pickup", "charged": 0, "standard_fee": 80, "free_from": 1500, "waiver": "pickup"}
DELIVERY: Final = {"method": "home_delivery", "charged": 80, "standard_fee": 80, "free_from": 1500, "waiver": None}
FREE_DELIVERY: Final = {**DELIVERY, "charged": 0, "waiver": "threshold"}
PROMOTION: Final = {**DELIVERY, "charged": 0, "waiver": "promotion"}

SAVE150: Final = {"code": "SAVE150", "label": "滿 1,500 折 150", "kind": "fixed", "amount": 150, "min_spend": 1500}
SAVE100: Final = {"code": "SAVE100", "label": "滿 1,000 折 100", "kind": "fixed", "amount": 100, "min_spend": 1000}
SHARED100: Final = {**SAVE100, "code": "SHARE100", "settlement": "prorate"}
TEN_PERCENT: Final = {"code": "MEMBER10", "label": "會員九折", "kind": "percent", "percent": "10"}
SOCKS: Final = {
    "code": "SOCK3",
    "label": "襪子 3 雙起每雙折 20",
    "kind": "bundle",
    "min_quantity": 3,
    "amount_per_unit": 20,
}


# Where buyers live who have things sent to them: (postal code, city, district, street).
HOMES: Final[dict[str, tuple[str, str, str, str]]] = {
    "demo-ming": ("106", "台北市", "大安區", "示範路一段 1 號 3 樓"),
    "demo-ming2": ("407", "台中市", "西屯區", "示範大道 22 號"),
    "demo-a": ("220", "新北市", "板橋區", "示範街 15 號 8 樓"),
    "demo-b": ("300", "新竹市", "東區", "示範路 7 號"),
    "demo-d": ("880", "澎湖縣", "馬公市", "示範路 3 號"),
    "demo-e": ("700", "台南市", "中西區", "示範街 9 號"),
    "demo-g": ("802", "高雄市", "苓雅區", "示範二路 100 號 12 樓"),
    "demo-h": ("114", "台北市", "內湖區", "示範路 250 號"),
    "demo-j": ("970", "花蓮縣", "花蓮市", "示範街 6 號"),
}


def card(amount: int, last4: str = "4242") -> tuple[str, int, str]:
    return ("card", amount, last4)


def arrived(goods: dict[int, int], days: float) -> Parcel:
    return Parcel("delivered", goods, packed=days + 2, shipped=days + 1.5, delivered=days)


ORDERS: Final = (
    # The story: the earphones have come, the case has not; together they had earned the coupon.
    DemoOrder(
        FIRST_ORDER, "demo-ming", 6, (("EAR", 1), ("CASE", 1)), (card(1430),), PICKUP, (SAVE150,), (arrived({1: 1}, 2),)
    ),
    DemoOrder(
        "5540",
        "demo-ming",
        3,
        (("STAND", 1), ("BAG", 1)),
        (card(980),),
        DELIVERY,
        (),
        (Parcel("shipped", {1: 1, 2: 1}, packed=2, shipped=1),),
    ),
    # Not packed yet: its address can still be changed.
    DemoOrder("5548", "demo-ming", 0.5, (("LAMP", 1), ("CABLE", 1)), (card(1550),), DELIVERY),
    DemoOrder("5477", "demo-ming", 26, (("SPEAKER", 1),), (card(1690),), FREE_DELIVERY, (), (arrived({1: 1}, 20),)),
    # Free delivery by the threshold, and a coupon: what is kept decides about both.
    DemoOrder(
        "5602",
        "demo-ming2",
        7,
        (("MOUSE", 1), ("KEYS", 1), ("HUB", 1)),
        (card(2270, "1881"),),
        FREE_DELIVERY,
        (SAVE100,),
        (arrived({1: 1, 2: 1, 3: 1}, 3),),
    ),
    DemoOrder("5610", "demo-a", 1, (("SPEAKER", 1), ("CABLE", 1)), (card(1980, "0005"),), FREE_DELIVERY),
    DemoOrder(
        "5611", "demo-b", 2, (("FILM", 2),), (card(860, "0018"),), DELIVERY, (), (Parcel("packed", {1: 2}, packed=0.5),)
    ),
    DemoOrder(
        "5612",
        "demo-c",
        4,
        (("POWER", 1),),
        (card(1290, "0026"),),
        PICKUP,
        (),
        (Parcel("shipped", {1: 1}, packed=3, shipped=2),),
    ),
    # Shipped so long ago that it counts as lost, and one that the carrier has given up.
    DemoOrder(
        "5613",
        "demo-d",
        17,
        (("PAD", 1),),
        (card(1070, "0034"),),
        DELIVERY,
        (),
        (Parcel("shipped", {1: 1}, packed=16, shipped=15),),
    ),
    DemoOrder(
        "5614",
        "demo-d",
        12,
        (("CARD", 1), ("CABLE", 1)),
        (card(1060, "0034"),),
        DELIVERY,
        (),
        (Parcel("lost", {1: 1}, packed=11, shipped=10),),
    ),
    DemoOrder("5615", "demo-e", 5, (("SOCK", 3),), (card(240, "0042"),), PROMOTION, (SOCKS,), (arrived({1: 3}, 1),)),
    DemoOrder("5616", "demo-e", 1, (("CAMBAG", 1), ("CARD", 1)), (card(1773, "0042"),), FREE_DELIVERY, (TEN_PERCENT,)),
    DemoOrder(
        "5617",
        "demo-f",
        6,
        (("HOLDER", 1), ("CARHOLD", 1)),
        (card(500, "0059"), ("store_credit", 300, "")),
        PICKUP,
        (),
        (arrived({1: 1}, 3),),
    ),
    DemoOrder(
        "5618", "demo-g", 5, (("LAMP", 1),), (("cash_on_delivery", 1260, ""),), DELIVERY, (), (arrived({1: 1}, 2),)
    ),
    # Above what one person may pay back alone.
    DemoOrder("5619", "demo-h", 1, (("LAPTOP", 1),), (card(32900, "0067"),), FREE_DELIVERY),
    # One line whose units stand in three places.
    DemoOrder(
        "5620",
        "demo-j",
        6,
        (("SOCK", 5),),
        (card(580, "0075"),),
        DELIVERY,
        (),
        (arrived({1: 2}, 2), Parcel("packed", {1: 1}, packed=0.2)),
    ),
    DemoOrder(
        "5621",
        "demo-j",
        5,
        (("SHIRT", 1), ("CAP", 1)),
        (card(900, "0075"),),
        PICKUP,
        (SHARED100,),
        (arrived({1: 1, 2: 1}, 1),),
    ),
    # Where something has been asked for already (SETTLED).
    DemoOrder("EC-2026#7", "demo-k", 4, (("MOUSE", 1), ("BAG", 1)), (card(1390, "0083"),), PICKUP),
    DemoOrder(
        "5623", "demo-k", 8, (("KEYS", 1), ("HUB", 1)), (card(1380, "0083"),), PICKUP, (), (arrived({1: 1, 2: 1}, 4),)
    ),
    DemoOrder(
        "5624",
        "demo-d",
        19,
        (("HOLDER", 1),),
        (card(530, "0034"),),
        DELIVERY,
        (),
        (Parcel("lost", {1: 1}, packed=18, shipped=17),),
    ),
)

CREDITS: Final = (
    Credit("demo-f", 500, "granted", "新會員購物金"),
    Credit("demo-f", -300, "spent", "折抵訂單", number="5617"),
    Credit("demo-ming", 200, "granted", "生日購物金"),
)

SETTLED: Final = (
    Settled("EC-2026#7", "li_2", "changed_mind"),
    Settled("5623", "li_1", "changed_mind"),
    Settled("5623", "li_2", "defective", exchange=True),
    Settled("5624", "li_1", "lost"),
)

# Ready-made answers: language, title, text.
ANSWERS: Final = (
    (
        "zh-hant",
        "退款何時入帳",
        "{{customer_name}}您好，退款 {{refund_amount}}（{{refund_number}}）已送出，通常 7–14 個工作天入帳，"
        "實際日期依發卡銀行而定。",
    ),
    (
        "zh-hant",
        "請補充商品狀況",
        "{{customer_name}}您好，關於訂單 {{order_number}}，請告訴我們是哪一件商品、發生了什麼狀況，我們馬上為您處理。",
    ),
    (
        "en",
        "When the refund arrives",
        "Hello {{customer_name}}, your refund of {{refund_amount}} ({{refund_number}}) is on its way. It usually "
        "arrives within 7–14 working days; the day is up to your bank.",
    ),
)


# A version of the rules that the supervisor has begun, for marketing to publish or to change.
DRAFTED_BY: Final = "supervisor"
DRAFT: Final[dict[str, Any]] = {
    "return_fee": 60,
    "return_window_days": 10,
    "note": "週年慶：退貨期限延長為 10 天，第二次退貨起的手續費降為 NT$60。",
}


def body(order: DemoOrder, *, now: datetime) -> dict[str, Any]:
    buyer = next(buyer for buyer in BUYERS if buyer.external_id == order.buyer)
    return {
        "number": order.number,
        "placed_at": _ago(now, order.placed),
        "currency": "TWD",
        "customer": {"external_id": buyer.external_id, "name": buyer.name, "email": buyer.email},
        "lines": [_line(position, *goods) for position, goods in enumerate(order.goods, start=1)],
        "discounts": list(order.discounts),
        "shipping": order.shipping,
        "shipping_address": _address(order, buyer),
        "payments": [_payment(position, *paid) for position, paid in enumerate(order.paid, start=1)],
        "shipments": [_shipment(position, parcel, now) for position, parcel in enumerate(order.parcels, start=1)],
    }


def _address(order: DemoOrder, buyer: Buyer) -> dict[str, str] | None:
    if order.shipping["method"] != DELIVERY["method"]:
        return None
    postal_code, city, district, street = HOMES[order.buyer]
    return {
        "recipient": buyer.name,
        "phone": "0900000000",
        "postal_code": postal_code,
        "city": city,
        "district": district,
        "street": street,
    }


def _line(position: int, sku: str, quantity: int) -> dict[str, Any]:
    ware = GOODS[sku]
    return {
        "external_id": str(position),
        "sku": sku,
        "name": ware.name,
        "unit_price": ware.price,
        "quantity": quantity,
        "category": ware.category,
    }


def _payment(position: int, method: str, amount: int, last4: str) -> dict[str, Any]:
    return {"external_id": f"p{position}", "method": method, "amount": amount, "last4": last4}


def _shipment(position: int, parcel: Parcel, now: datetime) -> dict[str, Any]:
    times = {"packed_at": parcel.packed, "shipped_at": parcel.shipped, "delivered_at": parcel.delivered}
    return {
        "external_id": f"s{position}",
        "carrier": "示範物流",
        "tracking_number": f"DEMO{position:04d}",
        "state": parcel.state,
        **{name: _ago(now, days) for name, days in times.items() if days is not None},
        "lines": [{"external_id": str(line), "quantity": quantity} for line, quantity in parcel.goods.items()],
    }


def _ago(now: datetime, days: float) -> str:
    return (now - timedelta(days=days)).isoformat()
