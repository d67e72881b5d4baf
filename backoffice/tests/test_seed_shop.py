"""A seeded shop adds up as a real one, is the same for the same seed, and never stands beside real customers."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.models import F, Sum
from django.utils import timezone

from agent.models import Conversation
from backoffice.local import progress
from backoffice.management.commands import seed_shop
from backoffice.seeding.people import person
from backoffice.seeding.plan import plan
from orders.models import AuditEvent, Customer, Order, Payment, Shipment
from orders.tests import cast
from refunds.models import Refund, RefundQuote, Return
from refunds.snapshot import price_whole_order
from tests.pages.visiting import signed_in

pytestmark = pytest.mark.django_db


def seed(orders: int, **options: Any) -> str:
    out = StringIO()
    call_command("seed_shop", orders=orders, stdout=out, **options)
    return out.getvalue()


def test_every_seeded_order_costs_what_was_paid_and_every_refund_is_what_its_steps_say() -> None:
    assert "The shop has 600 orders." in seed(600)
    orders = Order.objects.prefetch_related("lines", "discounts", "payments")
    assert [order.number for order in orders if price_whole_order(order) != order.paid_amount] == []
    quotes = list(RefundQuote.objects.all())
    assert len(quotes) > 10
    assert all(sum(step["amount"] for step in quote.steps) == quote.amount > 0 for quote in quotes)
    given_back = Refund.objects.aggregate(sum=Sum("amount"))["sum"]
    assert Payment.objects.aggregate(sum=Sum("refunded_amount"))["sum"] == given_back > 0
    assert not Refund.objects.exclude(state="succeeded").exists()
    assert set(Shipment.objects.values_list("state", flat=True)) >= {"packed", "shipped", "delivered"}
    assert Return.objects.filter(state="refunded").exists()
    assert Conversation.objects.exists()
    assert not Shipment.objects.filter(delivered_at__gt=timezone.now()).exists()
    assert not Shipment.objects.filter(delivered_at__lt=F("shipped_at")).exists()


def test_seeded_orders_can_be_looked_at_and_worked_on() -> None:
    seed(300)
    staff = signed_in("staff")
    assert len(staff.get("/staff/orders/").context["rows"]) == 25
    refunded = Refund.objects.select_related("order").first()
    waiting = Conversation.objects.select_related("order").first()
    assert refunded
    assert waiting
    unsent = Order.objects.filter(shipments=None, refunds=None).first()
    assert unsent
    for order in (refunded.order, waiting.order, unsent):
        assert staff.get(f"/staff/orders/{order.number}/").status_code == 200
    form = {"pick": "li_1.cancel", "quantity.li_1.cancel": "1", "reason.li_1.cancel": "changed_mind"}
    assert "data-quote" in staff.post(f"/staff/orders/{unsent.number}/quote/", form).content.decode()
    assert staff.get(f"/staff/conversations/{waiting.pk}/").status_code == 200


def test_the_same_seed_and_day_plan_the_same_order_and_another_seed_another() -> None:
    base = timezone.now()
    here, again = (plan("shop", 41, base=base, people=20) for _ in range(2))
    assert here == again
    assert person("shop", 7) == person("shop", 7)
    assert plan("other", 41, base=base, people=20) != here


def test_a_larger_number_adds_to_what_is_there_and_the_same_number_changes_nothing() -> None:
    seed(100)
    before = set(Order.objects.values_list("number", flat=True))
    assert "nothing to do" in seed(100)
    seed(150)
    after = set(Order.objects.values_list("number", flat=True))
    assert before < after
    assert len(after) == 150
    assert Customer.objects.count() == 50


def test_a_run_that_is_stopped_says_what_is_there_and_goes_on_later(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(StringIO):
        def write(self, text: str) -> int:
            raise KeyboardInterrupt

    monkeypatch.setattr(seed_shop, "BATCH", 40)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0)
    with pytest.raises(CommandError, match=r"40 of 100 orders are there.*seed_shop --orders 100 --seed shop"):
        call_command("seed_shop", orders=100, stdout=Stopped())
    assert Order.objects.count() == 40
    seed(100)
    assert Order.objects.count() == 100
    assert AuditEvent.objects.filter(action="order.taken_in").count() == 100


@pytest.mark.parametrize("orders", [0, -5, 10**9])
def test_a_number_that_makes_no_sense_is_refused(orders: int) -> None:
    with pytest.raises(CommandError, match="--orders"):
        seed(orders)


def test_real_customers_are_never_mixed_with_seeded_ones() -> None:
    cast.place("7001")
    with pytest.raises(CommandError, match="neither seeded nor the demo's"):
        seed(10)
    assert Order.objects.count() == 1


def test_another_seed_is_refused_where_one_is_sown() -> None:
    seed(10)
    with pytest.raises(CommandError, match="Another seed"):
        seed(20, seed="other")


def test_progress_says_how_fast_it_goes_and_how_long_it_will_take() -> None:
    out = StringIO()
    bar = progress.Progress(out, 200_000, done=2_000, what="orders", live=True)
    assert bar.words(42_000, 20.0) == "42,000 of 200,000 orders, 2,000 a second, 1:19 left"
    bar.at(100_000)
    bar.end()
    assert out.getvalue().startswith("\r[██████████████··············] 100,000 of 200,000 orders")
    assert out.getvalue().endswith("\n")
