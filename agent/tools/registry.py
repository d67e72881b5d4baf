"""Which tools there are, and which of them the order page offers."""

from typing import Any

from agent.tools.address import UPDATE_SHIPPING_ADDRESS
from agent.tools.ask import CREATE_RETURN, QUOTE_REFUND, REFUND_ITEMS
from agent.tools.base import Tool
from agent.tools.copilot_customers import CUSTOMERS_SEARCH
from agent.tools.copilot_orders import ORDERS_GET_PAYMENT_CONTEXT, ORDERS_SEARCH
from agent.tools.copilot_quotes import QUOTE_REFUND_FOR_STAFF
from agent.tools.copilot_tickets import DRAFT_REPLY, TICKETS_SEARCH
from agent.tools.delivery import ESTIMATE_DELIVERY
from agent.tools.goodwill import PROPOSE_COMPENSATION
from agent.tools.person import HAND_OFF_TO_HUMAN
from agent.tools.read import GET_ORDER, LIST_REFUNDS, LIST_SHIPMENTS
from agent.tools.resend import RESEND_ITEMS
from agent.tools.shop import GET_PRODUCT, SEARCH_PRODUCTS

ORDER_PAGE: tuple[Tool, ...] = (
    GET_ORDER,
    LIST_SHIPMENTS,
    LIST_REFUNDS,
    QUOTE_REFUND,
    REFUND_ITEMS,
    CREATE_RETURN,
    RESEND_ITEMS,
    UPDATE_SHIPPING_ADDRESS,
    SEARCH_PRODUCTS,
    GET_PRODUCT,
    ESTIMATE_DELIVERY,
    PROPOSE_COMPENSATION,
    HAND_OFF_TO_HUMAN,
)
# What the staff's copilot may call: it reads and drafts, and cannot act.
COPILOT: tuple[Tool, ...] = (
    CUSTOMERS_SEARCH,
    ORDERS_SEARCH,
    ORDERS_GET_PAYMENT_CONTEXT,
    TICKETS_SEARCH,
    QUOTE_REFUND_FOR_STAFF,
    DRAFT_REPLY,
)
BY_NAME = {tool.name: tool for tool in ORDER_PAGE}
COPILOT_BY_NAME = {tool.name: tool for tool in COPILOT}

# On an order page the order is known: the harness fills it in and the model does not see the parameter.
HIDDEN_ON_ORDER_PAGE = frozenset({"order_number"})


def definitions() -> list[dict[str, Any]]:
    """The order page's tools as the Messages API takes them, in a fixed order (a stable prefix can be cached)."""
    return _cached([tool.definition(HIDDEN_ON_ORDER_PAGE) for tool in ORDER_PAGE])


def copilot_definitions() -> list[dict[str, Any]]:
    """The same for the staff's copilot, where no order is known and every parameter is shown."""
    return _cached([tool.definition() for tool in COPILOT])


def _cached(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    tools[-1]["cache_control"] = {"type": "ephemeral"}
    return tools
