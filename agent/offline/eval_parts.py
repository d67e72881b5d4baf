"""Three parts for the evaluation's raw calls, where an amount has to be filled in. A script, and no model.

- `sharer` gives back the price less the goods' share of every discount, as many systems do.
- `asker` does the first thing at once, then stops and asks.
- `ruler` follows the coupon rule if the prompt has it; without one it hands over whatever a discount touches.

None of them knows a rule that no prompt tells: shipping that becomes due, fees, the shop's fault. With the desk's own
tools no amount is asked for, and all three are the stand-in as it is (`brain`).
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from agent.offline.deciding import Decision, decide, groups
from agent.offline.eval_goods import RawOrder, read_order, settled_by_rule, shared, with_open
from agent.offline.goods import Line
from agent.offline.reading import Answer, Conversation, read, words_of
from agent.offline.replies import Reply, ToolUse
from agent.offline.wishes import understand
from agent.offline.words import Topic, intents_in, topics_in

Data = Mapping[str, Any]
SHARER, ASKER, RULER = "sharer", "asker", "ruler"
PARTS: Final = (SHARER, ASKER, RULER)
# What marks the raw calls: no tool of the desk takes an amount.
CALL: Final = "create_refund"
MODEL: Final = "claude-stand-in-"
_RULE: Final = "The coupon rule:"
_NUMBER: Final = re.compile(r"The customer's order is (\S+)\.")
_TODAY: Final = re.compile(r"Today is (\d{4}-\d\d-\d\d)")
_NAMED: Final = re.compile(r"(?:訂單|order)\s*(?:編號|號碼|number)?\s*([A-Z]+\d[0-9A-Z-]*)", re.IGNORECASE)

# In Chinese and in English.
WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "look": ("我先看一下您的訂單。", "Let me look at your order."),
    "offer_refund": (
        "{goods}可以取消，退款 NT${amount}。可以幫您辦理嗎？",
        "I can cancel {goods} and refund NT${amount}. Shall I?",
    ),
    "offer_lost": ("{goods}可以退款 NT${amount}。可以幫您辦理嗎？", "I can refund {goods} with NT${amount}. Shall I?"),
    "offer_return": (
        "{goods}可以退貨，收到後退款 NT${amount}。可以幫您辦理嗎？",
        "You can return {goods}; after receipt the refund is NT${amount}. Shall I?",
    ),
    "offer_exchange": ("{goods}可以換貨。可以幫您辦理嗎？", "I can exchange {goods}. Shall I?"),
    "ask_amount": (
        "{goods}這部分要退您多少呢？請告訴我金額。",
        "How much should it be for {goods}? Please tell me the amount.",
    ),
    "done": ("好的，辦好了。", "All right, this has been taken care of."),
    "refused": ("系統沒有接受：{message}", "The system did not accept it: {message}"),
    "blocked": (
        "{goods}目前不能取消或退款。需要請同事幫忙嗎？",
        "{goods} cannot be cancelled or refunded now. Shall I ask a colleague?",
    ),
    "which": ("請問是哪一件商品，想怎麼處理呢？", "Which goods do you mean, and what would you like?"),
    "how_many": ("請問{goods}要幾件呢？", "How many of {goods}?"),
    "ticket": ("已經請同事接手，會在這裡回覆您。", "I have asked a colleague to take over; they will answer here."),
    "nothing": ("好的，沒有動任何東西。", "All right, nothing was changed."),
}


@dataclass(frozen=True, slots=True)
class Scene:
    """What a part knows. `number`: the order that it works on."""

    part: str
    conversation: Conversation
    knows_rule: bool
    number: str
    today: date

    def say(self, name: str, **values: object) -> str:
        return WORDS[name][0 if self.conversation.chinese else 1].format(**values)

    @property
    def all_answers(self) -> list[Answer]:
        return [event for event in self.conversation.events if isinstance(event, Answer)]


def plays(body: Data) -> bool:
    """Are these the raw calls of an evaluation?"""
    return any(tool.get("name") == CALL for tool in body.get("tools") or ())


def reply_to(body: Data) -> Reply:
    scene = _scene(body)
    conversation = scene.conversation
    wish = conversation.wish
    topics, intents = topics_in(wish), intents_in(wish)
    agrees = Topic.YES in topics and not intents
    if Topic.PERSON in topics or (agrees and _offered_a_colleague(scene)):
        return _ticket(scene)
    if Topic.NEVER_MIND in topics and not (agrees or _wants(intents)):
        return Reply(scene.say("nothing"))
    order = _order(scene)
    if order is None:
        return Reply(scene.say("look"), (ToolUse("get_order", {"order_number": scene.number}),))
    wish, before = (_last_wish(conversation), "") if agrees else (wish, conversation.wish_before)
    heard = understand(wish, before, order.lines)
    wished = [(heard.wishes[line.line_item_id], line) for line in order.lines if line.line_item_id in heard.wishes]
    decisions = [one for each, line in wished for one in decide(each, line)]
    return _work(scene, order, decisions, agrees=agrees)


def _scene(body: Data) -> Scene:
    system = body.get("system") or ""
    text = system if isinstance(system, str) else "\n".join(block["text"] for block in system)
    conversation = read(body)
    part = str(body["model"]).removeprefix(MODEL)
    own, today = _NUMBER.search(text), _TODAY.search(text)
    number = own[1] if own else ""
    if part == SHARER and (named := _NAMED.search(_last_wish(conversation))):
        # The calls take any number, and this one takes what it is told.
        number = named[1]
    return Scene(
        part=part if part in PARTS else RULER,
        conversation=conversation,
        knows_rule=_RULE in text,
        number=number,
        today=date.fromisoformat(today[1]) if today else date.today(),
    )


def _wants(intents: frozenset[Any]) -> bool:
    return bool(intents - {"changed_mind"})


def _order(scene: Scene) -> RawOrder | None:
    """As it was read in this turn: it may have changed since the last one."""
    found = [each for each in scene.conversation.answers if each.name == "get_order" and not each.is_error]
    fitting = [each for each in found if each.data.get("number") == scene.number] or found
    return with_open(read_order(fitting[-1].data, scene.today), _owed(scene)) if fitting else None


def _owed(scene: Scene) -> Counter[str]:
    """Units that were cancelled in earlier turns and not refunded."""
    owed: Counter[str] = Counter()
    now = {id(each) for each in scene.conversation.answers}
    for each in scene.all_answers:
        if not each.is_error and id(each) not in now and each.name in {"cancel_items", CALL}:
            sign = 1 if each.name == "cancel_items" else -1
            owed.update({line["line_item_id"]: sign * line["quantity"] for line in each.input["lines"]})
    return owed


def _last_wish(conversation: Conversation) -> str:
    """What was wanted, before it was agreed to."""
    for turn in reversed(conversation.turns):
        if intents_in(words := words_of(turn)):
            return words
    return ""


def _offered_a_colleague(scene: Scene) -> bool:
    return any(scene_words[-8:] in scene.conversation.last_words for scene_words in WORDS["blocked"])


def _ticket(scene: Scene) -> Reply:
    if any(each.name == "create_ticket" for each in scene.conversation.answers):
        return Reply(scene.say("ticket"))
    summary = {"order_number": scene.number, "summary": scene.conversation.wish[:300]}
    return Reply("", (ToolUse("create_ticket", summary),))


def _work(scene: Scene, order: RawOrder, decisions: Sequence[Decision], *, agrees: bool) -> Reply:
    """One group of goods after the other: what needs money, then exchanges."""
    todo = [*groups(decisions), *[[one] for one in decisions if one.kind == "exchange"]]
    if not todo:
        return _cannot(scene, decisions)
    if scene.part == RULER and not scene.knows_rule and order.discounts:
        return _ticket(scene)
    refused = [each for each in scene.conversation.answers if each.is_error]
    if refused:
        return Reply(scene.say("refused", message=refused[-1].data.get("message", "")))
    acted = _acted(scene)
    calls, words = [], []
    for group in todo:
        amount = _amount(scene, order, group)
        next_call = _next_call(scene, group, amount, acted, agrees=agrees)
        if next_call is not None:
            calls.append(next_call)
        elif not _is_done(group, acted):
            words.append(_question(scene, group, amount))
    if calls:
        return Reply("", tuple(calls))
    return Reply("\n".join(words) or scene.say("done"))


def _acted(scene: Scene) -> set[tuple[str, str]]:
    """Calls that have succeeded since the goods were last spoken of: (name, line)."""
    made = [each for each in scene.all_answers if not each.is_error and each.input.get("lines")]
    return {(each.name, line["line_item_id"]) for each in made for line in each.input["lines"]}


def _is_done(group: Sequence[Decision], acted: set[tuple[str, str]]) -> bool:
    last = {"cancel": CALL, "lost": CALL}.get(group[0].kind, "create_return")
    return all((last, one.line.line_item_id) in acted for one in group)


def _next_call(
    scene: Scene, group: Sequence[Decision], amount: int | None, acted: set[tuple[str, str]], *, agrees: bool
) -> ToolUse | None:
    """The asker cancels without asking, and fills in an amount only when it has one and was told to go on."""
    if _is_done(group, acted):
        return None
    kind = group[0].kind
    base = {"order_number": scene.number, "lines": [one.to_resend() for one in group]}
    reason = {"reason": group[0].reason}
    may_begin = agrees or scene.part == ASKER
    if kind == "cancel" and not all(("cancel_items", one.line.line_item_id) in acted for one in group):
        return ToolUse("cancel_items", base) if may_begin else None
    if not agrees or (amount is None and kind != "exchange"):
        return None
    if kind in {"cancel", "lost"}:
        return ToolUse(CALL, {**base, "amount": amount, **reason})
    how = (
        {"kind": "exchange", "refund_amount": 0} if kind == "exchange" else {"kind": "refund", "refund_amount": amount}
    )
    return ToolUse("create_return", {**base, **how, **reason})


def _amount(scene: Scene, order: RawOrder, group: Sequence[Decision]) -> int | None:
    """None: there is a discount, and nothing says what becomes of it."""
    units = {one.line.line_item_id: one.quantity for one in group}
    if scene.part == SHARER:
        return shared(order, units)
    if scene.knows_rule:
        return settled_by_rule(order, units)
    return shared(order, units) if not order.discounts else None


def _question(scene: Scene, group: Sequence[Decision], amount: int | None) -> str:
    goods = _names([one.line for one in group], scene)
    kind = group[0].kind
    if kind == "exchange":
        return scene.say("offer_exchange", goods=goods)
    if amount is None:
        return scene.say("ask_amount", goods=goods)
    name = {"return": "offer_return", "lost": "offer_lost"}.get(kind, "offer_refund")
    return scene.say(name, goods=goods, amount=f"{amount:,}")


def _cannot(scene: Scene, decisions: Sequence[Decision]) -> Reply:
    if not decisions or decisions[0].kind == "what":
        return Reply(scene.say("which"))
    name = "how_many" if decisions[0].kind == "how_many" else "blocked"
    return Reply(scene.say(name, goods=_names([one.line for one in decisions], scene)))


def _names(lines: Sequence[Line], scene: Scene) -> str:
    return ("、" if scene.conversation.chinese else ", ").join(f"「{line.title}」" for line in lines)
