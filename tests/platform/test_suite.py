"""`make test`: two runs that are told as one."""

from collections import Counter
from pathlib import Path

from backoffice.local.suite import WHOLE_DESK, run, runs_for, told


def test_the_whole_suite_is_two_runs_that_leave_no_folder_out() -> None:
    shared, by_file = runs_for([])
    assert {f"--ignore={place}" for place in WHOLE_DESK} < {*shared}
    assert by_file == ["-n", "2", "--dist", "loadfile", *WHOLE_DESK]
    assert all(Path(place).exists() for place in WHOLE_DESK)


def test_whoever_names_files_gets_one_run_of_just_these() -> None:
    assert runs_for(["refunds", "-k", "coupon"]) == [["refunds", "-k", "coupon"]]
    assert runs_for(["tests/test_architecture.py::test_the_rules_are_pure"]) == [
        ["tests/test_architecture.py::test_the_rules_are_pure"]
    ]
    assert len(runs_for(["-k", "coupon"])) == 2


def test_a_run_that_fails_is_counted_and_fails(tmp_path: Path) -> None:
    failing = tmp_path / "test_it.py"
    failing.write_text("def test_good(): pass\ndef test_bad(): assert not 'good'\n")
    counts: Counter[str] = Counter()
    assert run(["-q", "-c", "/dev/null", "-p", "no:django", str(failing)], counts) == 1
    assert counts == {"passed": 1, "failed": 1}
    assert told(counts + Counter(passed=3), 1.5) == "1 failed, 4 passed in 1.50s"
