"""Which goods of an order a claim is about: those that its clause names as what was refunded, sent or taken back.

Goods are named by the whole name or by its end: “藍牙耳機” or “耳機”, “red cap” or “cap”; in another language than the
shop's they are not known. To accuse a true sentence costs more than to let a false one pass. So only what stands where
the object of a claim stands counts, and where a clause names goods in any other place, or gives a reason or an
exception, the claim is about none in particular.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from agent.claim_text import smoothed

SHORTEST: Final = 3
SHORTEST_WIDE: Final = 2
_WIDE: Final = re.compile(r"[\u3400-\u9fff]")
# Names and ends made of nothing else say where money goes, or speak of goods at large: “your card”, “your bank”.
_COMMON: Final = re.compile(
    r"(?:[\W\d_]|(?:gift|debit|credit|store|bank|card|account|wallet|money|cash|amount|price|fee|shipping|delivery|order|"
    r"refund|return|exchange|replacement|cancellation|request|case|claim|item|product|good|thing|parcel|package|box|"
    r"set|pack|pair|piece|part|kit|bundle|coupon|voucher|point|mail|e-?mail|message|note|number|button|day|week|time|"
    r"one|two|three|four|five|six|the|a|an|of|for|and|in|to|on|with|it|you|your|new|more)s?(?![a-z]))+|"
    r".*(?:金融|信用|簽帳)卡?|(?:尾號|禮物|禮品|儲值|銀行|信用|電子|原|本|的|一|二|兩|三|件|組|份|"
    r"卡片?|帳戶|帳號|帳單|錢包|購物金|點數|優惠|折價|券|現金|款項?|退|貨|換|補|寄|金額|費用|運費|訂單|包裹|"
    r"商品|產品|物品|東西|套|合|入|裝|盒)+"
)
# The sign that takes the place of goods in a clause; a text has none of its own.
_M: Final = "\ue000"
_SUM: Final = r"(?:(?:nt|us)?\$ ?\d[\d,.]{0,15}|(?<![\d.,])\d[\d,.]{0,15} ?(?:元|塊|圓|dollars|ntd|twd))"
_MANY: Final = (
    rf"{_M}(?: ?(?:和|與|及|以及|跟|還有|、|&|/|\+|and|as well as|plus) ?(?:(?:the|your|both) )?{_M}){{0,20}}"
)
_DETERMINED: Final = (
    r"(?:(?:the|your|a|an|this|that|these|those|both|all|new|old|ordered|of|pair|x|\d{1,4}|one|two|three) ){0,5}"
)
_COUNTED: Final = r"(?: ?[x×] ?\d{1,4}| ?[一二兩三四五\d]{1,4}[件個副組支條雙台本頂])?"
# Between goods and what was done about them. Not “sent” or “on its way”: they may be said beside another's refund.
_JUST: Final = (
    r"(?:已經?|都|也|剛[剛才]?|全[部額數]?|正在|現在|今天|我們?|這邊|[幫為][您你]|成功|順利|完成|辦理|申請|登記|建立|安排|"
    r"處理|的| ){0,8}"
)
_HAS: Final = (
    r" (?:has|have|had|is|are|was|were)"
    r"(?: (?:now|already|just|also|all|both|successfully|fully|been|being|marked as)){0,4}"
)
# Where goods stand of which something is said to have been done.
_OBJECTS: Final = (
    # “(您的)耳機(的 NT$230)已退款”
    rf"(?:^|[的這那該此件個副組支條雙台本頂也]){_MANY}{_COUNTED}(?:這筆|部分)?(?: ?的)? ?(?:{_SUM} ?)?"
    rf"(?={_JUST}(?:退|取消|換|補寄|重新寄|重寄|款項|金額|費用|價金))",
    # “已取消耳機並退款”, “已為您的耳機申請退貨”
    r"(?:取消|退還|退回|退掉|退了|退款|退貨|退|換貨|換了|更換|換|補寄|重新寄出|重寄|補發|重發|申請|辦理|登記|建立|安排|為|將|"
    rf"把|替|幫|對|針對)(?:了|給)?(?:[您你]的?(?:訂購的|購買的)?|這|那)?{_COUNTED}{_MANY}{_COUNTED}"
    rf"(?:這筆|部分)?(?=$|並|且|了|囉|啦|及| ?{_SUM}|的(?:訂單|款|錢|金額|費用| ?{_SUM})|"
    rf"的?{_JUST}(?:退|換|取消|補寄|重寄|重新寄))",
    # “the earphones have been refunded”
    r"(?:^\W{0,6}(?:(?:and|so|then|yes|ok|okay|done|now|also|sure|that|good news) ){0,3}|\band )"
    rf"{_DETERMINED}{_MANY}{_COUNTED}(?: {_SUM})?(?=(?:{_HAS})? (?:refund(?:ed)?|reimbursed|cancell?ed|"
    r"cancellation|return(?:ed)?|exchanged?|replace(?:d|ment)|swapped|resent|re-sent|reshipped|sent again)\b)",
    # “I have refunded the earphones”, “the refund of NT$230 for the case”
    r"\b(?:(?:refunded|cancell?ed|exchanged|replaced|swapped|resent|re-sent|reshipped|reimbursed)(?: you)?"
    rf"(?: {_SUM})?(?: for)?|(?<!in )(?:refund|cancellation|return|exchange|replacement)(?: of)?(?: {_SUM})? "
    rf"(?:of|for)) {_DETERMINED}{_MANY}{_COUNTED}(?=\W{{0,6}}$| ?{_SUM}|"
    r" (?:and|to|on|in|for|from|with|now|already|today|back|at|via|again|has|have|is|are|was|were)\b)",
)
_OBJECT: Final = re.compile("|".join(_OBJECTS))
# A reason, an exception, something else: then what is named need not be what was done.
_BESIDE: Final = re.compile(
    r"後|因|由於|既然|為了|留[下著給在]|保留|不用|不必|不需|無須|無需|免退|除了|除外|以外|扣|而非|不是|沒|未|至於|另外|"
    r"其他|另一|剩下|其餘|[您你](?:已經?)?(?:退回|寄回|收到|留|保留)|換取|"
    r"\b(?:since|as(?! well)|after|so that|because|due|keep|keeps|kept|keeping|except|without|instead|besides|apart|"
    r"but|not|no|never|when|if|while|which|who|where|other|another|rest|remaining|you(?:'ve| have) (?:returned|sent))\b"
)


@dataclass(frozen=True, slots=True)
class _Words:
    """One way to write goods. `keys`: of the lines that are meant by it; none where several names end in it."""

    text: str
    keys: frozenset[int]


def goods_named(clause: str, names: Mapping[int, str]) -> frozenset[int]:
    """The keys of the lines that the claim of a smoothed clause is about; none where that is not clear.

    `names`: by a line's key, as the shop writes them. Two lines of the same name are both meant.
    """
    ways = {words.text: words.keys for words in _ways({key: smoothed(name).strip() for key, name in names.items()})}
    if not ways or _BESIDE.search(clause):
        return frozenset()
    found: list[frozenset[int]] = []

    def put_aside(match: re.Match[str]) -> str:
        found.append(ways[match.group()])
        return _M

    # “耳機殼” is no “耳機”: what is longer is looked for first.
    longest_first = sorted(ways, key=len, reverse=True)
    marked = re.sub("|".join(map(_pattern, longest_first)), put_aside, clause.replace(_M, " "))
    as_objects = sum(match.group().count(_M) for match in _OBJECT.finditer(" ".join(marked.split())))
    return frozenset().union(*found) if all(found) and as_objects == len(found) else frozenset()


def _ways(names: Mapping[int, str]) -> Iterator[_Words]:
    """By whole names last: a name that another one ends in means itself."""
    for end in {end for name in names.values() for end in _ends(name) if _is_telling(end)}:
        meant = {name for name in names.values() if name.endswith(end)}
        yield _Words(end, _keys(names, meant) if len(meant) == 1 else frozenset())
    for name in filter(_is_telling, set(names.values())):
        yield _Words(name, _keys(names, {name}))


def _keys(names: Mapping[int, str], meant: set[str]) -> frozenset[int]:
    return frozenset(key for key, name in names.items() if name in meant)


def _is_telling(words: str) -> bool:
    return len(words) >= (SHORTEST_WIDE if _WIDE.search(words) else SHORTEST) and not _COMMON.fullmatch(words)


def _ends(name: str) -> list[str]:
    """Of a name in Chinese the last signs, of any other the last words."""
    if _WIDE.search(name[-1:]):
        return [name[place:] for place in range(1, len(name)) if _WIDE.fullmatch(name[place])]
    words = name.split()
    return [" ".join(words[place:]) for place in range(1, len(words))]


def _pattern(words: str) -> str:
    """Words of letters stand alone: “hat” is not in “that”. Chinese has no sign between words."""
    return rf"(?<![a-z0-9]){re.escape(words)}(?![a-z0-9])"
