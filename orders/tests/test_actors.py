"""Who may do what is for staff alone: the one question that every such service asks first."""

import pytest

from orders.actors import Actor, NotAllowed, agent_actor, system_actor
from orders.tests import cast

pytestmark = pytest.mark.django_db
PERMISSION = "orders.handle_shipments"


def test_staff_with_the_permission_may_and_are_named() -> None:
    assert cast.staff("warehouse").require_staff(PERMISSION) == cast.staff_user("warehouse")


def test_nobody_else_may_not_even_who_is_asked_for_no_permission() -> None:
    others = [
        cast.staff("auditor"),
        cast.shopper(),
        agent_actor(cast.customer("ming")),
        system_actor("sweeper"),
        Actor(kind="staff", name="an account that is gone"),
    ]
    for actor in others:
        with pytest.raises(NotAllowed) as refused:
            actor.require_staff(PERMISSION)
        assert refused.value.permission == PERMISSION
    cast.shopper().require(PERMISSION)  # held to their own orders instead
