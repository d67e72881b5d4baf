"""Sentences put together as the language of the reader does it."""

from collections.abc import Iterable

from django.utils.translation import get_language


def aside(name: object, said: object) -> str:
    """“rf_… (succeeded)”, with the brackets of the language; only the name where there is nothing to say of it."""
    if not said:
        return str(name)
    return f"{name}（{said}）" if _is_chinese() else f"{name} ({said})"


def sentences(*parts: str) -> str:
    """Whole sentences, one after the other; empty ones are left out. Chinese puts no space between them."""
    between = "" if _is_chinese() else " "
    return between.join(filter(None, parts))


def listed(things: Iterable[str]) -> str:
    """Names one after the other, as the language separates them."""
    return ("、" if _is_chinese() else ", ").join(things)


def labelled(label: str, texts: Iterable[str]) -> str:
    """“Refunds: rf_… (paid); rf_… (refused)”: what a line is about, and what there is of it."""
    colon, between = ("：", "；") if _is_chinese() else (": ", "; ")
    return f"{label}{colon}{between.join(texts)}"


def _is_chinese() -> bool:
    return (get_language() or "").startswith("zh")
