"""What the agent has promised in its own words: told on when a conversation is folded (`agent/earlier.py`).

A sentence too many costs a line; one too few breaks a promise. So whatever says what somebody of the shop will do, or
by when, or what it will cost, counts; only clauses that ask and what has been done already do not.
"""

import re
from collections.abc import Iterable
from typing import Final

from agent.claim_guards import ASKS
from agent.claim_text import smoothed

MOST_CHARACTERS: Final = 4_000
# Of each sentence: the more there are, the fewer.
LENGTHS: Final = (200, 100, 60)
_SENTENCE: Final = re.compile(r"[^。！？!?\n]+?(?:[。！？!?\n]+|\.(?=\s|$)|$)")
_COUNT: Final = (
    r"(?:\d+|[一二兩三四五六七八九十幾半]+|one|two|three|four|five|six|seven|ten|fifteen|thirty|a few|a|an|the|another)"
)
_MONTH: Final = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_DAY: Final = (
    r"(?:今[天日晚早]|明[天日晚早]|後天|隔[天日]|當[天日]|這兩天|[本這下](?:週|星期|禮拜|個?月)|月底|月初|"
    r"(?:週|星期|禮拜)[一二三四五六日天]|"
    r"(?:\d{1,2}|[一二三四五六七八九十]{1,2}) ?月 ?(?:\d{1,2}|[一二三四五六七八九十]{1,3}) ?[日號]?|"
    r"\d{1,2}/\d{1,2}|[上下]午|早上|中午|晚上|傍晚)"
)
_ENGLISH_DAY: Final = (
    r"\b(?:tomorrow|tonight|later today|this (?:morning|afternoon|evening|week|month)|next (?:week|month|[a-z]+day)|"
    rf"(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}|{_MONTH} \d{{1,2}})\b"
)
_WILL: Final = re.compile(
    # Anybody's will: what is said of the refund or the parcel binds the shop too.
    r"(?<![機社開])會(?![員計議話])|將(?:會|於|在|由|再|為|以|不|退|寄|補)|即將|預計|預定|一定|"
    r"保證|承諾|答應|說好|(?:幫|為|替)(?:您|你)(?:先|再|都)?(?:保留|留|盯|追蹤|注意)|保留(?:到|至)|"
    r"(?:就|再|馬上|立刻|立即|儘快|盡快|主動|隨時|稍[後晚]|晚點|待會|等等|等一下|先)[^,。]{0,8}"
    r"(?:通知|告訴|告知|回[覆報電]|聯[絡繫]|打|確認|幫|為|替|給|寄|補|退|換|查|處理|辦|安排|出貨|追蹤|提醒|留)|"
    # What it will cost.
    r"免(?:費|運|付)|不(?:用|必|需要?|會|再|另外?|多)[^,。]{0,4}(?:付|收|扣|費|錢)|"
    r"(?:我們|本店|店家|小店|公司)(?:這邊|這裡)?(?:來|會)?(?:負擔|吸收|支付|付|出)|"
    r"(?:'ll|\bwill|\bwon't|\bshall)\b|\b(?:'m|am|'re|are|is|'s) going to\b|'(?:m|re|s) going to\b|"
    r"\b(?:i|we) (?:promise|guarantee|undertake|cover|pay|bear)\b|\b(?:keep|hold|reserve)[^.,]{0,30} for you\b|"
    r"\blet me (?:get|come|check|ask|call|write|look|find)\b|\bon us\b|\bat our (?:expense|cost)\b|"
    r"\b(?:no|free of|without(?: any)?)(?: extra| further| additional)? (?:charges?|costs?|fees?)\b|"
    r"\b(?:don't|do not|needn't|need not|never)\b[^.,]{0,12}\b(?:pay|charged?)\b|\b(?:shortly|soon)\b"
)
_BY_WHEN: Final = re.compile(
    rf"{_COUNT}個?(?:工作)?(?:天|日|週|星期|禮拜|小時|分鐘|個月)(?:之內|以內|內|前|後|左右)|"
    rf"(?:保留|有效|需要?|約)[^,。]{{0,4}}{_COUNT}個?(?:工作)?(?:天|日|週|星期|禮拜|小時|分鐘|月)|"
    rf"(?:{_DAY}|{_COUNT}點(?:半|\d+分)?)[^,。]{{0,8}}(?:之前|以前|前|內|就|到|寄|退|回|出|入|送|收|來|過去|開始|"
    r"處理|辦|聯|打|通知|取|補|換|查|再|完成|生效)|"
    rf"\b(?:within|in|after|takes?|needs?|for|up to|at most|another)(?: up to| about| around| at most)? {_COUNT}"
    rf"(?: ?(?:to|-|–|or) ?{_COUNT})? (?:more )?(?:working |business )?(?:minutes?|hours?|days?|weeks?|months?)\b|"
    rf"\b(?:by|until|before|on) (?:the end of|next|this|today|{_MONTH}|\d)|{_ENGLISH_DAY}"
)
_WAS: Final = re.compile(r"昨|上(?:週|星期|禮拜|個?月)|\b(?:was|were|did|yesterday|last|ago)\b")
_CLAUSES: Final = re.compile(r"(?<!\d),|,(?!\d)|;")


def promises_in(text: str) -> list[str]:
    """The sentences of a reply that promise something, as they were written."""
    whole = (found.group().strip() for found in _SENTENCE.finditer(text))
    return [sentence for sentence in whole if _promises(smoothed(sentence))]


def _promises(sentence: str) -> bool:
    return any(
        _WILL.search(clause) or (_BY_WHEN.search(clause) and not _WAS.search(clause)) for clause in _asserted(sentence)
    )


def _asserted(sentence: str) -> list[str]:
    """The clauses of it that do not ask: in “I will call you tomorrow, okay?” only the last one does."""
    clauses = [clause.strip() for clause in _CLAUSES.split(sentence)]
    if not sentence.endswith("?"):
        return clauses
    return [clause for clause in clauses[:-1] if not ASKS.search(clause)]


def within_budget(replies: Iterable[Iterable[str]]) -> list[list[str]]:
    """What each reply promised, every sentence once and shortened until all of it fits.

    Where that is not enough, those without a time or a number go first, and then the oldest.
    """
    once: list[list[str]] = []
    seen: set[str] = set()
    for reply in replies:
        once.append([each for each in dict.fromkeys(reply) if each not in seen])
        seen.update(once[-1])
    everything = [each for reply in once for each in reply]
    length = next((most for most in LENGTHS if _size(everything, most) <= MOST_CHARACTERS), LENGTHS[-1])
    kept, left = set(), MOST_CHARACTERS
    newest_first = everything[::-1]
    for each in sorted(newest_first, key=_says_nothing_exact):
        left -= min(len(each), length)
        if left < 0:
            break
        kept.add(each)
    return [[_short(each, length) for each in reply if each in kept] for reply in once]


def _size(sentences: list[str], most: int) -> int:
    return sum(min(len(each), most) for each in sentences)


def _says_nothing_exact(sentence: str) -> bool:
    return not (re.search(r"\d", sentence) or _BY_WHEN.search(smoothed(sentence)))


def _short(sentence: str, most: int) -> str:
    words = " ".join(sentence.split())
    return words if len(words) <= most else f"{words[:most]}…"
