"""Fills an empty database with the cast of the demo (`backoffice/demo_cast.py`). A second run changes nothing.

Orders come in through take-in, and what has been asked for on some of them is asked for as staff would do it. The
demo tells of days ago: where nothing has happened to an order of the demo yet, a run on a later day moves its dates.
"""

from datetime import datetime, timedelta
from io import StringIO
from typing import Any, Final

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from agent import canned
from backoffice import demo_cast, demo_goods
from orders import audit, store_credit
from orders.actors import staff_actor, system_actor
from orders.ingest import take_in
from orders.models import AuditEvent, Customer, LineItem, Order
from orders.products import take_in_product
from refunds import policies, returns
from refunds.choices import LineChoice
from refunds.models import RefundQuote, Return
from refunds.states import QuoteState

SHOP: Final = system_actor("demo")
SEEDER: Final = "staff"


class Command(BaseCommand):
    help = "Fill an empty database with the people and orders of the demo. Never for real orders."

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        with transaction.atomic():
            if _is_seeded():
                self.stdout.write(f"The demo is there already; the dates of {_move_dates(now)} orders were moved.")
            else:
                _fill(now)
                self.stdout.write(
                    f"The demo has {len(demo_cast.ORDERS)} orders; every password is {demo_cast.PASSWORD}."
                )
        for settled in demo_cast.SETTLED:  # each in transactions of its own, so a run that was killed is made up for
            if not _is_settled(settled):
                _settle(settled)


def _fill(now: datetime) -> None:
    _refuse_other_data()
    _make_members()
    _make_buyers()
    for sku in sorted(demo_goods.GOODS):
        take_in_product(body=demo_goods.product_body(sku), actor=SHOP)
    for order in demo_cast.ORDERS:
        take_in(body=demo_cast.body(order, now=now), actor=SHOP)
    for position, credit in enumerate(demo_cast.CREDITS, start=1):
        _give_credit(credit, reference=f"demo:{position}")
    _draft_rules()
    _write_answers()


def _is_seeded() -> bool:
    buyers = [buyer.external_id for buyer in demo_cast.BUYERS]
    return Order.objects.filter(number=demo_cast.FIRST_ORDER, customer__external_id__in=buyers).exists()


def _refuse_other_data() -> None:
    """The demo's passwords are known to everybody: they may never stand beside real orders or accounts."""
    if Order.objects.exists() or User.objects.exists():
        raise CommandError("This database holds orders or users that are not the demo's; the demo needs an empty one.")


def _make_members() -> None:
    password = make_password(demo_cast.PASSWORD)  # slow on purpose, so once for all
    for member in demo_cast.MEMBERS:
        user = User.objects.create(
            username=member.username,
            first_name=member.name,
            password=password,
            is_staff=member.is_staff,
            is_superuser=member.is_superuser,
        )
        if member.group:
            user.groups.add(Group.objects.get(name=member.group))


def _write_answers() -> None:
    supervisor = staff_actor(User.objects.get(username="supervisor"))
    for language, title, text in demo_cast.ANSWERS:
        canned.save(reply=None, actor=supervisor, title=title, language=language, text=text)


def _draft_rules() -> None:
    actor = staff_actor(User.objects.get(username=demo_cast.DRAFTED_BY))
    policy, _created = policies.draft(currency="TWD", actor=actor)
    policies.edit(currency="TWD", version=policy.version, body=demo_cast.DRAFT, actor=actor)


def _make_buyers() -> None:
    users = {user.username: user for user in User.objects.all()}
    Customer.objects.bulk_create(
        Customer(external_id=buyer.external_id, name=buyer.name, email=buyer.email, user=users.get(buyer.username))
        for buyer in demo_cast.BUYERS
    )


def _give_credit(credit: demo_cast.Credit, *, reference: str) -> None:
    store_credit.post(
        customer=Customer.objects.get(external_id=credit.buyer),
        currency="TWD",
        amount=credit.amount,
        kind=credit.kind,
        reference=reference,
        order=Order.objects.filter(number=credit.number).first(),
        note=credit.note,
        actor=SHOP,
    )


def _is_settled(settled: demo_cast.Settled) -> bool:
    line = LineItem.objects.get(order__number=settled.number, line_item_id=settled.line_item_id)
    if settled.exchange:
        return Return.objects.filter(request_ref=_request_ref(settled)).exists()
    return RefundQuote.objects.filter(lines__line_item=line, state=QuoteState.REDEEMED).exists()


def _request_ref(settled: demo_cast.Settled) -> str:
    return f"demo:{settled.number}:{settled.line_item_id}"


def _settle(settled: demo_cast.Settled) -> None:
    order, user = Order.objects.get(number=settled.number), User.objects.get(username=SEEDER)
    if settled.exchange:
        returns.request_exchange(
            order=order,
            lines=[LineChoice(line_item_id=settled.line_item_id, quantity=1, reason=settled.reason)],
            actor=staff_actor(user),
            request_ref=_request_ref(settled),
        )
        return
    call_command(
        "refund_goods",
        settled.number,
        settled.line_item_id,
        reason=settled.reason,
        staff=SEEDER,
        note="示範資料",
        stdout=StringIO(),
    )


def _move_dates(now: datetime) -> int:
    """Move the dates of orders that nobody has touched by whole days, to where the demo has them; counts the orders."""
    by_others = AuditEvent.objects.exclude(actor_kind=SHOP.kind, actor_name=SHOP.name)
    touched = set(by_others.values_list("order__number", flat=True))
    moved = 0
    for wanted in demo_cast.ORDERS:
        order = Order.objects.filter(number=wanted.number).first()
        if order is None or order.number in touched:
            continue
        late = (now - timedelta(days=wanted.placed) - order.placed_at).days
        if late > 0:
            _move(order, timedelta(days=late))
            moved += 1
    return moved


def _move(order: Order, by: timedelta) -> None:
    Order.objects.filter(pk=order.pk).update(placed_at=F("placed_at") + by)
    order.payments.update(captured_at=F("captured_at") + by)
    order.shipments.update(
        packed_at=F("packed_at") + by, shipped_at=F("shipped_at") + by, delivered_at=F("delivered_at") + by
    )
    audit.record(
        action="demo.dates_moved",
        actor=SHOP,
        order=order,
        subject_type="order",
        subject_id=order.number,
        outcome={"days": by.days},
    )
