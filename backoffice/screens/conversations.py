"""One conversation as staff see it: what was said, what the assistant did and got, and the buttons to step in."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from agent import canned, hand_off, people, reading, selectors
from agent.access import conversation_for_staff
from agent.models import Conversation
from agent.usage import cost_words
from backoffice.screens import conversation_parts, inbox, trace
from backoffice.screens.acting import act
from backoffice.screens.forms import request_ref, token_of, whole_number
from backoffice.screens.gate import QUEUE, staff_screen
from backoffice.screens.talk import items_of
from backoffice.screens.timeline import fold
from orders.actors import Actor, staff_actor

NOTHING_NEW = 204
SENT_TOKENS = 5


@never_cache
@require_safe
@staff_screen(QUEUE)
def conversation(request: HttpRequest, conversation_id: int) -> HttpResponse:
    row = conversation_for_staff(request.user, conversation_id)
    conversation_parts.mark_read(request, row)
    context = {
        "here": "queue",
        **conversation_parts.side(request, row),
        **conversation_parts.ready_made(request, row),
        **inbox.beside(request, row.pk),
        **log_context(request, row),
        # As for the answer: a note by one of these forms is kept by the server.
        "sent_notes": _tokens(row.notes.filter(staff=request.user.pk)),
    }
    context["turn_rows"] = trace.rows_of(context["turns"])
    context["door_call"] = row.door_calls.order_by("-pk").values_list("pk", flat=True).first()
    return render(request, "staff/conversation.html", context)


@never_cache
@require_safe
@staff_screen(QUEUE)
def log(request: HttpRequest, conversation_id: int) -> HttpResponse:
    """What was said, again: 204 while nothing is new since `?after=`. `seen`: somebody looks at the page."""
    row = conversation_for_staff(request.user, conversation_id)
    others = conversation_parts.here(request, row)
    if request.GET.get("after") == conversation_parts.version(row, others):
        return HttpResponse(status=NOTHING_NEW)
    if request.GET.get("seen") == "1":
        conversation_parts.mark_read(request, row)
    context = {**conversation_parts.side(request, row), **log_context(request, row, others), "again": True}
    return render(request, "staff/_log_again.html", context)


def log_context(
    request: HttpRequest, row: Conversation, others: list[reading.Colleague] | None = None
) -> dict[str, Any]:
    timeline = fold(selectors.timeline(row))
    turns = list(row.turns.order_by("id"))
    others = conversation_parts.here(request, row) if others is None else others
    cost = sum(turn.cost_micro for turn in turns)
    return {
        "conversation": row,
        "timeline": timeline,
        "items": items_of(
            timeline.items,
            calls={call.tool_use_id: call for call in row.tool_calls.all()},
            turns=turns,
            notes=row.notes.select_related("staff"),
        ),
        "version": conversation_parts.version(row, others),
        "others": others,
        "turns": turns,
        "line_names": dict(row.order.lines.values_list("line_item_id", "name")),
        "tokens": sum(turn.input_tokens + turn.output_tokens for turn in turns),
        "cost": cost_words(cost, {turn.model for turn in turns}),
        "wait_tone": inbox.wait_tone(row.waiting_since),
        "is_mine": row.owner_id == request.user.pk,
        "facts": hand_off.facts(row),
        "token": token_of(QueryDict()),
        "sent_tokens": _sent_tokens(request, row),
    }


def _sent_tokens(request: HttpRequest, row: Conversation) -> list[str]:
    """The forms by which the reader has answered here last: what they hold is sent, and need not be kept any longer."""
    return _tokens(row.messages.filter(staff=request.user.pk))


def _tokens(written: QuerySet[Any]) -> list[str]:
    refs = written.filter(client_ref__isnull=False).order_by("-pk").values_list("client_ref", flat=True)
    return [(ref or "").rpartition(":")[2] for ref in refs[:SENT_TOKENS]]


def _step(request: HttpRequest, conversation_id: int, do: Any, said: str) -> HttpResponse:
    row = conversation_for_staff(request.user, conversation_id)

    def work() -> str:
        actor: Actor = staff_actor(request.user)
        do(conversation=row, actor=actor)
        return said

    return act(request, work, back=reverse("staff-conversation", args=[conversation_id]))


@require_POST
@staff_screen(QUEUE)
def take_over(request: HttpRequest, conversation_id: int) -> HttpResponse:
    """`from` names the colleague from whom it is taken, as the page that was pressed knew it."""
    owner = whole_number(request.POST.get("from", ""))
    taken_from = owner if isinstance(owner, int) else None

    def do(*, conversation: Conversation, actor: Actor) -> None:
        people.take_over(conversation=conversation, actor=actor, taken_from=taken_from)

    return _step(request, conversation_id, do, _("You are answering now; the assistant is silent."))


@require_POST
@staff_screen(QUEUE)
def give_back(request: HttpRequest, conversation_id: int) -> HttpResponse:
    return _step(request, conversation_id, people.give_back, _("The assistant answers again."))


@require_POST
@staff_screen(QUEUE)
def close(request: HttpRequest, conversation_id: int) -> HttpResponse:
    return _step(request, conversation_id, people.close, _("The conversation is closed."))


@require_POST
@staff_screen(QUEUE)
def reply(request: HttpRequest, conversation_id: int) -> HttpResponse:
    def do(*, conversation: Conversation, actor: Actor) -> None:
        ref, text = request_ref("reply", request.user, request.POST), request.POST.get("text", "")
        canned.require_filled(text)
        people.reply(conversation=conversation, actor=actor, text=text, client_ref=ref)

    return _step(request, conversation_id, do, _("Sent. You are answering this conversation now."))
