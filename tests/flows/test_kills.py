"""Workers are killed, the gateway falls silent: the conversation goes on by itself and money moves exactly once."""

from collections.abc import Iterator

import pytest

from backoffice.local.stack import CHAT_WORKERS, Stack
from tests.flows.chat import another_5531, cards, confirm, open_refund_card, paid_out, refund_of, say
from tests.stack import Visitor, rows, wait_until

AGAIN_WITHIN = 60.0


@pytest.fixture
def ming(stack: Stack) -> Iterator[Visitor]:
    with Visitor(stack, "ming") as visitor:
        yield visitor


def turn_of(stack: Stack, number: str) -> dict[str, object] | None:
    found = rows(
        stack,
        "select t.id, t.state, t.steps from agent_turn t join agent_conversation c on c.id = t.conversation_id "
        "join orders_order o on o.id = c.order_id where o.number = %s order by t.id desc limit 1",
        number,
    )
    return found[0] if found else None


def test_a_worker_killed_in_mid_turn_is_replaced_and_nothing_is_said_twice(stack: Stack, ming: Visitor) -> None:
    number = another_5531(stack, "kill-turn")
    say(ming, number)

    def in_the_middle() -> bool:
        turn = turn_of(stack, number)
        return bool(turn and turn["state"] == "running" and turn["steps"])

    wait_until(in_the_middle, every=0.02)
    for worker in CHAT_WORKERS:
        stack.hold(worker)
        stack.kill(worker)
    for worker in CHAT_WORKERS:
        stack.release(worker)
    card = open_refund_card(stack, number, timeout=AGAIN_WITHIN)

    calls = rows(
        stack,
        "select k.name, k.state, k.tool_use_id from agent_toolcall k join agent_conversation c "
        "on c.id = k.conversation_id join orders_order o on o.id = c.order_id where o.number = %s",
        number,
    )
    assert sorted(call["name"] for call in calls) == ["create_return", "get_order", "quote_refund", "refund_items"]
    assert (
        len(
            rows(
                stack,
                "select 1 from refunds_refundquote q join orders_order o on o.id = q.order_id where o.number = %s",
                number,
            )
        )
        == 1
    )
    confirm(ming, card["quote_id"])
    wait_until(lambda: (refund_of(stack, number) or {}).get("state") == "succeeded")
    assert paid_out(stack, number) == [230]


def test_a_worker_killed_between_the_press_and_the_gateway_pays_exactly_once(stack: Stack, ming: Visitor) -> None:
    number = another_5531(stack, "kill-before-gateway")
    say(ming, number)
    card = open_refund_card(stack, number)
    for worker in ("money_worker", "sweep_worker"):
        stack.hold(worker)
        stack.kill(worker)
    confirm(ming, card["quote_id"])
    refund = refund_of(stack, number)
    assert refund
    assert refund["state"] == "pending"
    assert paid_out(stack, number) == []
    # The job is lost as well: only the row says that money is owed.
    rows_of_broker = stack.manage("shell", "-c", "from agent.events import carrier; print(carrier().delete('money'))")
    assert rows_of_broker.strip().endswith("1")
    for worker in ("money_worker", "sweep_worker"):
        stack.release(worker)
    wait_until(lambda: (refund_of(stack, number) or {}).get("state") == "succeeded", timeout=AGAIN_WITHIN)
    assert paid_out(stack, number) == [230]


def test_a_worker_killed_while_the_gateway_is_answering_pays_exactly_once(stack: Stack, ming: Visitor) -> None:
    number = another_5531(stack, "kill-in-gateway")
    say(ming, number)
    card = open_refund_card(stack, number)
    stack.manage("gateway_fault", "slow", "--times", "1", "--seconds", "3")
    confirm(ming, card["quote_id"])
    wait_until(lambda: attempts(stack, number) == ["sending"], every=0.05)
    stack.kill("money_worker")
    wait_until(lambda: (refund_of(stack, number) or {}).get("state") == "succeeded", timeout=AGAIN_WITHIN)
    assert paid_out(stack, number) == [230]
    assert attempts(stack, number) == ["succeeded"]


def attempts(stack: Stack, number: str) -> list[str]:
    found = rows(
        stack,
        "select g.outcome from refunds_gatewayattempt g join refunds_refundallocation a on a.id = g.allocation_id "
        "join refunds_refund r on r.id = a.refund_id join orders_order o on o.id = r.order_id where o.number = %s "
        "order by g.number",
        number,
    )
    return [row["outcome"] for row in found]


def test_a_gateway_that_times_out_after_acting_is_unknown_and_then_found_to_have_paid(
    stack: Stack, ming: Visitor
) -> None:
    number = another_5531(stack, "timeout-after")
    say(ming, number)
    card = open_refund_card(stack, number)
    stack.manage("gateway_fault", "timeout_after", "--times", "1")
    confirm(ming, card["quote_id"])
    history = "select action from orders_auditevent where subject_id = %s and action like 'refund.%%' order by id"
    wait_until(lambda: (refund_of(stack, number) or {}).get("state") == "succeeded", timeout=AGAIN_WITHIN)
    refund = refund_of(stack, number)
    assert refund
    told = [row["action"] for row in rows(stack, history, refund["id"])]
    assert told.index("refund.unknown") < told.index("refund.succeeded")
    assert paid_out(stack, number) == [230]
    assert attempts(stack, number) == ["succeeded"]


def test_redis_emptied_in_the_middle_of_everything_loses_nothing(stack: Stack, ming: Visitor) -> None:
    number = another_5531(stack, "redis-emptied")
    say(ming, number)
    stack.manage("shell", "-c", "from agent.events import carrier; carrier().flushall()")
    card = open_refund_card(stack, number, timeout=AGAIN_WITHIN)
    stack.manage("shell", "-c", "from agent.events import carrier; carrier().flushall()")
    confirm(ming, card["quote_id"])
    stack.manage("shell", "-c", "from agent.events import carrier; carrier().flushall()")
    wait_until(lambda: (refund_of(stack, number) or {}).get("state") == "succeeded", timeout=AGAIN_WITHIN)
    wait_until(lambda: cards(stack, number)["refund"]["state"] == "confirmed", timeout=AGAIN_WITHIN)
    assert paid_out(stack, number) == [230]


def test_goods_packed_before_the_press_stay_paid_for_and_everyone_is_told(stack: Stack, ming: Visitor) -> None:
    number = another_5531(stack, "packed-between")
    say(ming, number)
    card = open_refund_card(stack, number)
    with Visitor(stack, "warehouse") as warehouse:
        packed = warehouse.post_json(
            f"/api/v1/orders/{number}/shipments/",
            {"external_id": "s2", "state": "packed", "lines": [{"external_id": "2", "quantity": 1}]},
        )
        assert packed.status_code in {200, 201}, packed.text
    answer = ming.post(f"/refunds/quotes/{card['quote_id']}/confirm/", headers={"Accept": "application/json"})
    assert answer.status_code == 409
    assert refund_of(stack, number) is None
    assert paid_out(stack, number) == []
    assert answer.json()["hint"]
    wait_until(lambda: cards(stack, number)["refund"]["state"] == "withdrawn")


@pytest.mark.parametrize("server", ["valkey", "postgres"])
def test_a_server_that_dies_in_mid_turn_and_comes_back_costs_nothing(stack: Stack, ming: Visitor, server: str) -> None:
    number = another_5531(stack, f"dies-{server}")
    say(ming, number)

    def in_the_middle() -> bool:
        turn = turn_of(stack, number)
        return bool(turn and turn["state"] == "running" and turn["steps"])

    wait_until(in_the_middle, every=0.02)
    stack.kill(server)
    wait_until(stack.ready, timeout=AGAIN_WITHIN)
    card = open_refund_card(stack, number, timeout=AGAIN_WITHIN)
    confirm(ming, card["quote_id"])
    wait_until(lambda: (refund_of(stack, number) or {}).get("state") == "succeeded", timeout=AGAIN_WITHIN)
    assert paid_out(stack, number) == [230]
