"""How well promises are found, measured on labelled sentences: `sentences/README.md`.

The numbers are printed at the end of every run (`conftest.py`). Those set aside are read here alone, and only counted.
"""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from agent.promises import promises_in

SENTENCES: Final = Path(__file__).parent / "sentences"


def read(file: str) -> list[dict[str, str]]:
    with (SENTENCES / file).open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize(
    ("name", "file", "recall", "precision"),
    [
        ("open sentences", "promises_open.tsv", 0.95, 0.9),
        ("sentences set aside", "promises_held_out.tsv", 0.8, 0.8),
    ],
)
def test_what_is_promised_is_told_from_what_is_not(
    name: str, file: str, recall: float, precision: float, record_property: Callable[[str, object], None]
) -> None:
    rows = read(file)
    promised = {row["sentence"] for row in rows if row["label"] == "promise"}
    found = {row["sentence"] for row in rows if promises_in(row["sentence"])}
    told = (
        f"promises, {name}: precision {len(found & promised) / len(found):.3f}, "
        f"recall {len(found & promised) / len(promised):.3f} "
        f"({len(found & promised)} of {len(promised)} promises found, {len(found - promised)} of "
        f"{len(rows) - len(promised)} others taken for some)"
    )
    record_property("measured", told)
    assert len(found & promised) >= recall * len(promised), told
    assert len(found & promised) >= precision * len(found), told


def test_a_third_of_the_sentences_is_set_aside_and_both_languages_are_in_both() -> None:
    opened, aside = read("promises_open.tsv"), read("promises_held_out.tsv")
    assert 0.3 <= len(aside) / len(opened + aside) <= 0.4
    for rows in (opened, aside):
        assert {(row["label"], row["language"]) for row in rows} == {
            (label, language) for label in ("promise", "none") for language in ("zh", "en")
        }
    assert not {row["sentence"] for row in opened} & {row["sentence"] for row in aside}
