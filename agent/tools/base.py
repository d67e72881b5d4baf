"""What a tool is: one object that the chat, the copilot, MCP and the command line are fed from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from django.contrib.auth.models import User
from django.utils.functional import Promise

from agent.models import Conversation, DoorCall
from agent.prompts import read_prompt
from orders.actors import Actor, agent_actor, program_actor
from orders.models import Customer, Order
from refunds.models import RefundQuote

Arguments = Mapping[str, Any]


class CallRow(Protocol):
    """The row of a call, whichever door it came in by. `ref` is what its effects are keyed by."""

    pk: int
    arguments: Any

    @property
    def ref(self) -> str: ...

    @property
    def turn_id(self) -> int | None: ...

    @property
    def tool_use_id(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Context:
    """Who and what a customer's call is about. It comes from the session or the token, never from the model.

    Tools that only read may get a conversation that is not in the database: nothing has been said yet.
    """

    conversation: Conversation
    order: Order
    customer: Customer
    call: CallRow

    @property
    def actor(self) -> Actor:
        by = program_actor if isinstance(self.call, DoorCall) else agent_actor
        return by(
            self.customer,
            conversation_id=self.conversation.pk,
            turn_id=self.call.turn_id,
            tool_call_id=self.call.tool_use_id,
        )


@dataclass(frozen=True, slots=True)
class StaffContext:
    """Who asks as a colleague, and beside which conversation, if any. `actor` is what services ask for permissions."""

    user: User
    actor: Actor
    call: CallRow
    conversation: Conversation | None = None


@dataclass(frozen=True, slots=True)
class CardSpec:
    """A button to put on the customer's page; the call is answered when it is pressed, refused or has expired."""

    kind: str
    expires_at: datetime
    quote: RefundQuote | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)


Outcome = dict[str, Any] | CardSpec


@dataclass(frozen=True, slots=True)
class Tool:
    """`handler` is given a `Context`, or a `StaffContext` where the tool is `for_staff`.

    `reads` is true for tools that change nothing; `suspends` for those that wait for the customer's press.

    `remote` is true for tools that ask somebody outside: the handler runs without transaction and lock, and may run
    again. It may therefore only read, and says by a retryable `Refusal` that asking again may help.

    `schema` is strict and closed; `working` is the short line a customer sees while the tool runs and afterwards: it
    names the step, and the mark beside it says whether it goes on, is done or was refused. The description (what, when,
    when not, what comes next, limits) is a file: prompts/tools/<name>.md.
    """

    name: str
    schema: Mapping[str, Any]
    handler: Callable[[Any, Arguments], Outcome]
    reads: bool
    suspends: bool
    working: str | Promise
    examples: tuple[Mapping[str, Any], ...] = ()
    remote: bool = False
    for_staff: bool = False
    # The file of its description, where another tool of the same name has one, too.
    prompt: str = ""

    @property
    def description(self) -> str:
        return read_prompt(f"tools/{self.prompt or self.name}")

    def schema_without(self, hidden: frozenset[str]) -> dict[str, Any]:
        """The input schema with parameters left out that the harness fills in."""
        properties = {key: value for key, value in self.schema["properties"].items() if key not in hidden}
        required = [key for key in self.schema["required"] if key not in hidden]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def definition(self, hidden: frozenset[str] = frozenset()) -> dict[str, Any]:
        """The tool as the Messages API takes it."""
        body: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "input_schema": self.schema_without(hidden),
            "strict": True,
        }
        if self.examples:
            body["input_examples"] = [
                {key: value for key, value in example.items() if key not in hidden} for example in self.examples
            ]
        return body


ORDER_NUMBER: Mapping[str, Any] = {
    "type": "string",
    "description": "The shop's number of the order, as the customer sees it, for example 5531.",
}


def closed(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """A strict object schema of a customer's tool: every property required, nothing else allowed."""
    fields = {"order_number": ORDER_NUMBER, **properties}
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def or_null(schema: Mapping[str, Any], description: str) -> dict[str, Any]:
    """A parameter that may be left open by giving null: a strict schema knows no other way."""
    return {"anyOf": [dict(schema), {"type": "null"}], "description": description}


LINE_AND_QUANTITY: Mapping[str, Any] = {
    "line_item_id": {"type": "string", "description": "Id of the line as get_order gives it, for example li_2."},
    "quantity": {
        "type": "integer",
        "description": "How many units of this line, a whole number from 1 to what get_order shows for the state.",
    },
}
REASON: Mapping[str, Any] = {
    "type": "string",
    "enum": ["changed_mind", "late_delivery", "defective", "wrong_item", "lost", "other"],
    "description": "Why the customer wants this, from their own words. Use defective only for broken goods, wrong_item "
    "only if other goods arrived, lost only for units whose state is lost.",
}


def line_choices(
    description: str, *, with_reason: bool = True, with_action: bool = False, with_product: bool = False
) -> dict[str, Any]:
    """The array of chosen goods that quotes (with an action), exchanges (with a product) and resending take."""
    fields: dict[str, Any] = dict(LINE_AND_QUANTITY)
    if with_reason:
        fields["reason"] = REASON
    if with_action:
        fields["action"] = or_null(
            {"type": "string", "enum": ["cancel", "return", "lost"]},
            "Needed only if units of this line are in several states; null otherwise.",
        )
    if with_product:
        fields["product_id"] = or_null(
            {"type": "string"},
            "What the customer wants instead: the product_id of another product of exactly the same price, as "
            "search_products or get_product gave it; null for the same product again.",
        )
    item = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {"type": "array", "description": description, "items": item}
