"""People of the shop in a conversation: one at a time, with the permission, and in words that can be shown."""

from typing import Any

import pytest

from agent import people, selectors
from agent.models import Conversation
from agent.states import Author, ConversationState, TurnState
from agent.tests.helpers import asked, call, hear, hold, newest_turn, results, talk, texts, told
from orders.actors import NotAllowed
from orders.errors import InvalidInput, Refusal
from orders.models import AuditEvent, Order
from orders.tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def actions() -> list[str]:
    return list(AuditEvent.objects.filter(subject_type="conversation").order_by("pk").values_list("action", flat=True))


def test_a_person_takes_over_and_the_page_says_who(order: Order) -> None:
    people.take_over(conversation=talk(order), actor=cast.staff())
    assert talk(order).owner == cast.staff_user()
    assert told(order, "conversation")[-1]["owner"] == "staff"
    assert newest_turn(order).state == TurnState.DONE


def test_what_one_colleague_has_taken_another_does_not_get(order: Order) -> None:
    people.take_over(conversation=talk(order), actor=cast.staff())
    with pytest.raises(Refusal) as refused:
        people.take_over(conversation=talk(order), actor=cast.staff("supervisor"))
    assert refused.value.code == "taken_over"
    assert "staff" in refused.value.message


def test_what_a_colleague_has_can_be_taken_from_them_and_the_history_says_from_whom(order: Order) -> None:
    people.take_over(conversation=talk(order), actor=cast.staff())
    for _ in range(2):
        supervisor = cast.staff("supervisor")
        people.take_over(conversation=talk(order), actor=supervisor, taken_from=cast.staff_user().pk)
    assert talk(order).owner == cast.staff_user("supervisor")
    assert told(order, "conversation")[-1]["owner"] == "supervisor"
    moves = AuditEvent.objects.filter(action="conversation.taken_over").order_by("pk")
    assert [event.chosen for event in moves] == [{}, {"taken_from": "staff"}]


def test_it_is_taken_only_from_the_one_who_was_seen_to_have_it(order: Order) -> None:
    seen = cast.staff_user().pk
    with pytest.raises(Refusal) as nobody:
        people.take_over(conversation=talk(order), actor=cast.staff("supervisor"), taken_from=seen)
    assert nobody.value.code == "given_back_meanwhile"
    people.take_over(conversation=talk(order), actor=cast.staff("admin"))
    with pytest.raises(Refusal) as another:
        people.take_over(conversation=talk(order), actor=cast.staff("supervisor"), taken_from=seen)
    assert another.value.code == "taken_over"
    assert talk(order).owner == cast.staff_user("admin")


@pytest.mark.parametrize("do", [people.give_back, people.close], ids=lambda do: do.__name__)
def test_what_a_colleague_has_is_theirs_to_give_back_or_close(order: Order, do: Any) -> None:
    people.take_over(conversation=talk(order), actor=cast.staff())
    with pytest.raises(Refusal) as refused:
        do(conversation=talk(order), actor=cast.staff("supervisor"))
    assert refused.value.code == "taken_over"
    assert (talk(order).owner, talk(order).state) == (cast.staff_user(), ConversationState.OPEN)


def test_taking_over_again_changes_nothing(order: Order) -> None:
    people.take_over(conversation=talk(order), actor=cast.staff())
    before = (talk(order).last_event, actions())
    people.take_over(conversation=talk(order), actor=cast.staff())
    assert (talk(order).last_event, actions()) == before


@pytest.mark.parametrize("do", [people.take_over, people.give_back, people.close], ids=lambda do: do.__name__)
@pytest.mark.parametrize("role", ["warehouse", "auditor"])
def test_without_the_permission_nobody_takes_part(order: Order, do: object, role: str) -> None:
    with pytest.raises(NotAllowed):
        do(conversation=talk(order), actor=cast.staff(role))  # type: ignore[operator]
    with pytest.raises(NotAllowed):
        people.reply(conversation=talk(order), actor=cast.staff(role), text="hello")
    assert talk(order).owner is None


def test_whoever_answers_owns_the_conversation_and_is_named(order: Order) -> None:
    for text in ("I look into it.", "Done."):
        people.reply(conversation=talk(order), actor=cast.staff(), text=text)
    assert [(data["author"], data["name"]) for data in told(order, "message")[1:]] == [(Author.STAFF, "staff")] * 2
    assert talk(order).owner == cast.staff_user()
    assert actions().count("conversation.taken_over") == 1
    assert actions().count("conversation.answered") == 2


def test_an_answer_that_is_sent_twice_is_kept_once_and_other_words_are_not_lost_in_it(order: Order) -> None:
    first, second = (
        people.reply(conversation=talk(order), actor=cast.staff(), text="Here I am.", client_ref="a") for _ in range(2)
    )
    assert first == second
    with pytest.raises(Refusal) as refused:
        people.reply(conversation=talk(order), actor=cast.staff(), text="Something else.", client_ref="a")
    assert refused.value.code == "already_sent"
    assert texts(order, Author.STAFF) == ["Here I am."]
    people.reply(conversation=talk(order), actor=cast.staff(), text="Here I am.", client_ref="b")
    assert texts(order, Author.STAFF) == ["Here I am."] * 2


@pytest.mark.parametrize("text", ["", "  ", "x" * 4001, "a\x00b"])
def test_an_answer_that_cannot_be_shown_is_refused(order: Order, text: str) -> None:
    with pytest.raises(InvalidInput):
        people.reply(conversation=talk(order), actor=cast.staff(), text=text)
    assert talk(order).owner is None


def test_a_closed_conversation_takes_no_answer(order: Order) -> None:
    people.close(conversation=talk(order), actor=cast.staff())
    with pytest.raises(Refusal):
        people.reply(conversation=talk(order), actor=cast.staff(), text="hello")
    people.close(conversation=talk(order), actor=cast.staff())
    assert actions().count("conversation.closed") == 1
    assert talk(order).state == ConversationState.CLOSED


def test_who_asks_for_a_person_while_one_has_the_conversation_reads_who_it_is_and_waits(order: Order) -> None:
    people.reply(conversation=talk(order), actor=cast.staff(), text="Here I am.")
    for _ in range(2):
        people.customer_asks_for_person(conversation=talk(order), actor=cast.shopper())
    assert texts(order, Author.SYSTEM) == ["staff has this conversation and will answer here."]
    assert (talk(order).needs_person, talk(order).waiting_since is None) == (False, False)
    assert "conversation.person_asked" not in actions()
    people.reply(conversation=talk(order), actor=cast.staff(), text="Still here.")
    assert talk(order).waiting_since is None
    people.customer_asks_for_person(conversation=talk(order), actor=cast.shopper())
    assert len(texts(order, Author.SYSTEM)) == 2, "after an answer it is said again"


@pytest.mark.parametrize("do", [people.take_over, people.close], ids=lambda do: do.__name__)
def test_calls_that_were_not_run_yet_are_given_up_and_their_line_ends(order: Order, do: object) -> None:
    hold(order)
    asked(order, call("get_order"))
    do(conversation=talk(order), actor=cast.staff())  # type: ignore[operator]
    assert [result["code"] for result in results(order)] == ["no_answer"]
    assert [data["state"] for data in told(order, "work")] == ["started", "failed"]


def test_calls_left_by_a_turn_that_had_failed_are_given_up_too(order: Order) -> None:
    asked(order, call("get_order"))
    talk(order).turns.update(state=TurnState.FAILED)
    people.take_over(conversation=talk(order), actor=cast.staff())
    assert [result["code"] for result in results(order)] == ["no_answer"]


def in_queue(state: str) -> list[Conversation]:
    return list(selectors.queue(state))


def test_the_queue_shows_a_conversation_where_it_belongs(order: Order) -> None:
    assert in_queue("working") == [talk(order)]
    people.customer_asks_for_person(conversation=talk(order), actor=cast.shopper())
    assert (in_queue("needs_person"), in_queue("working")) == ([talk(order)], [])
    people.close(conversation=talk(order), actor=cast.staff())
    assert (in_queue("needs_person"), in_queue("done")) == ([], [talk(order)])


def test_the_timeline_shows_a_tools_line_once_as_it_stands_now(order: Order) -> None:
    hold(order)
    asked(order, call("get_order"))
    people.take_over(conversation=talk(order), actor=cast.staff())
    kinds = [(event.kind, event.data.get("state")) for event in selectors.timeline(talk(order))]
    assert kinds == [("message", None), ("turn", "done"), ("work", "failed"), ("conversation", "open")]
