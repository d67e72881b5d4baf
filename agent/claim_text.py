"""A text made ready for looking for claims: smoothed, cut into sentences and clauses; amounts and numbers in it."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

# Marks of style, and signs that nobody sees; `_` stays inside of record numbers.
_UNSEEN: Final = re.compile(
    r"[*`~^\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe0f\ufeff]|(?<![a-z0-9])_+|_+(?![a-z0-9])", re.IGNORECASE
)
_BETWEEN_CHINESE: Final = re.compile(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])")
_GAPS: Final = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
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
# The most digits of a number that are looked at. No amount has more, and a run of them without end costs its square.
_DIGITS: Final = r"\d{1,12}(?:\.\d{1,4})?"
_SENTENCE: Final = re.compile(r"[^。!?;\n]+?(?:[。!?;\n]+|\.(?=\s|$)|$)")
_CLAUSE: Final = re.compile(
    r"(?<!\d),|,(?!\d{3})|:(?!\d)|[—–()]|(?<=\s)-(?=\s)|但是?|不過|然而|因為|(?=所以)|"
    r"\b(?:but|however|because|although|though|while)\b"
)
# What is longer than a word or two may be what somebody else says.
_QUOTATION: Final = re.compile(
    r"「([^」]{5,400})」|『([^』]{5,400})』|“([^”]{12,400})”|\"([^\"]{12,400})\"|^[ \t]{0,8}>{1,8}(.*)$", re.MULTILINE
)
_QUOTATION_MARKS: Final = re.compile(r"[「」『』“”\"]|^[ \t]{0,8}>{1,8}", re.MULTILINE)
# How far back of a quotation it is looked for whose words they are.
_WHOSE: Final = 120
# Right before a quotation: whose words they are, or that it is the name of a button.
_QUOTES: Final = re.compile(
    r"(?:您|你|顧客|客人|客服|對方|他們?|她|店家|朋友)[^。!?\n「『]{0,12}"
    r"(?:說|寫道?|提到|提及|表示|認為|以為|問|反映|聲稱)[^。!?\n「『]{0,6}$|"
    r"(?<!給)(?:您|你|顧客|客人)的?(?:訊息|留言|來信)[^。!?\n「『]{0,4}$|"
    r"(?:按下?|點選?|點擊|選擇?)[^。,!?\n]{0,4}$|"
    r"\b(?:you|your|they|he|she|somebody|someone|customer|friend|store|shop)\b[^.!?\n\"“]{0,30}"
    r"\b(?:said|says?|saying|wrote|writes?|mention(?:ed)?|asked|told|claim(?:ed)?|were told)\b"
    r"[^.!?\n\"“]{0,10}$|\b(?<!to )(?<!for )(?:your|customer's) (?:message|words)[^.!?\n\"“]{0,10}$|"
    r"\b(?:press|click|tap|choose|button|called|labelled)(?: on)?(?: the)?$"
)
# Right behind one: it is explained.
_EXPLAINS: Final = re.compile(r"的?(?:意思|定義|代表|表示|按鈕)|\s{0,3}(?:means|button)\b")
# “Refund status: completed”, “退款 ✅”: a heading and what has become of it are one clause.
_HEADING: Final = re.compile(
    r"(?<=[\u3400-\u9fff\d]):\s{0,3}(?=已|完成|成功)|(?P<gap>(?<=refund): {0,3}(?=(?:nt|us)?\$))|"
    r"(?P<be>(?:(?<=[a-z]):|(?<=\d) {0,2}[-–—:]))\s{0,3}"
    r"(?=(?:now |already |successfully )?(?:completed?|done|paid|issued|processed|refunded|registered|"
    r"approved|confirmed|submitted|sent|shipped|dispatched|updated|changed|cancell?ed|received|accepted|arranged)\b)"
)
_TICKED: Final = re.compile(
    r"((?:^|[,。:!])[ \t]{0,4}(?:[-•]|\d{1,2}\.)?[ \t]{0,4})"
    r"((?:您的|你的|your |the )?(?:退款|退費|退貨|換貨|補寄|取消|地址更新|"
    r"地址變更|補償|(refund|return|exchange|replacement|cancellation|address change|compensation)))"
    rf"(?: ?(?:nt)?\$ ?{_DIGITS})?[ :-]{{0,4}}[✅✔☑✓]",
    re.MULTILINE,
)
_TICKED_BEFORE: Final = re.compile(
    r"[✅✔☑✓][ \t]{0,4}(?:您的|你的|your |the )?(?:退款|退費|退貨|換貨|補寄|取消|地址更新|地址變更|補償|"
    r"(refund|return|exchange|replacement|cancellation|address change|compensation))"
    rf"(?: ?(?:nt)?\$ ?{_DIGITS})?(?=[ \t]{{0,4}}(?:$|[,。!.]))",
    re.MULTILINE,
)
_AMOUNT: Final = re.compile(
    rf"(?:nt\$|us\$|cn¥|hk\$|\$|€|¥|(?<![a-z0-9_.])(?:ntd|twd))\s?({_DIGITS})|"
    rf"(?<![a-z0-9_.])({_DIGITS})\s?(?:元|塊|圓|dollars|ntd|twd)"
)
_RECKONED_FROM: Final = re.compile(
    rf"(?:原價|售價|折扣|優惠|運費|付了|扣除|扣掉|減去?|總額|共付)[^,退]{{0,6}}?(?:{_AMOUNT.pattern})|"
    rf"(?:{_AMOUNT.pattern})[^,\d]{{0,8}}?(?:扣除|扣掉|減去?|後)|"
    rf"\b(?:(?:out )?of the|less|minus|coupon(?: of)?|discount of|instead of) (?:{_AMOUNT.pattern})"
)
_NUMBER: Final = re.compile(r"(?<![a-z0-9])(?:rf|rt|rp|ap)_[a-z0-9]{2,40}")
# A button, a card or a quote, by what it is for: it is there to be pressed, and says nothing of anything done.
_THING: Final = r"(?:退款|退費|退貨|退換貨|換貨|取消|補寄|重寄|補償|地址)"
_FOR_PRESSING: Final = re.compile(
    rf"(?<!已)(?<!已經)(?:(?:確認|辦理|申請)?{_THING}[與和跟及、/或]?){{1,3}} ?(?:(?:nt)?\$ ?{_DIGITS}元? ?)?的?"
    r"(?:確認|申請|操作|辦理|這[顆張個]|兩[顆張個]|三[顆張個])?(?=按鈕|按鍵|鈕|卡片(?!尾號|末| ?\d)|選項|報價|試算|"
    r"照片|相片|圖片|影片|原因|需求|要求|問題|意願|訊息|期限|鑑賞期|資格|政策|規則)"
)
_FOR_PRESSING_ENGLISH: Final = re.compile(
    r"\b(?:(?:refund|return|exchange|replacement|cancellation|resend|address|compensation)s?(?: and | or |/)?){1,3} "
    r"(?:nt\$\d{1,9} )?(?=(?:confirmation |confirm )?(?:buttons?|cards?|quotes?|forms?|options?|"
    r"windows?|policy|policies|periods?|"
    r"previews?|photos?|reasons?)\b)|"
    r"\b(buttons?|cards?|quotes?|forms?|options?) (?:for|of|to confirm|to start|to request) (?:the |your |an? |this )?"
    r"(?:refund|return|exchange|replacement|cancellation|resend|compensation)\b"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """`asks`: it ends with a question mark, which is about its last clause."""

    clauses: tuple[str, ...]
    asks: bool


def smoothed(text: str) -> str:
    """Half width, lower case, Traditional characters, single spaces, without marks of style and signs nobody sees."""
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).lower().translate(_TRADITIONAL)
    for written, meant in _ALSO_WRITTEN:
        text = text.replace(written, meant)
    return _THOUSANDS.sub("", _BETWEEN_CHINESE.sub("", _GAPS.sub(" ", text)))


def sentences_in(text: str, heard: Sequence[str] = ()) -> Iterator[Sentence]:
    """Of a smoothed text. What somebody else is quoted with is left out; `heard`: smoothed, what the customer wrote."""
    text = _QUOTATION.sub(lambda found: "" if _is_of_others(found, heard) else found.group(), text)
    text = _TICKED.sub(lambda found: f"{found[1]}{found[2]}{' is done ' if found[3] else '已完成'} ", text)
    text = _TICKED_BEFORE.sub(lambda found: f"{found.group()}{' is done' if found[1] else '已完成'}", text)
    text = _HEADING.sub(_heading, _QUOTATION_MARKS.sub("", text))
    for found in _SENTENCE.finditer(text):
        whole = found.group().strip()
        clauses = tuple(filter(None, (part.strip(" .。!?;\n\t") for part in _CLAUSE.split(whole))))
        if clauses:
            yield Sentence(clauses, "?" in whole[-2:])


def _heading(found: re.Match[str]) -> str:
    return " is " if found["be"] else " " if found["gap"] else ""


def without_buttons(clause: str) -> str:
    """The clause without what its buttons, cards and quotes are for: “the refund button is there” is “the button …”."""
    return _FOR_PRESSING_ENGLISH.sub(lambda found: found[1] or "", _FOR_PRESSING.sub("", clause))


def _is_of_others(quotation: re.Match[str], heard: Sequence[str]) -> bool:
    """An agent can set its own words in marks: left out are those of the customer, and those said to be another's."""
    words = next(filter(None, quotation.groups()), "").strip(" 。.!?")
    if words and any(words in said for said in heard):
        return True
    start, end = quotation.span()
    before = quotation.string[max(start - _WHOSE, 0) : start]
    return bool(_QUOTES.search(before.rstrip(" \t\n:,")) or _EXPLAINS.match(quotation.string, end))


def amounts_in(clause: str) -> frozenset[Decimal]:
    """Every amount that stands with a sign or word of money, in whole units of the currency.

    What a sum beside it is reckoned from is none of them: “NT$230 of the NT$380 that you paid”.
    """
    found = _AMOUNT.findall(_RECKONED_FROM.sub("", clause)) or _AMOUNT.findall(clause)
    return frozenset(Decimal(one or other) for one, other in found)


def numbers_in(clause: str) -> dict[str, int]:
    """The numbers of refunds, returns, replacements and approvals that it names, in lower case, and their places."""
    places: dict[str, int] = {}
    for found in _NUMBER.finditer(clause):
        places.setdefault(found.group(), found.start())
    return places
