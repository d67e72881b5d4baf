"""Prompts are files; this reads them."""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent


@cache
def read_prompt(name: str) -> str:
    """The text of `name`.md."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
