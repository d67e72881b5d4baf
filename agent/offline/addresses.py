"""Finds an address in a customer's words: by its labels, or as it is written in Taiwan. What is not there stays out."""

import re
from collections.abc import Mapping
from typing import Final

FIELDS: Final = ("recipient", "phone", "postal_code", "city", "district", "street")
CITY: Final = r"[\u4e00-\u9fff]{2}[市縣]"
DISTRICT: Final = r"[\u4e00-\u9fff]{1,3}?[區鄉鎮市](?!區)"
END: Final = r"(?=[，,。；;？?！!\n]|$)"
# Where a name or a street is over although no mark says so.
NEXT_PART: Final = (
    r"(?=\s*(?:郵遞區號|郵區|電話|手機|收件|收貨|地址|可以嗎|好嗎|謝謝|09\d)|\s+[\u4e00-\u9fff]{2,4}\s*09\d)"
)
STREET_END: Final = rf"(?:{END}|{NEXT_PART}|(?<=[號樓室])\s+(?=\d{{3,6}}(?:\D|$)))"
LABELLED: Final = {
    "recipient": re.compile(
        r"(?:收件人|收貨人|姓名)(?:姓名|名字)?[^\S\n]*(?:[:：]|應該是|是|(?:請|要|想)?(?:更?改|換)(?:成|為))?[^\S\n]*(?:我的?(?:[媽爸哥姊姐弟妹]{1,2}|太太|先生|朋友|同事|室友)\s*)?"
        rf"((?!要|請|想|寫|打|填|錯|更?改|換|的|不|也)[^\s，,。；;\n][^，,。；;\n]*?)(?:{END}|{NEXT_PART})"
        rf"|(?:recipient|name)\s*(?:is|:|to)\s*([^,;\n]+?)\.?{END}"
        r"|[號樓室]\s+([\u4e00-\u9fff]{2,4})(?=\s*09\d)",
        re.I,
    ),
    "phone": re.compile(
        r"(?:電話|手機|phone(?: number)?|tel)\s*[:：是]?\s*(?:is\s*)?(\+?[0-9][0-9 ()#-]{5,28})"
        r"|(?<!\d)(09\d{2}[- ]?\d{3}[- ]?\d{3})(?!\d)",
        re.I,
    ),
    "postal_code": re.compile(
        r"(?:郵遞區號|郵區|postal code|post ?code|zip(?: code)?)\s*[:：是]?\s*(?:is\s*)?(\d{3,6})(?!\d)"
        rf"|(?<!\d)(\d{{3}}(?:\d{{2,3}})?)\s*(?={CITY})|^\s*(\d{{3}}(?:\d{{2,3}})?)\s*$"
        r"|[號樓室]\s+(\d{3}(?:\d{2,3})?)(?!\d)|(?:city|county),?\s+(\d{3}(?:\d{2,3})?)(?!\d)",
        re.I | re.M,
    ),
    "city": re.compile(
        rf"({CITY})(?={DISTRICT})|(?:city|縣市)\s*[:：]\s*([^，,;\n]+?)\.?{END}"
        r"|dist(?:\.|rict),\s*([a-z][a-z ]* (?:city|county))",
        re.I,
    ),
    "district": re.compile(
        rf"{CITY}({DISTRICT})|(?:district|鄉鎮市區)\s*[:：]\s*([^，,;\n]+?)\.?{END}"
        r"|,\s*([a-z][\w' -]*? dist(?:\.|rict))(?=,)",
        re.I,
    ),
    "street": re.compile(
        rf"{CITY}{DISTRICT}\s*([^，,。；;？?！!\n]+?){STREET_END}"
        rf"|(?:street|路名和門牌|路名)\s*[:：]\s*([^，,;\n]+?)\.?{END}"
        r"|(no\. ?\d[^\n;]*?)(?=,\s*[a-z][\w' -]*? dist(?:\.|rict))",
        re.I,
    ),
}
# Who takes it in, and who is called, stay as they are when only the place is new.
PERSON: Final = ("recipient", "phone")
# Words that announce another place.
OF_A_PLACE: Final = re.compile(r"地址|寄到|送到|改寄|改送|搬|門牌|樓層|address|send|deliver|ship|moved|place", re.I)

OF_THE_PERSON: Final = {
    "recipient": re.compile(r"收[件貨]人|recipient", re.I),
    "phone": re.compile(r"電話|手機號|phone", re.I),
}


def named_in_words(text: str) -> dict[str, str]:
    """The parts of an address that the text names."""
    matches = {field: pattern.search(text) for field, pattern in LABELLED.items()}
    return {field: next(filter(None, match.groups())).strip() for field, match in matches.items() if match}


def address_in(text: str, known: Mapping[str, str] | None) -> dict[str, str]:
    """The parts that the text names, and of the present address what it leaves as it is.

    With another place that is who takes it in; with another person or number, the place. Other parts are never filled
    in.
    """
    named = named_in_words(text)
    only_the_person = named and set(named) <= set(PERSON) and not OF_A_PLACE.search(text)
    stays = FIELDS if only_the_person else PERSON
    return {field: str(known[field]) for field in stays if known and known.get(field)} | named


def asked_to_change(text: str) -> list[str]:
    """What is to become another, where only the person is spoken of and no new one is named yet."""
    if OF_A_PLACE.search(text) or named_in_words(text):
        return []
    return [field for field, pattern in OF_THE_PERSON.items() if pattern.search(text)]


def missing(found: Mapping[str, str]) -> list[str]:
    return [field for field in FIELDS if not found.get(field)]


def in_one_line(address: Mapping[str, str]) -> str:
    parts = [str(address.get(field) or "") for field in ("city", "district", "street")]
    code, who = address.get("postal_code", ""), [address.get("recipient", ""), address.get("phone", "")]
    if all(part.isascii() for part in parts):
        return f"{', '.join(reversed(parts))} {code} ({', '.join(who)})"
    return f"{code} {''.join(parts)}（{'，'.join(who)}）"
