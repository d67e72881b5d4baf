"""The bare SDK: the same request as the desk's, streamed in as many threads, in one process that does nothing else.

    python -m bench.bare ADDRESS CONVERSATIONS ROUNDS SPREAD < request.json

Prints JSON: `first_text` in seconds per turn, `cpu` in seconds of the process for all turns together.
"""

import json
import resource
import sys
import threading
import time
from typing import Any

import anthropic


def main(address: str, conversations: int, rounds: int, spread: float, request: dict[str, Any]) -> dict[str, Any]:
    client = anthropic.Anthropic(api_key="bench", base_url=address, max_retries=0)
    first: list[float] = []
    _turn(client, request, [])  # what the first call imports is nobody's turn
    before = _cpu()
    for _ in range(rounds):
        begun = time.monotonic()
        places = [begun + spread * place / conversations for place in range(conversations)]
        threads = [threading.Thread(target=_turn, args=(client, request, first, at)) for at in places]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return {"first_text": first, "cpu": _cpu() - before}


def _turn(client: anthropic.Anthropic, request: dict[str, Any], first: list[float], at: float = 0.0) -> None:
    time.sleep(max(at - time.monotonic(), 0))
    begun, seen = time.monotonic(), False
    with client.messages.stream(**request) as stream:
        for _ in stream.text_stream:
            if not seen:
                seen = True
                first.append(time.monotonic() - begun)
        stream.get_final_message()


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    asked.pop("stream", None)
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), asked)))
