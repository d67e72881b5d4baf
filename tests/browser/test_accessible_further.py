"""The pages that test_accessible.py leaves: rules, answers, files, records, a customer's refunds and slip, errors."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_accessible import check
from tests.browser.visit import Visit
from tests.flows.chat import open_refund_card, say
from tests.stack import Visitor, rows

Open = Callable[..., Visit]
ANSWER = {"title": "axe", "language": "zh-hant", "text": "{{customer_name}}您好，訂單 {{order_number}} 已收到。"}


def look_at(visiting: Visit, *addresses: str) -> None:
    for address in addresses:
        visiting.page.goto(address)
        check(visiting)


@pytest.fixture(scope="module")
def number(stack: Stack) -> str:
    """An order that was talked about, with goods of it on their way back and a refund nobody has assigned."""
    number = another_5531(stack, "5531-further")
    with Visitor(stack, "ming") as ming:
        say(ming, number)
    open_refund_card(stack, number)
    line = {"line_item_id": "li_1", "quantity": 1, "reason": "defective"}
    with Visitor(stack, "supervisor") as supervisor:
        quote = supervisor.post_json(f"/api/v1/orders/{number}/refund-quotes/", {"lines": [line]}).json()
        supervisor.post_json(f"/api/v1/refund-quotes/{quote['quote_id']}/redeem/", {"note": "有雜音"})
        supervisor.post("/staff/answers/new/", ANSWER)
        payment = one(stack, "select p.id from orders_payment p join orders_order o on o.id = p.order_id", number)
        supervisor.post(
            f"/staff/orders/{number}/refund-elsewhere/",
            {"external_ref": "axe-1", "amount": "100", "payment_id": payment, "at": today(stack), "for": "later"}
            | {"note": "臨櫃退現"},
        )
    return number


def today(stack: Stack) -> str:
    return str(rows(stack, "select (now() at time zone 'Asia/Taipei')::date::text as day")[0]["day"])


def one(stack: Stack, query: str, number: str) -> str:
    """The `id` of the only row of the order."""
    (row,) = rows(stack, f"{query} where o.number = %s", number)
    return str(row["id"])


def test_rules_and_answers(visit: Open, stack: Stack) -> None:
    with Visitor(stack, "supervisor") as supervisor:
        supervisor.post("/staff/policies/draft/", {"currency": "TWD"})
    (draft,) = rows(stack, "select version from refunds_refundpolicy where currency = 'TWD' and state = 'draft'")
    rules = f"/staff/policies/TWD/{draft['version']}/"
    desk = visit("supervisor")
    look_at(desk, "/staff/policies/", "/staff/policies/TWD/1/", rules, f"{rules}edit/", f"{rules}compare/")
    look_at(desk, "/staff/answers/new/")


def test_what_belongs_to_an_order_and_its_talk(visit: Open, stack: Stack, number: str) -> None:
    talk = one(stack, "select c.id from agent_conversation c join orders_order o on o.id = c.order_id", number)
    (turn,) = rows(stack, "select id from agent_turn where conversation_id = %s", int(talk))
    elsewhere = "select r.id from refunds_refund r join orders_order o on o.id = r.order_id and r.kind = 'elsewhere'"
    (answer,) = rows(stack, "select id from agent_cannedreply where title = 'axe'")
    look_at(
        visit("supervisor"),
        f"/staff/conversations/{talk}/turns/{turn['id']}/",
        f"/staff/orders/{number}/customer-link/",
        f"/staff/refunds/{one(stack, elsewhere, number)}/assign/",
        "/staff/answers/",
        f"/staff/answers/{answer['id']}/",
    )


def test_a_customers_refunds_and_slip(visit: Open, stack: Stack, number: str) -> None:
    back = one(stack, "select r.id from refunds_return r join orders_order o on o.id = r.order_id", number)
    look_at(visit("ming"), "/refunds/", f"/orders/{number}/returns/{back}/slip/", "/orders/nothing/", "/l/forged/")


def test_a_file_while_it_is_written_and_when_it_is_there(visit: Open, stack: Stack) -> None:
    """One of a worker who is busy for a day, so that it stays as it is: so long a list is no matter of a test."""
    desk = visit("auditor")
    made = (
        "insert into backoffice_export (kind, filters, asked_by_id, language, state, rows_expected, rows_done, error,"
        " created_at, touched_at, expires_at) select 'orders', '{}', id, 'zh-hant', 'running', 4000, 1500, '',"
        " now(), now() + interval '1 day', now() + interval '1 day' from auth_user where username = 'auditor'"
        " returning id"
    )
    (export,) = rows(stack, made)
    desk.page.goto(f"/staff/exports/{export['id']}/")
    desk.sees(desk.page.get_by_role("progressbar"))
    check(desk)
    cancel = desk.page.get_by_role("button", name="取消")
    cancel.focus()
    rows(stack, "update backoffice_export set rows_done = 2222 where id = %s", export["id"])
    desk.sees(desk.page.get_by_text("2,222"))
    expect(cancel).to_be_focused()
    rows(stack, "update backoffice_export set state = 'done', rows_done = 4000 where id = %s", export["id"])
    desk.sees(desk.page.get_by_role("link", name="下載"))
    check(desk)
    look_at(desk, "/staff/exports/", "/staff/reports/", "/staff/audit/")
    rows(stack, "delete from backoffice_export where id = %s", export["id"])


def test_the_records_and_what_is_not_there(visit: Open, stack: Stack) -> None:
    auditor = visit("auditor")
    look_at(auditor, "/admin/", "/admin/refunds/refund/", "/admin/orders/auditevent/", "/staff/nothing/")
    (refund,) = rows(stack, "select id from refunds_refund order by created_at limit 1")
    look_at(auditor, f"/admin/refunds/refund/{refund['id']}/change/")
    look_at(visit("warehouse"), "/staff/approvals/")
