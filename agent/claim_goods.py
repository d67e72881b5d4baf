"""Which goods of an order a clause names: by the whole name or by its end, “藍牙耳機” or “耳機”, “red cap” or “cap”."""

import re
from collections.abc import Mapping
from typing import Final

from agent.claim_text import smoothed

SHORTEST_END: Final = 2
_WIDE: Final = re.compile(r"[\u3400-\u9fff]")


def goods_named(clause: str, names: Mapping[int, str]) -> frozenset[int]:
    """The keys of the lines that a smoothed clause names. `names`: by a line's key, as the shop writes them.

    Two lines of the same name are both meant. An end that belongs to several names means none of them.
    """
    written = {key: smoothed(name) for key, name in names.items()}
    found = {key for key, name in written.items() if name and name in clause}
    # “耳機殼” is no “耳機”: whole names are taken out before ends are looked for.
    for name in sorted(set(written.values()), key=len, reverse=True):
        clause = clause.replace(name, " ") if name else clause
    return frozenset(found | {key for key, name in written.items() if _is_meant(name, clause, set(written.values()))})


def _is_meant(name: str, clause: str, names: set[str]) -> bool:
    return any(
        _stands_in(end, clause) and not any(other != name and other.endswith(end) for other in names)
        for end in _ends(name)
    )


def _ends(name: str) -> list[str]:
    """Of a name in Chinese the last signs, of any other the last words."""
    if _WIDE.search(name[-1:]):
        places = range(1, len(name) - SHORTEST_END + 1)
        return [name[place:] for place in places if _WIDE.fullmatch(name[place])]
    words = name.split()
    return [" ".join(words[place:]) for place in range(1, len(words))]


def _stands_in(end: str, clause: str) -> bool:
    if _WIDE.search(end):
        return end in clause
    return re.search(rf"\b{re.escape(end)}\b", clause) is not None
