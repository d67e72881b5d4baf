"""The raw toolsets: the same model in a plain loop, with the calls of the API and an amount to fill in.

There is no button here: consent is what the customer says. `raw_with_rule` has the coupon rule in its prompt.
"""

import json
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
AGREES: Final = {ENGLISH: "Yes, please."}
REFUSES: Final = {ENGLISH: "Never mind, please leave everything as it is."}
AGREES_CHINESE: Final = "好，麻煩你了。"
REFUSES_CHINESE: Final = "算了，維持原樣就好。"


class RawDesk:
    """The agent's side of a raw talk. `with_rule` puts the coupon rule into the prompt."""

    def __init__(self, world: World, talk: Talk, *, with_rule: bool) -> None:
        self.world, self.talk = world, talk
        self.messages: list[dict[str, Any]] = []
        prompt = (PROMPTS / "raw.md").read_text(encoding="utf-8")
        prompt = prompt.format(number=world.order.number, today=timezone.localdate().isoformat())
        self.system = prompt + ((PROMPTS / "coupon_rule.md").read_text(encoding="utf-8") if with_rule else "")
        self.tools = [tool.definition() for tool in raw_tools.TOOLS]
        self.tools[-1]["cache_control"] = {"type": "ephemeral"}

    def step(self, step: Step) -> None:
        language = self.world.task.language
        if step.kind == "says":
            self.says(self.world.words(step.value))
        elif step.kind == "presses":
            if not self._has_acted():
                self.says(AGREES.get(language, AGREES_CHINESE))
        elif step.kind == "declines":
            self.says(REFUSES.get(language, REFUSES_CHINESE))

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

    def _has_acted(self) -> bool:
        """Has money moved already, or been promised, so that there is nothing left to agree to?"""
        made = {entry.name for entry in self.talk.calls if not entry.is_error}
        return bool(made & {"create_refund", "create_return"})
