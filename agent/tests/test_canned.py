"""Ready-made answers: fields from rows, unknown ones refused, and nothing sent with a hole in it."""

import pytest

from agent import canned
from agent.models import CannedReply
from agent.tests.helpers import hear, press, talk
from agent.tests.test_offers import offer, preview
from orders.actors import NotAllowed
from orders.errors import InvalidInput
from orders.models import AuditEvent, Order
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def save(text: str = "您好 {{customer_name}}", *, title: str = "問候", reply: CannedReply | None = None) -> CannedReply:
    return canned.save(reply=reply, actor=cast.staff("supervisor"), title=title, language="zh-hant", text=text)


def filled(order: Order, text: str) -> str:
    return canned.filled(text, canned.Facts(talk(order), cast.staff_user()))


def test_fields_are_filled_from_the_order_that_is_talked_about(order: Order) -> None:
    assert filled(order, "{{customer_name}}，訂單 {{ order_number }}，{{staff_name}}") == "王小明，訂單 5531，staff"


def test_an_amount_stands_there_once_a_row_knows_it_and_until_then_the_field_does(order: Order) -> None:
    assert filled(order, "{{refund_amount}}") == "{{refund_amount}}"
    press(offer(order, preview(order)))
    assert filled(order, "{{refund_amount}}") == "NT$230"
    assert filled(order, "{{refund_number}}").startswith("rf_")


def test_every_field_can_be_filled_or_stays(order: Order) -> None:
    text = " ".join(f"{{{{{name}}}}}" for name in canned.FIELDS)
    assert len(filled(order, text).split()) >= len(canned.FIELDS)


@pytest.mark.parametrize("text", ["{{refund_amuont}}", "{{ }}", "{{customer_name|upper}}", "{{{{x}}}}"])
def test_a_field_that_nobody_knows_is_refused_when_it_is_written(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        save(text)
    assert refused.value.field == "text"
    assert "{{customer_name}}" in refused.value.hint
    assert not CannedReply.objects.exists()


def test_an_answer_with_a_field_that_is_not_filled_is_not_for_a_customer() -> None:
    canned.require_filled("NT$230")
    with pytest.raises(InvalidInput):
        canned.require_filled("您的退款 {{refund_amount}} 已送出")


def test_an_answer_is_changed_and_retired_and_the_history_knows(order: Order) -> None:
    reply = save()
    save("嗨 {{customer_name}}", reply=reply)
    assert [each.text for each in canned.in_use()] == ["嗨 {{customer_name}}"]
    canned.retire(reply=reply, actor=cast.staff("supervisor"))
    assert canned.in_use() == []
    save()  # the title is free again
    actions = AuditEvent.objects.filter(subject_type="canned_reply").order_by("pk").values_list("action", flat=True)
    assert list(actions) == [*["canned_reply.written"] * 2, "canned_reply.retired", "canned_reply.written"]


@pytest.mark.parametrize("title", ["", "  ", "長" * 61])
def test_it_has_a_title_by_which_it_is_found(title: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        save(title=title)
    assert refused.value.field == "title"


def test_a_title_stands_once_in_a_language() -> None:
    save()
    with pytest.raises(InvalidInput) as refused:
        save()
    assert refused.value.field == "title"


def test_support_uses_them_and_does_not_write_them(order: Order) -> None:
    reply = save()
    with pytest.raises(NotAllowed):
        canned.save(reply=None, actor=cast.staff(), title="x", language="en", text="x")
    with pytest.raises(NotAllowed):
        canned.retire(reply=reply, actor=cast.staff())


def test_those_in_the_customers_language_come_first(order: Order) -> None:
    save()
    canned.save(reply=None, actor=cast.staff("supervisor"), title="Hello", language="en", text="Hello")
    assert [each.language for each in canned.for_conversation(talk(order))] == ["en", "zh-hant"]
