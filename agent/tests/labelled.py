"""The labelled sentences of `agent/tests/sentences`, row by row."""

import csv
from pathlib import Path
from typing import Final

SENTENCES: Final = Path(__file__).parent / "sentences"
OPEN: Final = ("claims_open.tsv", "claims_second_open.tsv", "claims_third_open.tsv")


def labelled(file: str) -> list[dict[str, str]]:
    with (SENTENCES / file).open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE))
