"""A colleague with the copilot, and a customer who has bought much: what the tests of the copilot have in common."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from agent.copilot import calls, leases, loop, threads
from agent.models import Conversation, CopilotCall, CopilotMessage, CopilotThread
from agent.states import CopilotAuthor, CopilotState
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import ago, payment_body
from refunds import send
from refunds.models import Refund, SimulatedCharge
from refunds.redeem import redeem
from refunds.tests.ask import ask as ask_quote

CARD: Final = {"method": "card", "last4": "4242"}


def bought(number: str, price: int, at: datetime, *, who: str = "ming", **payment: Any) -> Order:
    """An order of one thing, paid by card when it was placed."""
    paid = payment_body(price, **{**CARD, "captured_at": at.isoformat(), **payment})
    return cast.place(number, lines=[("商品", price, 1)], payments=[paid], placed_at=at.isoformat(), who=who)


def bought_much(count: int = 22) -> list[Order]:
    """Orders of the last twelve days, none of which costs what another does."""
    return [bought(f"6{place:03}", 2000 + place, ago(days=1 + place / 2)) for place in range(count)]


def fails(order: Order) -> None:
    """The money of the order's payment never comes, by its payment service."""
    SimulatedCharge.objects.create(charge_ref=cast.payment(order).pk, state="failed")


def given_back(order: Order) -> Refund:
    """All of it goes back to the card."""
    refund = redeem(quote_id=ask_quote(order, (1, 1, "changed_mind")).pk, actor=cast.shopper()).refund
    assert refund is not None
    send.send(refund_id=refund.pk)
    refund.refresh_from_db()
    return refund


def paid_twice_and_traps() -> Refund:
    """Twice paid: 8001 and 8002. Not: 8004, whose money never came, and 8006, which went back; and what is long ago."""
    bought_much()
    for number, price, days in (("8001", 990, 11.0), ("8003", 1490, 6.0), ("8005", 650, 3.0), ("8007", 770, 30.0)):
        bought(number, price, ago(days=days))
        again = bought(f"{int(number) + 1}", price, ago(days=days, minutes=-12))
        if number == "8003":
            fails(again)
        if number == "8005":
            refund = given_back(again)
    return refund


def asked(
    text: str, *, role: str = "staff", language: str = "en", conversation: Conversation | None = None
) -> CopilotThread:
    return threads.ask(actor=cast.staff(role), text=text, language=language, conversation=conversation)


def answered(thread: CopilotThread, text: str = "") -> str:
    """What a worker makes of the thread, after another question if there is one; the copilot's last words."""
    if text:
        threads.ask(actor=cast.staff(thread.user.username), text=text, language=thread.language, thread=thread)
    loop.run(thread.pk)
    thread.refresh_from_db()
    said = thread.messages.filter(author=CopilotAuthor.COPILOT).order_by("-pk").first()
    return said.text if said else ""


def called(thread: CopilotThread, name: str) -> list[CopilotCall]:
    return list(thread.calls.filter(name=name).order_by("pk"))


def use(
    name: str, arguments: dict[str, Any], *, role: str = "staff", conversation: Conversation | None = None
) -> dict[str, Any]:
    """The answer that the copilot gets for one call, by the way that every call goes."""
    thread = threads.ask(actor=cast.staff("supervisor"), text="look", language="en", conversation=conversation)
    question = thread.messages.get()
    lease = leases.take(thread.pk)
    assert lease is not None
    call = calling(thread, name, arguments)
    calls.run(lease, call.pk, user=cast.staff_user(role), question=question)
    with leases.holding(lease) as held:
        leases.end(held, CopilotState.IDLE)
    call.refresh_from_db()
    assert call.result is not None
    return {**call.result, "is_error": call.is_error}


def calling(thread: CopilotThread, name: str, arguments: dict[str, Any]) -> CopilotCall:
    """A kept reply with a call that has not been run."""
    number = f"toolu_{thread.pk}_{thread.calls.count()}"
    block = {"type": "tool_use", "id": number, "name": name, "input": arguments}
    message = CopilotMessage.objects.create(
        thread=thread, author=CopilotAuthor.COPILOT, content=[block], stop_reason="tool_use"
    )
    return CopilotCall.objects.create(
        thread=thread, message=message, tool_use_id=number, name=name, arguments=arguments
    )


def numbers(rows: Iterable[dict[str, Any]]) -> list[str]:
    return [row["order_number"] for row in rows]
