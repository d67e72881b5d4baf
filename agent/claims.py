"""Words match deeds: what a reply claims to have been done, and which of it no record bears out.

`claims_in` reads a text alone: it smooths it, cuts it into sentences and clauses, looks for forms of words that say
that something is done (`agent/claim_words.py`), and lets go of those that only ask, deny, quote, suppose or look ahead.
`unfounded` holds what is left against the rows (`agent/deeds.py`). It errs towards catching: a true sentence that is
caught is said anew in other words, a false one that is not costs a customer their trust.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from agent.claim_words import FORMS, Form
from agent.deeds import COMPENSATION, EXCHANGE, HAND_OFF, REFUND, RESEND, Deed, Kind, Reach, deeds
from agent.models import Conversation
from orders.money import currency_decimals


@dataclass(frozen=True, slots=True)
class Claim:
    """`words`: the clause, smoothed. `amounts`: those it names, in whole units of the currency."""

    kind: Kind
    reach: Reach
    words: str
    amounts: frozenset[Decimal] = frozenset()


def unfounded(conversation: Conversation, text: str, calls: Iterable[str] = ()) -> list[Claim]:
    """What the text claims and no record of the conversation's order bears out, in the order of the text.

    `calls` names the tools that the same reply calls. Reads rows only where something is claimed.
    """
    claims = claims_in(text)
    if not claims:
        return []
    done = deeds(conversation, calls)
    decimals = currency_decimals(conversation.order.currency)
    return [claim for claim in claims if not is_founded(claim, done, decimals)]


def is_founded(claim: Claim, done: Sequence[Deed], decimals: int) -> bool:
    """Does a deed of this kind reach as far, with one of the amounts that the claim names?"""
    named = {int(amount * 10**decimals) for amount in claim.amounts}
    return any(
        deed.kind in _KINDS_MEANT.get(claim.kind, {claim.kind})
        and deed.reach >= claim.reach
        and (not named or not deed.amounts or named & deed.amounts)
        for deed in done
    )


# A “replacement” is what an exchange sends and what is sent again for lost goods: words do not keep them apart.
_KINDS_MEANT: Final = {EXCHANGE: {EXCHANGE, RESEND}, RESEND: {RESEND, EXCHANGE}}
_WITH_AMOUNTS: Final = frozenset({REFUND, COMPENSATION})


def claims_in(text: str) -> list[Claim]:
    """Everything that a text says has been done, each kind once for a clause."""
    return [claim for sentence in _sentences(smoothed(text)) for claim in _claims_of(sentence)]


# --- smoothing ---
_UNSEEN: Final = re.compile(r"[​-‏‪-‮⁠-⁤﻿*_`~^]")
_BETWEEN_CHINESE: Final = re.compile(r"(?<=[㐀-鿿])[ \t　]+(?=[㐀-鿿])")
_TRADITIONAL: Final = str.maketrans(
    "经为给帮货换单递款项账户额办处理请将转员专联络补偿赔发送运费还这个们时间会点击钮认订购优惠礼红积际证实现关门电话号"
    "变设备让应该约达随后来对话动预计总级尽务权剩余讯图书馆笔库产场厂车东买卖价钱银网页码机壳坏与无报销传输进过开启张样种类头"
    "热线内钟难确复",
    "經為給幫貨換單遞款項賬戶額辦處理請將轉員專聯絡補償賠發送運費還這個們時間會點擊鈕認訂購優惠禮紅積際證實現關門電話號"
    "變設備讓應該約達隨後來對話動預計總級盡務權剩餘訊圖書館筆庫產場廠車東買賣價錢銀網頁碼機殼壞與無報銷傳輸進過開啟張樣種類頭"
    "熱線內鐘難確復",
)
_ALSO_WRITTEN: Final = (
    ("賬", "帳"),
    ("妳", "你"),
    ("已經經", "已經"),
    ("’", "'"),
    ("臺", "台"),
    ("復您", "覆您"),
    ("回復", "回覆"),
)


def smoothed(text: str) -> str:
    """Half width, lower case, Traditional characters, without marks of style and signs that nobody sees."""
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).lower().translate(_TRADITIONAL)
    for written, meant in _ALSO_WRITTEN:
        text = text.replace(written, meant)
    return _BETWEEN_CHINESE.sub("", text)


# --- sentences and clauses ---
_SENTENCE: Final = re.compile(r"[^。!?;\n]+?(?:[。!?;\n]+|\.(?=\s|$)|$)")
_CLAUSE: Final = re.compile(
    r"(?<!\d),|,(?!\d{3})|:(?!\d)|[—–()]|(?<=\s)-(?=\s)|\b(?:but|however|because|although|though|while)\b|但是?|不過|然而|因為|所以"
)
_LONG_QUOTATION: Final = re.compile(r"「[^」]{5,}」|『[^』]{5,}』|“[^”]{12,}”|\"[^\"]{12,}\"|^\s*>.*$", re.MULTILINE)
_SHORT_QUOTATION: Final = re.compile(r"[「」『』“”\"]")


@dataclass(frozen=True, slots=True)
class Sentence:
    clauses: tuple[str, ...]
    asks: bool


def _sentences(text: str) -> Iterator[Sentence]:
    """What somebody else is quoted with is left out; a word or two between quotation marks stays."""
    text = _SHORT_QUOTATION.sub("", _LONG_QUOTATION.sub("", text))
    for found in _SENTENCE.finditer(text):
        whole = found.group().strip()
        clauses = tuple(part.strip(" .。!?;\n\t") for part in _CLAUSE.split(whole))
        if any(clauses):
            yield Sentence(tuple(filter(None, clauses)), "?" in whole[-2:])


# --- guards: what is said, and yet not asserted ---
_ASKS: Final = re.compile(
    r"嗎|呢$|是否|有沒有|是不是|請問|"
    r"^(?:and |so |or )?(?:has|have|had|did|do|does|is|are|was|were|will|would|could|can|shall|should|may|when|what|which|why|how|who)\b"
    r"(?! (?:done|been done)\b)"
)
_SUPPOSES: Final = re.compile(
    r"如果|若(?!干)|假如|假設|要是|倘若|一旦|只要|只有|除非|萬一|無論|不論|等到|等您|等我們|等商品|當(?!初|時|天|日|然)|直到|"
    r"的話|例如|比如|比方|要先|必須先|"
    r"\b(?:if|once|when|whenever|until|unless|before|as soon as|as long as|whether|in case|suppose|provided|should you|only after|for example|after you|after we|after the)\b"
)
_RESUMES: Final = re.compile(r"我(?:們)?(?:這邊)?(?:也)?(?:已|剛)|\b(?:i|we)(?:'ve| have)\b")
_QUOTES: Final = re.compile(
    r"(?:您|你|顧客|客人|對方|他們?|她)(?:剛才|剛剛|之前|先前|上次|前面|有|也|一直)?(?:說|提到|提及|表示|寫|認為|以為|覺得|聲稱|反映|問)(?!的|明)|"
    r"意思是|\b(?:you|customer|they|he|she) (?:also |just |have |had )?(?:said|say|says|mention(?:ed)?|wrote|told|claim(?:ed)?|asked|think|thought|believed?|feel|were told|wonder(?:ed)?)\b|"
    r"\baccording to\b|\byour message\b|\bmeans\b"
)
_TEACHES: Final = re.compile(
    r"通常|一般(?:來說|而言|會|是)?|原則上|依規定|按照規定|規則|政策|大多|多半|"
    r"\b(?:usually|normally|generally|typically|policy|always|as a rule|in general|refunds are|returns are|exchanges are|refunds go)\b|\ba (?:refund|return|lost parcel) (?:is|usually)\b"
)
_DENIES: Final = re.compile(
    r"(?:沒有?(?!問題|關係|錯)|尚未|未(?!來)|還沒|無法|不能|不可|並非|不會|不是|不代表|不等於|別(?!擔心)|不要|不曾|從未|難以)[^,。]{0,6}$|"
    r"\b(?:not|never|no|nothing|none|neither|nor|cannot|unable|without|hardly|n't|isn't|hasn't|haven't|wasn't|weren't|don't|didn't|doesn't|can't|couldn't|won't|failed)\b(?! (?:need|problem|worries|longer than|only|further|later))"
)
_LOOKS_AHEAD: Final = re.compile(
    r"(?<!機)(?<!社)會(?!員|計)|將(?!您|商品)|才(?!剛)|就會|即將|預計|準備(?!好了)|打算|建議|希望|"
    r"\b(?:will|would|could|might|may|shall|should|going to|to be|about to|ready to|want|wants|like me to|let me|needs?|please|plan|hope|ought)\b|'ll\b|'d like\b"
)
# Beside these, a form that does not itself say “already” speaks of what can be.
_LEAVES_OPEN: Final = re.compile(
    r"可以|可(?!是)|能(?!源)|需要|需|要(?!求)|得(?=先)|想|請(?=您|先|按)|按(?!照)|待|等(?!候|一下)|再(?=請|按|幫)|協助|"
    r"\b(?:can(?! see| confirm)|able to|have to|has to|has yet|need)\b"
)
_SAYS_ALREADY: Final = re.compile(r"已|剛|成功|完成|好了|了$|了囉|囉|妥|\b(?:already|been|'ve|have|has|was|were|now)\b")
_THEN: Final = re.compile(
    r"^(?:了|好|完成|成功|確認)?(?:之後|以後|後(?!續|台)|時(?!間)|的時候|之前|以前|前(?!往)|的話|才|的情況|的紀錄|沒有成|失敗|沒成)|"
    r"^[^,]{0,16}?(?:沒有找到|找不到|查不到|沒有成立|失敗|才會|才能|被拒)|"
    r"\b(?:once|as soon as|only after|after you|after your|until|unless|if you|when you|in case|provided)\b|\bfailed\b"
)
# Ways to begin that would look like wishes.
_POLITE: Final = re.compile(
    r"\b(?:i|we)(?:'d like to| would like to| want to| can| am (?:happy|pleased|glad) to|'m (?:happy|pleased|glad) to| will now)? "
    r"(?:confirm|let you know|inform you|tell you|report|assure you)(?: that)?\b|\bplease (?:note|know|be (?:informed|advised|assured))(?: that)?\b|"
    r"\b(?:i'm|i am|we're|we are) (?:happy|pleased|glad|delighted) to (?:say|confirm|tell you|inform you|let you know|report)(?: that)?\b"
)
_LATER_ON: Final = re.compile(r"^(?:我|我們)?(?:接下來|待會|等一下|稍後|晚點)|就(?!是)")


def _claims_of(sentence: Sentence) -> Iterator[Claim]:
    supposed = quoted = False
    taught = any(_TEACHES.search(clause) for clause in sentence.clauses)
    for position, clause in enumerate(sentence.clauses):
        clause = _POLITE.sub("", clause)
        if _RESUMES.search(clause) and not _LATER_ON.search(clause):
            supposed = quoted = False
        supposed = supposed or (bool(_SUPPOSES.search(clause)) and not _asserts_before(_SUPPOSES, clause))
        quoted = quoted or (bool(_QUOTES.search(clause)) and not _asserts_before(_QUOTES, clause))
        asked = bool(_ASKS.search(clause)) or (sentence.asks and position == len(sentence.clauses) - 1)
        if supposed or quoted or asked:
            continue
        yield from _asserted(clause, taught=taught)


def _asserts_before(guard: re.Pattern[str], clause: str) -> bool:
    """Does a claim stand before the word that would take it back? (“I have refunded it when you wrote.”)"""
    found = guard.search(clause)
    before = clause[: found.start()] if found else clause
    return any(form.pattern.search(before) for form in FORMS) and not _THEN.search(clause)


def _asserted(clause: str, *, taught: bool) -> Iterator[Claim]:
    found: dict[Kind, Claim] = {}
    for form in FORMS:
        match = form.pattern.search(clause)
        if match is None or form.kind in found or _is_taken_back(form, clause, match, taught=taught):
            continue
        amounts = _amounts_in(clause) if form.kind in _WITH_AMOUNTS else frozenset()
        found[form.kind] = Claim(form.kind, form.reach, clause, amounts)
    if COMPENSATION in found:
        found.pop(HAND_OFF, None)  # “passed on to a colleague” is what became of the proposal
    yield from found.values()


def _is_taken_back(form: Form, clause: str, match: re.Match[str], *, taught: bool) -> bool:
    before, said, after = clause[: match.start()], match.group(), clause[match.end() :]
    if _DENIES.search(before) or _DENIES.search(said) or _THEN.search(after):
        return True
    if taught and not re.search(r"您的|我已|我們已|\byour\b|\bi\b", clause):
        return True
    if form.promise:
        return bool(_LEAVES_OPEN.search(before))
    if _LOOKS_AHEAD.search(before) or _LOOKS_AHEAD.search(said):
        return True
    return not _SAYS_ALREADY.search(said) and bool(_LEAVES_OPEN.search(before))


# --- amounts ---
_AMOUNT: Final = re.compile(
    r"(?:nt\$|us\$|cn¥|hk\$|\$|€|¥|ntd|twd)\s*(\d[\d,]*(?:\.\d+)?)|(\d[\d,]*(?:\.\d+)?)\s*(?:元|塊|圓|dollars|ntd|twd)"
)


def _amounts_in(clause: str) -> frozenset[Decimal]:
    return frozenset(Decimal((one or other).replace(",", "")) for one, other in _AMOUNT.findall(clause))
