"""What the story of order 5531 costs, through the real loop: requests, tokens, caching, money. Prints; it is no test.

    python -m bench.story

The whole desk runs with the stand-in. The customer writes, presses both buttons and asks twice more.
"""

import json
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from backoffice.local.stack import DIRECT, Stack
from bench import desk

SENTENCE = "耳機左耳沒聲音，耳機殼也還沒寄到，我不想等了"
LATER = ("退款多久會到？", "謝謝，那換貨要怎麼寄回？")
PATIENCE_SECONDS = 60


def main() -> None:
    with desk.running_desk() as stack:
        order_id = live_through()
        show(order_id, requests(stack))


def live_through() -> int:
    """The story, as its customer lives it; the order's row."""
    from agent.models import Card
    from agent.tests.helpers import hear, press
    from orders.tests import cast

    order = cast.order_5531()
    hear(order, SENTENCE, language="zh-hant")
    wait_until_over(order.pk)
    for card in Card.objects.filter(conversation__order=order, state="open").order_by("created_at"):
        press(card)
    wait_until_over(order.pk)
    for words in LATER:
        hear(order, words, language="zh-hant")
        wait_until_over(order.pk)
    return order.pk


def wait_until_over(order_id: int) -> None:
    """Until the worker has done, or waits for a press."""
    from agent.models import Turn

    until = time.monotonic() + PATIENCE_SECONDS
    while Turn.objects.filter(conversation__order_id=order_id, state__in=["queued", "running"]).exists():
        if time.monotonic() > until:
            raise SystemExit("The turn did not end in time.")
        time.sleep(0.1)


def requests(stack: Stack) -> list[dict[str, Any]]:
    """The bodies that the stand-in was sent, in order."""
    with DIRECT.open(f"{stack.env['ANTHROPIC_BASE_URL']}/control/log", timeout=10) as answer:
        log: list[dict[str, Any]] = json.load(answer)["requests"]
    return [entry["body"] for entry in log if entry["path"] == "/v1/messages" and entry["status"] == 200]


def prefix(body: dict[str, Any]) -> Iterator[bytes]:
    """The request's parts in the order of the prompt cache, without its marks."""
    for part in [*body["tools"], *body["system"]]:
        yield json.dumps({**part, "cache_control": None}, ensure_ascii=False).encode()
    for message in body["messages"]:
        for block in message["content"]:
            yield json.dumps([message["role"], {**block, "cache_control": None}], ensure_ascii=False).encode()


def shared_bytes(before: dict[str, Any], after: dict[str, Any]) -> int:
    """How many bytes both begin with, in whole parts."""
    total = 0
    for one, other in zip(prefix(before), prefix(after), strict=False):
        if one != other:
            break
        total += len(one)
    return total


def show(order_id: int, bodies: list[dict[str, Any]]) -> None:
    from agent.models import ModelCall
    from agent.usage import cached_share, dollars

    calls = list(ModelCall.objects.filter(conversation__order_id=order_id).order_by("pk"))
    print("\nThe story of order 5531, request by request. Tokens as the stand-in counts them.")
    print("turn step |  afresh  written  cached  out | read from the cache | cost")
    for call in calls:
        line(f"{call.turn_id:4} {call.number:4}", [call])
    line("all      ", calls)
    lengths = [sum(map(len, prefix(body))) for body in bodies]
    kept = [shared_bytes(*pair) for pair in pairwise(bodies)]
    total, sent = sum(lengths[:-1]), sum(lengths)
    print(f"\n{len(bodies)} requests, {sent} bytes sent.")
    print(f"Stable prefix: {share(sum(kept), total)} of each request stands unchanged at the beginning of the next;")
    print(f"{share(sum(kept), sent)} of everything that was sent had been sent before. Cost: ", end="")
    print(dollars(sum(call.cost_micro for call in calls)))
    print("Share of the input that came from the cache: ", end="")
    afresh = sum(call.input_tokens + call.written_tokens for call in calls)
    print(cached_share(afresh=afresh, cached=sum(call.cached_tokens for call in calls)))


def line(name: str, calls: list[Any]) -> None:
    from agent.usage import cached_share, dollars

    fields = ("input_tokens", "written_tokens", "cached_tokens", "output_tokens")
    afresh, written, cached, output = (sum(getattr(call, field) for call in calls) for field in fields)
    part = cached_share(afresh=afresh + written, cached=cached)
    cost = dollars(sum(call.cost_micro for call in calls))
    print(f"{name} | {afresh:7} {written:8} {cached:7} {output:4} | {part:>19} | {cost}")


def share(part: int, whole: int) -> str:
    return f"{part * 100 / whole:.1f}%" if whole else "nothing"


if __name__ == "__main__":
    main()
