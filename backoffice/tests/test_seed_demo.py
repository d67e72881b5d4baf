"""The demo's data: complete, once, open for the story on any day, and never beside real data."""

import time
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from agent import canned
from backoffice import demo_cast
from orders import store_credit
from orders.actors import staff_actor
from orders.address import address_as_dict, check_change
from orders.models import AuditEvent, Order, Product, Shipment
from orders.products import product_as_dict, search_products
from orders.stock import available
from orders.tests import cast
from refunds import policies
from refunds.goods import unit_groups
from refunds.models import RefundPolicy
from refunds.states import PolicyState

pytestmark = pytest.mark.django_db


def seed() -> None:
    call_command("seed_demo", verbosity=0)


def states_of(number: str) -> dict[str, str]:
    groups = unit_groups(Order.objects.get(number=number), now=timezone.now())
    return {group.line.line_item_id: str(group.state) for group in groups}


@pytest.mark.django_db(transaction=True)
def test_the_story_stands_ready() -> None:
    seed()
    order = Order.objects.get(number="5531")
    assert order.customer.user == User.objects.get(username="ming")
    assert [payment.amount for payment in order.payments.all()] == [1430]
    assert states_of("5531") == {"li_1": "delivered", "li_2": "unfulfilled"}


def test_every_role_can_sign_in() -> None:
    seed()
    for member in demo_cast.MEMBERS:
        user = User.objects.get(username=member.username)
        assert user.check_password("demo"), member
        assert [group.name for group in user.groups.all()] == ([member.group] if member.group else [])
    assert User.objects.get(username="admin").is_superuser


def test_ready_made_answers_are_there_for_both_languages() -> None:
    seed()
    assert {reply.language for reply in canned.in_use()} == {"zh-hant", "en"}


def test_a_version_of_the_rules_waits_for_marketing_to_publish_it() -> None:
    seed()
    draft = RefundPolicy.objects.get(state=PolicyState.DRAFT)
    assert (draft.currency, draft.version, draft.return_fee) == ("TWD", 2, 60)
    marketing = staff_actor(User.objects.get(username="marketing"))
    moment = timezone.now() + timedelta(days=1)
    policies.publish(currency="TWD", version=2, in_force_from=moment, actor=marketing)


def test_the_orders_show_every_state_a_unit_can_be_in() -> None:
    seed()
    seen = {str(group.state) for order in Order.objects.all() for group in unit_groups(order, now=timezone.now())}
    assert seen == {
        "unfulfilled",
        "packed",
        "shipped",
        "lost",
        "delivered",
        "window_over",
        "returning",
        "exchanging",
        "cancelled",
        "refunded",
    }


def test_goods_of_the_same_price_can_be_exchanged_for_each_other() -> None:
    seed()
    for sku in ("EAR", "CASE", "MOUSE", "KEYS"):
        mine = Product.objects.get(sku=sku)
        same = Product.objects.filter(price=mine.price, name__startswith=mine.name).exclude(pk=mine.pk)
        assert [product for product in same if available(product)], sku
    assert [product_as_dict(product)["in_stock"] for product in search_products(words="藍牙耳機 粉")] == [False]


def test_what_is_sent_home_has_an_address_and_one_can_still_be_changed() -> None:
    seed()
    for order in Order.objects.all():
        assert (order.shipping_address is None) == (order.shipping_method == "store_pickup"), order
    order = Order.objects.get(number="5548")
    changed = {**demo_address(order), "street": "示範路二段 2 號"}
    assert check_change(order, changed) == changed


def demo_address(order: Order) -> dict[str, str]:
    address = address_as_dict(order)
    assert address is not None
    return address


def test_an_order_was_paid_partly_by_store_credit_and_the_ledger_knows() -> None:
    seed()
    order = Order.objects.get(number="5617")
    assert {payment.method: payment.amount for payment in order.payments.all()} == {"card": 500, "store_credit": 300}
    entries = {entry.kind: entry for entry in store_credit.entries_of(order.customer)}
    assert (entries["spent"].order, entries["spent"].amount) == (order, -300)
    assert store_credit.balance(order.customer, "TWD") == 200


def test_a_second_run_changes_nothing_and_seeding_is_quick() -> None:
    began = time.monotonic()
    seed()
    events = AuditEvent.objects.count()
    assert time.monotonic() - began < 5
    cast.place("7001", who="mei")  # whoever tries the demo takes in orders of their own
    seed()
    assert AuditEvent.objects.exclude(order__number="7001").count() == events
    assert Order.objects.count() == len(demo_cast.ORDERS) + 1


def test_on_a_later_day_the_story_is_still_open_but_what_was_touched_stays() -> None:
    seed()
    moved = timedelta(days=9)
    Order.objects.update(placed_at=timezone.now() - moved - timedelta(days=6))
    Shipment.objects.update(
        packed_at=timezone.now() - moved - timedelta(days=4),
        shipped_at=timezone.now() - moved - timedelta(days=3),
        delivered_at=timezone.now() - moved - timedelta(days=2),
    )
    touched = Order.objects.get(number="5623").placed_at
    assert states_of("5531")["li_1"] == "window_over"
    seed()
    assert states_of("5531")["li_1"] == "delivered"
    assert Order.objects.get(number="5623").placed_at == touched
    count = AuditEvent.objects.count()
    seed()
    assert AuditEvent.objects.count() == count


def test_the_demo_refuses_to_stand_beside_other_orders() -> None:
    cast.place("7001")
    with pytest.raises(CommandError, match="not the demo's"):
        seed()
    assert not User.objects.filter(username="admin").exists()


def test_the_demo_refuses_to_stand_beside_other_users() -> None:
    User.objects.create(username="somebody")
    with pytest.raises(CommandError, match="not the demo's"):
        seed()
