"""What the agent has promised in its own words: told on when a conversation is folded (`agent/earlier.py`).

A sentence too many costs a line; one too few breaks a promise. So whatever says what somebody of the shop will do, or
by when, counts; only questions and what has been done already do not.
"""

import re
from collections.abc import Iterable
from typing import Final

from agent.claim_text import smoothed

MOST_CHARACTERS: Final = 4_000
# Of each sentence: the more there are, the fewer.
LENGTHS: Final = (200, 100, 60)
_SENTENCE: Final = re.compile(r"[^。！？!?\n]+?(?:[。！？!?\n]+|\.(?=\s|$)|$)")
_COUNT: Final = r"(?:\d+|[一二兩三四五六七八九十幾]+|one|two|three|four|five|six|seven|a few|a|an|the)"
_DAY: Final = (
    r"(?:今天|今日|明天|明日|後天|本週|這週|下週|本月|月底|(?:週|星期|禮拜)[一二三四五六日天]|"
    r"\d{1,2}月\d{1,2}日?|\d{1,2}/\d{1,2})"
)
_WILL: Final = re.compile(
    r"(?:我們?|小幫手|本店|店家|店裡|同事|客服|專員|倉庫|物流)[^,。]{0,14}(?:會(?!員)|將|一定)|"
    r"(?:會|將)(?:幫|為|替|給|跟|再|在|於|儘快|盡快|馬上|主動)|"
    r"保證|承諾|答應|說好|(?:幫|為|替)(?:您|你)(?:保留|留|盯|追蹤|注意)|"
    r"\b(?:i|we|they|he|she|it|colleagues?|team|shop|store|warehouse|carrier|refund|money|parcel)"
    r"(?:'ll| will| shall)\b|\b(?:i|we)(?:'m| am|'re| are) going to\b|"
    r"\b(?:i|we) (?:promise|guarantee|undertake)\b|\b(?:keep|hold|reserve)[^.,]{0,30} for you\b"
)
_BY_WHEN: Final = re.compile(
    rf"{_COUNT}個?(?:工作)?(?:天|日|週|星期|禮拜|小時|分鐘|個月)(?:之內|以內|內|前|後)|"
    rf"{_DAY}[^,。]{{0,6}}(?:之前|以前|前|內|就|到|寄|退|回)|"
    rf"\b(?:within|in|after) {_COUNT} (?:more )?(?:working |business )?(?:minutes?|hours?|days?|weeks?|months?)\b|"
    r"\b(?:by|until|before|on) (?:the end of|next|this|tomorrow|today|tonight|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|\d)"
)


def promises_in(text: str) -> list[str]:
    """The sentences of a reply that promise something, as they were written."""
    whole = (found.group().strip() for found in _SENTENCE.finditer(text))
    return [sentence for sentence in whole if not sentence.endswith(("?", "？")) and _promises(smoothed(sentence))]


def _promises(sentence: str) -> bool:
    return bool(_WILL.search(sentence) or _BY_WHEN.search(sentence))


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
