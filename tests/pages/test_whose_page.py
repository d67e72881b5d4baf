"""A page that is open outlives its session. What it holds is not done in the name of whoever signs in next."""

import pytest

from agent.models import StaffNote
from agent.states import Author
from agent.tests.helpers import talk, texts
from orders.models import Order
from orders.tests import cast
from tests.pages.visiting import said, signed_in, text_of

pytestmark = pytest.mark.django_db
WORDS = "已幫您取消耳機殼"
TOKEN = "a-token-of-the-page"
SOMEBODY_ELSES = "this page belonged to somebody who has signed out since"


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    said(order, "耳機沒聲音")
    return order


@pytest.fixture
def path(order: Order) -> str:
    return f"/staff/conversations/{talk(order).pk}/"


def kept(order: Order) -> tuple[list[str], list[str]]:
    """The answers and the notes that there are."""
    return texts(order, Author.STAFF), list(StaffNote.objects.values_list("text", flat=True))


@pytest.mark.parametrize("what", ["reply", "note"])
def test_words_of_a_colleagues_page_are_not_sent_and_stand_in_no_field(order: Order, path: str, what: str) -> None:
    form = {"text": WORDS, "token": TOKEN, "page_reader": str(cast.staff_user("staff").pk)}
    came_from = {"Referer": f"http://testserver{path}"}
    answer = signed_in("supervisor", language="en").post(f"{path}{what}/", form, headers=came_from, follow=True)
    assert answer.redirect_chain == [(path, 302)]
    assert SOMEBODY_ELSES in text_of(answer)
    assert WORDS not in answer.content.decode()
    assert kept(order) == ([], [])

    signed_in("staff").post(f"{path}{what}/", form)
    assert kept(order) == (([WORDS], []) if what == "reply" else ([], [WORDS]))


@pytest.mark.parametrize("kind", [{"HX-Request": "true"}, {"X-Dialog": "1"}])
def test_scripts_of_a_colleagues_page_are_told_that_its_session_is_over(path: str, kind: dict[str, str]) -> None:
    headers = {**kind, "X-Reader": str(cast.staff_user("staff").pk), "Referer": f"http://testserver{path}"}
    answer = signed_in("supervisor").get(f"{path}log/", headers=headers)
    assert (answer.status_code, answer.content) == (401, b"")
    assert answer["X-Sign-In"] == f"/accounts/login/?next={path}"
    assert signed_in("staff").get(f"{path}log/", headers=headers).status_code == 200
