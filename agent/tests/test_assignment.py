"""Whose job a conversation is: given, taken and left, and never the customer's business."""

import pytest

from agent import assignment, people
from agent.models import Conversation
from agent.tests.helpers import hear, newest_turn, talk, told
from orders.actors import NotAllowed
from orders.errors import InvalidInput
from orders.models import AuditEvent, Order
from orders.tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def moves() -> list[dict[str, str | None]]:
    return [event.chosen for event in AuditEvent.objects.filter(action="conversation.assigned").order_by("pk")]


def test_it_is_given_to_a_colleague_and_to_nobody_again_and_the_history_says_so(order: Order) -> None:
    assignment.assign(conversation=talk(order), actor=cast.staff("supervisor"), to=cast.staff_user())
    assert talk(order).assignee == cast.staff_user()
    assignment.assign(conversation=talk(order), actor=cast.staff(), to=None)
    assert talk(order).assignee is None
    assert moves() == [{"to": "staff", "from": None}, {"to": None, "from": "staff"}]


def test_the_assistant_goes_on_and_the_customers_page_hears_nothing(order: Order) -> None:
    before = (talk(order).last_event, talk(order).updated_at, newest_turn(order).state)
    assignment.assign(conversation=talk(order), actor=cast.staff(), to=cast.staff_user())
    assert (talk(order).last_event, talk(order).updated_at, newest_turn(order).state) == before
    assert talk(order).owner is None
    assert told(order, "conversation") == []


def test_giving_it_to_the_same_again_changes_nothing(order: Order) -> None:
    for _ in range(2):
        assignment.assign(conversation=talk(order), actor=cast.staff(), to=cast.staff_user())
    assert len(moves()) == 1


@pytest.mark.parametrize("role", ["warehouse", "auditor"])
def test_only_who_may_answer_gives_and_gets(order: Order, role: str) -> None:
    with pytest.raises(NotAllowed):
        assignment.assign(conversation=talk(order), actor=cast.staff(role), to=cast.staff_user())
    with pytest.raises(InvalidInput):
        assignment.assign(conversation=talk(order), actor=cast.staff(), to=cast.staff_user(role))
    left = cast.staff_user("supervisor")
    left.is_active = False
    left.save()
    with pytest.raises(InvalidInput):
        assignment.assign(conversation=talk(order), actor=cast.staff(), to=left)
    assert moves() == []


def test_whoever_takes_over_looks_after_it_from_then_on(order: Order) -> None:
    assignment.assign(conversation=talk(order), actor=cast.staff(), to=cast.staff_user("supervisor"))
    people.take_over(conversation=talk(order), actor=cast.staff())
    people.give_back(conversation=talk(order), actor=cast.staff())
    assert (talk(order).owner, talk(order).assignee) == (None, cast.staff_user())
    assert Conversation.objects.filter(assignee=cast.staff_user()).count() == 1


def test_colleagues_are_those_who_may_answer(order: Order) -> None:
    for role in ("staff", "supervisor", "warehouse", "auditor", "admin"):
        cast.staff_user(role)
    assert [user.username for user in assignment.colleagues()] == ["staff", "supervisor"]
