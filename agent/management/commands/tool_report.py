"""What stored calls say about how the tools read. `docs/tools.md` says what to do about it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agent.tool_report import COLLEAGUES, report


class Command(BaseCommand):
    help = "Which tool errs most and how, what was asked again, left open by the rules, stopped half-way or read twice."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--days", type=int, default=7, help="so many days back from now (7)")
        parser.add_argument("--json", action="store_true", help="print it as JSON")

    def handle(self, *args: Any, days: int, **options: Any) -> None:
        if not 1 <= days <= 3660:
            raise CommandError("--days is a whole number from 1 to 3660.", returncode=2)
        now = timezone.now()
        found = report(since=now - timedelta(days=days), until=now)
        self.stdout.write(
            json.dumps(found, ensure_ascii=False) if options["json"] else "\n".join(in_words(found, days))
        )


def in_words(found: Mapping[str, Any], days: int) -> Iterator[str]:
    models = sum(each["count"] for each in found["model_calls"])
    calls = sum(_calls(each) for each in found["tools"])
    yield f"The last {days} days: {found['turns']} turns, {models} model calls, {calls} tool calls."
    yield "Addresses lead to the newest turns, talks with the copilot and sessions of programs in which it happened."
    yield from _section("Tools, the most refused first", _tools(found["tools"]))
    yield from _section("Asked again in other words, after a refusal or a search that found nothing", _again(found))
    yield from _section("The rules do not say", _counted(found["rules_are_silent"]))
    yield from _section("Stopped between quote and button", _stopped(found["stopped_half_way"]))
    yield from _section("Turns that failed, by what for", _failed(found["failed_turns"]))
    yield from _section("Read twice: the same call with the same arguments", _counted(found["read_twice"]))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    told = list(lines)
    yield ""
    yield title
    yield from told or ["  none"]


def _calls(row: Mapping[str, Any]) -> int:
    return int(row["chat"] + row["copilot"] + row["outside"])


def _tool(row: Mapping[str, Any]) -> str:
    """Two tools may have one name: that of colleagues says so."""
    return f"{row['tool']} (for colleagues)" if row["for"] == COLLEAGUES else str(row["tool"])


def _tools(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        calls = _calls(row)
        counted = "1 call" if calls == 1 else f"{calls} calls"
        outside = f" ({row['outside']} from outside)" if row["outside"] else ""
        yield f"  {_tool(row)}: {counted}{outside}, {row['errors']} refused ({row['errors'] / calls:.0%})"
        for code in row["codes"]:
            about = f" of {code['field']}" if code["field"] else ""
            yield f"    {code['count']} × {code['code']}{about}"
            yield from (f"      {link}" for link in code["links"])


def _again(found: Mapping[str, Any]) -> Iterator[str]:
    for row in found["asked_again"]:
        changed = ", ".join(f"{each['argument']} {each['count']}" for each in row["changed"])
        yield f"  {row['count']} × {_tool(row)} after {row['code']}: {row['came_right']} came right; changed: {changed}"
        yield from (f"    {link}" for link in row["links"])


def _counted(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield f"  {row['count']} × {' '.join(filter(None, [_tool(row), row.get('code', '')]))}"
        yield from (f"    {link}" for link in row["links"])


def _failed(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield f"  {row['count']} × {row['error']}"
        yield from (f"    {link}" for link in row["links"])


def _stopped(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield f"  turn {row['turn']}: {row['error'] or row['state']} after {row['quote_id']}"
        yield f"    {row['link']}"
