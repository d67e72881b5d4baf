"""The whole test suite in two runs, told as one: `python -m backoffice.local.suite [arguments of pytest]`.

First what needs no desk, test by test over two cores; then what runs the whole desk, file by file, on two desks.
"""

import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

WHOLE_DESK: Final = (
    "tests/browser",
    "tests/flows",
    "tests/platform/test_demo.py",
    "tests/platform/test_queues.py",
    "tests/platform/test_servers.py",
    "tests/platform/test_supervisor.py",
)
# Each worker needs a hundred connections for the races, and the server has room for two.
SHARED: Final = ("-n", "2", *(f"--ignore={place}" for place in WHOLE_DESK))
# Mostly waiting for a browser, a lease or a sweep: two desks at once take little longer than one.
BY_FILE: Final = ("-n", "2", "--dist", "loadfile", *WHOLE_DESK)
NOTHING_CHOSEN: Final = 5
_COUNT: Final = re.compile(r"(\d+) (passed|failed|skipped|error|xfailed|xpassed|deselected|warning)s?\b")


def run(arguments: Sequence[str], counts: Counter[str]) -> int:
    """One run of pytest, shown as it goes; what its last line counts is added to `counts`. Gives its exit status."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments], stdout=subprocess.PIPE, text=True, errors="replace"
    )
    assert process.stdout is not None
    last = ""
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        last = line if _COUNT.search(line) and " in " in line else last
    for number, what in _COUNT.findall(last):
        counts[what] += int(number)
    return process.wait()


def told(counts: Counter[str], seconds: float) -> str:
    """“4040 passed, 1 failed in 480.20s”"""
    parts = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    return f"{parts or 'no tests ran'} in {seconds:.2f}s"


def runs_for(chosen: Sequence[str]) -> list[list[str]]:
    """The arguments of each run. Whoever names files or folders gets one run of just these."""
    if any(Path(argument.split("::")[0]).exists() for argument in chosen):
        return [[*chosen]]
    return [[*SHARED, *chosen], [*BY_FILE, *chosen]]


def main() -> None:
    chosen, counts, begun = sys.argv[1:], Counter[str](), time.monotonic()
    statuses = {run(arguments, counts) for arguments in runs_for(chosen)}
    print(told(counts, time.monotonic() - begun))
    sys.exit(max(statuses - {0, NOTHING_CHOSEN}, default=NOTHING_CHOSEN if statuses == {NOTHING_CHOSEN} else 0))


if __name__ == "__main__":
    main()
