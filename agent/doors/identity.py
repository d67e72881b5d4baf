"""Who calls a tool, where no page has signed them in: known by a token or the server's shell, never from a call."""

from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User

from agent.copilot import threads
from agent.models import ToolToken
from agent.tools import registry
from agent.tools.base import Tool
from orders.models import Customer

# The tools of colleagues are the copilot's, and each asks for the permissions of what it shows besides.
STAFF_PERMISSION: Final = threads.PERMISSION


@dataclass(frozen=True, slots=True)
class Identity:
    """A customer, who reaches their own orders, or a member of staff, who reaches what their permissions allow."""

    customer: Customer | None = None
    user: User | None = None
    token: ToolToken | None = None

    @property
    def tools(self) -> dict[str, Tool]:
        """The tools that are there for them, by name."""
        return {tool.name: tool for tool in (registry.ORDER_PAGE if self.customer else registry.COPILOT)}


def of_customer(customer: Customer, token: ToolToken | None = None) -> Identity | None:
    """None where the customer's account is switched off."""
    if customer.user is not None and not customer.user.is_active:
        return None
    return Identity(customer=customer, token=token)


def of_staff(user: User, token: ToolToken | None = None) -> Identity | None:
    """None where the account is switched off, or has not, or no longer, the permission."""
    if not (user.is_active and user.has_perm(STAFF_PERMISSION)):
        return None
    return Identity(user=user, token=token)
