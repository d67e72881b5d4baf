"""Translations are compiled without GNU gettext, and a broken one is refused."""

import gettext
from pathlib import Path

import pytest

from backoffice.local.messages import BrokenTranslation, compile_stale

HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'


def catalogue(folder: Path, text: str) -> Path:
    file = folder / "zh_Hant" / "LC_MESSAGES" / "django.po"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(HEADER + text)
    return file


def test_a_catalogue_is_compiled(tmp_path: Path) -> None:
    file = catalogue(tmp_path, 'msgid "Refund %(amount)s"\nmsgstr "退款 %(amount)s"\n')
    compile_stale(tmp_path)

    with file.with_suffix(".mo").open("rb") as compiled:
        assert gettext.GNUTranslations(compiled).gettext("Refund %(amount)s") == "退款 %(amount)s"


def test_a_translation_that_loses_a_placeholder_is_refused(tmp_path: Path) -> None:
    catalogue(tmp_path, '#, python-format\nmsgid "Refund %(amount)s"\nmsgstr "退款 %(sum)s"\n')

    with pytest.raises(BrokenTranslation, match=r"django\.po:5"):
        compile_stale(tmp_path)
