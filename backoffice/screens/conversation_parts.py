"""What stands around a conversation on its page: who looks and has read, the order, what can be offered, inserted."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest

from agent import assignment, canned, presence, reading
from agent.models import Conversation, ReadMark
from agent.states import Author, ConversationState
from backoffice.screens import conversation_offers, copilot, receipt
from backoffice.screens.forms import whole_number
from backoffice.screens.gate import permissions_of
from orders.actors import staff_actor
from refunds import selectors

REFUNDS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Reader:
    """A member of staff who has had it open. `behind`: how many messages have come since."""

    name: str
    mark: ReadMark
    behind: int


def side(request: HttpRequest, row: Conversation) -> dict[str, Any]:
    """What stands beside the talk. What is about money is for those who may see it."""
    may = permissions_of(request.user)
    order = row.order
    context: dict[str, Any] = {
        "order": order,
        "lines": receipt.lines_of(order),
        "colleagues": assignment.colleagues(),
        "readers": readers(row),
        "customer_seen": presence.last_seen(row.order_id, row.customer_id),
    }
    if may["refunds"]:
        context |= {
            "price_rows": receipt.price_rows(order),
            "refunds": selectors.refunds_of(order)[:REFUNDS_SHOWN],
            **conversation_offers.beside(row),
        }
    return context


def ready_made(request: HttpRequest, row: Conversation) -> dict[str, Any]:
    """The ready-made answers, the copilot, and what of theirs the address puts into the field."""
    replies = _canned(request, row) if row.state == ConversationState.OPEN else []
    context: dict[str, Any] = {"canned_replies": replies}
    if permissions_of(request.user)["copilot"]:
        context["copilot"] = copilot.beside(request, row)
    return {**context, "inserted": _inserted(request, context)}


def readers(row: Conversation) -> list[Reader]:
    """Who has read how far. What they said themselves is not behind them."""
    numbers = list(row.messages.filter(author__in=[Author.CUSTOMER, Author.AGENT]).values_list("pk", flat=True))
    return [
        Reader(
            name=mark.staff.get_full_name() or mark.staff.username,
            mark=mark,
            behind=sum(number > mark.read_to for number in numbers),
        )
        for mark in reading.marks(row)
    ]


def _canned(request: HttpRequest, row: Conversation) -> list[dict[str, Any]]:
    """The ready-made answers as they would read here."""
    assert isinstance(request.user, User)
    facts = canned.Facts(row, request.user)
    return [
        {"pk": reply.pk, "title": reply.title, "language": reply.language, "text": canned.filled(reply.text, facts)}
        for reply in canned.for_conversation(row)
    ]


def _inserted(request: HttpRequest, context: dict[str, Any]) -> str:
    """Without JavaScript the address puts a ready-made answer or the copilot's draft into the field: `?insert=`,
    `?draft=`."""
    chosen, draft = (whole_number(request.GET.get(name, "")) for name in ("insert", "draft"))
    drafted = context.get("copilot", {}).get("copilot_draft")
    if drafted is not None and drafted.pk == draft:
        return str(drafted.text)
    return next((str(reply["text"]) for reply in context["canned_replies"] if reply["pk"] == chosen), "")


def here(request: HttpRequest, row: Conversation) -> list[reading.Colleague]:
    """Who else has it open; notes that the reader has, and whether they have begun to write."""
    reader = staff_actor(request.user)
    return reading.looks(conversation_id=row.pk, reader=reader, types=request.GET.get("typing") == "1")


def mark_read(request: HttpRequest, row: Conversation) -> None:
    """What is there now stands before the reader."""
    assert isinstance(request.user, User)
    newest = row.messages.order_by("-pk").values_list("pk", flat=True).first()
    if newest is not None:
        reading.mark(conversation=row, reader=request.user, read_to=newest)


def version(row: Conversation, others: list[reading.Colleague]) -> str:
    """What the log and what stands beside it show, in short: it is sent again when this has changed."""
    newest = row.notes.order_by("-pk").values_list("pk", flat=True).first()
    seen = [f"{each.name}{'*' if each.types else ''}" for each in others]
    notes, assigned = ([f"n{newest}"] if newest else []), ([f"a{row.assignee_id}"] if row.assignee_id else [])
    return "~".join([str(row.last_event), *notes, *assigned, *seen])
