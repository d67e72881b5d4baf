"""The few marks of Markdown that a chat shows: bold, lists, line breaks, links within this site.

Everything else stays the characters it is. `static/js/chat/rich.js` draws the same from the same text; a test in
`tests/pages` and the browser tests hold them together.
"""

import re
from collections.abc import Iterator
from typing import Final

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

_BULLET: Final = re.compile(r"^\s*[-*•]\s+(.*)$")
_NUMBERED: Final = re.compile(r"^\s*[0-9]{1,3}[.)]\s+(.*)$")
_HEADING: Final = re.compile(r"^#{1,6}\s+(.*)$")
_INLINE: Final = re.compile(r"\*\*(?P<bold>[^*\n]+)\*\*|\[(?P<label>[^\]\n]+)\]\((?P<path>/(?!/)[^\s()\\]*)\)")


def as_html(text: str) -> SafeString:
    """Escaped first, marked up after: nothing that was written can become an element of its own."""
    return mark_safe("".join(_blocks(text)))


def _blocks(text: str) -> Iterator[str]:
    paragraph: list[str] = []
    items: list[str] = []
    tag = ""
    for line in [*text.split("\n"), ""]:
        kind, content = _kind_of(line)
        if items and kind != tag:
            yield f"<{tag}>{''.join(f'<li>{item}</li>' for item in items)}</{tag}>"
            items = []
        if paragraph and kind != "p":
            yield f"<p>{'<br>'.join(paragraph)}</p>"
            paragraph = []
        if kind in {"ul", "ol"}:
            tag = kind
            items.append(_inline(content))
        elif kind == "h":
            yield f"<p><strong>{_inline(content)}</strong></p>"
        elif kind == "p":
            paragraph.append(_inline(content))


def _kind_of(line: str) -> tuple[str, str]:
    if not line.strip():
        return "", ""
    for kind, pattern in (("ul", _BULLET), ("ol", _NUMBERED), ("h", _HEADING)):
        if found := pattern.match(line):
            return kind, found[1]
    return "p", line.strip()


def _inline(text: str) -> str:
    parts: list[str] = []
    end = 0
    for found in _INLINE.finditer(text):
        parts.append(escape(text[end : found.start()]))
        if found["bold"]:
            parts.append(f"<strong>{escape(found['bold'])}</strong>")
        else:
            parts.append(f'<a href="{escape(found["path"])}">{escape(found["label"])}</a>')
        end = found.end()
    return "".join([*parts, escape(text[end:])])
