"""The raw toolsets: the same model in a plain loop, with the calls of the API and an amount to fill in.

There is no button here: consent is what the customer says. `raw_with_rule` has the coupon rule in its prompt.
"""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.utils import timezone

from agent import client, spending
from agent.client import ModelFailed
from backoffice.evals import raw_tools
from backoffice.evals.talk import Talk
from backoffice.evals.tasks import ENGLISH, Step
from backoffice.evals.world import World

PROMPTS: Final = Path(__file__).with_name("prompts")
MICRO_IN_A_CENT: Final = 10_000
TRIES: Final = 3
# How often a customer agrees, as long as each time something comes of it.
MOST_AGREED: Final = 3
# What a customer waits for who wants one of these ends.
KINDS: Final = {
    ("create_refund", None): "refund",
    ("create_return", "refund"): "return",
    ("create_return", "exchange"): "exchange",
}
WAITS_FOR: Final = {"refunds": "refund", "returns": "return", "exchanges": "exchange"}
AGREES: Final = {ENGLISH: "Yes, please."}
REFUSES: Final = {ENGLISH: "Never mind, please leave everything as it is."}
AGREES_CHINESE: Final = "好，麻煩你了。"
REFUSES_CHINESE: Final = "算了，維持原樣就好。"


class RawDesk:
    """The agent's side of a raw talk. `with_rule` puts the coupon rule into the prompt."""

    def __init__(self, world: World, talk: Talk, *, with_rule: bool) -> None:
        self.world, self.talk = world, talk
        self.messages: list[dict[str, Any]] = []
        # How many calls had been made when the customer last said what they want, and when they last agreed to a kind.
        self._said = 0
        self._since: dict[str, int] = {}
        prompt = (PROMPTS / "raw.md").read_text(encoding="utf-8")
        prompt = prompt.format(number=world.order.number, today=timezone.localdate().isoformat())
        self.system = prompt + ((PROMPTS / "coupon_rule.md").read_text(encoding="utf-8") if with_rule else "")
        self.tools = [tool.definition() for tool in raw_tools.TOOLS]
        self.tools[-1]["cache_control"] = {"type": "ephemeral"}

    def step(self, step: Step) -> None:
        language = self.world.task.language
        if step.kind == "says":
            self._said, self._since = len(self.talk.calls), {}
            self.says(self.world.words(step.value))
        elif step.kind == "presses":
            self._agree(self._wanted(step.value), AGREES.get(language, AGREES_CHINESE))
        elif step.kind == "declines":
            self.says(REFUSES.get(language, REFUSES_CHINESE))

    def _agree(self, wanted: set[str], words: str) -> None:
        """To what there is to agree to; and to what comes up after it, as our customer presses that too."""
        for _ in range(MOST_AGREED):
            done = self._acts(wanted)
            if done == wanted:
                break
            self.says(words)
            if self._acts(wanted) == done:
                break
        self._since |= dict.fromkeys(wanted, len(self.talk.calls))

    def _wanted(self, kind: str) -> set[str]:
        """The kinds of cards that would be there to press."""
        if kind != "all":
            return {kind}
        ends = self.world.task.expect
        return {card for name, card in WAITS_FOR.items() if any(getattr(end, name) for end in ends)}

    def is_waiting_for_words(self, step: Step) -> bool:
        """Has nothing been done yet of what the customer would press?"""
        return not self._acts(self._wanted(step.value))

    def close(self) -> None:
        """Everything has been read when it was said."""

    def says(self, text: str) -> None:
        self.talk.add("customer", text)
        if self.talk.broken:
            return
        self.messages.append({"role": "user", "content": [{"type": "text", "text": text}]})
        for _ in range(settings.AGENT_MAX_STEPS):
            if self.talk.used.cost_micro >= settings.AGENT_MAX_CENTS_PER_CONVERSATION * MICRO_IN_A_CENT:
                self.talk.broken = "conversation_spend"
                return
            reply = self._ask()
            if reply is None or not self._act(reply):
                return
        self.talk.broken = "steps"

    def _ask(self) -> client.Reply | None:
        for attempt in range(1, TRIES + 1):
            self.talk.used.requests += 1
            try:
                reply = client.reply_to(
                    system=[{"type": "text", "text": self.system, "cache_control": {"type": "ephemeral"}}],
                    tools=self.tools,
                    messages=self.messages,
                    on_text=lambda words: None,
                    going_on=lambda: True,
                )
            except ModelFailed as failure:
                if failure.usage is not None:
                    self._count(failure.usage)
                if attempt == TRIES or failure.retry_forbidden:
                    self.talk.broken = failure.ending.name
            else:
                self._count(reply.usage)
                return reply
            if self.talk.broken:
                return None
        return None

    def _count(self, usage: client.Usage) -> None:
        used = self.talk.used
        used.fresh += usage.fresh + usage.written
        used.cached += usage.cached
        used.output += usage.output
        used.cost_micro += spending.cost_micro(
            model=usage.model,
            fresh=usage.fresh,
            written=usage.written,
            cached=usage.cached,
            output=usage.output,
        )

    def _act(self, reply: client.Reply) -> bool:
        """Run what the reply calls. False: it was the agent's last word for now."""
        words = "\n\n".join(block["text"] for block in reply.content if block.get("type") == "text")
        if words:
            self.talk.add("agent", words)
        if reply.content:
            self.messages.append({"role": "assistant", "content": reply.content})
        if reply.stop_reason != "tool_use":
            return False
        results = []
        for block in reply.content:
            if block.get("type") == "tool_use":
                result, is_error = raw_tools.run(block["name"], block["input"])
                self.talk.add("tool", name=block["name"], input=block["input"], result=result, is_error=is_error)
                content = json.dumps(result, ensure_ascii=False)
                results.append(
                    {"type": "tool_result", "tool_use_id": block["id"], "content": content, "is_error": is_error}
                )
        self.messages.append({"role": "user", "content": results})
        return True

    def _acts(self, kinds: Collection[str]) -> set[str]:
        """Which of these kinds of cards a call has done the work of, since the customer last wanted that."""
        found = {
            KINDS[entry.name, entry.input.get("kind")]: place
            for place, entry in enumerate(self.talk.calls)
            if not entry.is_error and entry.name in {"create_refund", "create_return"}
        }
        return {kind for kind in kinds if found.get(kind, -1) >= self._since.get(kind, self._said)}
