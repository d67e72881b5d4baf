"""The pages that test_accessible.py leaves: rules, answers, files, records, a customer's refunds and slip, errors."""

from collections.abc import Callable
from typing import Final

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_accessible import check
from tests.browser.visit import Visit
from tests.flows.chat import open_refund_card, say
from tests.gallery.scenes import SCENES
from tests.stack import Visitor, rows, wait_until

Open = Callable[..., Visit]
ANSWER = {"title": "axe", "language": "zh-hant", "text": "{{customer_name}}您好，訂單 {{order_number}} 已收到。"}

# The pages of the gallery that other tests look at, here, in test_accessible.py or in test_decisions.py. All others are
# looked at by the test of every other page.
ORDERS: Final = "order exchange resend exception compensation elsewhere address link orders"
MONEY: Final = "refunds refund-assign refund-retry refund-by-hand refund-settled refund-failed refund-undo alert-settle"
GOODS: Final = "returns return return-reject return-withdraw replacements replacement-send replacement-release"
RULES: Final = "policies policy policy-edit policy-compare policy-withdraw policy-discard"
REST: Final = "queue conversation turn books approvals canned canned-new canned-edit reports audit exports export"
OTHERS: Final = "login order orders refunds return-slip enter-by-link api-docs"
LOOKED_AT: Final = {f"staff-{name}" for names in (ORDERS, MONEY, GOODS, RULES, REST) for name in names.split()}
# The page of the API is drawn by Swagger UI: a button in the row that unfolds an operation, choices named only by the
# cell beside them, an example that scrolls and takes no focus. Its colours are ours (static/css/api_docs.css).
OF_SWAGGER_UI: Final = {
    "nested-interactive": ".opblock-summary-control",
    "select-name": ".parameters-col_description > select",
    "scrollable-region-focusable": "pre.microlight",
}
HAVE_A_TEST: Final = {*LOOKED_AT, *OTHERS.split()}


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


def test_the_page_of_the_api_with_an_operation_that_reads_and_one_that_writes(visit: Open) -> None:
    admin = visit("admin")
    admin.page.goto("/api/v1/docs/")
    admin.sees(admin.page.locator(".opblock-summary-control"))
    check(admin, apart_from=OF_SWAGGER_UI)
    for kind in ("get", "post"):
        operation = admin.page.locator(f".opblock-{kind}").first
        operation.locator(".opblock-summary-control").click()
        admin.sees(operation.locator(".responses-table"))
    check(admin, apart_from=OF_SWAGGER_UI)
    assert admin.problems == []


def test_every_other_page_of_the_gallery(visit: Open, stack: Stack, number: str) -> None:
    with Visitor(stack, "supervisor") as supervisor:
        supervisor.post("/staff/copilot/ask/", {"text": f"訂單 {number} 退了多少錢？"})
    talk = one(stack, "select c.id from agent_conversation c join orders_order o on o.id = c.order_id", number)
    runs = [an_evaluation(stack) for _ in range(2)]
    known = {
        "talk_conversation": talk,
        "lost_conversation": talk,
        "door_call": a_call_from_outside(stack, number),
        "evaluation_before": runs[0][0],
        "evaluation": runs[1][0],
        "eval_case": runs[1][1],
        "approval": an_approval(stack),
    }
    wait_until(lambda: rows(stack, "select 1 from agent_copilotthread where state = 'idle'"))
    known["copilot"] = str(rows(stack, "select max(id) as id from agent_copilotthread")[0]["id"])
    left = {(each.route, each.values, each.query) for each in SCENES if not is_looked_at(each.route)}
    desk = visit("supervisor")
    for route, values, query in sorted(left):
        address = reverse(route, args=[known[name] for name in values]) + query.format(**known)
        answer = desk.page.goto(address)
        assert answer is not None
        assert answer.status == 200, address
        check(desk)
    assert desk.problems == []


def is_looked_at(route: str) -> bool:
    return route in HAVE_A_TEST or route.startswith("admin:")


def an_evaluation(stack: Stack) -> tuple[str, str]:
    """A run with one play, and the play."""
    run = (
        "insert into agent_evalrun (state, model, is_stand_in, seed, repetitions, toolsets, tasks_digest, wording,"
        " note, plays_planned, stopped_because, created_at, finished_at) values ('done', 'stand-in', true, 1, 1,"
        " '[\"task\"]', 'tasks', 'words', 'axe', 1, '', now(), now()) returning id"
    )
    ((run_id,),) = [each.values() for each in rows(stack, run)]
    play = (
        "insert into agent_evalcase (run_id, task, toolset, repetition, language, tags, held_out, model, outcome,"
        " wrong_money, stuck, never, told_wrong, handed_off, tool_calls, requests, errors, input_tokens, cached_tokens,"
        " output_tokens, cost_micro, milliseconds, detail) values (%s, 'changed_mind', 'task', 1, 'zh-hant',"
        " '[\"unshipped\"]', false, 'stand-in', 'right', false, false, false, false, false, 1, 2, '{}', 0, 0, 0, 0, 9,"
        " %s::jsonb) returning id"
    )
    talk = '[{"who": "customer", "text": "耳機殼取消"}]'
    detail = f'{{"faults": [], "told": [], "seen": {{"refunds": []}}, "talk": {talk}}}'
    return str(run_id), str(rows(stack, play, run_id, detail)[0]["id"])


def a_call_from_outside(stack: Stack, number: str) -> str:
    made = (
        "insert into agent_doorcall (door, customer_id, order_id, name, arguments, result, is_error, created_at,"
        " duration_ms) select 'shell', customer_id, id, 'get_order', '{}', '{}', false, now(), 12 from orders_order"
        " where number = %s returning id"
    )
    return str(rows(stack, made, number)[0]["id"])


def an_approval(stack: Stack) -> str:
    with Visitor(stack, "staff") as staff:
        number = another_5531(stack, "5531-asked")
        form = {"amount": "50", "reason": "配送延遲致歉"}
        staff.post(f"/staff/orders/{number}/compensation/", form)
    return one(stack, "select a.id from refunds_approval a join orders_order o on o.id = a.order_id", number)
