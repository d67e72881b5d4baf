"""Whether staff's search and lists stay as fast with many orders as with few. Prints a table; it is no test.

    python -m bench.lists [--few 2000] [--many 200000] [--rounds 5]

Two databases in a PostgreSQL of its own are filled by `manage.py seed_shop`, and asked the same questions by turns, so
that what else the machine does weighs on both alike. A time is the whole answer of the page, in the middle of some
rounds, and what of it the database took.
"""

import argparse
import html
import os
import re
import secrets
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from backoffice.local.folders import lock_folder, remove
from backoffice.local.messages import ROOT, compile_stale
from backoffice.local.servers import PostgresServer, ValkeyServer

DEEP_PAGES = 40
FEW, MANY = "refund_desk_few", "refund_desk"
ASKED_PER_TURN = 3
WANTED_RATIO = 3.0
LIST = "/staff/orders/"


@dataclass(frozen=True, slots=True)
class Asked:
    """Milliseconds of one answer in the middle of the rounds, and of its queries; how many rows and queries."""

    whole: float
    database: float
    queries: int
    rows: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--few", type=int, default=2_000)
    parser.add_argument("--many", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each database; each asks three times")
    parser.add_argument("--folder", type=Path, help="keep the data there, to measure again without seeding")
    given = parser.parse_args()
    sizes = {FEW: given.few, MANY: given.many}
    with database(given.folder):
        for name, orders in sizes.items():
            fill(name, orders)
        show(measure(given.rounds), sizes)


def fill(name: str, orders: int) -> None:
    """Make the database, bring it up to date, and seed what is not there yet."""
    from django.core.management import call_command
    from django.db import connection

    from orders.models import Order

    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
        if cursor.fetchone() is None:
            cursor.execute(f'CREATE DATABASE "{name}"')
    turn_to(name)
    call_command("migrate", verbosity=0, interactive=False)
    call_command("seed_shop", orders=orders)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # as the database does by itself after a while
    if (there := Order.objects.count()) != orders:
        sys.exit(f"{name} has {there:,} orders instead of {orders:,}: begin with an empty folder.")


def turn_to(name: str) -> None:
    """From here on this process asks that database."""
    from django.db import connection

    connection.close()
    # Its pool would go on handing out connections to the other one.
    connection.close_pool()  # type: ignore[attr-defined]
    connection.settings_dict["NAME"] = name


@contextmanager
def database(kept: Path | None) -> Iterator[None]:
    """Embedded servers; this process may use the models inside."""
    folder = kept or Path(mkdtemp(prefix="refund-desk-bench-"))
    lock = lock_folder(folder)
    folder.chmod(0o711)
    postgres, valkey = PostgresServer(folder=folder), ValkeyServer(folder=folder, durable=False)
    try:
        postgres.start()
        valkey.start()
        os.environ |= {
            "DATABASE_URL": postgres.url,
            "REDIS_URL": valkey.url,
            "SECRET_KEY": secrets.token_hex(32),
            "DEBUG": "false",
            "DJANGO_SETTINGS_MODULE": "backoffice.settings",
        }
        compile_stale(ROOT / "locale")
        import django

        django.setup()
        yield
    finally:
        valkey.stop()
        postgres.stop()
        lock.close()
        if kept is None:
            remove(folder)


def questions() -> dict[str, str]:
    """What is measured, and the address that asks it, of things that are in the database now."""
    from agent.models import Conversation
    from orders.models import Order, Shipment
    from refunds.models import Refund, Return

    some = Order.objects.select_related("customer").exclude(customer__email="")
    order = some.exclude(customer__phone="").order_by("placed_at")[some.count() // 2]
    parcel = Shipment.objects.exclude(tracking_number="").order_by("order__placed_at")[1]
    refund, back = (
        Refund.objects.select_related("order").order_by("created_at")[1],
        Return.objects.order_by("created_at")[1],
    )
    digits = "".join(filter(str.isdigit, order.customer.phone))
    name = order.customer.name
    return {
        "orders": LIST,
        "orders, search: number": f"{LIST}?q={order.number}",
        "orders, search: part of a number": f"{LIST}?all=1&q={order.number[-5:]}",
        "orders, search: name": f"{LIST}?q={name}",
        "orders, search: surname": f"{LIST}?q={name[0]}",
        "orders, search: e-mail": f"{LIST}?q={order.customer.email}",
        "orders, search: part of an e-mail": f"{LIST}?q={order.customer.email.partition('@')[0][:9]}",
        "orders, search: end of a phone": f"{LIST}?all=1&q={digits[-4:]}",
        "orders, search: whole phone": f"{LIST}?q={digits}",
        "orders, search: tracking number": f"{LIST}?q={parcel.tracking_number}",
        "orders, search: refund number": f"{LIST}?q={refund.pk}",
        "orders, search: return number": f"{LIST}?q={back.pk}",
        "orders, search: nothing fits": f"{LIST}?q=no-such-thing-anywhere",
        **{f"orders, {state}": f"{LIST}?state={state}" for state in states()},
        "orders, open conversation": f"{LIST}?talk=open",
        "orders, a month": f"{LIST}?from={order.placed_at:%Y-%m-01}&to={order.placed_at:%Y-%m-28}",
        "orders, paid over 20,000": f"{LIST}?over=20000",
        "orders, paid over a million": f"{LIST}?over=1000000",
        "orders, several filters": f"{LIST}?state=returning&talk=open&over=1000",
        "orders, name and filters": f"{LIST}?q={name[0]}&state=refunded&over=1000",
        "orders, a deep page": deep(),
        "order": f"{LIST}{order.number}/",
        "inbox": "/staff/",
        "inbox, done": "/staff/?state=done",
        "inbox, search: name": f"/staff/?q={name}",
        "inbox, search: what was said": "/staff/?q=統編",
        "inbox, search: nothing fits": "/staff/?q=no-such-thing-anywhere",
        "history": "/staff/audit/",
        "history, search: order": f"/staff/audit/?q={order.number}",
        "history, search: person": f"/staff/audit/?q={name}",
        "reports": "/staff/reports/",
        "returns": "/staff/returns/",
        "returns, all": "/staff/returns/?all=1",
        "returns, search: end": f"/staff/returns/?q={back.pk[-3:]}",
        "replacements": "/staff/replacements/?all=1",
        "needs a look": "/staff/refunds/",
        "books": "/staff/books/",
        "files": "/staff/exports/",
        "conversation": f"/staff/conversations/{Conversation.objects.order_by('pk')[0].pk}/",
        "records: refunds": "/admin/refunds/refund/",
        "records: refunds, search: order": f"/admin/refunds/refund/?q={refund.order.number}",
        "records: history": "/admin/orders/auditevent/",
        "records: history, search: refund": f"/admin/orders/auditevent/?q={refund.pk}",
        "records: history, search: name": f"/admin/orders/auditevent/?q={name}",
        "records: history, a year": f"/admin/orders/auditevent/?at__year={order.placed_at:%Y}",
        "records: history, what machines did": "/admin/orders/auditevent/?actor_kind__exact=system",
        "records: orders": "/admin/orders/order/",
        "records: orders, search: name": f"/admin/orders/order/?q={name}",
        "records: orders, search: surname": f"/admin/orders/order/?q={name[0]}",
        "records: orders, free by a promotion": "/admin/orders/order/?shipping_waiver__exact=promotion",
        "records: lines, search: nothing fits": "/admin/orders/lineitem/?q=no-such-thing-anywhere",
        "records: payments": "/admin/orders/payment/",
        "records: payments, cash on delivery": "/admin/orders/payment/?method__exact=cash_on_delivery",
        "records: parcels": "/admin/orders/shipment/",
        "records: parcels, packed": "/admin/orders/shipment/?state__exact=packed",
        "records: quotes": "/admin/refunds/refundquote/",
        "records: messages": "/admin/agent/message/",
        "records: customers": "/admin/orders/customer/",
        "records: refunds, failed": "/admin/refunds/refund/?state__exact=failed",
        "records: returns": "/admin/refunds/return/",
        "records: messages, search: what was said": "/admin/agent/message/?q=統編",
        "records: events": "/admin/agent/conversationevent/",
        "records: events, search: nothing fits": "/admin/agent/conversationevent/?q=no-such-thing-anywhere",
        "approvals": "/staff/approvals/",
    }


def states() -> list[str]:
    from backoffice.screens.order_filters import STATES

    return list(STATES)


def deep() -> str:
    """The page that one reaches after many steps to older orders."""
    browser, address = staff(), LIST
    for _ in range(DEEP_PAGES):
        older = re.search(r'href="(\?[^"]+)" rel="next"', browser.get(address).content.decode())
        if older is None:
            break
        address = LIST + html.unescape(older[1])
    return address


def staff() -> Any:
    """The browser of somebody who may see everything here."""
    from django.contrib.auth.models import User
    from django.test import Client

    user, _ = User.objects.get_or_create(username="bench", defaults={"is_superuser": True, "is_staff": True})
    browser = Client(headers={"host": "localhost"})
    browser.force_login(user)
    return browser


def measure(rounds: int) -> dict[str, dict[str, Asked]]:
    """For each question what either database made of it."""
    browsers, addresses = {}, {}
    for name in (FEW, MANY):
        turn_to(name)
        browsers[name], addresses[name] = staff(), questions()
    return {
        what: by_turns(browsers, {name: addresses[name][what] for name in (FEW, MANY)}, rounds)
        for what in addresses[FEW]
    }


def by_turns(browsers: dict[str, Any], addresses: dict[str, str], rounds: int) -> dict[str, Asked]:
    asked: dict[str, list[Asked]] = {name: [] for name in addresses}
    for _ in range(rounds):
        for name, address in addresses.items():
            turn_to(name)
            ask(browsers[name], address)  # a new connection knows no tables yet
            asked[name] += [ask(browsers[name], address) for _ in range(ASKED_PER_TURN)]
    return {
        name: Asked(
            statistics.median(each.whole for each in times),
            statistics.median(each.database for each in times),
            times[-1].queries,
            times[-1].rows,
        )
        for name, times in asked.items()
    }


def ask(browser: Any, address: str) -> Asked:
    from django.db import connection

    queries: list[float] = []

    def timed(execute: Callable[..., Any], *asked: Any) -> Any:
        begun = time.perf_counter()
        try:
            return execute(*asked)
        finally:
            queries.append(time.perf_counter() - begun)

    begun = time.perf_counter()
    with connection.execute_wrapper(timed):
        answer = browser.get(address, follow=True)
    whole = time.perf_counter() - begun
    if answer.status_code != 200:
        sys.exit(f"{address} answered {answer.status_code}")
    return Asked(whole * 1000, sum(queries) * 1000, len(queries), answer.content.count(b" data-row "))


def show(results: dict[str, dict[str, Asked]], sizes: dict[str, int]) -> None:
    """A table in Markdown, as `docs/speed.md` has it. The largest ratio says whether the aim is reached."""
    few, many = (f"{sizes[name]:,} orders" for name in (FEW, MANY))
    print(f"\n| page | queries | {few} | of it database | {many} | of it database | ratio |")
    print("|---|---|---|---|---|---|---|")
    worst = 0.0
    for what, sides in results.items():
        old, new = sides[FEW], sides[MANY]
        ratio = new.whole / old.whole
        worst = max(worst, ratio)
        times = f"{old.whole:.0f} ms | {old.database:.1f} ms | {new.whole:.0f} ms | {new.database:.1f} ms"
        print(f"| {what} | {new.queries} | {times} | {ratio:.1f}{' !' if ratio > WANTED_RATIO else ''} |")
    print(f"\nThe largest ratio is {worst:.1f}; wanted: under {WANTED_RATIO:.0f}.")


if __name__ == "__main__":
    main()
