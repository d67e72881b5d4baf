"""Finds an address in a customer's words: by its labels, or as it is written in Taiwan. What is not there stays out."""

import re
from collections.abc import Mapping
from typing import Final

FIELDS: Final = ("recipient", "phone", "postal_code", "city", "district", "street")
END: Final = r"(?=[，,。；;\n]|$)"
LABELLED: Final = {
    "recipient": re.compile(
        rf"(?:收件人|收貨人|姓名)\s*[:：是]?\s*(\S[^，,。；;\n]*?){END}|(?:recipient|name)\s*(?:is|:)\s*([^,;\n]+?)\.?{END}",
        re.I,
    ),
    "phone": re.compile(
        r"(?:電話|手機|phone(?: number)?|tel)\s*[:：是]?\s*(?:is\s*)?(\+?[0-9][0-9 ()#-]{5,28})"
        r"|(?<!\d)(09\d{2}[- ]?\d{3}[- ]?\d{3})(?!\d)",
        re.I,
    ),
    "postal_code": re.compile(
        r"(?:郵遞區號|郵區|postal code|post ?code|zip(?: code)?)\s*[:：是]?\s*(?:is\s*)?(\d{3,6})(?!\d)"
        r"|(?<!\d)(\d{3}(?:\d{2,3})?)\s*(?=[\u4e00-\u9fff]{2}[市縣])|^\s*(\d{3}(?:\d{2,3})?)\s*$",
        re.I | re.M,
    ),
    "city": re.compile(
        rf"([\u4e00-\u9fff]{{2}}[市縣])(?=[\u4e00-\u9fff]{{1,3}}[區鄉鎮市])|(?:city|縣市)\s*[:：]\s*([^，,;\n]+?)\.?{END}",
        re.I,
    ),
    "district": re.compile(
        rf"[\u4e00-\u9fff]{{2}}[市縣]([\u4e00-\u9fff]{{1,3}}?[區鄉鎮市])|(?:district|鄉鎮市區)\s*[:：]\s*([^，,;\n]+?)\.?{END}",
        re.I,
    ),
    "street": re.compile(
        rf"[\u4e00-\u9fff]{{2}}[市縣][\u4e00-\u9fff]{{1,3}}?[區鄉鎮市]\s*([^，,。；;\n]+?){END}"
        rf"|(?:street|路名和門牌|路名)\s*[:：]\s*([^，,;\n]+?)\.?{END}",
        re.I,
    ),
}
# Who takes it in, and who is called, stay as they are when only the place is new.
MAY_STAY: Final = ("recipient", "phone")


def address_in(text: str, known: Mapping[str, str] | None) -> dict[str, str]:
    """The parts that the text names, and of the present address who takes it in; other parts are never filled in."""
    found = {field: str(known[field]) for field in MAY_STAY if known and known.get(field)}
    for field, pattern in LABELLED.items():
        match = pattern.search(text)
        if match:
            found[field] = next(group for group in match.groups() if group).strip()
    return found


def missing(found: Mapping[str, str]) -> list[str]:
    return [field for field in FIELDS if not found.get(field)]


def in_one_line(address: Mapping[str, str]) -> str:
    place = "".join(address.get(field, "") for field in ("city", "district", "street"))
    return f"{address.get('postal_code', '')} {place}（{address.get('recipient', '')}，{address.get('phone', '')}）"
