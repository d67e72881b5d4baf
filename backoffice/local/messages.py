"""Translations without GNU gettext: `python -m backoffice.local.messages compile`, `extract` or `check`.

`compile` turns every .po file into the .mo file that Django reads, and fails on a placeholder that a translation
changes. `extract` brings the .po files up to date with the sources; what was translated stays translated. `check` says
what is missing, stale or not translated.
"""

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir, extract_python
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("backoffice", "agent", "refunds", "orders", "templates")
METHODS = [
    ("**/tests/**", "ignore"),
    ("**/migrations/**", "ignore"),
    ("**.py", "python"),
    ("**.html", f"{__name__}:extract_template"),
]
KEYWORDS: dict[str, Any] = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop", "translate")),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), ((1, "c"), 2, 3)),
}

HEADER = """\
msgid ""
msgstr ""
"Project-Id-Version: refund-desk\\n"
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

"""


class BrokenTranslation(Exception):
    """A translation that would fail when it is used."""


def compile_stale(folder: Path) -> None:
    """Compile the catalogues whose .mo file is missing or older than the .po file. Raises `BrokenTranslation`."""
    for source in sorted(folder.glob("*/LC_MESSAGES/*.po")):
        target = source.with_suffix(".mo")
        if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
            compile_one(source, target)


def compile_one(source: Path, target: Path) -> None:
    with source.open("rb") as file:
        catalog = read_po(file, locale=source.parts[-3])
    for message, errors in catalog.check():
        raise BrokenTranslation(f"{source}:{message.lineno}: {errors[0]}")
    draft = target.with_suffix(f".{id(catalog)}")  # several runs may compile at once; the rename is atomic
    with draft.open("wb") as file:
        write_mo(file, catalog)
    draft.replace(target)


def extract(folder: Path) -> None:
    """Rewrite every catalogue with the messages now in the sources, sorted, without line numbers and dates."""
    template = messages_in_sources()
    for file in sorted(folder.glob("*/LC_MESSAGES/*.po")):
        with file.open("rb") as before:
            catalog = read_po(before, locale=file.parts[-3])
        catalog.update(template, no_fuzzy_matching=True)
        text = io.BytesIO()
        write_po(text, catalog, width=120, sort_output=True, no_location=True, ignore_obsolete=True, omit_header=True)
        file.write_bytes(HEADER.format(language=file.parts[-3]).encode() + text.getvalue())


def messages_in_sources() -> Catalog:
    template = Catalog()
    for source in SOURCES:
        found = extract_from_dir(ROOT / source, METHODS, keywords=KEYWORDS, comment_tags=["Translators"])
        for _file, _line, message, comments, context in found:
            template.add(message, auto_comments=comments, context=context)
    return template


def check(folder: Path) -> None:
    """Raises `BrokenTranslation` with every message that is missing, stale, unsure or not translated."""
    template = messages_in_sources()
    complaints = []
    for file in sorted(folder.glob("*/LC_MESSAGES/*.po")):
        with file.open("rb") as source:
            catalog = read_po(source, locale=file.parts[-3])
        known, wanted = ({(m.context, m.id) for m in each if m.id} for each in (catalog, template))
        complaints += [f"{file.name}: missing {key[1]!r}" for key in sorted(wanted - known, key=str)]
        complaints += [f"{file.name}: no longer in the sources {key[1]!r}" for key in sorted(known - wanted, key=str)]
        complaints += [f"{file.name}: not translated {m.id!r}" for m in catalog if m.id and not is_translated(m)]
        complaints += [f"{file.name}:{m.lineno}: {errors[0]}" for m, errors in catalog.check()]
    if complaints:
        raise BrokenTranslation("\n".join(complaints))


def is_translated(message: Message) -> bool:
    forms = message.string if isinstance(message.string, list | tuple) else [message.string]
    return all(forms) and not message.fuzzy


def extract_template(file: IO[bytes], keywords: Any, comment_tags: Any, options: Any) -> Iterator[tuple[Any, ...]]:
    """Babel's method for Django templates: Django itself turns them into Python with gettext calls."""
    from django.conf import settings
    from django.utils.translation import templatize

    if not settings.configured:
        settings.configure()
    python = templatize(file.read().decode())
    yield from extract_python(io.BytesIO(python.encode()), keywords, comment_tags, options)


def main(arguments: list[str]) -> None:
    commands = {"compile": compile_stale, "extract": extract, "check": check}
    if len(arguments) != 1 or arguments[0] not in commands:
        sys.exit("usage: python -m backoffice.local.messages compile|extract|check")
    try:
        commands[arguments[0]](ROOT / "locale")
    except BrokenTranslation as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
