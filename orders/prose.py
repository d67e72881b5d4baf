"""Sentences put together as the language of the reader does it."""

from django.utils.translation import get_language


def sentences(*parts: str) -> str:
    """Whole sentences, one after the other; empty ones are left out. Chinese puts no space between them."""
    between = "" if (get_language() or "").startswith("zh") else " "
    return between.join(filter(None, parts))
