"""The customers of the seeded shop: names as they are common in Taiwan, and addresses that lead nowhere."""

from dataclasses import dataclass
from random import Random
from typing import Final

# Surnames with how many of a hundred people have them, about; and how they are written in an e-mail.
_SURNAMES: Final = {
    "陳": ("chen", 11), "林": ("lin", 8), "黃": ("huang", 6), "張": ("chang", 5), "李": ("lee", 5), "王": ("wang", 4),
    "吳": ("wu", 4), "劉": ("liu", 3), "蔡": ("tsai", 3), "楊": ("yang", 3), "許": ("hsu", 2), "鄭": ("cheng", 2),
    "謝": ("hsieh", 2), "郭": ("kuo", 2), "洪": ("hung", 2), "邱": ("chiu", 1), "曾": ("tseng", 1), "廖": ("liao", 1),
    "賴": ("lai", 1), "徐": ("hsu", 1), "周": ("chou", 1), "葉": ("yeh", 1), "蘇": ("su", 1), "莊": ("chuang", 1),
    "呂": ("lu", 1), "江": ("chiang", 1), "何": ("ho", 1), "蕭": ("hsiao", 1), "羅": ("lo", 1), "高": ("kao", 1),
    "歐陽": ("ouyang", 1),
}  # fmt: skip
_GIVEN: Final = str.split(
    "怡君 雅婷 志明 淑芬 家豪 俊傑 美玲 心怡 冠宇 承翰 詩涵 宗翰 佳穎 柏翰 宜庭 子涵 品妤 宇軒 承恩 思妤 雅雯 建宏 "
    "志豪 欣怡 靜宜 佩君 惠雯 文雄 淑娟 秀英 麗華 雅惠 信宏 彥廷 哲瑋 鈺婷 郁婷 筱涵 靖雯 佳蓉 明哲 國華 玉蘭 春嬌 "
    "大為 小鈴 安 寧 昀 芸 禹 可晴 以恩 晨曦 睿 語彤 沛辰 羽彤 若曦 浩宇"
)
_LATIN: Final = str.split(
    "amy allen jack kelly kevin ling mei jason tina vivian leo sandy eric joyce peter grace sean ivy ray nina "
    "ben coco andy emma frank gina howard iris jerry kate lucas maggie nick olivia paul ruby sam terry una vera"
)
_TAIL: Final = ("", ".tw", "_88", "0", "99", "2000", ".shop", "_home")
_TOWNS: Final = (
    ("100", "台北市", "中正區", "示範南路"), ("106", "台北市", "大安區", "示範路一段"),
    ("114", "台北市", "內湖區", "示範路"),
    ("220", "新北市", "板橋區", "示範街"), ("235", "新北市", "中和區", "示範路"), ("330", "桃園市", "桃園區", "示範路"),
    ("300", "新竹市", "東區", "示範路"), ("407", "台中市", "西屯區", "示範大道"), ("500", "彰化縣", "彰化市", "示範街"),
    ("600", "嘉義市", "西區", "示範路"), ("700", "台南市", "中西區", "示範街"), ("802", "高雄市", "苓雅區", "示範二路"),
    ("900", "屏東縣", "屏東市", "示範路"), ("260", "宜蘭縣", "宜蘭市", "示範路"), ("970", "花蓮縣", "花蓮市", "示範街"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Person:
    external_id: str
    name: str
    email: str
    phone: str
    address: dict[str, str]


def person(seed: str, index: int) -> Person:
    """The customer with this index: the same for the same seed, whenever and beside whomever."""
    dice = Random(f"{seed}:person:{index}")
    surname = dice.choices(list(_SURNAMES), [weight for _latin, weight in _SURNAMES.values()])[0]
    name = surname + dice.choice(_GIVEN)
    first, last = dice.choice(_LATIN), _SURNAMES[surname][0]
    email = f"{first}.{last}{index}{dice.choice(_TAIL)}@example.com" if dice.random() < 0.93 else ""
    digits = f"09{dice.randrange(10**8):08}"
    written = (digits, f"{digits[:4]}-{digits[4:7]}-{digits[7:]}", f"+886 {digits[1:4]} {digits[4:7]} {digits[7:]}")
    phone = dice.choice(written)
    postal_code, city, district, street = dice.choice(_TOWNS)
    house = f"{street} {dice.randrange(1, 300)} 號" + (f" {dice.randrange(2, 15)} 樓" if dice.random() < 0.7 else "")
    address = {"recipient": name, "phone": digits, "postal_code": postal_code}
    address |= {"city": city, "district": district, "street": house}
    return Person(f"seed-{index:06}", name, email, phone, address)
