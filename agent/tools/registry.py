"""Which tools there are, and which of them the order page offers."""

from typing import Any

from agent.tools.address import UPDATE_SHIPPING_ADDRESS
from agent.tools.ask import CREATE_RETURN, QUOTE_REFUND, REFUND_ITEMS
from agent.tools.base import Tool
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
COPILOT: tuple[Tool, ...] = ()
BY_NAME = {tool.name: tool for tool in ORDER_PAGE}

# On an order page the order is known: the harness fills it in and the model does not see the parameter.
HIDDEN_ON_ORDER_PAGE = frozenset({"order_number"})


def definitions() -> list[dict[str, Any]]:
    """The order page's tools as the Messages API takes them, in a fixed order (a stable prefix can be cached)."""
    tools = [tool.definition(HIDDEN_ON_ORDER_PAGE) for tool in ORDER_PAGE]
    tools[-1]["cache_control"] = {"type": "ephemeral"}
    return tools
