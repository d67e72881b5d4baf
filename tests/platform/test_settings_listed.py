"""`.env.example` lists every setting, and no other."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
READERS = {
    "read",
    "number",
    "boolean",
    "text",
    "address",
    "addresses",
    "parsed",
    "str",
    "list",
    "int",
    "bool",
    "db_url",
    "email_url",
}
# By `make demo`, by the stand-in model, and by the tools over a pipe.
READ_ELSEWHERE = {"PORT", "OFFLINE_FIRST_TOKEN_MS", "OFFLINE_TOKENS_PER_SECOND", "REFUND_DESK_TOOL_TOKEN"}


def names_read_by_settings() -> set[str]:
    """First arguments, in capitals, of the calls that read the environment."""
    names = set()
    for call in ast.walk(ast.parse((ROOT / "backoffice" / "settings.py").read_text())):
        if isinstance(call, ast.Call) and call.args and isinstance(first := call.args[0], ast.Constant):
            reader = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if reader in READERS and re.fullmatch(r"[A-Z][A-Z_]+", str(first.value)):
                names.add(str(first.value))
    return names


def test_every_setting_is_listed_with_a_comment_above_it() -> None:
    lines = (ROOT / ".env.example").read_text().splitlines()
    listed = {match[1]: lines[number - 1] for number, line in enumerate(lines) if (match := entry(line))}

    assert set(listed) == names_read_by_settings() | READ_ELSEWHERE
    assert [name for name, above in listed.items() if not above.startswith("# ") or entry(above)] == []


def entry(line: str) -> re.Match[str] | None:
    return re.match(r"# ([A-Z][A-Z_]+)=", line)
