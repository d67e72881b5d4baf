"""Was something paid twice? Which payments look alike, what has become of each, and which orders to follow up."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from agent.offline.copilot_reading import Question, Result
from agent.offline.copilot_words import listed, say
from agent.offline.replies import Reply, ToolUse

NEAR: Final = timedelta(hours=72)
AT_ONCE: Final = 6
MOST_LOOKED_AT: Final = 18
BLOCKED: Final = frozenset({"no_answer", "not_connected"})
Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Paid:
    """A payment as the list of orders has it."""

    payment_id: str
    order: str
    key: tuple[Any, ...]
    at: datetime


def report(question: Question, pages: Sequence[Result], chinese: bool, *, begin: datetime) -> Reply:
    """The next calls, or what was found."""
    paid = [each for page in pages for order in page.data["orders"] for each in _payments(order)]
    groups = _groups(paid)
    wanted = list(dict.fromkeys(each.order for group in groups for each in group))
    seen = {str(result.asked.get("order_number")): result for result in question.all("orders_get_payment_context")}
    missing = [number for number in wanted if number not in seen][:AT_ONCE]
    if missing and len(seen) < MOST_LOOKED_AT:
        calls = tuple(ToolUse("orders_get_payment_context", {"order_number": number}) for number in missing)
        return Reply(say(chinese, "looking_payments"), calls)
    count = sum(len(page.data["orders"]) for page in pages)
    return Reply(_Told(chinese, groups, seen).text(question, begin, orders=count, payments=len(paid)))


def _payments(order: Data) -> Iterable[Paid]:
    for payment in order["payments"]:
        key = (payment["amount"], payment["currency"], payment["method"], payment["last4"])
        yield Paid(
            str(payment["payment_id"]),
            str(order["order_number"]),
            key,
            datetime.fromisoformat(payment["captured_at"]),
        )


def _groups(paid: Iterable[Paid]) -> list[list[Paid]]:
    """Payments of one amount by one method and card, each at most three days behind the one before."""
    groups: list[list[Paid]] = []
    for each in sorted(paid, key=lambda one: (str(one.key), one.at)):
        last = groups[-1][-1] if groups else None
        if last is not None and last.key == each.key and each.at - last.at <= NEAR:
            groups[-1].append(each)
        else:
            groups.append([each])
    found = [group for group in groups if len(group) > 1]
    return sorted(found, key=lambda group: group[0].at, reverse=True)


class _Told:
    def __init__(self, chinese: bool, groups: Sequence[Sequence[Paid]], seen: Mapping[str, Result]) -> None:
        self.chinese, self.groups = chinese, groups
        self.known = {
            str(payment["payment_id"]): payment
            for result in seen.values()
            if not result.is_error
            for payment in result.data["payments"]
        }
        self.to_follow: list[str] = []
        self.blocked: list[str] = []
        self.not_looked: list[str] = []
        self.lines: list[str] = []

    def say(self, phrase: str, **values: Any) -> str:
        return say(self.chinese, phrase, **values)

    def text(self, question: Question, begin: datetime, *, orders: int, payments: int) -> str:
        for group in self.groups:
            self._group(group)
        now = question.now or begin
        zone = "台灣時間" if self.chinese and f"{now:%z}" == "+0800" else f"{now:%z}"
        period = self.say("period", begin=begin.date().isoformat(), end=now.date().isoformat(), zone=zone, count=orders)
        return "\n".join([*self._answer(payments), *self.lines, period])

    def _answer(self, payments: int) -> list[str]:
        told = []
        if self.to_follow:
            told.append(self.say("follow_up", orders=self._bold(self.to_follow)))
        if self.blocked:
            told.append(self.say("blocked", orders=self._bold(self.blocked)))
        if self.not_looked:
            told.append(self.say("not_looked", count=len(self.not_looked)))
        if not told:
            told.append(self.say("nothing_to_follow"))
            if not self.groups:
                told.append(self.say("no_alike", payments=payments))
        return told

    def _bold(self, orders: Sequence[str]) -> str:
        return listed(self.chinese, [f"**{number}**" for number in orders])

    def _group(self, group: Sequence[Paid]) -> None:
        if any(each.payment_id not in self.known for each in group):
            self.not_looked += [each.order for each in group]
            return
        facts = [(each, self.known[each.payment_id]) for each in group]
        if any(payment["charge_state"] in BLOCKED for _, payment in facts):
            self.blocked += [each.order for each in group]
            return
        standing = [pair for pair in facts if not self._is_dealt_with(*pair)]
        if len(standing) < 2:
            return
        self.to_follow += [each.order for each, _ in standing]
        first, last = standing[0][0].at, standing[-1][0].at
        self.lines.append(
            self.say(
                "alike",
                orders=listed(self.chinese, [each.order for each, _ in standing]),
                amount=standing[0][1]["display"],
                label=standing[0][1]["label"],
                apart=self._apart(last - first),
            )
        )

    def _is_dealt_with(self, each: Paid, payment: Data) -> bool:
        """Says why, if it is: no money came, or all of it has gone back or is about to."""
        words = {"order": each.order, "amount": payment["display"]}
        if payment["charge_state"] == "failed":
            self.lines.append(self.say("failed", **words))
            return True
        elsewhere = [line for line in payment["refunds_only_at_provider"] if line["state"] == "succeeded"]
        if elsewhere:
            self.to_follow.append(each.order)
            self.lines.append(self.say("only_there", order=each.order, amount=payment["display"]))
            there = sum(int(line["amount"]) for line in elsewhere)
            return there + int(payment["given_back"]) >= int(payment["amount"])
        if payment["left"] > 0:
            return False
        refunds = [part for part in payment["refunds"] if part["state"] not in {"rejected", "expired"}]
        done = all(part["part_state"] == "succeeded" for part in refunds)
        if not done:
            self.to_follow.append(each.order)
        numbers = listed(self.chinese, [part["refund_id"] for part in refunds])
        self.lines.append(self.say("given_back" if done else "on_its_way", **words, refunds=numbers))
        return True

    def _apart(self, gap: timedelta) -> str:
        minutes = int(gap.total_seconds() // 60)
        return self.say("minutes", count=minutes) if minutes < 120 else self.say("hours", count=minutes // 60)
