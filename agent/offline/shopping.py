"""Words to look for in the shop's products, from a customer's sentence, in their language and in the other one."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent.offline.goods import COLOUR_AT_END, NOUNS, Line, named_in
from agent.offline.outcomes import Ledger
from agent.offline.wishes import clauses

Data = Mapping[str, Any]
# What product names are searched for, what a customer writes in Chinese, and in English.
COLOURS: Final[tuple[tuple[str, str, str], ...]] = (
    ("黑", r"黑", r"black"),
    ("白", r"白", r"white"),
    ("紅", r"紅", r"red"),
    ("藍色", r"藍(?!牙)", r"blue"),
    ("綠", r"綠", r"green"),
    ("粉", r"粉", r"pink"),
    ("灰", r"灰", r"gr[ae]y"),
    ("銀", r"銀", r"silver"),
    ("金色", r"金(?=色|的|款)", r"gold(?:en)?"),
    ("紫", r"紫", r"purple|violet"),
    ("黃", r"黃", r"yellow"),
    ("橘", r"橘|橙", r"orange"),
    ("棕", r"棕|咖啡色", r"brown"),
    ("米色", r"米(?=色|的|白)", r"beige"),
)
IN_ENGLISH: Final = {"藍色": "blue", "灰": "gray", "金色": "gold", "紫": "purple"}
# "exchange … for …", "換成…", "in black instead"
FOR: Final = re.compile(
    r"有(?:沒有)?(.{1,10}?)的?(?:可以|能)換|(?:換(?!貨)|改成)(?:成|為|一個|一副|一款|個|副|款)?(.*)"
    r"|\b(?:exchang\w*|swap\w*|replac\w*|chang\w*|switch\w*|trad\w*)\b.*?\b(?:for|with|to|into)\b(.*)"
    r"|\b(?:want|like|prefer|have|take|get)\b(.*\binstead\b.*)",
    re.IGNORECASE | re.DOTALL,
)
# "In another colour": which ones there are, the shop's products tell.
ANOTHER: Final = re.compile(
    r"(?:別|其他|另).{0,2}(?:顏色|色|款|種|型|樣|尺寸)|換(?:個|一個)?(?:顏色|尺寸|款式?|型號)"
    r"|(?:another|different|other) (?:colou?r|model|size|one)",
    re.IGNORECASE,
)
# "The noise-cancelling one": a word that no list knows.
KIND: Final = re.compile(
    r"(?:成|為)?(?!別|其他|另|新|一|同|這|那|好|個|款)([\u4e00-\u9fff]{2,4}?)的?那?(?:款|版|型)(?!式)"
)
LATIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
SMALL_WORDS: Final = re.compile(
    r"(?:an?|the|ones?|new|another|same|it|them|th[ai]s|that|these|those|my|your|me|i|you|we|please|thing|model|version|of"
    r"|in|for|with|to|instead|or|and|is|are|do|does|have|has|sell|carry|stock|any|some|also|how|much|price|what|which"
    r"|colou?rs?|there|like|want|would|could|can|get|take|prefer|different|working|other|else|still|available|specs?|hi"
    r"|hello|compatible|offer|buy|need|looking|products?|come|make|made|work|fit|under|below|sold|recommend)",
    re.IGNORECASE,
)
MOST_WORDS: Final = 4


def words_for(text: str) -> list[str]:
    """Up to two searches: in the words of the text, and in the other language's."""
    own, other = [], []
    for chinese, in_chinese, in_english in COLOURS:
        english = IN_ENGLISH.get(chinese, in_english)
        if re.search(in_chinese, text):
            own.append(chinese)
            other.append(english)
        elif re.search(rf"\b(?:{in_english})\b", text, re.IGNORECASE):
            own.append(english)
            other.append(chinese)
    for chinese_names, english_names in NOUNS:
        found = next((name for name in chinese_names if len(name) > 1 and name in text), None)
        if found:
            own.append(found)
            other.append(english_names[0])
            text = text.replace(found, " ")
        elif any(re.search(rf"\b{name}s?\b", text, re.IGNORECASE) for name in english_names):
            own.append(next(name for name in english_names if re.search(rf"\b{name}s?\b", text, re.IGNORECASE)))
            other.append(chinese_names[0])
    known = {part for word in own for part in word.lower().split()}
    rest = [
        word
        for word in LATIN.findall(text)
        if not SMALL_WORDS.fullmatch(word) and word.lower().rstrip("s") not in known and word.lower() not in known
    ]
    searches = [" ".join((*words, *rest)[:MOST_WORDS]) for words in (own, other)]
    return list(dict.fromkeys(search for search in searches if search))


def wanted_instead(text: str, line: Line, lines: Sequence[Line]) -> list[str]:
    """What the line is to be exchanged for, as searches; [] if the customer wants the same again."""
    last: tuple[str, ...] = ()
    for clause, _ in clauses(text):
        named = tuple(found for one in named_in(clause, lines) for found in one.lines)
        match = FOR.search(clause)
        about = named or last
        if match and (not about or line.line_item_id in about):
            asked = next(group for group in match.groups() if group is not None)
            words = words_for(_without_own_name(asked, line)) or KIND.findall(asked)[:1]
            return words or (words_for(COLOUR_AT_END.sub("", line.name)) if ANOTHER.search(clause) else [])
        last = named or last
    return []


def _without_own_name(text: str, line: Line) -> str:
    """In "exchange the earphones for black earphones" only the black is news."""
    for one in sorted(named_in(text, [line]), key=lambda found: -found.start):
        text = f"{text[: one.start]} {text[one.end :]}"
    return text


def searches_for(
    words: Sequence[str], line: Line | None = None, *, price_max: int | None = None
) -> list[dict[str, Any]]:
    """The arguments of search_products, one after the other until something is found.

    A colour alone is meant of goods like the line's.
    """
    return [
        {
            "words": each,
            "category": line.category if line and line.category and _only_colours(each) else None,
            "price_max": price_max,
        }
        for each in words
    ]


def _only_colours(words: str) -> bool:
    known = {chinese for chinese, _, _ in COLOURS}
    known |= {IN_ENGLISH.get(chinese, english) for chinese, _, english in COLOURS}
    return set(words.split()) <= known


def next_search(ledger: Ledger, searches: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The first search that has not been made, as long as none has found anything."""
    for arguments in searches:
        answer = ledger.search(arguments)
        if answer is None:
            return arguments
        if answer.is_error or answer.data.get("products"):
            return None
    return None


def found_by(ledger: Ledger, searches: Sequence[Mapping[str, Any]]) -> list[Data]:
    """The products of the first search that found any."""
    for arguments in searches:
        answer = ledger.search(arguments)
        if answer is not None and not answer.is_error and answer.data.get("products"):
            return list(answer.data["products"])
    return []


def fitting(products: Sequence[Data], line: Line, text: str) -> tuple[str, tuple[Data, ...]]:
    """What the products are good for: "exchange" with the one, "which_product" with several, else why none."""
    others = [each for each in products if each.get("product_id") != line.product_id]
    same_price = [each for each in others if each.get("price") == line.price]
    there = [each for each in same_price if each.get("in_stock") is not False]
    if not others:
        return "no_product", ()
    if not same_price:
        return "other_price", tuple(others[:1])
    if not there:
        return "sold_out", tuple(same_price[:1])
    named = [each for each in there if _is_named(str(each.get("name")), text)]
    if len(there) > 1 and len(named) != 1:
        return "which_product", tuple(there[:4])
    return "exchange", tuple(named or there)


def _is_named(name: str, text: str) -> bool:
    """Does the text contain a whole word of the name that is Latin, or the whole name?"""
    words = [word for word in LATIN.findall(name) if len(word) > 1]
    colours = [either for chinese, *either in COLOURS if name.endswith((chinese[0], chinese))]
    if any(
        re.search(in_chinese, text) or re.search(rf"\b(?:{in_english})\b", text, re.I)
        for in_chinese, in_english in colours
    ):
        return True
    return name in text or any(
        re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", text, re.I) for word in words
    )
