"""Lists as files: short ones at once, long ones by a worker that shows how far it is and can be told to stop."""

import csv
import re
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agent import stopping
from backoffice import export_kinds, export_writing, exporting, tasks
from backoffice.models import Export, ExportPart
from orders.csv_text import Cell, plain_amount, text_of
from orders.models import AuditEvent, Customer
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds.tests.paying import pending_refund
from tests.pages.coming_back import return_of
from tests.pages.visiting import signed_in
from tests.pages.visiting import text_of as page_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def small_steps() -> Iterator[None]:
    """A list of more than 2 rows is long, and is written 2 rows at a time."""
    known = exporting.AT_ONCE, export_writing.BATCH
    exporting.AT_ONCE = export_writing.BATCH = 2  # type: ignore[misc]
    yield
    exporting.AT_ONCE, export_writing.BATCH = known  # type: ignore[misc]


def orders(count: int) -> None:
    for index in range(count):
        cast.place(f"X{index}", lines=[("襪子", 100, 1)])


def rows_of(answer: Any) -> list[list[str]]:
    text = b"".join(answer).decode() if answer.streaming else answer.content.decode()
    assert text.startswith("\ufeff")
    assert text.count("\ufeff") == 1
    return list(csv.reader(StringIO(text[1:])))


def ask(kind: str = "orders", name: str = "staff", **filters: str) -> Any:
    return signed_in(name, language="en").post("/staff/exports/make/", {"kind": kind, **filters})


def test_a_short_list_is_a_file_at_once_and_in_the_history() -> None:
    orders(3)
    answer = ask(q="X1")
    rows = rows_of(answer)
    assert rows[0][:3] == ["Order", "Placed at", "Customer"]
    assert [row[0] for row in rows[1:]] == ["X1"]
    assert rows[1][-3:] == ["100", "0", "TWD"]
    assert not Export.objects.exists()
    event = AuditEvent.objects.get(action="export.made")
    assert (event.chosen, event.outcome) == ({"kind": "orders", "q": "X1"}, {"rows": 1})


def test_refunds_returns_and_the_history_have_their_files_too() -> None:
    pending_refund()
    refunds = rows_of(ask("refunds"))
    assert refunds[1][1:7] == ["5531", "王小明", "refund of goods", "being sent", "230", "TWD"]
    assert rows_of(ask("refunds", state="failed"))[1:] == []
    history = rows_of(ask("audit", "auditor", q="5531"))
    assert history[0][4] == "What happened"
    assert "王小明 confirmed the quote of NT$230." in [row[4] for row in history]


def test_a_return_is_a_row_with_what_was_promised_for_whoever_may_see_money() -> None:
    order = cast.place("5600", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    back = return_of(order)
    head, row = rows_of(ask("returns"))
    assert (row[0], row[1], row[8:11]) == (back.pk, "5600", ["500", "TWD", ""])
    assert head[8:11] == ["Amount promised", "Currency", "Refund"]
    goods, row = rows_of(ask("returns", "warehouse"))
    assert (goods, row[0]) == (head[:8], back.pk)
    assert "500" not in row


def test_a_worker_writes_no_money_for_the_warehouse_either_and_hands_over_none(small_steps: None) -> None:
    for number in ("5600", "5601", "5602"):
        return_of(cast.place(number, lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1}, external_id=number)]))
    ask("returns", "warehouse")
    ask("returns")
    tasks.write_exports()
    own, with_money = (Export.objects.get(asked_by__username=name) for name in ("warehouse", "staff"))
    rows = rows_of(signed_in("warehouse", language="en").get(f"/staff/exports/{own.pk}/download/"))
    assert len(rows) == 4
    assert not {"Amount promised", "500", "TWD"} & {cell for row in rows for cell in row}
    browser = signed_in("staff")
    support = Group.objects.get(name="support")
    support.permissions.remove(Permission.objects.get(codename="ask_quote"))
    support.permissions.add(Permission.objects.get(codename="handle_shipments"))
    assert browser.get(f"/staff/exports/{with_money.pk}/download/").status_code == 403


def test_lists_offer_themselves_as_they_are_narrowed() -> None:
    orders(2)
    order = cast.place("5600", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    return_of(order)
    for name, path, narrowed in (
        ("staff", "/staff/orders/?q=X&state=unsent", ("kind", "q", "state")),
        ("warehouse", "/staff/returns/", ("kind", "state")),
        ("auditor", "/staff/audit/?q=5600&family=money", ("kind", "q", "family")),
    ):
        page = page_of(signed_in(name).get(path))
        form = page.split('action="/staff/exports/make/"')[1].split("</form>")[0]
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
        assert set(fields) - {"csrfmiddlewaretoken"} == set(narrowed), path
        assert len(rows_of(signed_in(name).post("/staff/exports/make/", fields))) > 1, path
    assert "/staff/exports/make/" not in page_of(signed_in("warehouse").get("/staff/orders/"))


def test_a_search_is_counted_without_reading_what_it_finds() -> None:
    orders(5)
    with CaptureQueriesContext(connection) as captured:
        assert export_kinds.KINDS["orders"].count({"q": "X"}, 100) == 5
        assert export_kinds.KINDS["orders"].count({"q": "X"}, 4) == 4
    about_numbers = [query["sql"] for query in captured if "LIKE 'X%'" in query["sql"]]
    assert len(about_numbers) == 2
    assert all(sql.startswith("SELECT COUNT(*)") for sql in about_numbers), about_numbers


def test_a_long_list_is_written_by_a_worker_batch_by_batch(small_steps: None) -> None:
    orders(5)
    answer = ask()
    export = Export.objects.get()
    assert answer["Location"] == f"/staff/exports/{export.pk}/"
    browser = signed_in("staff", language="en")
    page = page_of(browser.get(answer["Location"]))
    assert "0 of 5 rows written" in page
    assert 'hx-trigger="every 1s"' in page
    assert '<progress value="0" max="5">' in page
    tasks.write_exports()
    export.refresh_from_db()
    assert (export.state, export.rows_done) == ("done", 5)
    page = page_of(browser.get(answer["Location"]))
    assert "hx-trigger" not in page
    assert f"/staff/exports/{export.pk}/download/" in page
    rows = rows_of(browser.get(f"/staff/exports/{export.pk}/download/"))
    assert sorted(row[0] for row in rows) == ["Order", "X0", "X1", "X2", "X3", "X4"]


def test_a_list_that_a_worker_left_is_gone_on_with_behind_what_is_written(small_steps: None) -> None:
    orders(5)
    ask()
    stopping.requested.set()
    try:
        export = export_writing._claim()
        assert export is not None
        export_writing._write(export)
    finally:
        stopping.requested.clear()
    export.refresh_from_db()
    assert (export.state, export.rows_done) == ("queued", 2)
    tasks.write_exports()
    rows = rows_of(signed_in("staff").get(f"/staff/exports/{export.pk}/download/"))
    assert len(rows) == 6
    assert len({row[0] for row in rows}) == 6


def test_a_killed_workers_list_is_taken_up_again_and_a_living_ones_is_not(small_steps: None) -> None:
    orders(3)
    ask()
    assert export_writing._claim() is not None
    assert export_writing._claim() is None
    Export.objects.update(touched_at=timezone.now() - export_writing.LOST_AFTER - timedelta(seconds=1))
    assert export_writing._claim() is not None


def test_two_workers_on_one_list_write_no_row_twice(small_steps: None) -> None:
    orders(3)
    ask()
    slow, quick = export_writing._claim(), Export.objects.get()
    assert slow is not None
    export_writing._write(quick)
    export_writing._write(slow)
    export = Export.objects.get()
    assert (export.state, export.rows_done) == ("done", 3)
    assert len(rows_of(signed_in("staff").get(f"/staff/exports/{export.pk}/download/"))) == 4


def test_a_cancelled_list_is_not_written_and_nothing_of_it_is_kept(small_steps: None) -> None:
    orders(5)
    ask()
    export = export_writing._claim()
    assert export is not None
    records, cursor = export_kinds.KINDS["orders"].batch({}, None, 2)
    assert export_writing._keep(export, "x", len(records), cursor)
    browser = signed_in("staff", language="en")
    browser.post(f"/staff/exports/{export.pk}/cancel/")
    export_writing._write(export)
    export.refresh_from_db()
    assert (export.state, ExportPart.objects.count()) == ("cancelled", 0)
    assert "Nothing of it was kept" in page_of(browser.get(f"/staff/exports/{export.pk}/"))
    assert browser.get(f"/staff/exports/{export.pk}/download/").status_code == 302


def test_a_file_is_for_whoever_asked_and_may_still_have_it(small_steps: None) -> None:
    orders(3)
    ask()
    tasks.write_exports()
    path = f"/staff/exports/{Export.objects.get().pk}/"
    for other in ("supervisor", "admin"):
        assert signed_in(other).get(f"{path}download/").status_code == 404
    browser = signed_in("staff")
    assert browser.get(f"{path}download/").status_code == 200
    Group.objects.get(name="support").permissions.remove(Permission.objects.get(codename="ask_quote"))
    Group.objects.get(name="support").permissions.add(Permission.objects.get(codename="search_history"))
    assert browser.get(f"{path}download/").status_code == 403


def test_a_list_of_somebody_who_lost_the_right_meanwhile_is_not_written(small_steps: None) -> None:
    orders(3)
    ask()
    Group.objects.get(name="support").permissions.remove(Permission.objects.get(codename="ask_quote"))
    tasks.write_exports()
    export = Export.objects.get()
    assert (export.state, export.error, ExportPart.objects.count()) == ("failed", "not_allowed", 0)


@pytest.mark.parametrize(
    ("name", "kind", "status"),
    [("warehouse", "orders", 403), ("warehouse", "returns", 200), ("staff", "audit", 403), ("staff", "salaries", 404)],
)
def test_each_list_is_for_those_who_may_see_it(name: str, kind: str, status: int) -> None:
    assert ask(kind, name).status_code == status


def test_after_a_day_a_file_is_gone(small_steps: None) -> None:
    orders(3)
    ask()
    tasks.write_exports()
    export = Export.objects.get()
    Export.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert signed_in("staff").get(f"/staff/exports/{export.pk}/").status_code == 404
    tasks.write_exports()
    assert not Export.objects.exists()
    assert not ExportPart.objects.exists()


def test_one_person_has_only_so_many_lists_written_at_once(small_steps: None) -> None:
    orders(3)
    for _ in range(3):
        ask()
    browser = signed_in("staff", language="en")
    page = page_of(browser.post("/staff/exports/make/", {"kind": "orders"}, follow=True))
    assert "You have 3 lists being written already." in page
    assert Export.objects.count() == 3


def test_cells_that_a_spreadsheet_would_run_are_marked_as_text() -> None:
    rows: list[list[Cell]] = [["=1+1", "+886912", "-5", "@SUM(A1)", "\tx", " =1", "王小明", "a=b", -5, None]]
    assert text_of(rows) == "'=1+1,'+886912,'-5,'@SUM(A1),'\tx,' =1,王小明,a=b,-5,\r\n"


@pytest.mark.parametrize("text", ["＝1+1", "＋886912", "－5", "＠SUM(A1)", "\u3000=1", "\xa0=1", " \u3000＝1"])
def test_wide_signs_and_wide_spaces_are_no_way_around_that(text: str) -> None:
    assert text_of([[text]]) == f"'{text}\r\n"


def test_a_name_that_is_a_formula_is_harmless_in_the_file() -> None:
    orders(1)
    Customer.objects.update(name='=HYPERLINK("http://x","y")')
    (row,) = rows_of(ask())[1:]
    assert row[2] == '\'=HYPERLINK("http://x","y")'


@pytest.mark.parametrize(
    ("amount", "currency", "written"), [(230, "TWD", 230), (1250, "USD", "12.50"), (-5, "USD", "-0.05")]
)
def test_amounts_are_written_in_whole_units(amount: int, currency: str, written: object) -> None:
    assert plain_amount(amount, currency) == written
