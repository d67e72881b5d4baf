"""Which goods a sentence names: the words of product names, longest first, so that 耳機殼 is not taken for 耳機."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

# Words for the same thing. Chinese names are also asked for in English, and the other way round.
NOUNS: Final[tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = (
    (("耳機", "耳塞"), ("earphone", "headphone", "earbud", "headset", "ear bud", "ear piece")),
    (("保護殼", "保護套", "殼", "套"), ("case", "cover", "sleeve")),
    (("喇叭", "音箱", "音響"), ("speaker",)),
    (("傳輸線", "充電線", "線材", "線"), ("cable", "cord", "lead")),
    (("充電盤", "充電板"), ("charging pad", "wireless charger", "charger")),
    (("充電器", "充電座", "充電頭"), ("charger", "charging dock")),
    (("行動電源", "充電寶"), ("power bank", "powerbank")),
    (("轉接頭", "轉接器"), ("adapter", "adaptor", "dongle")),
    (("集線器",), ("hub",)),
    (("支架", "立架", "架子", "架"), ("stand", "holder", "mount")),
    (("滑鼠墊",), ("mouse pad", "mousepad")),
    (("滑鼠",), ("mouse",)),
    (("鍵盤",), ("keyboard",)),
    (("麥克風",), ("microphone", "mic")),
    (("筆記型電腦", "筆電"), ("laptop", "notebook")),
    (("電腦",), ("computer", "laptop")),
    (("手機",), ("phone",)),
    (("相機",), ("camera",)),
    (("車用",), ("car",)),
    (("記憶卡",), ("memory card", "sd card")),
    (("禮品卡", "禮物卡"), ("gift card",)),
    (("手錶", "腕錶", "錶"), ("watch",)),
    (("錶帶",), ("strap", "band")),
    (("保護貼", "螢幕貼", "保護膜"), ("screen protector", "film")),
    (("背包",), ("backpack",)),
    (("包包", "包"), ("bag",)),
    (("收納袋", "袋子", "袋"), ("pouch", "bag")),
    (("收納盒", "盒子", "盒"), ("box",)),
    (("杯子", "杯"), ("cup", "mug")),
    (("襪子", "襪"), ("sock",)),
    (("衣服", "上衣"), ("shirt", "top")),
    (("帽子", "帽"), ("cap", "hat")),
    (("檯燈", "桌燈", "燈"), ("lamp", "light")),
    (("唱片", "黑膠"), ("record", "vinyl")),
    (("唱盤",), ("turntable", "record player")),
    (("海報",), ("poster",)),
)
RUN: Final = re.compile(r"[\u3400-\u9fff]+|[A-Za-z0-9][A-Za-z0-9.+-]*")
BRACKETS: Final = re.compile(r"[（(【\[].*?[)）】\]]")
COLOUR_AT_END: Final = re.compile(r"(?<=[^\s])\s+[黑白紅藍綠粉灰銀金紫黃橘棕米](?:色|色款|款)?$")
ONE_CHARACTER: Final = frozenset("殼套杯錶架燈襪帽")
HEAD, PART = 0, 1


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the order as get_order gives it."""

    line_item_id: str
    name: str
    quantity: int
    units: tuple[Mapping[str, Any], ...]
    category: str = ""
    price: int = 0
    product_id: str = ""

    @property
    def title(self) -> str:
        """The name for a sentence. A product name is data: a long one is cut."""
        return self.name if len(self.name) <= 40 else f"{self.name[:39]}…"


@dataclass(frozen=True, slots=True)
class Named:
    """A place in the text that names goods; several lines when the words fit several."""

    start: int
    end: int
    lines: tuple[str, ...]


def lines_of(order: Mapping[str, Any]) -> list[Line]:
    return [
        Line(
            str(line["line_item_id"]),
            str(line["name"]),
            int(line["quantity"]),
            tuple(line.get("units") or ()),
            category=str(line.get("category") or ""),
            price=int(line.get("unit_price") or 0),
            product_id=str(line.get("product_id") or ""),
        )
        for line in order.get("lines") or ()
    ]


def named_in(text: str, lines: Sequence[Line]) -> list[Named]:
    """The goods a text names, from left to right."""
    found: dict[tuple[int, int], dict[str, int]] = {}
    for line in lines:
        for alias, rank in aliases(line.name):
            for start, end in _places(alias, text):
                ranks = found.setdefault((start, end), {})
                ranks[line.line_item_id] = min(rank, ranks.get(line.line_item_id, rank))
    taken: list[Named] = []
    for (start, end), ranks in sorted(found.items(), key=lambda item: (item[0][0] - item[0][1], min(item[1].values()))):
        if any(start < other.end and other.start < end for other in taken):
            continue
        best = min(ranks.values())
        taken.append(Named(start, end, tuple(line for line, rank in ranks.items() if rank == best)))
    return _without_owners(text, sorted(taken, key=lambda named: named.start))


def _without_owners(text: str, named: list[Named]) -> list[Named]:
    """In "the case for my earphones" only the case is meant."""
    kept: list[Named] = []
    for one in named:
        between = text[kept[-1].end : one.start] if kept else ""
        if not (kept and re.fullmatch(r"\s*(?:for|of) (?:my |the |these |those )?", between, re.IGNORECASE)):
            kept.append(one)
    return kept


def _places(alias: str, text: str) -> Iterator[tuple[int, int]]:
    pattern = re.escape(alias)
    if alias.isascii():
        pattern = rf"(?<![A-Za-z0-9]){pattern}(?:e?s)?(?![A-Za-z0-9])"
    for match in re.finditer(pattern, text, re.IGNORECASE):
        yield match.span()


def aliases(name: str) -> Iterator[tuple[str, int]]:
    """What a product may be called, and whether that is its head noun (HEAD) or only a part of its name (PART)."""
    plain = BRACKETS.sub(" ", name).strip() or name
    yield plain, HEAD
    runs = RUN.findall(plain)
    for run in runs:
        yield from _chinese(run) if not run.isascii() else _latin(run)
    latin = [run for run in runs if run.isascii()]
    for start in range(len(latin)):
        yield " ".join(latin[start:]), HEAD
    yield from _other_language(plain)


def _chinese(run: str) -> Iterator[tuple[str, int]]:
    for start in range(len(run)):
        for end in range(start + 2, len(run) + 1):
            yield run[start:end], HEAD if end == len(run) else PART
    if run[-1] in ONE_CHARACTER:
        yield run[-1], HEAD


def _latin(word: str) -> Iterator[tuple[str, int]]:
    if len(word) > 2 and not word.isdigit():
        yield word.removesuffix("s"), PART


def _other_language(name: str) -> Iterator[tuple[str, int]]:
    """Other words for the head noun and for what stands before it, above all in the other language."""
    name = COLOUR_AT_END.sub("", name)
    if name.isascii():
        for chinese, english in NOUNS:
            if any(re.search(rf"\b{word}s?\b", name, re.IGNORECASE) for word in english):
                is_head = any(re.search(rf"\b{word}s?$", name, re.IGNORECASE) for word in english)
                yield from ((word, HEAD if is_head else PART) for word in chinese)
        return
    ends = [group for group in NOUNS if name.endswith(group[0])][:1]
    # One character inside a name says little: 無線 is no cable.
    parts = [group for group in NOUNS if group not in ends and any(len(word) > 1 and word in name for word in group[0])]
    befores = {word for _, english in parts for word in english}
    for chinese, english in ends:
        yield from ((word, HEAD) for word in chinese if len(word) > 1)
        for head in english:
            yield head, HEAD
            yield from ((f"{before}{plural} {head}", HEAD) for before in befores for plural in ("", "s"))
    yield from ((word, PART) for word in befores)
