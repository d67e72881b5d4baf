"""How fast the chat is, beside the bare SDK, in one run against the same stand-in. Prints a table; it is no test.

    python -m bench.chat [--conversations 1,100,200] [--rounds 3] [--tokens 100]

From the customer's POST to the first text on the page's event stream. At N conversations, N turns are begun within the
time that one reply takes, so that all of them stream at once; then the next round.
"""

import argparse
import asyncio
import os
import statistics
from dataclasses import dataclass

import psutil  # type: ignore[import-untyped]
import uvloop

from backoffice.local.stack import CHAT_WORKERS, Stack
from bench import desk
from bench.visitors import Account, Visitor, wave

ROUNDS_ALONE = 12


@dataclass
class Measured:
    """Of one number of conversations: seconds to first text of both, CPU seconds, and what was not as it must be."""

    conversations: int
    bare: list[float]
    desk: list[float]
    bare_cpu: float
    cpu: dict[str, float]
    seconds: float
    busy: float
    faults: list[str]

    def ratio(self) -> float:
        return self.per_turn(*PAID_FOR) / (self.bare_cpu / max(len(self.bare), 1))

    def per_turn(self, *names: str) -> float:
        return sum(self.cpu.get(name, 0.0) for name in names) / max(len(self.desk), 1)


PAID_FOR = ("web", *CHAT_WORKERS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", default="1,100,200", help="how many at once, one after the other")
    parser.add_argument("--rounds", type=int, default=3, help="turns per conversation where there are several")
    parser.add_argument("--tokens", type=int, default=100, help="length of a reply; 50 come in a second")
    given = parser.parse_args()
    numbers = [int(number) for number in given.conversations.split(",")]
    with desk.running_desk() as stack:
        warm_up(stack)
        request = desk.last_request(stack)
        results = [
            measure(stack, request, number, given.rounds if number > 1 else ROUNDS_ALONE, given.tokens)
            for number in numbers
        ]
    show(results, given.tokens)


def warm_up(stack: Stack) -> None:
    """The first turns of a process import and connect; they are nobody's measure."""
    desk.script(stack, 40, 50)
    uvloop.run(_visit(stack, desk.customers(20, name="warm"), 2, 0.5))


def measure(stack: Stack, request: dict[str, object], conversations: int, rounds: int, tokens: int) -> Measured:
    spread = tokens / desk.TOKENS_PER_SECOND if conversations > 1 else 0.0
    turns = conversations * rounds
    desk.script(stack, turns + 1, tokens)
    bare = desk.bare_sdk(stack, request, conversations, rounds, spread)
    accounts = desk.customers(conversations, name=f"n{conversations}")
    desk.script(stack, turns, tokens)
    before, idle = desk.cpu_seconds(stack), psutil.cpu_times()
    visitors, seconds = uvloop.run(_visit(stack, accounts, rounds, spread))
    after, still = desk.cpu_seconds(stack), psutil.cpu_times()
    faults = [fault for visitor in visitors for fault in visitor.faults]
    faults += against_the_rows(visitors, rounds)
    first = [turn.first_text for visitor in visitors for turn in visitor.turns if turn.first_text is not None]
    cpu = {name: after[name] - before.get(name, 0.0) for name in after}
    busy = 1 - (still.idle - idle.idle) / (seconds * (os.cpu_count() or 1))
    return Measured(conversations, bare["first_text"], first, bare["cpu"], cpu, seconds, busy, faults)


async def _visit(stack: Stack, accounts: list[Account], rounds: int, spread: float) -> tuple[list[Visitor], float]:
    visitors = [Visitor(account, stack.port) for account in accounts]
    await asyncio.gather(*(visitor.open() for visitor in visitors))
    begun = asyncio.get_running_loop().time()
    await wave(visitors, rounds=rounds, spread=spread)
    seconds = asyncio.get_running_loop().time() - begun
    for visitor in visitors:
        await visitor.close()
    return visitors, seconds


def against_the_rows(visitors: list[Visitor], rounds: int) -> list[str]:
    """What a page has heard is exactly what the database has, in its order, and every message was answered once."""
    from agent.models import ConversationEvent, Message

    faults = []
    for visitor in visitors:
        rows = ConversationEvent.objects.filter(conversation__order_id=visitor.account.order_id).order_by("number")
        kept = [(f"{row.conversation_id}-{row.number}", row.kind, row.data) for row in rows]
        if visitor.durable != kept:
            faults.append(f"{visitor.account.number}: the page has {len(visitor.durable)} of {len(kept)} events")
        authors = list(
            Message.objects.filter(conversation__order_id=visitor.account.order_id)
            .order_by("id")
            .values_list("author", flat=True)
        )
        if authors != ["customer", "agent"] * rounds:
            faults.append(f"{visitor.account.number}: {authors}")
    return faults


def show(results: list[Measured], tokens: int) -> None:
    speed = f"first token after {desk.FIRST_TOKEN_MS} ms, then {desk.TOKENS_PER_SECOND} a second"
    print(f"\nReplies of {tokens} tokens; the stand-in: {speed}.")
    print("Time from the customer's POST to the first text on the event stream, in ms; CPU per turn, in ms.")
    print(
        "at once turns |  bare p50  p95 |  desk p50  p95 | added p50  p95 |  CPU bare  web+worker  ratio | not in order"
    )
    for each in results:
        (bare50, bare95), (desk50, desk95) = _middle_and_most(each.bare), _middle_and_most(each.desk)
        print(
            f"{each.conversations:7} {len(each.desk):5} | {bare50:9.0f} {bare95:4.0f} | {desk50:9.0f} {desk95:4.0f} |"
            f" {desk50 - bare50:9.0f} {desk95 - bare95:4.0f} | {each.bare_cpu / len(each.bare) * 1000:9.1f} "
            f"{each.per_turn(*PAID_FOR) * 1000:11.1f} {each.ratio():6.2f} | {len(each.faults):12}"
        )
    print("\nWhere the time of the machine went: CPU ms per turn of every program, and how busy all processors were.")
    for each in results:
        parts = "  ".join(f"{name} {each.per_turn(name) * 1000:.1f}" for name in each.cpu)
        print(f"{each.conversations:7} | {parts} | {each.busy:.0%} of {os.cpu_count()} busy for {each.seconds:.0f} s")
    for fault in [fault for each in results for fault in each.faults][:10]:
        print(f"  not as it must be: {fault}")


def _middle_and_most(seconds: list[float]) -> tuple[float, float]:
    """The median and the 95th percentile, in ms."""
    if len(seconds) < 2:
        return (seconds or [float("nan")])[0] * 1000, float("nan")
    return statistics.median(seconds) * 1000, statistics.quantiles(seconds, n=20, method="inclusive")[-1] * 1000


if __name__ == "__main__":
    main()
