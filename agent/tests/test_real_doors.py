"""The official client calls every tool through a real pipe and over real HTTP, and hears what it hears in-process."""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from agent.doors import tokens
from agent.doors.calls import Answer
from agent.models import DoorCall, ToolToken
from agent.states import Door
from agent.tests.doors import by_shell, run, staffs_calls, token_for, told
from agent.tests.helpers import hear
from agent.tests.real_doors import VERSIONS, Connect, Program, over_http, over_pipes
from agent.tests.test_every_door import DONE, placed
from agent.tools import registry
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)
Transport = Callable[[Path], AbstractContextManager[Connect]]
LEGACY, NEW = VERSIONS
# Who calls in which version. A pipe takes a process for each; over HTTP all of them talk to one.
each_transport = pytest.mark.parametrize(
    ("transport", "door", "visits"),
    [
        (over_pipes, Door.STDIO, [("customer", LEGACY), ("staff", NEW)]),
        (over_http, Door.HTTP, [("customer", LEGACY), ("staff", LEGACY), ("customer", NEW), ("staff", NEW)]),
    ],
    ids=["pipe", "http"],
)
# What only an exception, or a look into our process, would say.
OURS = ("Traceback", "Error", "Exception", "pydantic", "django", "psycopg", "relation", "File ", ".py")
# No tool of any scope takes it: the model has no place for an amount.
TOO_MUCH = {"amount": 9999}


def faults_of(real: Answer, here: Answer, orders: tuple[Order, Order]) -> list[str]:
    """What is wrong with an answer that came through a real door, beside the one of the shell."""
    same = not real.is_error and told(real, orders[0]) == told(here, orders[1])
    return [] if same else [f"{real}\nis not\n{here}"]


def bad(program: Program, name: str, arguments: Mapping[str, Any]) -> list[str]:
    """An argument too many: the one error object, which names it."""
    answer = program(name, {**arguments, **TOO_MUCH})
    found = [f"says {word}" for word in OURS if word in json.dumps(answer.result, ensure_ascii=False)]
    if (answer.is_error, answer.result.get("code")) != (True, "invalid_argument"):
        found.append(f"took an amount: {answer}")
    elif not answer.result.keys() >= {"code", "message", "hint", "retryable", "field"}:
        found.append(f"no whole error object: {answer.result}")
    return found


def faults_for_customer(program: Program, name: str, mark: str) -> list[str]:
    steps, lost = DONE[name]
    there, here = (placed(f"{mark}-{place}", lost=lost) for place in "AB")
    sent: list[Mapping[str, Any]] = []

    def keeping(tool: str, given: dict[str, Any]) -> Answer:
        sent.append(given)
        return program(tool, given)

    expected = run(lambda tool, given: by_shell(tool, given, "--customer", "c-ming"), here, steps)
    found = faults_of(run(keeping, there, steps), expected, (there, here))
    return found + bad(program, name, sent[-1])


def faults_for_staff(program: Program, name: str, given: dict[str, Any], order: Order) -> list[str]:
    expected = by_shell(name, given, "--staff", "staff")
    return faults_of(program(name, given), expected, (order, order)) + bad(program, name, given)


@each_transport
def test_the_official_client_lists_and_calls_every_tool(
    transport: Transport, door: Door, visits: list[tuple[str, str]], tmp_path: Path
) -> None:
    order = cast.order_5531()
    hear(order)
    secrets = {"customer": token_for(order.customer)[0], "staff": token_for(staff="staff")[0]}
    there = {"customer": registry.ORDER_PAGE, "staff": registry.COPILOT}
    faults: dict[str, list[str]] = {}
    with transport(tmp_path) as connect:
        for who, mode in visits:
            with connect(secrets[who], mode) as program:
                assert program.version == VERSIONS[mode]
                names = [tool.name for tool in program.tools()]
                assert names == [tool.name for tool in there[who]]
                for name in names:
                    found = faults_of_calls(program, who, name, f"{mode}-{name}"[:28], order)
                    faults[f"{name}, {who}, {mode}"] = found
    assert {name: found for name, found in faults.items() if found} == {}
    called = DoorCall.objects.filter(door=door, is_error=False)
    assert set(called.values_list("name", flat=True)) == {*registry.BY_NAME, *registry.COPILOT_BY_NAME}
    assert DoorCall.objects.filter(door=door, is_error=True).count() == len(faults)


def faults_of_calls(program: Program, who: str, name: str, mark: str, order: Order) -> list[str]:
    if who == "customer":
        return faults_for_customer(program, name, mark)
    return faults_for_staff(program, name, staffs_calls(order)[name], order)


@each_transport
def test_a_token_that_ends_or_never_was_gets_nothing_over_a_real_connection(
    transport: Transport, door: Door, visits: object, tmp_path: Path
) -> None:
    order = cast.order_5531()
    mine = {"order_number": order.number}
    other = cast.place("5602", who="ming2")
    secret, token = token_for(order.customer)
    expired, row = token_for(order.customer)
    ToolToken.objects.filter(pk=row.pk).update(expires_at=timezone.now())
    with transport(tmp_path) as connect:
        assert_refused(partial(opened, connect, expired))
        with connect(secret, NEW) as program:
            assert not program("get_order", mine).is_error
            foreign = program("get_order", {"order_number": other.number})
            assert (foreign.is_error, foreign.result["code"]) == (True, "not_found")
            assert other.customer.name not in str(foreign.result)
            nowhere = program("get_order", {"order_number": "no-such"})
            assert {**foreign.result} == {**nowhere.result}, "whose order it is can be told"
            tokens.revoke(token=token, actor=cast.staff("admin"))
            if door == Door.HTTP:  # each call shows its token anew, and is answered 401
                assert_refused(program.tools)
                assert_refused(lambda: program("get_order", mine))
            else:
                assert program.tools() == []
                assert program("get_order", mine).result["code"] == "token_refused"


def opened(connect: Connect, secret: str) -> None:
    with connect(secret, NEW) as program:
        program.tools()


def assert_refused(attempt: Callable[[], Any]) -> None:
    """The client gives up, and what it says of the server has none of our own words."""
    with pytest.raises(BaseException) as refused:
        attempt()
    said = " ".join(str(each) for each in leaves(refused.value))
    assert not [word for word in OURS[3:] if word in said], said


def leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in leaves(each)]
    return [error]
