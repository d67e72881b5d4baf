"""Rows that a decision of staff is about, each as it stands before somebody decides."""

from datetime import UTC, datetime, timedelta

from backoffice.local.stack import Stack
from orders.tests.factories import line_body, shipment_body
from tests.browser.orders_for_tests import another_5531, order_of_ming
from tests.flows.chat import refund_of
from tests.stack import Visitor, rows, wait_until


def refunded(stack: Stack, number: str, state: str) -> str:
    """The number of a refund of 230 on an order of its own, once it has come to `state`."""
    another_5531(stack, number)
    line = {"line_item_id": "li_2", "quantity": 1, "reason": "changed_mind"}
    with Visitor(stack, "staff") as staff:
        quote = staff.post_json(f"/api/v1/orders/{number}/refund-quotes/", {"lines": [line]}).json()
        answer = staff.post_json(f"/api/v1/refund-quotes/{quote['quote_id']}/redeem/", {"note": "顧客來電取消"})
    assert answer.status_code == 201, answer.text
    wait_until(lambda: (refund_of(stack, number) or {}).get("state") == state)
    return str((refund_of(stack, number) or {})["id"])


def refused(stack: Stack, number: str) -> str:
    """A refund that its provider has refused."""
    stack.manage("gateway_fault", "refuse", "--times", "1")
    return refunded(stack, number, "failed")


def failed_after_it_was_paid(stack: Stack, number: str) -> str:
    """A refund that was paid, and of which the provider has reported since that it has failed."""
    refund = refunded(stack, number, "succeeded")
    parts = "select id from refunds_refundallocation where refund_id = %s"
    rows(
        stack,
        f"update refunds_gatewayattempt set trouble = 'failed_after_paid' where allocation_id in ({parts})",
        refund,
    )
    rows(stack, "update refunds_refundallocation set state = 'unknown' where refund_id = %s", refund)
    rows(stack, "update refunds_refund set state = 'unknown', finished_at = null where id = %s", refund)
    return refund


def alert(stack: Stack, number: str) -> str:
    """Something at the provider that nobody at this desk has asked for, on an order that is known."""
    names = "(kind, subject, provider, order_id, facts, raised_at, note, mailed_at)"
    facts = '{"provider_refund_id": "re_not_ours", "amount": 380, "currency": "TWD"}'
    values = "select 'not_announced', %s, 'stripe', id, %s::jsonb, now(), '', now() from orders_order where number = %s"
    made = f"insert into refunds_staffalert {names} {values} returning id"
    return str(rows(stack, made, f"stripe:{number}", facts, number)[0]["id"])


def replacement(stack: Stack, number: str) -> str:
    """Socks that the carrier has lost, set aside to be sent once more."""
    lost = [shipment_body({1: 1}, state="lost")]
    order_of_ming(stack, number, lines=[line_body(1, "羊毛襪", 500)], shipments=lost)
    with Visitor(stack, "staff") as staff:
        form = {"pick": "li_1.resend", "quantity.li_1.resend": "1", "note": "物流回報遺失"}
        staff.post(f"/staff/orders/{number}/resend/", form)
    found = "select r.id from refunds_replacement r join orders_order o on o.id = r.order_id where o.number = %s"
    return str(rows(stack, found, number)[0]["id"])


def return_on_its_way(stack: Stack, number: str) -> str:
    """Socks that their customer sends back."""
    order_of_ming(stack, number, lines=[line_body(1, "羊毛襪", 500)], shipments=[shipment_body({1: 1})])
    line = {"line_item_id": "li_1", "quantity": 1, "reason": "changed_mind"}
    with Visitor(stack, "staff") as staff:
        quote = staff.post_json(f"/api/v1/orders/{number}/refund-quotes/", {"lines": [line]}).json()
        made = staff.post_json(f"/api/v1/refund-quotes/{quote['quote_id']}/redeem/", {"note": "顧客來電"}).json()
    return str(made["return_id"])


def elsewhere(stack: Stack, number: str) -> str:
    """A refund of 100 that was made at the counter, on an order that is known."""
    order = "select o.id, p.id as payment from orders_order o join orders_payment p on p.order_id = o.id"
    (known,) = rows(stack, f"{order} where o.number = %s", number)
    day = str(rows(stack, "select (now() at time zone 'Asia/Taipei')::date::text as day")[0]["day"])
    form = {"external_ref": f"{number}-1", "amount": "100", "payment_id": known["payment"], "at": day, "for": "later"}
    with Visitor(stack, "supervisor") as supervisor:
        supervisor.post(f"/staff/orders/{number}/refund-elsewhere/", form | {"note": "臨櫃退現"})
    found = "select id from refunds_refund where kind = 'elsewhere' and order_id = %s"
    return str(rows(stack, found, known["id"])[0]["id"])


def draft(stack: Stack, currency: str) -> str:
    """The version of the rules that is being written."""
    with Visitor(stack, "supervisor") as author:
        author.post("/staff/policies/draft/", {"currency": currency})
    newest = "select max(version) as version from refunds_refundpolicy where currency = %s"
    return str(rows(stack, newest, currency)[0]["version"])


def rules_to_come(stack: Stack, currency: str) -> str:
    """The version of the rules that has been published and is not in force yet."""
    soon = datetime.now(UTC) + timedelta(days=30)
    version = draft(stack, currency)
    with Visitor(stack, "marketing") as publisher:
        form = {"in_force_from": soon.strftime("%Y-%m-%dT%H:%M"), "note": "換季"}
        publisher.post(f"/staff/policies/{currency}/{version}/publish/", form)
    state = "select state from refunds_refundpolicy where currency = %s and version = %s"
    assert rows(stack, state, currency, int(version)) == [{"state": "published"}]
    return version
