"""Words to look for in the shop's products, from a customer's sentence, in their language and in the other one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
# What kind of goods it is, beside the noun.
KINDS: Final[tuple[tuple[str, str], ...]] = (("藍牙", "bluetooth"), ("無線", "wireless"), ("有線", "wired"))
# "exchange … for …", "換成…", "in black instead"
FOR: Final = re.compile(
    r"有(?:沒有)?(.{1,10}?)的?(?:可以|能)換|(?:換(?!貨)|改成)(?:成|為|一個|一副|一款|個|副|款)?(.*)"
    r"|\b(?:exchang\w*|swap\w*|replac\w*|chang\w*|switch\w*|trad\w*)\b.*?\b(?:for|with|to|into)\b(.*)"
    r"|\b(?:want|like|prefer|have|take|get)\b(.*\binstead\b.*)",
    re.IGNORECASE | re.DOTALL,
)
# "In another colour": which ones there are, the shop's products tell.
ANOTHER: Final = re.compile(
    r"換(?:成|為)?(?:別的|其他的?|其它的?|另外的?|不同的)\s*(?:嗎|呢|吧|$)"
    r"|something else|(?:another|different) (?:product|item|thing)|"
    r"(?:別|其他|另).{0,2}(?:顏色|色|款|種|型|樣|尺寸)|換(?:個|一個)?(?:顏色|尺寸|款式?|型號)"
    r"|(?:another|different|other) (?:colou?r|model|size|one)",
    re.IGNORECASE,
)
# "The noise-cancelling one": a word that no list knows.
KIND: Final = re.compile(
    r"(?:成|為)?(?!別|其他|另|新|一|同|這|那|好|個|款)([\u4e00-\u9fff]{2,4}?)的?那?(?:款|版|型)(?!式)"
)
ONLY_THE_COLOUR: Final = re.compile(r"色|colou?r", re.IGNORECASE)
INTO: Final = re.compile(r"(?:換|改)(?:成|為)")
# What a customer says around the name of a product, and of the same product again.
AROUND_A_NAME: Final = re.compile(
    r"[一兩二三四五六七八九十這那]?[個副件款支台組條盒張只顆]|你們|店裡|可不可以|可以|能不能|可否|或是|或者|麻煩|謝謝|感謝|好[嗎了嘛吧的]|行[嗎不]|我想?要?"
    r"|請問?|幫忙?|(?:寄)?給我|顏色|尺寸|型號|款式|版本|別的?|其他的?|其它的?|另外的?|另一|不同的?|全?新的?|同樣的?|一樣的?|相同的?|原[本來]的?"
    r"|(?:沒有?壞|沒有?問題|不會壞|正常|完好|能用|可用|能動|會動|有聲音|正確|對)的?|沒有|有|的|嗎|呢|吧|嘛|喔|哦|啊|呀|了|色"
)
CHINESE_RUN: Final = re.compile(r"[\u3400-\u9fff]{2,}")
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
    for chinese, english in KINDS:
        if _says(text, chinese, english):
            own.append(chinese if chinese in text else english)
            other.append(english if chinese in text else chinese)
            text = text.replace(chinese, " ")
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


@dataclass(frozen=True, slots=True)
class Instead:
    """What is wanted instead: `searches`, of which those from `sure` on find more than was meant; `name` is the goods'.

    Without a search, the same again.
    """

    searches: tuple[str, ...] = ()
    sure: int = 0
    name: str = ""


def _says(text: str, chinese: str, english: str) -> bool:
    return chinese in text or bool(re.search(rf"\b{english}\b", text, re.IGNORECASE))


def wanted_instead(text: str, line: Line, lines: Sequence[Line]) -> Instead:
    """What the line is to be exchanged for."""
    last: tuple[str, ...] = ()
    for clause, _ in clauses(text):
        named = tuple(found for one in named_in(clause, lines) for found in one.lines)
        match = FOR.search(clause)
        about = named or last
        if match and (not about or line.line_item_id in about):
            asked = next(group for group in match.groups() if group is not None)
            return _instead(clause, asked, line)
        last = named or last
    return Instead()


def _instead(clause: str, asked: str, line: Line) -> Instead:
    name = _name_in(asked, line, any_name=bool(INTO.search(clause)))
    if name:
        exact = (" ".join((*_colours_in(asked), name)),)
        more = tuple(each for each in words_for(asked) if each not in exact)
        return Instead((*exact, *more), sure=1, name=name)
    news = _without_own_name(asked, line)
    for each in KINDS:
        news = re.sub("|".join(each), " ", news, flags=re.IGNORECASE) if _says(line.name, *each) else news
    is_another_kind = any(_says(news, *each) for each in KINDS)
    words = words_for(asked if is_another_kind else news) or KIND.findall(asked)[:1]
    if words or not ANOTHER.search(clause):
        return Instead(tuple(words), sure=len(words))
    own = COLOUR_AT_END.sub("", line.name)
    words = words_for(own) or [own]
    return Instead(tuple(words), sure=len(words), name=own if ONLY_THE_COLOUR.search(clause) else "")


def _name_in(asked: str, line: Line, *, any_name: bool) -> str:
    """A Chinese name of other goods than the line's: with a noun that is known, or, where `any_name`, any words."""
    for _, in_chinese, _ in COLOURS:
        asked = re.sub(rf"(?:{in_chinese})色?", " ", asked)
    for run in CHINESE_RUN.findall(AROUND_A_NAME.sub(" ", asked)):
        known = any(len(noun) > 1 and noun in run for nouns, _ in NOUNS for noun in nouns)
        if (known or any_name) and CHINESE_RUN.search(run) and _without_own_name(run, line).strip():
            return str(run)
    return ""


def _colours_in(text: str) -> list[str]:
    return [name for name, in_chinese, _ in COLOURS if re.search(in_chinese, text)]


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


def fitting(products: Sequence[Data], line: Line, text: str, name: str = "") -> tuple[str, tuple[Data, ...]]:
    """What the products are good for: "exchange" with the one, "which_product" with several, else why none.

    Of those that are called `name` more or less, only the nearest count.
    """
    others = [each for each in products if each.get("product_id") != line.product_id]
    nearest = min((_distance(str(each.get("name")), name) for each in others), default=0)
    others = [each for each in others if _distance(str(each.get("name")), name) == nearest]
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


def _distance(product: str, name: str) -> int:
    """How far a product's name is from the one that was said: 藍牙耳機殼 is no 藍牙耳機."""
    own = COLOUR_AT_END.sub("", product)
    if not name or own == name:
        return 0
    return 1 if own.endswith(name) else 2 if name in own else 3


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
