"""The description of the API is whole: a web process that makes it writes no warning into its log."""

from pathlib import Path

from django.core.management import call_command


def test_it_is_made_without_a_warning(tmp_path: Path) -> None:
    call_command("spectacular", file=str(tmp_path / "api.yml"), fail_on_warn=True, validate=True)
