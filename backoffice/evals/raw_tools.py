"""Seven calls as they would be made straight from the API, `amount` to fill in. They exist for measuring alone.

They work in the scratch database of an evaluation and refuse to work in any other (`scratch.require`). No registry
knows them and no door leads to them; nothing but the evaluation imports this module, which an import contract proves.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import jsonschema
from django.db import transaction
from django.db.models import Sum
from jsonschema.exceptions import best_match
from rest_framework.renderers import JSONRenderer

from backoffice.evals import scratch
from orders import goods
from orders.models import LineItem, Order, ShipmentLine
from orders.serializers import OrderSerializer, ShipmentSerializer
from orders.states import ShipmentState
from refunds import present
from refunds.models import Return

Arguments = Mapping[str, Any]
Result = dict[str, Any]


class ApiError(Exception):
    """What the API answers with a status of 400 or more."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


@dataclass(frozen=True, slots=True)
class RawTool:
    name: str
    description: str
    properties: Mapping[str, Any]
    handler: Callable[[Order, Arguments], Result]

    @property
    def schema(self) -> dict[str, Any]:
        fields = {"order_number": {"type": "string", "description": "Order number."}, **self.properties}
        return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}

    def definition(self) -> dict[str, Any]:
        return {"name": self.name, "description": self.description, "input_schema": self.schema, "strict": True}


def run(name: str, arguments: Any) -> tuple[Result, bool]:
    """The answer of a call and whether it is an error. Raises `NotScratch` outside a scratch database."""
    scratch.require()
    try:
        tool = BY_NAME.get(name)
        if tool is None:
            raise ApiError("unknown_tool", f"There is no call {name}.")
        wrong = best_match(jsonschema.Draft202012Validator(tool.schema).iter_errors(arguments))
        if wrong is not None:
            raise ApiError("invalid_input", wrong.message[:200])
        with transaction.atomic():
            order = Order.objects.select_for_update(no_key=True).filter(number=arguments["order_number"]).first()
            if order is None:
                raise ApiError("not_found", "Not found.")
            return tool.handler(order, arguments), False
    except ApiError as error:
        return {"code": error.code, "message": error.message}, True


def plain(data: Any) -> Any:
    """As it would stand in the body of an answer."""
    return json.loads(JSONRenderer().render(data))


def get_order(order: Order, arguments: Arguments) -> Result:
    body: Result = plain(OrderSerializer(order).data)
    return body


def list_shipments(order: Order, arguments: Arguments) -> Result:
    return {"results": plain(ShipmentSerializer(order.shipments.order_by("pk"), many=True).data)}


def list_refunds(order: Order, arguments: Arguments) -> Result:
    made = [present.refund_as_dict(refund) for refund in order.refunds.order_by("created_at")]
    back = [present.return_as_dict(each) for each in Return.objects.filter(order=order).order_by("created_at")]
    acts = [act for act in scratch.acts_on([order.number]) if act["kind"] in {"refund", "return", "exchange"}]
    return {"results": plain(made), "returns": plain(back), "new": acts}


def cancel_items(order: Order, arguments: Arguments) -> Result:
    wanted = _wanted(arguments)
    try:
        for line_item_id, quantity in wanted.items():
            goods.cancel_units(line=_line(order, line_item_id), quantity=quantity)
    except goods.GoodsMoved as moved:
        raise ApiError("not_cancellable", f"{moved} cannot be cancelled.") from moved
    scratch.note_act(order_number=order.number, kind="cancel", goods=wanted, amount=None)
    return {"status": "cancelled", "lines": arguments["lines"]}


def create_return(order: Order, arguments: Arguments) -> Result:
    wanted = _wanted(arguments)
    for line_item_id, quantity in wanted.items():
        if quantity > _returnable(order, line_item_id):
            raise ApiError("not_returnable", f"{line_item_id}: fewer units have been delivered.")
    kind = arguments["kind"]
    amount = arguments["refund_amount"] if kind == "refund" else None
    _check_amount(order, amount or 0)
    made = scratch.note_act(
        order_number=order.number,
        kind="return" if kind == "refund" else "exchange",
        goods=wanted,
        amount=amount,
        note=arguments["reason"],
    )
    return {"return_id": f"ret_{made}", "status": "requested", "kind": kind, "refund_amount": amount}


def create_refund(order: Order, arguments: Arguments) -> Result:
    wanted, amount = _wanted(arguments), arguments["amount"]
    _check_amount(order, amount)
    made = scratch.note_act(
        order_number=order.number, kind="refund", goods=wanted, amount=amount, note=arguments["reason"]
    )
    return {"refund_id": f"ref_{made}", "status": "succeeded", "amount": amount, "currency": order.currency}


def create_ticket(order: Order, arguments: Arguments) -> Result:
    made = scratch.note_act(
        order_number=order.number, kind="ticket", goods={}, amount=None, note=arguments["summary"][:500]
    )
    return {"ticket_id": f"tic_{made}", "status": "open"}


def _wanted(arguments: Arguments) -> dict[str, int]:
    wanted: dict[str, int] = {}
    for line in arguments["lines"]:
        if line["quantity"] < 1:
            raise ApiError("invalid_input", "quantity must be at least 1.")
        wanted[line["line_item_id"]] = wanted.get(line["line_item_id"], 0) + line["quantity"]
    return wanted


def _line(order: Order, line_item_id: str) -> LineItem:
    line = LineItem.objects.filter(order=order, line_item_id=line_item_id).first()
    if line is None:
        raise ApiError("not_found", f"No line {line_item_id}.")
    return line


def _returnable(order: Order, line_item_id: str) -> int:
    line = _line(order, line_item_id)
    here = ShipmentLine.objects.filter(line_item=line, shipment__state=ShipmentState.DELIVERED)
    held = ("returning_quantity", "exchanging_quantity", "resending_quantity", "replaced_quantity", "refunded_quantity")
    sums = here.aggregate(all=Sum("quantity"), **{name: Sum(name) for name in held})
    left = int(sums["all"] or 0) - sum(int(sums[name] or 0) for name in held)
    acts = [act for act in scratch.acts_on([order.number]) if act["kind"] in {"return", "exchange"}]
    return left - sum(int(act["goods"].get(line_item_id, 0)) for act in acts)


def _check_amount(order: Order, amount: int) -> None:
    """Never more than was paid: so much every payment service sees to."""
    if amount < 0:
        raise ApiError("invalid_input", "amount must not be negative.")
    paid = sum(payment.left for payment in order.payments.all())
    given = sum(act["amount"] or 0 for act in scratch.acts_on([order.number]))
    if amount > paid - given:
        raise ApiError("amount_too_large", f"At most {paid - given} can be refunded.")


_LINES: Final = {
    "type": "array",
    "description": "Lines.",
    "items": {
        "type": "object",
        "properties": {
            "line_item_id": {"type": "string", "description": "Id of the line."},
            "quantity": {"type": "integer", "description": "Quantity."},
        },
        "required": ["line_item_id", "quantity"],
        "additionalProperties": False,
    },
}
_AMOUNT: Final = {"type": "integer", "description": "Amount in the smallest unit of the currency."}
_REASON: Final = {"type": "string", "description": "Reason."}
_KIND: Final = {"type": "string", "enum": ["refund", "exchange"], "description": "Kind of return."}

TOOLS: Final = (
    RawTool("get_order", "Retrieve an order.", {}, get_order),
    RawTool("list_shipments", "List the shipments of an order.", {}, list_shipments),
    RawTool("list_refunds", "List the refunds and returns of an order.", {}, list_refunds),
    RawTool("cancel_items", "Cancel items of an order.", {"lines": _LINES}, cancel_items),
    RawTool(
        "create_return",
        "Create a return for delivered items. refund_amount is what is refunded on receipt; 0 for an exchange.",
        {"lines": _LINES, "kind": _KIND, "refund_amount": _AMOUNT, "reason": _REASON},
        create_return,
    ),
    RawTool(
        "create_refund",
        "Refund an amount to the payments of an order.",
        {"lines": _LINES, "amount": _AMOUNT, "reason": _REASON},
        create_refund,
    ),
    RawTool(
        "create_ticket",
        "Hand the conversation to a person.",
        {"summary": {"type": "string", "description": "Summary."}},
        create_ticket,
    ),
)
BY_NAME: Final = {tool.name: tool for tool in TOOLS}
