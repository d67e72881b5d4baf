"""The staff's copilot: ask, read what it has found with its evidence, put a draft into an answer. It never acts."""

from typing import Any, Final

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from agent.access import conversation_for_staff
from agent.copilot import drafts, threads
from agent.models import Conversation, CopilotMessage, CopilotThread
from agent.states import CopilotAuthor
from backoffice.screens import copilot_rows, keyset
from backoffice.screens.acting import act
from backoffice.screens.forms import request_ref, token_of, whole_number
from backoffice.screens.gate import COPILOT, staff_screen
from orders.actors import staff_actor

PER_PAGE: Final = 20
NOTHING_NEW: Final = 204


@never_cache
@require_safe
@staff_screen(COPILOT)
def thread_list(request: HttpRequest) -> HttpResponse:
    """One's own threads, the one with the newest words first, each by its first question."""
    rows = CopilotThread.objects.filter(user=request.user.pk).select_related("conversation__order")
    sheet = keyset.sheet_of(rows, request.GET, per_page=PER_PAGE, moment="updated_at")
    questions = CopilotMessage.objects.filter(thread__in=[row.pk for row in sheet.rows], author=CopilotAuthor.STAFF)
    first = {row.thread_id: row.text for row in questions.order_by("-pk")}
    context = {
        "here": "copilot",
        "sheet": sheet,
        "rows": [{"thread": row, "question": first.get(row.pk, "")} for row in sheet.rows],
        "token": token_of(QueryDict()),
    }
    return render(request, "staff/copilot.html", context)


@never_cache
@require_safe
@staff_screen(COPILOT)
def thread_page(request: HttpRequest, thread_id: int) -> HttpResponse:
    thread = _own(request, thread_id)
    context = {"here": "copilot", "token": token_of(QueryDict()), **copilot_rows.shown(thread)}
    return render(request, "staff/copilot_thread.html", context)


@never_cache
@require_safe
@staff_screen(COPILOT)
def log(request: HttpRequest, thread_id: int) -> HttpResponse:
    """What was said, again: 204 while nothing is new since `?after=`."""
    thread = _own(request, thread_id)
    if request.GET.get("after") == str(thread.version) and threads.is_at_work(thread):
        return HttpResponse(status=NOTHING_NEW)
    return render(request, "staff/_copilot_log.html", copilot_rows.shown(thread))


@never_cache
@require_safe
@staff_screen(COPILOT)
def beside_part(request: HttpRequest, conversation_id: int) -> HttpResponse:
    """What stands beside a conversation, again: 204 while nothing is new since `?after=`."""
    context = beside(request, conversation_for_staff(request.user, conversation_id))
    thread = context["thread"]
    if thread and request.GET.get("after") == str(thread.version) and context["at_work"]:
        return HttpResponse(status=NOTHING_NEW)
    return render(request, "staff/_copilot_beside_log.html", context)


def beside(request: HttpRequest, row: Conversation) -> dict[str, Any]:
    """The newest question of the reader's newest thread beside a conversation, and their draft for it, if it holds."""
    assert isinstance(request.user, User)
    threads_here = CopilotThread.objects.filter(user=request.user, conversation=row)
    thread = threads_here.select_related("conversation").order_by("-pk").first()
    shown = copilot_rows.shown(thread, newest=True) if thread else {"thread": None, "at_work": False}
    return {"conversation": row, **shown, "copilot_draft": drafts.current(row, request.user)}


@require_POST
@staff_screen(COPILOT)
def ask_anew(request: HttpRequest) -> HttpResponse:
    """A new thread; `conversation`: the one that it is asked beside, whose page it then leads back to."""
    number = whole_number(request.POST.get("conversation", ""))
    row = conversation_for_staff(request.user, number) if isinstance(number, int) else None
    back = f"{reverse('staff-conversation', args=[row.pk])}#copilot" if row else reverse("staff-copilot")
    return _ask(request, thread=None, conversation=row, back=back)


@require_POST
@staff_screen(COPILOT)
def ask_on(request: HttpRequest, thread_id: int) -> HttpResponse:
    thread = _own(request, thread_id)
    return _ask(request, thread=thread, conversation=None, back=_page_of(request, thread))


@require_POST
@staff_screen(COPILOT)
def again(request: HttpRequest, thread_id: int) -> HttpResponse:
    thread = _own(request, thread_id)

    def work() -> str:
        threads.try_again(actor=staff_actor(request.user), thread=thread)
        return _("The copilot goes on.")

    return act(request, work, back=_page_of(request, thread))


def _ask(
    request: HttpRequest, *, thread: CopilotThread | None, conversation: Conversation | None, back: str
) -> HttpResponse:
    made: list[CopilotThread] = []

    def work() -> str:
        made.append(
            threads.ask(
                actor=staff_actor(request.user),
                text=request.POST.get("text", ""),
                language=get_language() or "zh-hant",
                thread=thread,
                conversation=conversation,
                client_ref=request_ref("copilot", request.user, request.POST),
            )
        )
        return _("Asked. The answer appears here by itself.")

    answer = act(request, work, back=back)
    if made and conversation is None and thread is None:
        return HttpResponseRedirect(reverse("staff-copilot-thread", args=[made[0].pk]))
    return answer


def _page_of(request: HttpRequest, thread: CopilotThread) -> str:
    """Back beside the conversation, where the form stood there."""
    if request.POST.get("beside") == "1" and thread.conversation_id:
        return f"{reverse('staff-conversation', args=[thread.conversation_id])}#copilot"
    return reverse("staff-copilot-thread", args=[thread.pk])


def _own(request: HttpRequest, thread_id: int) -> CopilotThread:
    assert isinstance(request.user, User)
    return threads.thread_of(request.user, thread_id)
