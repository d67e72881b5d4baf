"""What happens at the desk before its pictures are taken, so that every page has something to show."""

from typing import Any

from backoffice.local.stack import Stack
from orders.tests.factories import FREE_DELIVERY, line_body, payment_body, shipment_body
from tests.browser import decisions_for_tests as decisions
from tests.browser.orders_for_tests import another_5531, order_of_ming
from tests.flows.chat import confirm, open_refund_card, refund_of, say
from tests.stack import Visitor, rows, wait_until

REFUNDED = "5532"


def play(stack: Stack) -> dict[str, str]:
    """The values that addresses of scenes are made of. Waits until all of it has happened."""
    _someone_is_refunded(stack)
    _someone_sees_cards(stack)
    _someone_asks_for_a_person(stack)
    returned = _someone_returns(stack)
    _a_second_person_is_needed(stack)
    _a_provider_refuses(stack)
    elsewhere = _somebody_paid_elsewhere(stack)
    failed = decisions.failed_after_it_was_paid(stack, "5534")
    answer = _an_answer_is_written(stack)
    door_call = _a_program_calls(stack)
    runs = [_an_evaluation(stack, note) for note in ("原來的說明", "改過的說明")]
    return {
        "talk": "5531",
        "talk_conversation": _conversation(stack, "5531"),
        "turn": _turn(stack, "5531"),
        "conversation": _conversation(stack, "5540"),
        "lost_conversation": _someone_has_lost_goods(stack),
        "refunded": REFUNDED,
        "refund": str(rows(stack, "select id from refunds_refund where amount = 230 limit 1")[0]["id"]),
        "return_order": "5602",
        "return": returned,
        "fresh": "5621",
        "lost": "5613",
        "late": "5477",
        "unsent": "5548",
        "copilot": _someone_asks_the_copilot(stack),
        "currency": "TWD",
        "version": "1",
        "draft": "2",
        "elsewhere": elsewhere,
        "answer": answer,
        "door_call": door_call,
        "refused": str(rows(stack, "select id from refunds_refund where state = 'failed'")[0]["id"]),
        "failed": failed,
        "alert": decisions.alert(stack, "5616"),
        "replacement": decisions.replacement(stack, "5535"),
        "to_come": decisions.rules_to_come(stack, "CNY"),
        "other_currency": "CNY",
        "approval": str(rows(stack, "select id from refunds_approval where state = 'waiting'")[0]["id"]),
        "export": _a_list_is_written(stack),
        "unknown": "9999",
        "forged": "no-such-link",
        "evaluation_before": runs[0],
        "evaluation": runs[1],
        "eval_case": _a_stuck_talk(stack, runs[1]),
    }


def _conversation(stack: Stack, number: str) -> str:
    query = "select c.id from agent_conversation c join orders_order o on o.id = c.order_id where o.number = %s"
    return str(rows(stack, query, number)[0]["id"])


def _turn(stack: Stack, number: str) -> str:
    query = "select max(id) as id from agent_turn where conversation_id = %s"
    return str(rows(stack, query, int(_conversation(stack, number)))[0]["id"])


def _someone_sees_cards(stack: Stack) -> None:
    with Visitor(stack, "ming") as ming:
        say(ming, "5531")
    open_refund_card(stack, "5531")


def _someone_is_refunded(stack: Stack) -> None:
    another_5531(stack, REFUNDED)
    with Visitor(stack, "ming") as ming:
        say(ming, REFUNDED)
        confirm(ming, open_refund_card(stack, REFUNDED)["quote_id"])
    wait_until(lambda: (refund_of(stack, REFUNDED) or {}).get("state") == "succeeded")


def _someone_asks_for_a_person(stack: Stack) -> None:
    with Visitor(stack, "ming") as ming:
        say(ming, "5540", "包裹什麼時候到？我想找真人客服")
    wait_until(lambda: rows(stack, "select 1 from agent_conversation where needs_person"))


def _someone_has_lost_goods(stack: Stack) -> str:
    """Socks that the carrier has lost, and a hat that is not packed yet: both can be offered anew."""
    lines = [line_body(1, "羊毛襪", 500), line_body(2, "毛帽", 600)]
    lost = [shipment_body({1: 1}, state="lost")]
    paid = [payment_body(1180)]
    number = order_of_ming(stack, "5536", lines=lines, shipments=lost, shipping=FREE_DELIVERY, payments=paid)
    with Visitor(stack, "ming") as ming:
        say(ming, number, "襪子一直沒有收到，我想找真人客服")
    return _conversation(stack, number)


def _someone_returns(stack: Stack) -> str:
    with Visitor(stack, "staff") as staff:
        made = _redeem(staff, "5602", "li_1", "changed_mind")
    return str(made["return_id"])


def _a_second_person_is_needed(stack: Stack) -> None:
    with Visitor(stack, "staff") as staff:
        _redeem(staff, "5619", "li_1", "changed_mind")


def _a_provider_refuses(stack: Stack) -> None:
    stack.manage("gateway_fault", "refuse", "--times", "1")
    with Visitor(stack, "staff") as staff:
        _redeem(staff, "5616", "li_1", "changed_mind")
    wait_until(lambda: rows(stack, "select 1 from refunds_refund where state = 'failed'"))


def _somebody_paid_elsewhere(stack: Stack) -> str:
    """A refund that nobody has said the goods of."""
    number = another_5531(stack, "5533")
    query = "select p.id from orders_payment p join orders_order o on o.id = p.order_id where o.number = %s"
    payment = rows(stack, query, number)[0]["id"]
    told = {"external_ref": "re_at_the_desk", "amount": 230, "payment_id": payment, "note": "收單銀行後台退款"}
    with Visitor(stack, "supervisor") as supervisor:
        answer = supervisor.post_json(f"/api/v1/orders/{number}/refunds-elsewhere/", told)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["refund_id"])


def _an_answer_is_written(stack: Stack) -> str:
    text = "{{customer_name}}您好，訂單 {{order_number}} 的退款 {{refund_amount}} 已送出，通常 7–14 個工作天入帳。"
    with Visitor(stack, "supervisor") as supervisor:
        supervisor.post("/staff/answers/new/", {"title": "退款已送出", "language": "zh-hant", "text": text})
    return str(rows(stack, "select id from agent_cannedreply")[0]["id"])


def _a_list_is_written(stack: Stack) -> str:
    """As a worker does with a list of more than a thousand rows."""
    from django.contrib.auth.models import User

    from backoffice import exporting
    from backoffice.export_kinds import KINDS
    from orders.actors import staff_actor

    kind, actor = KINDS["orders"], staff_actor(User.objects.get(username="supervisor"))
    export = exporting.ask(kind=kind, filters={}, expected=kind.count({}, exporting.AT_ONCE), actor=actor)
    wait_until(lambda: rows(stack, "select 1 from backoffice_export where state = 'done'"))
    return str(export.pk)


def _someone_asks_the_copilot(stack: Stack) -> str:
    with Visitor(stack, "supervisor") as supervisor:
        question = "ming@example.com 最近一個月有沒有重複付款？列出需要追蹤的訂單"
        supervisor.post("/staff/copilot/ask/", {"text": question})
    wait_until(lambda: rows(stack, "select 1 from agent_copilotthread where state = 'idle'"))
    return str(rows(stack, "select max(id) as id from agent_copilotthread")[0]["id"])


def _a_program_calls(stack: Stack) -> str:
    """As a program of 王小明's does that knows its way only half."""
    from datetime import timedelta

    from django.contrib.auth.models import User
    from django.utils import timezone

    from agent.doors import calls, tokens
    from agent.states import Door
    from orders.actors import staff_actor
    from orders.models import Order

    order = Order.objects.select_related("customer").get(number=another_5531(stack, "5537"))
    until = timezone.now() + timedelta(days=30)
    actor = staff_actor(User.objects.get(username="admin"))
    secret, _ = tokens.issue(actor=actor, name="家裡的電腦", expires_at=until, customer=order.customer)
    who = tokens.identify(secret)
    assert who is not None
    case = {"line_item_id": "li_2", "quantity": 1, "reason": "late_delivery", "action": None}
    given: dict[str, Any] = {"order_number": order.number}
    calls.call(who, "get_order", given, Door.HTTP)
    calls.call(who, "quote_refund", {**given, "lines": [{**case, "quantity": 2}]}, Door.HTTP)
    quote = calls.call(who, "quote_refund", {**given, "lines": [case]}, Door.HTTP)
    calls.call(who, "refund_items", {**given, "quote_id": quote.result["quote_id"]}, Door.HTTP)
    calls.call(who, "get_order", {"order_number": "5602"}, Door.HTTP)
    return str(rows(stack, "select max(id) as id from agent_doorcall")[0]["id"])


def _an_evaluation(stack: Stack, note: str) -> str:
    stack.manage("evaluate", "--task", "changed_mind", "--note", note)
    return str(rows(stack, "select max(id) as id from agent_evalrun")[0]["id"])


def _a_stuck_talk(stack: Stack, run: str) -> str:
    query = "select min(id) as id from agent_evalcase where run_id = %s and outcome = 'stuck'"
    return str(rows(stack, query, int(run))[0]["id"])


def _redeem(staff: Visitor, number: str, line_item_id: str, reason: str) -> dict[str, Any]:
    line = {"line_item_id": line_item_id, "quantity": 1, "reason": reason}
    quote = staff.post_json(f"/api/v1/orders/{number}/refund-quotes/", {"lines": [line]}).json()
    answer = staff.post_json(f"/api/v1/refund-quotes/{quote['quote_id']}/redeem/", {"note": "顧客來電取消"})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made
