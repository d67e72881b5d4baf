"""The queue of conversations: who needs a person, who waits for the customer, where the agent is working."""

from typing import Any, Final

from django.core.paginator import Paginator
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agent import selectors, waiting
from agent.models import Conversation, Message
from backoffice.screens.gate import QUEUE, staff_screen

PER_PAGE = 25
PREVIEW_LENGTH = 90
TABS: Final[list[tuple[str, Promise]]] = [
    ("needs_person", _("Needs a person")),
    ("waiting", _("Waiting for the customer")),
    ("working", _("Assistant is working")),
    ("done", _("Done")),
]


@never_cache
@require_safe
@staff_screen(QUEUE)
def queue(request: HttpRequest) -> HttpResponse:
    state = request.GET.get("state", "")
    if state not in selectors.QUEUES:
        state = "needs_person"
    page = Paginator(with_last_words(selectors.queue(state)), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "here": "queue",
        "tabs": [{"key": key, "label": label, "count": selectors.queue(key).count()} for key, label in TABS],
        "state": state,
        "page": page,
        "rows": [row_of(conversation) for conversation in page],
        "query": f"state={state}&",
        "people_again": waiting.opening_words(),
    }
    return render(request, "staff/queue.html", context)


def with_last_words(conversations: QuerySet[Conversation]) -> QuerySet[Conversation]:
    """Adds the newest message's content, author and time, in the same query."""
    newest = Message.objects.filter(conversation=OuterRef("pk")).order_by("-id")
    return conversations.annotate(
        last_content=Subquery(newest.values("content")[:1]),
        last_author=Subquery(newest.values("author")[:1]),
        last_at=Subquery(newest.values("created_at")[:1]),
    )


def row_of(conversation: Any) -> dict[str, Any]:
    text = " ".join(block.get("text", "") for block in conversation.last_content or [])
    return {
        "conversation": conversation,
        "preview": text[:PREVIEW_LENGTH] + ("…" if len(text) > PREVIEW_LENGTH else ""),
        "from_customer": conversation.last_author == "customer",
        "since": conversation.last_at or conversation.updated_at,
    }
