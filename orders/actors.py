"""Who does something: made at the entry point (view, API, task, tool), handed to the service, kept in the audit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import PermissionDenied

from orders.models import Customer

ActorKind = Literal["customer", "staff", "agent", "system"]


class NotAllowed(PermissionDenied):
    """The actor lacks the permission. `permission` is its full name, `app.codename`. A page answers 403."""

    def __init__(self, permission: str) -> None:
        super().__init__(permission)
        self.permission = permission


@dataclass(frozen=True, slots=True)
class Actor:
    """`customer` is whose goods are meant for kinds customer and agent; `correlation` says through what it came."""

    kind: ActorKind
    name: str
    user: User | None = None
    customer: Customer | None = None
    correlation: Mapping[str, Any] = field(default_factory=dict)

    def require(self, permission: str) -> None:
        """Staff need the permission; a customer and the agent are held to their own orders instead (`access.py`).

        Raises `NotAllowed`.
        """
        if self.kind == "staff" and not (self.user and self.user.has_perm(permission)):
            raise NotAllowed(permission)

    def require_staff(self, permission: str) -> User:
        """The account of the member of staff who has the permission: a thing for staff alone. Raises `NotAllowed`."""
        if self.kind != "staff" or self.user is None:
            raise NotAllowed(permission)
        self.require(permission)
        return self.user


def staff_actor(user: User | AbstractBaseUser | AnonymousUser, **correlation: Any) -> Actor:
    assert isinstance(user, User)
    return Actor(kind="staff", name=user.get_full_name() or user.username, user=user, correlation=correlation)


def customer_actor(customer: Customer, **correlation: Any) -> Actor:
    return Actor(kind="customer", name=customer.name, user=customer.user, customer=customer, correlation=correlation)


def agent_actor(customer: Customer, **correlation: Any) -> Actor:
    return Actor(kind="agent", name="agent", customer=customer, correlation=correlation)


def program_actor(customer: Customer, **correlation: Any) -> Actor:
    """A program of the customer's own, which calls tools from outside: it may what the assistant may."""
    return Actor(kind="agent", name="program", customer=customer, correlation=correlation)


def system_actor(name: str, **correlation: Any) -> Actor:
    return Actor(kind="system", name=name, correlation=correlation)
