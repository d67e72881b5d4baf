"""One thing has one name: the translations keep to the list in docs/words.md."""

import re
from pathlib import Path
from typing import Final

import pytest
from django.utils import translation
from django.utils.translation import gettext

from agent.offline.phrases import PHRASES
from orders.models import Order
from refunds.errors import needs_a_person

ROOT: Final = Path(__file__).resolve().parents[1]
ROW: Final = re.compile(r"^\| (?P<term>[^|]+) \| [^|]+ \| (?P<chinese>[^|]+) \| (?P<never>[^|]+) \|$")
# Words of mainland shops and computers, which a reader in Taiwan stumbles over.
ELSEWHERE: Final = [
    "默認",
    "用戶",
    "賬",
    "視頻",
    "點擊",
    "鏈接",
    "信息",
    "發貨",
    "登錄",
    "質量",
    "屏幕",
    "軟件",
    "網絡",
    "打印",
]


def terms() -> list[dict[str, str]]:
    listed = (ROOT / "docs" / "words.md").read_text().split("<!-- terms -->")[1].split("<!-- /terms -->")[0]
    rows = [found.groupdict() for line in listed.splitlines() if (found := ROW.match(line))]
    return [row for row in rows if row["term"] != "in English" and not row["term"].startswith("---")]


def translations() -> str:
    lines = (ROOT / "locale" / "zh_Hant" / "LC_MESSAGES" / "django.po").read_text().splitlines()
    return "\n".join(line for line in lines if not line.startswith("msgid"))


@pytest.mark.parametrize("row", terms(), ids=lambda row: row["term"])
def test_a_term_alone_is_translated_as_the_list_says(row: dict[str, str]) -> None:
    with translation.override("zh-hant"):
        assert gettext(row["term"]) == row["chinese"]


@pytest.mark.parametrize("row", terms(), ids=lambda row: row["term"])
def test_what_the_list_forbids_stands_nowhere(row: dict[str, str]) -> None:
    written = translations()
    assert [word for word in row["never"].split(", ") if word in written] == []


def test_the_copilot_is_no_person_and_not_the_customers_assistant() -> None:
    assert re.findall(r"(?<!AI )助理", translations()) == []


def test_a_token_of_a_model_is_written_in_one_way() -> None:
    assert re.findall(r"(?<![A-Za-z])tokens?(?![A-Za-z])", translations()) == []


def test_what_an_evaluation_does_with_a_script_is_said_as_people_say_it() -> None:
    written = translations()
    assert "測的是腳本" in written
    assert "量的是" not in written


def test_the_payment_provider_has_its_whole_name_and_a_version_its_number_in_the_middle() -> None:
    written = translations()
    assert re.findall(r".*金流(?!商).*", written) == []
    assert re.findall(r".*(?:版本|規則) %\(version\)s.*", written) == []


def test_customers_are_not_told_of_the_payment_provider() -> None:
    said = [phrase[0] for phrase in PHRASES.values()]
    with translation.override("zh-hant"):
        for because in ("", "cannot_partial", "window_over"):
            refusal = needs_a_person(Order(number="7001"), by_hand=False, by_staff=False, because=because)
            said += [refusal.message, refusal.hint]
    assert [words for words in said if re.search(r"金流|服務商", words)] == []


def test_no_word_of_another_place_stands_anywhere() -> None:
    written = translations()
    assert [word for word in ELSEWHERE if word in written] == []
