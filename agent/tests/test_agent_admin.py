"""Auditors see every conversation in admin, with all that belongs to it linked both ways; nobody changes anything."""

from html import unescape
from typing import Final

import pytest
from django.contrib.admin.utils import quote
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agent import calls, cards, events
from agent.models import Card, Conversation, ConversationEvent, Message, ToolCall, Turn
from agent.states import CardKind
from agent.tests.helpers import SAME_AGAIN, asked, call, hear, hold, press, quoted, talk
from agent.tools import executor
from agent.tools.base import CardSpec
from orders.models import AuditEvent, Customer, Order
from orders.tests import cast
from refunds.models import Approval, RefundQuote, Return

pytestmark = pytest.mark.django_db
MODELS: Final[list[type[Model]]] = [Conversation, Turn, Message, ToolCall, Card, ConversationEvent]


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    talk_a_little(order)
    return order


def talk_a_little(order: Order) -> None:
    """A message, a call with its answer, a call with its card."""
    hear(order, "耳機壞了 <b>!</b>")
    looked, refund = asked(order, call("get_order"), call("refund_items", quote_id="rq_1"), text="我先看看")
    calls.answer(looked, {"order_number": order.number})
    quote = quoted(order)
    RefundQuote.objects.filter(pk=quote.pk).update(tool_call_ref=looked.ref)
    with events.writing(talk(order).pk) as conversation:
        spec = CardSpec(kind=CardKind.REFUND, quote=quote, expires_at=quote.expires_at)
        cards.open_card(conversation=conversation, call=refund, spec=spec)


def client_of(role: str) -> Client:
    client = Client()
    client.force_login(cast.staff_user(role))
    return client


def address(model: type[Model], page: str, *args: str | int) -> str:
    keys = [quote(key) for key in args]
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=keys)


def shown(client: Client, where: str, **data: str) -> str:
    answer = client.get(where, data)
    assert answer.status_code == 200, where
    return answer.content.decode()


@pytest.mark.parametrize("role", ["auditor", "admin"])
def test_every_record_can_be_looked_at_and_not_changed(order: Order, role: str) -> None:
    client = client_of(role)
    for model in MODELS:
        record = model._default_manager.first()
        assert record is not None
        page = address(model, "change", record.pk)
        assert 'name="_save"' not in shown(client, page)
        for refused in (page, address(model, "add"), address(model, "delete", record.pk)):
            assert client.post(refused, {"post": "yes"}).status_code == 403


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Conversation, ["5531", "王小明", "耳機壞了", "c-ming"]),
        (Turn, ["5531"]),
        (Message, ["5531", "耳機壞了"]),
        (ToolCall, ["5531", "toolu_1", "get_order", "order_number", "rq_1"]),
        (Card, ["5531", "toolu_2"]),
        (ConversationEvent, ["5531", "NT$230"]),
    ],
)
def test_records_are_found_by_what_people_know_of_them(order: Order, model: type[Model], words: list[str]) -> None:
    client = client_of("auditor")
    for word in words:
        assert found(client, model, word), word
    assert not found(client, model, "nothing like it")


def found(client: Client, model: type[Model], word: str) -> int:
    return int(client.get(address(model, "changelist"), {"q": word}).context["cl"].result_count)


def test_a_conversation_shows_what_was_said_and_called_as_people_read_it(order: Order) -> None:
    page = shown(client_of("auditor"), address(Conversation, "change", talk(order).pk))
    assert "耳機壞了 &lt;b&gt;!&lt;/b&gt;" in page
    assert "我先看看" in page
    assert "&quot;order_number&quot;: &quot;5531&quot;" in page
    assert "<b>!</b>" not in page


def links(model: type[Model], record: Model) -> str:
    return unescape(shown(client_of("auditor"), address(model, "change", record.pk)))


def test_the_story_can_be_walked_in_both_directions(order: Order) -> None:
    conversation, card = talk(order), Card.objects.get()
    message = Message.objects.get(author="agent")
    looked, refund = ToolCall.objects.order_by("pk")
    assert card.quote is not None
    parts: list[Model] = [message, looked, refund, card, Turn.objects.get()]

    whole = links(Conversation, conversation)
    for target in [order, order.customer, *parts]:
        assert address(type(target), "change", target.pk) in whole, target
    assert f"{address(ConversationEvent, 'changelist')}?conversation__id__exact={conversation.pk}" in whole
    for part in parts:
        page = links(type(part), part)
        assert address(Conversation, "change", conversation.pk) in page, part
        assert address(Order, "change", order.pk) in page, part

    assert address(RefundQuote, "change", card.quote.pk) in links(Card, card)
    assert address(ToolCall, "change", refund.pk) in links(Card, card)
    assert f"{address(Card, 'changelist')}?tool_call__id__exact={refund.pk}" in links(ToolCall, refund)
    assert f"{address(Card, 'changelist')}?quote__id__exact={card.quote.pk}" in links(RefundQuote, card.quote)
    assert address(RefundQuote, "change", card.quote.pk) in links(ToolCall, looked)
    assert f"{address(Conversation, 'changelist')}?customer__id__exact" in links(Customer, order.customer)
    assert f"{address(Conversation, 'changelist')}?order__id__exact" in links(Order, order)


def test_a_card_leads_to_what_its_press_has_made_and_a_call_to_what_it_proposed() -> None:
    order = cast.order_5531()
    hear(order)
    wanted = [
        call("create_return", quote_id=None, exchange_lines=[SAME_AGAIN]),
        call("propose_compensation", compensation_ntd=50, reason="A week late."),
    ]
    exchange, proposal = asked(order, *wanted)
    lease = hold(order)
    for made in (exchange, proposal):
        executor.run_call(lease, made.pk)
    card = Card.objects.select_related("conversation__order", "conversation__customer").get(tool_call=exchange)
    press(card)
    assert address(Return, "change", Return.objects.get().pk) in links(Card, card)
    assert address(Approval, "change", Approval.objects.get().pk) in links(ToolCall, proposal)


def test_audit_events_lead_to_the_conversation_and_back(order: Order) -> None:
    conversation = talk(order)
    event = AuditEvent.objects.filter(action="message.said").latest("pk")
    assert address(Conversation, "change", conversation.pk) in links(AuditEvent, event)
    history = f"{reverse('admin:orders_auditevent_changelist')}?subject_type__exact=conversation"
    assert history in links(Conversation, conversation)
    listed = shown(
        client_of("auditor"),
        reverse("admin:orders_auditevent_changelist"),
        subject_type__exact="conversation",
        subject_id__exact=str(conversation.pk),
    )
    assert "message.said" in listed


@pytest.mark.parametrize("model", MODELS)
def test_a_longer_list_takes_no_more_queries(order: Order, model: type[Model]) -> None:
    client = client_of("auditor")
    page = address(model, "changelist")
    shown(client, page)
    with CaptureQueriesContext(connection) as few:
        shown(client, page)
    for number in range(3):
        talk_a_little(cast.place(f"60{number}", who="ming2", lines=(("甲", 100, 1), ("乙", 200, 1))))
    with CaptureQueriesContext(connection) as many:
        shown(client, page)
    assert len(many) == len(few)


def test_a_longer_conversation_takes_no_more_queries(order: Order) -> None:
    client = client_of("auditor")
    page = address(Conversation, "change", talk(order).pk)
    shown(client, page)
    with CaptureQueriesContext(connection) as few:
        shown(client, page)
    for _ in range(3):
        hear(order)
        asked(order, call("get_order"), call("list_refunds"), text="again")
    with CaptureQueriesContext(connection) as many:
        shown(client, page)
    assert len(many) == len(few)


@pytest.mark.parametrize("who", ["staff", "warehouse"])
def test_admin_is_closed_to_who_does_not_audit(order: Order, who: str) -> None:
    client = client_of(who)
    assert client.get(address(Conversation, "changelist")).status_code in {302, 403}
