"""Calls from outside the chat, step by step: what a program or the server's shell asked for, and what it was told."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agent.doors import sessions
from agent.doors.sessions import Session
from agent.models import DoorCall
from backoffice.screens.gate import DOOR_CALLS, staff_screen
from backoffice.screens.trace_steps import Step, draw, seconds
from backoffice.screens.trace_time import Scale
from orders.models import LineItem


@never_cache
@require_safe
@staff_screen(DOOR_CALLS)
def calls(request: HttpRequest, call_id: int) -> HttpResponse:
    """The session of this call."""
    rows = DoorCall.objects.select_related("token", "customer", "staff", "order")
    call = get_object_or_404(rows, pk=call_id)
    session = sessions.around(call)
    context = {
        "here": "door-calls",
        "call": call,
        "session": session,
        "facts": facts_of(session),
        "steps": steps_of(session.calls, chosen=call.pk),
        "line_names": _line_names(session),
    }
    return render(request, "staff/door_calls.html", context)


def facts_of(session: Session) -> list[tuple[str, str]]:
    """The session in numbers."""
    calls = session.calls
    refused = sum(call.is_error for call in calls)
    return [
        (_("Tool calls"), str(len(calls))),
        (_("Refused"), str(refused)),
        (_("From the first to the last"), seconds(_end_of(calls[-1]) - calls[0].created_at)),
        (_("Work of the tools"), seconds(sum((_took(call) for call in calls), timedelta()))),
    ]


def steps_of(calls: Sequence[DoorCall], *, chosen: int = 0) -> list[Step]:
    """One step for each call, with its bar. Pauses between them are drawn short."""
    steps = [_step(call, is_chosen=call.pk == chosen) for call in calls]
    pauses = [(_end_of(call), following.created_at) for call, following in pairwise(calls)]
    end = max(_end_of(call) for call in calls)
    draw(steps, Scale(calls[0].created_at, end, [(since, until) for since, until in pauses if since < until]))
    return steps


def _step(call: DoorCall, *, is_chosen: bool) -> Step:
    code = str((call.result or {}).get("code", "")) if call.is_error else ""
    began_only = call.result is None
    at_work = began_only and timezone.now() - call.created_at < timedelta(seconds=settings.AGENT_MAX_TURN_SECONDS)
    folded: list[tuple[str, Any]] = [(_("Arguments"), call.arguments)]
    if call.result is not None:
        folded.append((_("Result"), call.result))
    return Step(
        "tool",
        call.created_at,
        call.name,
        badge=_("at work") if at_work else _("no answer") if began_only else code or _("answered"),
        tone="wait" if began_only else "bad" if call.is_error else "good",
        spans=[(call.created_at, _end_of(call), "tool-bad" if call.is_error else "tool")],
        took=None if call.duration_ms is None else _took(call),
        facts=_facts(call),
        text=_("Its process ended in the middle: nothing of it was kept.") if began_only and not at_work else "",
        folded=folded,
        is_chosen=is_chosen,
    )


def _facts(call: DoorCall) -> list[tuple[str, Any]]:
    told = [
        (_("door"), call.get_door_display()),
        (_("order"), call.order.number if call.order else ""),
        (_("tool call id"), call.ref),
    ]
    return [(label, value) for label, value in told if value]


def _took(call: DoorCall) -> timedelta:
    return timedelta(milliseconds=call.duration_ms or 0)


def _end_of(call: DoorCall) -> datetime:
    return call.created_at + _took(call)


def _line_names(session: Session) -> dict[str, str]:
    """What the codes of goods stand for; not where several orders use the same codes for other things."""
    orders = {call.order_id for call in session.calls if call.order_id}
    if len(orders) != 1:
        return {}
    return dict(LineItem.objects.filter(order__in=orders).values_list("line_item_id", "name"))
