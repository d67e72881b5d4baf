"""Every sentence of the product can be read in both languages."""

from pathlib import Path

import pytest

from backoffice.local.messages import BrokenTranslation, check

LOCALE = Path(__file__).resolve().parents[1] / "locale"


def test_every_message_is_translated_and_none_is_left_over() -> None:
    check(LOCALE)


def test_a_missing_a_stale_and_an_empty_translation_are_each_named(tmp_path: Path) -> None:
    file = tmp_path / "zh_Hant" / "LC_MESSAGES" / "django.po"
    file.parent.mkdir(parents=True)
    file.write_text('msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\nmsgid "Gone"\nmsgstr "不在了"\n')
    with pytest.raises(BrokenTranslation, match="missing 'My orders'") as refused:
        check(tmp_path)
    assert "no longer in the sources 'Gone'" in str(refused.value)

    complete = (LOCALE / "zh_Hant" / "LC_MESSAGES" / "django.po").read_text()
    file.write_text(complete.replace('msgstr "我的訂單"', 'msgstr ""'))
    with pytest.raises(BrokenTranslation, match="not translated 'My orders'"):
        check(tmp_path)
