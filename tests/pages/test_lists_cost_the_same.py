"""A list asks the database as often for a thousand rows as for ten."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agent import canned
from agent.models import Conversation, ConversationEvent, EvalCase, EvalRun, Message
from backoffice.export_kinds import KINDS, Kind
from backoffice.models import Export
from orders.models import Product
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import approvals, compensation, overrides
from refunds.alerts import raise_alert
from refunds.exchange_check import parse_exchange
from refunds.models import Approval, BooksCompared, Refund, Return
from refunds.redeem import redeem
from refunds.resend import resend
from refunds.returns import receive, request_exchange
from refunds.states import AlertKind
from refunds.tests.ask import ask, choices
from tests.pages.coming_back import return_of
from tests.pages.many import multiply
from tests.pages.visiting import said, signed_in

pytestmark = pytest.mark.django_db


def an_order(index: int) -> None:
    cast.place(f"Q{index}", lines=[("襪子", 100, 1), ("毛巾", 200, 2)], shipments=[shipment_body({1: 1})])


def a_conversation(index: int) -> None:
    order = cast.place(f"Q{index}")
    said(order, "在嗎")
    Conversation.objects.update(needs_person=True, waiting_since=timezone.now())


def a_return(index: int) -> None:
    order = cast.place(f"Q{index}", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper())


def an_approval(index: int) -> None:
    order = cast.place(f"Q{index}", lines=[("家庭劇院", 25000, 1)])
    redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper())


def a_refused_refund(index: int) -> None:
    order = cast.place(f"Q{index}", lines=[("襪子", 100, 1)])
    refund = redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper()).refund
    assert refund
    refund.allocations.update(state="failed")
    Refund.objects.filter(pk=refund.pk).update(state="failed")


def a_return_with_findings(index: int) -> None:
    order = cast.place(f"Q{index}", lines=[("襪子", 500, 2)], shipments=[shipment_body({1: 2})])
    back = return_of(order, quantity=2)
    found = {"li_1": {"accepted": 1, "damaged": 1}}
    receive(return_id=back.pk, actor=cast.staff("warehouse"), found=found)


def an_exchange(index: int) -> None:
    """For another product of the same price: rows name what was bought and what is wanted."""
    a_product(index)
    order = cast.place(f"Q{index}", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    wish = {"line_item_id": "li_1", "quantity": 1, "reason": "defective", "product_id": f"S{index}"}
    lines = parse_exchange({"lines": [wish]})
    request_exchange(order=order, lines=lines, actor=cast.shopper(), request_ref=f"test:{index}")


def goods_sent_again(index: int) -> None:
    order = cast.place(f"Q{index}", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1}, state="lost")])
    resend(order=order, lines=choices((1, 1, "lost")), actor=cast.shopper(), request_ref=f"test:{index}")


def an_exception(index: int) -> None:
    order = cast.place(f"Q{index}", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    cast.delivered_days_ago(order, 12)
    overrides.ask(order=order, choices=choices((1, 1, "changed_mind")), reason="住院", actor=cast.staff())


def a_compensation(index: int) -> None:
    order = cast.place(f"Q{index}", lines=[("襪子", 500, 1)])
    reason, ref = "配送延遲", f"test:{index}"
    compensation.propose(order=order, amount=10, reason=reason, actor=cast.staff(), request_ref=ref)


def a_decided_compensation(index: int) -> None:
    a_compensation(index)
    approval = Approval.objects.get(order__number=f"Q{index}")
    approvals.reject(approval_id=approval.pk, actor=cast.staff("supervisor"), reason="金額過高")


def an_alert(index: int) -> None:
    a_refused_refund(index)
    refund = Refund.objects.get(order__number=f"Q{index}")
    raise_alert(kind=AlertKind.OVERDUE, subject=refund.pk, order=refund.order, refund=refund, facts={"days": 11})


def a_comparison(index: int) -> None:
    until = timezone.now() - timedelta(days=index)
    differences = [{"difference": "missing_here", "number": "re_1", "amount": 5, "currency": "TWD"}]
    BooksCompared.objects.create(
        provider="simulated", since=until - timedelta(days=30), until=until, checked=3, differences=differences
    )


def a_product(index: int) -> None:
    Product.objects.create(sku=f"S{index}", name=f"羊毛襪 {index}", price=500, currency="TWD", stock=3)


def an_evaluation(index: int) -> None:
    run = EvalRun.objects.create(
        model="stand-in",
        is_stand_in=True,
        seed=index,
        repetitions=1,
        toolsets=["task", "raw"],
        tasks_digest="d",
        wording="w",
        plays_planned=2,
    )
    for toolset in run.toolsets:
        EvalCase.objects.create(
            run=run,
            task="t",
            toolset=toolset,
            repetition=1,
            language="en",
            tags=[],
            held_out=False,
            model="m",
            outcome="right",
            detail={},
        )


def an_answer(index: int) -> None:
    canned.save(reply=None, actor=cast.staff("supervisor"), title=f"招呼 {index}", language="en", text="Hello")


def an_export(index: int) -> None:
    day = timezone.now() + timedelta(days=1)
    Export.objects.create(kind="orders", asked_by=cast.staff_user(), language="en", state="done", expires_at=day)


def say_much(conversation: Conversation) -> None:
    """A thousand messages more, as its customer writes them."""
    words = {"content": [{"type": "text", "text": "在嗎"}], "author": "customer"}
    Message.objects.bulk_create(Message(conversation=conversation, **words) for _ in range(1000))
    like = conversation.events.filter(kind="message")[0]
    ConversationEvent.objects.bulk_create(
        ConversationEvent(conversation=conversation, number=1000 + each, kind=like.kind, data=like.data)
        for each in range(1000)
    )


EVERYTHING: list[Callable[[int], None]] = [
    an_order,
    a_conversation,
    a_return,
    an_approval,
    a_return_with_findings,
    an_exchange,
    goods_sent_again,
    an_exception,
    a_compensation,
    a_decided_compensation,
    an_alert,
    a_comparison,
    an_answer,
    an_export,
    an_evaluation,
]
LISTS = [
    ("ming", "/orders/"),
    ("ming", "/refunds/"),
    ("staff", "/staff/"),
    ("staff", "/staff/?state=all"),
    ("staff", "/staff/?q=在嗎"),
    ("staff", "/staff/orders/"),
    ("staff", "/staff/orders/?q=Q"),
    ("staff", "/staff/refunds/"),
    ("staff", "/staff/returns/?all=1"),
    ("staff", "/staff/replacements/?all=1"),
    ("staff", "/staff/books/"),
    ("staff", "/staff/answers/"),
    ("staff", "/staff/exports/"),
    ("supervisor", "/staff/approvals/"),
    ("supervisor", "/staff/approvals/?all=1"),
    ("supervisor", "/staff/reports/"),
    ("supervisor", "/staff/evals/"),
    ("warehouse", "/staff/returns/"),
    ("warehouse", "/staff/replacements/"),
    ("auditor", "/staff/audit/"),
    ("auditor", "/staff/audit/?q=王小明"),
]


def queries(browser: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert browser.get(path).status_code == 200
    return len(captured)


def queries_of_file(kind: Kind) -> int:
    with CaptureQueriesContext(connection) as captured:
        records, _cursor = kind.batch({}, None, 1000)
        assert len([kind.cells(record) for record in records]) >= 10
    return len(captured)


@pytest.mark.timeout(400)
def test_every_list_and_file_asks_as_often_for_a_thousand_rows_as_for_ten() -> None:
    for what, make in enumerate(EVERYTHING):
        for index in range(10):
            make(what * 100 + index)
    conversation = Conversation.objects.get(order__number="Q100")
    lists = [*LISTS, ("staff", f"/staff/conversations/{conversation.pk}/")]
    browsers = {name: signed_in(name) for name, _path in lists}

    def asked() -> dict[str, int]:
        for name, path in lists:
            browsers[name].get(path)  # the session remembers what was looked at last
        pages = {f"{path} {name}": queries(browsers[name], path) for name, path in lists}
        return pages | {kind.name: queries_of_file(kind) for kind in KINDS.values()}

    few = asked()
    multiply(99)
    say_much(conversation)
    assert (Return.objects.count(), Approval.objects.filter(state="waiting").count()) == (3000, 3000)
    # A page of copies may be of fewer kinds than one of originals.
    assert {path: number for path, number in asked().items() if number > few[path]} == {}


PAGED: list[tuple[str, str, Callable[[int], None]]] = [
    ("staff", "/staff/returns/", a_return),
    ("staff", "/staff/returns/?all=1", a_return),
    ("staff", "/staff/refunds/", a_refused_refund),
    ("supervisor", "/staff/approvals/", a_compensation),
    ("supervisor", "/staff/approvals/?all=1", a_decided_compensation),
    ("staff", "/staff/replacements/?all=1", goods_sent_again),
    ("warehouse", "/staff/replacements/", goods_sent_again),
    ("staff", "/staff/books/", a_comparison),
]


@pytest.mark.parametrize(("name", "path", "make"), PAGED, ids=[path for _, path, _ in PAGED])
def test_a_lists_pages_show_each_row_once_there_and_back_and_count_nothing(
    name: str, path: str, make: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("returns", "refunds", "approvals", "replacements", "alerts"):
        monkeypatch.setattr(f"backoffice.screens.{module}.PER_PAGE", 2)
    for index in range(5):
        make(index)
    browser, address = signed_in(name), path
    browser.get(path)
    pages, asked = [], []
    while address:
        with CaptureQueriesContext(connection) as captured:
            sheet = browser.get(address).context["sheet"]
        pages.append([row.pk for row in sheet.rows])
        asked.append(len(captured))
        address = f"{path.partition('?')[0]}?{sheet.later}" if sheet.later else ""
    assert [len(page) for page in pages] == [2, 2, 1]
    assert len({key for page in pages for key in page}) == 5
    assert asked[1] <= asked[0]
    back: list[list[object]] = []
    while True:
        back.insert(0, [row.pk for row in sheet.rows])
        if not sheet.earlier:
            break
        sheet = browser.get(f"{path.partition('?')[0]}?{sheet.earlier}").context["sheet"]
    assert back == pages


def test_what_came_at_one_moment_is_neither_left_out_nor_shown_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backoffice.screens.returns.PER_PAGE", 2)
    for index in range(5):
        a_return(index)
    Return.objects.update(created_at=timezone.now())
    browser = signed_in("staff")
    for path in ("/staff/returns/", "/staff/returns/?all=1"):
        address = path
        shown: list[str] = []
        while address:
            sheet = browser.get(address).context["sheet"]
            shown += [row.pk for row in sheet.rows]
            address = f"/staff/returns/?{sheet.later}" if sheet.later else ""
        assert len(shown) == len(set(shown)) == 5


@pytest.mark.parametrize("cursor", ["x", "MS4x", "MS4A", "%00", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OS4x"])
def test_a_cursor_that_nobody_has_given_out_is_the_first_page(cursor: str) -> None:
    a_comparison(1)
    a_return(1)
    browser = signed_in("staff")
    for path in ("/staff/books/", "/staff/returns/"):
        for way in ("before", "after"):
            assert browser.get(f"{path}?{way}={cursor}").status_code == 200


def test_products_to_choose_from_cost_the_same_however_many_fit() -> None:
    cast.place("few", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    browser, path = signed_in("staff"), "/staff/orders/few/exchange/products/li_1/?words.li_1.exchange=羊毛"
    for index in range(2):
        a_product(index)
    browser.get(path)
    few = queries(browser, path)
    for index in range(2, 12):
        a_product(index)
    assert queries(browser, path) == few


def test_an_order_with_many_returns_and_replacements_asks_as_often_as_one_with_few() -> None:
    def place(number: str, count: int) -> None:
        order = cast.place(
            number,
            lines=[(f"商品{position}", 100, 2) for position in range(1, count + 1)],
            shipments=[shipment_body({position: 2}, external_id=f"s{position}") for position in range(1, count + 1)],
        )
        for position in range(1, count + 1):
            ref = f"test:{number}:{position}"
            lines = choices((position, 1, "defective"))
            request_exchange(order=order, lines=lines, actor=cast.shopper(), request_ref=ref)
            redeem(quote_id=ask(order, (position, 1, "changed_mind", "return")).pk, actor=cast.shopper())
            reason = "配送延遲"
            compensation.propose(order=order, amount=1, reason=reason, actor=cast.staff(), request_ref=ref)

    place("few", 2)
    place("many", 6)
    for name, base in (("ming", "/orders/"), ("staff", "/staff/orders/"), ("warehouse", "/staff/orders/")):
        browser = signed_in(name)
        browser.get(f"{base}few/")
        assert queries(browser, f"{base}few/") == queries(browser, f"{base}many/")


def test_the_order_page_asks_as_often_for_many_lines_and_parcels_as_for_few() -> None:
    def place(number: str, count: int) -> None:
        cast.place(
            number,
            lines=[(f"商品{position}", 100, 2) for position in range(1, count + 1)],
            shipments=[shipment_body({position: 1}, external_id=f"s{position}") for position in range(1, count + 1)],
        )

    place("few", 2)
    place("many", 12)
    for name, base in (("ming", "/orders/"), ("staff", "/staff/orders/")):
        browser = signed_in(name)
        browser.get(f"{base}few/")
        assert queries(browser, f"{base}few/") == queries(browser, f"{base}many/")
