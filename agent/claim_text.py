"""A text made ready for looking for claims: smoothed, cut into sentences and clauses; amounts and numbers in it."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

# Marks of style, and signs that nobody sees; `_` stays inside of record numbers.
_UNSEEN: Final = re.compile(
    r"[*`~^\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe0f\ufeff]|(?<![a-z0-9])_+|_+(?![a-z0-9])", re.IGNORECASE
)
_BETWEEN_CHINESE: Final = re.compile(r"(?<=[\u3400-\u9fff])[ \t]+(?=[\u3400-\u9fff])")
# The signs of this subject that are written otherwise in Simplified Chinese, each with how it is written here.
_PAIRS: Final = (
    "经經为為给給帮幫货貨换換单單递遞款款项項账帳户戶额額办辦处處请請将將转轉员員专專联聯络絡补補偿償赔賠发發运運费費"
    "还還这這个個们們时時间間会會点點击擊钮鈕认認订訂购購优優礼禮红紅际際证證实實现現关關门門电電话話号號变變设設备備"
    "让讓应應该該约約达達随隨后後来來对對动動预預计計总總级級尽盡务務权權余餘讯訊图圖书書馆館笔筆库庫产產场場厂廠车車"
    "东東买買卖賣价價钱錢银銀网網页頁码碼机機壳殼坏壞与與无無报報销銷传傳输輸进進过過开開启啟张張样樣种種类類头頭热熱"
    "线線内內钟鐘难難确確复覆国國"
)
_TRADITIONAL: Final = str.maketrans(dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True)))
_ALSO_WRITTEN: Final = (("賬", "帳"), ("妳", "你"), ("’", "'"), ("回復", "回覆"), ("裏", "裡"), ("連絡", "聯絡"))
_SENTENCE: Final = re.compile(r"[^。!?;\n]+?(?:[。!?;\n]+|\.(?=\s|$)|$)")
_CLAUSE: Final = re.compile(
    r"(?<!\d),|,(?!\d{3})|:(?!\d)|[—–()]|(?<=\s)-(?=\s)|但是?|不過|然而|因為|所以|"
    r"\b(?:but|however|because|although|though|while)\b"
)
# What is longer than a word or two is what somebody says.
_QUOTATION: Final = re.compile(r"「[^」]{5,}」|『[^』]{5,}』|“[^”]{12,}”|\"[^\"]{12,}\"|^\s*>.*$", re.MULTILINE)
_QUOTATION_MARKS: Final = re.compile(r"[「」『』“”\"]")
_AMOUNT: Final = re.compile(
    r"(?:nt\$|us\$|cn¥|hk\$|\$|€|¥|ntd|twd)\s*(\d[\d,]*(?:\.\d+)?)|"
    r"(\d[\d,]*(?:\.\d+)?)\s*(?:元|塊|圓|dollars|ntd|twd)"
)
_NUMBER: Final = re.compile(r"(?<![a-z0-9])(?:rf|rt|rp|ap)_[a-z0-9]{2,}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`asks`: it ends with a question mark, which is about its last clause."""

    clauses: tuple[str, ...]
    asks: bool


def smoothed(text: str) -> str:
    """Half width, lower case, Traditional characters, without marks of style and signs that nobody sees."""
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).lower().translate(_TRADITIONAL)
    for written, meant in _ALSO_WRITTEN:
        text = text.replace(written, meant)
    return _BETWEEN_CHINESE.sub("", text)


def sentences_in(text: str) -> Iterator[Sentence]:
    """Of a smoothed text. What somebody else is quoted with is left out."""
    text = _QUOTATION_MARKS.sub("", _QUOTATION.sub("", text))
    for found in _SENTENCE.finditer(text):
        whole = found.group().strip()
        clauses = tuple(filter(None, (part.strip(" .。!?;\n\t") for part in _CLAUSE.split(whole))))
        if clauses:
            yield Sentence(clauses, "?" in whole[-2:])


def amounts_in(clause: str) -> frozenset[Decimal]:
    """Every amount that stands with a sign or word of money, in whole units of the currency."""
    return frozenset(Decimal((one or other).replace(",", "")) for one, other in _AMOUNT.findall(clause))


def numbers_in(clause: str) -> list[str]:
    """The numbers of refunds, returns, replacements and approvals that it names, in lower case."""
    return _NUMBER.findall(clause)
