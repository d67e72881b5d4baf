"""Fills a database with a believable shop of any size, to see how lists and search behave. Never beside real orders.

The same `--seed` makes the same shop. Batches are whole or not there at all, so a run that was stopped is gone on with
by the same command, and a larger `--orders` adds to what is there.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction
from django.utils import timezone

from backoffice import demo_cast, demo_goods
from backoffice.local.progress import Progress
from backoffice.seeding.people import person
from backoffice.seeding.plan import plan
from backoffice.seeding.rows import Shop, add_customer, add_order
from orders.actors import system_actor
from orders.models import AuditEvent, Customer, Product
from orders.products import take_in_product
from refunds.models import RefundPolicy
from refunds.states import SETTLING

BATCH: Final = 2000
ORDERS_PER_CUSTOMER: Final = 3
CURRENCY: Final = "TWD"
BEGUN: Final = "shop.seeded"
MOST: Final = 5_000_000


class Command(BaseCommand):
    help = "Fill a database with a believable shop: customers, orders, parcels, refunds, returns, conversations."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--orders", type=int, default=2000, help="how many orders there shall be (default: 2000)")
        parser.add_argument("--seed", default="shop", help="another word makes another shop (default: shop)")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted, seed = options["orders"], options["seed"]
        if not 1 <= wanted <= MOST:
            raise CommandError(f"--orders is a number from 1 to {MOST:,}.")
        refuse_other_data()
        self.stdout.ending = ""
        there, base = begun(seed)
        if there >= wanted:
            self.stdout.write(f"The shop has {there:,} orders already; nothing to do.\n")
            return
        shop = Shop(seed, goods(), rules())
        progress = Progress(self.stdout, wanted, done=there, what="orders", live=sys.stdout.isatty())
        try:
            for first in range(there, wanted, BATCH):
                write_batch(shop, range(first, min(first + BATCH, wanted)), base)
                there = min(first + BATCH, wanted)
                progress.at(there)
        except KeyboardInterrupt:
            progress.end()
            raise CommandError(
                f"Stopped: {there:,} of {wanted:,} orders are there, each of them whole. "
                f"Go on with: manage.py seed_shop --orders {wanted} --seed {seed}"
            ) from None
        progress.end()
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # otherwise the first searches are planned for an empty database
        self.stdout.write(f"The shop has {there:,} orders.\n")


def refuse_other_data() -> None:
    """Seeded orders may stand beside those of the demo, and beside nobody's who has really bought something."""
    demo = [buyer.external_id for buyer in demo_cast.BUYERS]
    others = Customer.objects.exclude(external_id__startswith="seed-").exclude(external_id__in=demo)
    if others.exists():
        raise CommandError("This database holds customers who are neither seeded nor the demo's; seed an empty one.")


def begun(seed: str) -> tuple[int, datetime]:
    """How many orders of this seed are there, and the day from which they are counted back: the first run's."""
    known = AuditEvent.objects.filter(action=BEGUN, subject_id=seed).order_by("-pk").first()
    if known is not None:
        return known.outcome["orders"], datetime.fromisoformat(known.chosen["base"])
    if AuditEvent.objects.filter(action=BEGUN).exists():
        raise CommandError("Another seed has been sown here; go on with that one, or take an empty database.")
    return 0, timezone.now().replace(microsecond=0)


def goods() -> dict[str, Product]:
    """The demo's products, taken in where they are not there yet."""
    known = set(Product.objects.values_list("sku", flat=True))
    for sku in sorted(set(demo_goods.GOODS) - known):
        take_in_product(body=demo_goods.product_body(sku), actor=system_actor("demo"))
    return {product.sku: product for product in Product.objects.filter(sku__in=demo_goods.GOODS)}


def rules() -> RefundPolicy:
    """Version 1, which is in force from the beginning."""
    return RefundPolicy.objects.filter(currency=CURRENCY, state__in=SETTLING).order_by("version")[0]


def write_batch(shop: Shop, indexes: range, base: datetime) -> None:
    """Orders with these indexes, their new customers, and how far it has come, in one transaction."""
    known = -(-indexes.start // ORDERS_PER_CUSTOMER)
    people = -(-indexes.stop // ORDERS_PER_CUSTOMER)
    plans = [plan(shop.seed, index, base=base, people=people) for index in indexes]
    with transaction.atomic():
        keys = {index: add_customer(shop, person(shop.seed, index)) for index in range(known, people)}
        keys |= customers_there(shop, {each.person for each in plans} - keys.keys())
        for each in plans:
            add_order(shop, each, person(shop.seed, each.person), keys[each.person])
        shop.add(
            AuditEvent,
            at=timezone.now(),
            action=BEGUN,
            actor_kind="system",
            actor_name="demo",
            subject_type="shop",
            subject_id=shop.seed,
            chosen={"base": base.isoformat()},
            outcome={"orders": indexes.stop},
        )
        shop.write()


def customers_there(shop: Shop, indexes: Iterable[int]) -> dict[int, int]:
    named = {person_id(index): index for index in indexes}
    rows = Customer.objects.filter(external_id__in=named).values_list("external_id", "pk")
    return {named[external_id]: key for external_id, key in rows}


def person_id(index: int) -> str:
    return f"seed-{index:06}"
