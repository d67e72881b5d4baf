"""An exchange, lost goods and another address are put on the customer's page from the conversation, theirs to press."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from agent import offers
from agent.models import Card, Conversation
from agent.states import CardKind, CardState
from orders.actors import NotAllowed, staff_actor
from orders.models import AuditEvent, Order
from orders.tests import cast
from orders.tests.factories import FREE_DELIVERY, shipment_body
from refunds.models import Replacement, Return
from tests.pages.visiting import said, signed_in, text_of

pytestmark = pytest.mark.django_db

ADDRESS = {
    "recipient": "王小明",
    "phone": "0912345678",
    "postal_code": "106",
    "city": "台北市",
    "district": "大安區",
    "street": "和平東路一段 1 號 3 樓",
}
SOCKS = {"pick": "li_1.exchange", "quantity.li_1.exchange": "1", "reason.li_1.exchange": "defective"}
SOCKS_LINE = {"line_item_id": "li_1", "quantity": 1, "reason": "defective"}
LOST = {"pick": "li_1.resend", "quantity.li_1.resend": "1"}


def delivered(number: str = "9401") -> Order:
    return cast.place(number, lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])


def lost(number: str = "9402") -> Order:
    return cast.place(number, lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1}, state="lost")])


def form_of(conversation: Conversation, kind: str) -> str:
    return f"/staff/conversations/{conversation.pk}/offer/{kind}/"


def post(browser: Client, path: str, form: dict[str, str]) -> Any:
    return browser.post(path, form, follow=True)


def pressed(card: Card) -> str:
    """The state of the card once its customer has pressed it."""
    number = card.conversation.order.number
    signed_in("ming").post(f"/orders/{number}/chat/cards/{card.pk}/confirm/")
    card.refresh_from_db()
    return card.state


def test_an_exchange_is_offered_and_arranged_by_the_customers_press_alone() -> None:
    talk, staff = said(delivered()), signed_in("staff")
    address = form_of(talk, "exchange")
    page = text_of(staff.get(f"/staff/conversations/{talk.pk}/"))
    assert f'data-dialog href="{address}"' in page
    assert form_of(talk, "resend") not in page, "nothing is lost"
    assert 'id="note"' not in text_of(staff.get(address)), "why is the customer's to say"
    answer = post(staff, address, SOCKS)
    assert answer.request["PATH_INFO"] == f"/staff/conversations/{talk.pk}/"
    card = Card.objects.get()
    assert (card.kind, card.state, card.tool_call, Return.objects.exists()) == ("exchange", "open", None, False)
    assert "確認換貨" in text_of(signed_in("ming").get("/orders/9401/"))
    talk.refresh_from_db()
    assert talk.owner == cast.staff_user()
    assert pressed(card) == CardState.CONFIRMED
    assert Return.objects.get().kind == "exchange"
    offered = AuditEvent.objects.get(action="card.offered")
    assert (offered.actor_name, offered.chosen) == (cast.staff().name, {"kind": "exchange", "button": "確認換貨"})
    assert "確認換貨" in text_of(signed_in("auditor").get("/staff/audit/?q=9401"))


def test_lost_goods_are_offered_again() -> None:
    talk, staff = said(lost()), signed_in("staff")
    assert form_of(talk, "resend") in text_of(staff.get(f"/staff/conversations/{talk.pk}/"))
    post(staff, form_of(talk, "resend"), LOST)
    assert not Replacement.objects.exists()
    assert pressed(Card.objects.get()) == CardState.CONFIRMED
    assert Replacement.objects.get().kind == "lost"


def test_another_address_is_offered_with_the_old_one_beside_it_and_what_is_wrong_at_its_field() -> None:
    order = cast.place("9403", shipping=FREE_DELIVERY)
    talk, staff = said(order), signed_in("staff")
    address = form_of(talk, "address")
    assert address in text_of(staff.get(f"/staff/conversations/{talk.pk}/"))
    refused = staff.post(address, ADDRESS | {"phone": "不是電話"})
    assert (refused.status_code, Card.objects.count()) == (400, 0)
    assert 'value="不是電話"' in text_of(refused)
    assert 'id="phone-error"' in text_of(refused)
    post(staff, address, ADDRESS)
    order.refresh_from_db()
    assert order.shipping_address != ADDRESS
    assert pressed(Card.objects.get()) == CardState.CONFIRMED
    order.refresh_from_db()
    assert order.shipping_address == ADDRESS
    again = staff.post(address, ADDRESS)
    assert (again.status_code, Card.objects.count()) == (409, 1)


def test_a_second_press_of_the_form_finds_the_card_that_waits() -> None:
    talk, staff = said(lost()), signed_in("staff")
    for _ in range(2):
        post(staff, form_of(talk, "resend"), LOST)
    assert Card.objects.count() == 1


def test_who_offers_what_waits_already_answers_from_then_on_and_not_in_a_colleagues_place() -> None:
    talk, staff = said(lost()), signed_in("staff")
    post(staff, form_of(talk, "resend"), LOST)
    colleagues = signed_in("supervisor").post(form_of(talk, "resend"), LOST)
    assert (colleagues.status_code, Card.objects.count()) == (409, 1)
    staff.post(f"/staff/conversations/{talk.pk}/give-back/")
    talk.refresh_from_db()
    assert talk.owner is None
    post(signed_in("supervisor"), form_of(talk, "resend"), LOST)
    talk.refresh_from_db()
    assert (str(talk.owner), Card.objects.count()) == ("supervisor", 1)


def test_a_card_is_in_the_customers_language_and_its_refusal_in_the_colleagues() -> None:
    talk, staff = said(delivered(), "hello", language="en"), signed_in("staff")
    refused = staff.post(form_of(talk, "exchange"), SOCKS | {"quantity.li_1.exchange": "7"})
    assert refused.status_code == 400
    why = text_of(refused).partition('role="alert"')[2].partition("</div>")[0]
    assert "超過" in why, why
    post(staff, form_of(talk, "exchange"), SOCKS)
    assert Card.objects.get().payload["button"] == "Confirm exchange"
    elsewhere = said(cast.place("9404", shipping=FREE_DELIVERY), "hello", language="en")
    post(staff, form_of(elsewhere, "address"), ADDRESS)
    assert Card.objects.get(kind=CardKind.ADDRESS).payload["places"][-1]["label"] == "New address"


@pytest.mark.parametrize("kind", ["exchange", "resend", "address"])
def test_only_whoever_answers_customers_offers_and_nobody_in_a_colleagues_conversation(kind: str) -> None:
    talk = said(delivered())
    for name in ("warehouse", "marketing", "auditor"):
        browser = signed_in(name)
        assert browser.get(form_of(talk, kind)).status_code == 403
        assert browser.post(form_of(talk, kind), SOCKS).status_code == 403
    assert signed_in("staff").get(form_of(talk, kind).replace(str(talk.pk), "999999")).status_code == 404
    assert Card.objects.count() == 0


def test_a_colleagues_conversation_and_one_that_is_over_get_no_card() -> None:
    talk = said(lost())
    address = form_of(talk, "resend")
    signed_in("supervisor").post(f"/staff/conversations/{talk.pk}/take-over/")
    staff = signed_in("staff")
    answer = staff.post(address, LOST)
    assert (answer.status_code, Card.objects.count()) == (409, 0)
    signed_in("supervisor").post(f"/staff/conversations/{talk.pk}/close/")
    answer = signed_in("supervisor").post(address, LOST)
    assert (answer.status_code, Card.objects.count()) == (409, 0)
    assert address not in text_of(staff.get(f"/staff/conversations/{talk.pk}/"))


@pytest.mark.parametrize(
    ("kind", "asked"), [(CardKind.EXCHANGE, [SOCKS_LINE]), (CardKind.RESEND, []), (CardKind.ADDRESS, ADDRESS)]
)
def test_whoever_answers_but_may_not_quote_or_change_an_address_offers_none(kind: CardKind, asked: Any) -> None:
    talk = said(delivered())
    user = cast.staff_user("warehouse")
    seen = Permission.objects.filter(codename__in=["answer_conversation", "view_conversation"])
    user.user_permissions.add(*seen.filter(content_type__app_label="agent"))
    actor = staff_actor(User.objects.get(pk=user.pk))
    with pytest.raises(NotAllowed):
        offers.put_up(conversation=talk, actor=actor, kind=kind, asked=asked)
    browser = signed_in("staff")
    browser.force_login(User.objects.get(pk=user.pk))
    assert browser.get(f"/staff/conversations/{talk.pk}/").status_code == 200
    assert browser.get(form_of(talk, kind)).status_code == 403


def test_who_answers_stands_above_the_talk_and_its_form() -> None:
    page = text_of(signed_in("staff").get(f"/staff/conversations/{said(delivered()).pk}/"))
    assert page.index('id="who"') < page.index('id="log"') < page.index('id="answer"') < page.index('id="about"')
