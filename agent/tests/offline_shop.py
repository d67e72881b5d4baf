"""A shop made of fixed JSON, in the shapes of the order page's tools, for talking with the stand-in alone.

It knows no rule of money: amounts are looked up. What is tested with it is what the stand-in says and calls.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.offline import brain
from agent.offline.reading import ASKING
from agent.offline.replies import Reply
from agent.offline.request_rules import check_request
from agent.tools.registry import definitions

Data = dict[str, Any]
CAN = {"unfulfilled": ["cancel"], "delivered": ["return", "exchange"], "lost": ["lost", "resend"]}
CARD = [{"method": "card", "last4": "4242", "label": "", "amount": 230, "display": "NT$230"}]
STEPS = [
    {"code": "returned_goods", "params": {"lines": []}, "amount": 380, "text": "耳機殼", "display": "NT$380"},
    {
        "code": "coupon_lost",
        "params": {"label": "滿 1,500 折 150"},
        "amount": -150,
        "text": "折價券「滿 1,500 折 150」不再適用",
        "display": "−NT$150",
    },
]
WHY_230 = "耳機殼 NT$380 − 折價券「滿 1,500 折 150」不再適用 NT$150 = NT$230"


def line(line_item_id: str, name: str, *units: Data, price: int = 1200) -> Data:
    return {
        "line_item_id": line_item_id,
        "name": name,
        "product_id": f"SKU-{line_item_id}",
        "category": "audio",
        "unit_price": price,
        "display_price": f"NT${price:,}",
        "quantity": sum(one["quantity"] for one in units),
        "units": list(units),
    }


def units(state: str, quantity: int = 1, **more: Any) -> Data:
    return {"state": state, "quantity": quantity, "date": "2026-11-23", "can": CAN.get(state, []), "text": "", **more}


def product(name: str, price: int = 1200, *, in_stock: bool | None = True, category: str = "audio") -> Data:
    return {
        "product_id": f"SKU-{name}",
        "name": name,
        "category": category,
        "price": price,
        "display": f"NT${price:,}",
        "currency": "TWD",
        "in_stock": in_stock,
        "available": 3 if in_stock else 0,
        "description": "",
    }


def story_lines() -> list[Data]:
    return [
        line("li_1", "藍牙耳機", units("delivered", return_until="2026-11-30")),
        line("li_2", "耳機殼", units("unfulfilled"), price=380),
    ]


@dataclass
class Shop:
    """`presses` says how each card ends, in order; more cards than that are confirmed."""

    lines: list[Data] = field(default_factory=story_lines)
    shipments: list[Data] = field(default_factory=list)
    refunds: list[Data] = field(default_factory=list)
    returns: list[Data] = field(default_factory=list)
    presses: list[Data] = field(default_factory=list)
    products: list[Data] = field(default_factory=list)
    estimates: list[Data] = field(default_factory=list)
    address: Data | None = None
    to: list[Data] = field(default_factory=lambda: CARD)
    amount: int = 230
    broken: dict[str, list[Data]] = field(default_factory=dict)
    quotes: dict[str, Data] = field(default_factory=dict)
    calls: list[tuple[str, Data]] = field(default_factory=list)

    def answer(self, name: str, arguments: Data) -> tuple[Data, bool]:
        """The tool's result, and whether it is an error. `broken` holds errors that come first."""
        self.calls.append((name, arguments))
        if self.broken.get(name):
            return self.broken[name].pop(0), True
        tool: Callable[[Data], Data] = getattr(self, name)
        result = tool(arguments)
        return result, "code" in result

    def get_order(self, arguments: Data) -> Data:
        return {
            "order_number": "5531",
            "currency": "TWD",
            "today": "2026-11-29",
            "customer_name": "王小明",
            "lines": self.lines,
            "shipping": {"method": "home_delivery", "charged": 0, "display": "NT$0", "address": self.address},
            "payments": [{"payment_id": "pay_1", "method": "card", "last4": "4242", "amount": 1430}],
            "refunds": self.refunds,
            "returns": self.returns,
            "open_cards": [],
        }

    def list_shipments(self, arguments: Data) -> Data:
        return {"shipments": self.shipments, "note": "All parcels of this order."}

    def list_refunds(self, arguments: Data) -> Data:
        return {"refunds": self.refunds, "returns": self.returns, "note": ""}

    def quote_refund(self, arguments: Data) -> Data:
        quote_id = f"rq_{len(self.quotes) + 1:020d}"
        names = {one["line_item_id"]: one["name"] for one in self.lines}
        action = arguments["lines"][0]["action"] or "cancel"
        quote = {
            "quote_id": quote_id,
            "order_number": "5531",
            "action": action,
            "state": "open",
            "amount": self.amount,
            "currency": "TWD",
            "display": f"NT${self.amount:,}",
            "lines": [{**one, "name": names[one["line_item_id"]]} for one in arguments["lines"]],
            "steps": STEPS,
            "explanation": WHY_230,
            "expires_at": "2026-11-29T10:15:00+08:00",
            "policy_version": 1,
            "to": self.to,
            "refund": None,
            "return": None,
        }
        self.quotes[quote_id] = quote
        return quote

    def refund_items(self, arguments: Data) -> Data:
        quote = self.quotes[arguments["quote_id"]]
        refund = {
            "refund_id": "rf_7",
            "state": "pending",
            "state_text": "退款中",
            "amount": quote["amount"],
            "display": quote["display"],
            "to": self.to,
            "created_at": "2026-11-29T10:02:00+08:00",
        }
        return self._pressed({"status": "confirmed", "refund": refund, "explanation": quote["explanation"]})

    def create_return(self, arguments: Data) -> Data:
        quote = self.quotes.get(arguments["quote_id"] or "")
        made = {
            "return_id": "rt_9",
            "kind": "refund" if quote else "exchange",
            "state": "requested",
            "display": quote["display"] if quote else "",
            "instructions": "請在七天內寄回。",
        }
        return self._pressed({"status": "confirmed", "return": made})

    def resend_items(self, arguments: Data) -> Data:
        return self._pressed({"status": "confirmed", "replacement": {"replacement_id": "rp_4", "kind": "lost"}})

    def update_shipping_address(self, arguments: Data) -> Data:
        return self._pressed({"status": "confirmed", "shipping_address": arguments})

    def search_products(self, arguments: Data) -> Data:
        words, category = arguments["words"].lower().split(), arguments["category"]
        fitting = [each for each in self.products if all(word in each["name"].lower() for word in words)]
        return {"products": [each for each in fitting if category in {None, each["category"]}], "note": ""}

    def get_product(self, arguments: Data) -> Data:
        return next(each for each in self.products if each["product_id"] == arguments["product_id"])

    def estimate_delivery(self, arguments: Data) -> Data:
        return {"today": "2026-11-29", "estimates": self.estimates, "note": ""}

    def propose_compensation(self, arguments: Data) -> Data:
        amount = arguments["compensation_ntd"]
        return {"status": "proposed", "approval_id": "ap_5", "amount": amount, "display": f"NT${amount:,}"}

    def hand_off_to_human(self, arguments: Data) -> Data:
        return {"status": "handed_off", "message": "同事會在這裡回覆。"}

    def _pressed(self, confirmed: Data) -> Data:
        return self.presses.pop(0) if self.presses else confirmed


@dataclass
class Talk:
    """A conversation between a customer and the stand-in, by way of the real tools' schemas and the API's rules."""

    shop: Shop = field(default_factory=Shop)
    messages: list[Data] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)

    def say(self, *texts: str) -> str:
        """The customer writes; the agent works until it has had its say. Returns all its words of this turn."""
        for text in texts:
            self._add("user", [{"type": "text", "text": text}])
        return self.go_on()

    def go_on(self) -> str:
        words = []
        for _ in range(20):
            reply = self._think()
            words.append(reply.text)
            if not reply.tool_uses:
                return "\n".join(words)
        raise AssertionError(f"no end: {words}")

    def until_a_card(self, text: str) -> None:
        """The customer writes; the agent works until a card has been pressed, and has not spoken since."""
        self._add("user", [{"type": "text", "text": text}])
        while not any(use.name in ASKING for use in self._think().tool_uses):
            pass

    def _think(self) -> Reply:
        body = {"model": "claude-sonnet-5-5", "max_tokens": 2048, "messages": self.messages, "tools": definitions()}
        reply = brain.reply_to(check_request(body))
        content = reply.content()
        self.replies.append(reply)
        self._add("assistant", content)
        results = [self._result(block) for block in content if block["type"] == "tool_use"]
        if results:
            self._add("user", results)
        return reply

    def _result(self, block: Data) -> Data:
        result, is_error = self.shop.answer(block["name"], block["input"])
        content = json.dumps(result, ensure_ascii=False)
        return {"type": "tool_result", "tool_use_id": block["id"], "content": content, "is_error": is_error}

    def _add(self, role: str, blocks: Sequence[Data]) -> None:
        if self.messages and self.messages[-1]["role"] == role:
            self.messages[-1]["content"].extend(blocks)
        else:
            self.messages.append({"role": role, "content": list(blocks)})

    @property
    def calls(self) -> list[str]:
        return [name for name, _ in self.shop.calls]

    def called(self, name: str) -> list[Data]:
        """The arguments of every call of one tool."""
        return [arguments for called, arguments in self.shop.calls if called == name]
