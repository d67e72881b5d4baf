"""What the demo's shop sells, as the shop would tell it (`orders/products.py`). Prices are NT$.

Some goods have others of the same price beside them, so that an exchange for another product can be tried; one is sold
out, and of some the shop does not count pieces here.
"""

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Ware:
    """`stock` None: pieces are not counted here."""

    name: str
    price: int
    category: str
    stock: int | None = None
    description: str = ""


GOODS: Final[dict[str, Ware]] = {
    "EAR": Ware("藍牙耳機", 1200, "audio", 12, "入耳式藍牙耳機，黑色，藍牙 5.3，附充電盒。"),
    "EAR-WHITE": Ware("藍牙耳機 白", 1200, "audio", 8, "入耳式藍牙耳機，白色，藍牙 5.3，附充電盒。"),
    "EAR-BLUE": Ware("藍牙耳機 藍", 1200, "audio", 1, "入耳式藍牙耳機，藍色，藍牙 5.3，附充電盒。最後一副。"),
    "EAR-PINK": Ware("藍牙耳機 粉", 1200, "audio", 0, "入耳式藍牙耳機，粉色，藍牙 5.3，附充電盒。目前缺貨。"),
    "EAR-PRO": Ware("降噪藍牙耳機", 1980, "audio", 5, "耳罩式主動降噪耳機，續航 40 小時。"),
    "CASE": Ware("耳機殼", 380, "accessory", 30, "矽膠耳機充電盒保護殼，透明。"),
    "CASE-BLACK": Ware("耳機殼 黑", 380, "accessory", 15, "矽膠耳機充電盒保護殼，黑色。"),
    "MOUSE": Ware("無線滑鼠", 990, "computer", 20, "2.4 GHz 無線滑鼠，靜音按鍵，灰色。"),
    "MOUSE-WHITE": Ware("無線滑鼠 白", 990, "computer", 6, "2.4 GHz 無線滑鼠，靜音按鍵，白色。"),
    "KEYS": Ware("機械鍵盤", 790, "computer", 9, "87 鍵機械鍵盤，紅軸。"),
    "KEYS-BROWN": Ware("機械鍵盤 茶軸", 790, "computer", 4, "87 鍵機械鍵盤，茶軸。"),
    "HUB": Ware("USB 集線器", 590, "computer", 14, "USB-C 四埠集線器。"),
    "STAND": Ware("筆電支架", 500, "accessory", 11, "鋁合金筆電支架，可調高度。"),
    "BAG": Ware("電腦包", 400, "accessory", 7, "14 吋電腦包，防潑水。"),
    "SPEAKER": Ware("藍牙喇叭", 1690, "audio", 5, "防水藍牙喇叭，續航 12 小時。"),
    "CABLE": Ware("充電線", 290, "accessory", 50, "USB-C 充電線，1 公尺。"),
    "FILM": Ware("螢幕保護貼", 390, "accessory", 25, "玻璃螢幕保護貼，附對位框。"),
    "POWER": Ware("行動電源", 1290, "accessory", 10, "10,000 mAh 行動電源，雙向快充。"),
    "PAD": Ware("無線充電盤", 990, "accessory", 3, "15 W 無線充電盤。"),
    "SOCK": Ware("運動襪", 100, "clothing", None, "厚底運動襪，單一尺寸。"),
    "CAMBAG": Ware("相機包", 1280, "camera", 4, "單肩相機包，可放一機兩鏡。"),
    "CARD": Ware("記憶卡", 690, "camera", 18, "128 GB 記憶卡。"),
    "HOLDER": Ware("手機支架", 450, "accessory", 9, "桌上型手機支架，可折疊。"),
    "CARHOLD": Ware("車用支架", 350, "accessory", 6, "出風口車用手機支架。"),
    "LAMP": Ware("桌燈", 1180, "home", 5, "LED 護眼桌燈，三段色溫。"),
    "LAPTOP": Ware("筆記型電腦", 32900, "computer", 2, "14 吋筆記型電腦，16 GB 記憶體。"),
    "SHIRT": Ware("機能上衣", 600, "clothing", None, "排汗機能上衣。"),
    "CAP": Ware("棒球帽", 400, "clothing", None, "棉質棒球帽，可調鬆緊。"),
}


def product_body(sku: str) -> dict[str, Any]:
    """The body by which the shop would have told of this product (`orders/products.py`)."""
    ware = GOODS[sku]
    return {
        "sku": sku,
        "name": ware.name,
        "category": ware.category,
        "price": ware.price,
        "currency": "TWD",
        "stock": ware.stock,
        "description": ware.description,
    }
