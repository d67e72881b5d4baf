"""The inbox: who needs a person, who waits for the customer, where the assistant works; mine, nobody's, everybody's.

Beside an open conversation the same list stands again, as it was looked at last.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agent import inbox, waiting
from backoffice.screens.gate import QUEUE, staff_screen

PREVIEW_LENGTH: Final = 120
LONGEST_WORDS: Final = 100
REMEMBERED: Final = "screens.inbox"
LABELS: Final[Mapping[str, Promise]] = {
    "needs_person": gettext_lazy("Needs a person"),
    "waiting": gettext_lazy("Waiting for the customer"),
    "working": gettext_lazy("Assistant is working"),
    "done": gettext_lazy("Done"),
    "all": gettext_lazy("All"),
}
WHOSE: Final[Mapping[str, Promise]] = {
    "all": gettext_lazy("Everybody's"),
    "mine": gettext_lazy("Mine"),
    "unassigned": gettext_lazy("Nobody's yet"),
}


@dataclass(frozen=True, slots=True)
class View:
    """What an address of the inbox asks for. What is not known is the usual."""

    state: str = "needs_person"
    whose: str = "all"
    words: str = ""
    after: str = ""
    before: str = ""

    @classmethod
    def of(cls, query: QueryDict | Mapping[str, str]) -> "View":
        words = query.get("q", "").strip()[:LONGEST_WORDS]
        state, whose = query.get("state", ""), query.get("whose", "")
        # Whoever looks for somebody does not know how they stand.
        usual = "all" if words else "needs_person"
        return cls(
            state=state if state in inbox.STATES else usual,
            whose=whose if whose in inbox.WHOSE else "all",
            words=words,
            after=query.get("after", ""),
            before=query.get("before", ""),
        )

    def query(self, **changes: str) -> str:
        """Its address behind the `?`, or that of another view; a place in the list is not kept by itself."""
        view = replace(self, **{"after": "", "before": "", **changes})
        given = {
            "state": view.state,
            "whose": view.whose if view.whose != "all" else "",
            "q": view.words,
            "after": view.after,
            "before": view.before,
        }
        return urlencode({key: value for key, value in given.items() if value})


@never_cache
@require_safe
@staff_screen(QUEUE)
def conversations(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    view = View.of(request.GET)
    _remember(request, view)
    context = {
        "here": "queue",
        **listing(view, request.user),
        "people_again": waiting.opening_words(),
    }
    return render(request, "staff/inbox.html", context)


def _remember(request: HttpRequest, view: View) -> None:
    if request.session.get(REMEMBERED) != view.query():
        request.session[REMEMBERED] = view.query()


def beside(request: HttpRequest, current: int) -> dict[str, Any]:
    """The list that stands beside the conversation of this number: what was looked at last, from its beginning."""
    assert isinstance(request.user, User)
    view = View.of(QueryDict(request.session.get(REMEMBERED, "")))
    return {**listing(view, request.user), "current": current}


@never_cache
@require_safe
@staff_screen(QUEUE)
def beside_part(request: HttpRequest, conversation_id: int) -> HttpResponse:
    """The list beside a conversation, again."""
    return render(request, "staff/_inbox_beside.html", beside(request, conversation_id))


def listing(view: View, user: User) -> dict[str, Any]:
    found = inbox.found(view.words)
    rows = inbox.conversations(state=view.state, whose=view.whose, user=user, found=found)
    page = inbox.page(
        inbox.as_rows(rows, user),
        longest_first=view.state == "needs_person",
        after=inbox.place(view.after),
        before=inbox.place(view.before),
    )
    return {
        "view": view,
        "view_label": LABELS[view.state],
        "tabs": [_tab(view, user, state, found) for state in inbox.STATES],
        "whose": [
            {"key": key, "label": label, "query": view.query(whose=key), "is_here": key == view.whose}
            for key, label in WHOSE.items()
        ],
        "rows": [row_of(conversation) for conversation in page.rows],
        "newer": view.query(before=str(page.before)) if page.before else "",
        "older": view.query(after=str(page.after)) if page.after else "",
    }


def _tab(view: View, user: User, state: str, found: Q | None) -> dict[str, Any]:
    """How many stand there; of all that there ever were nobody needs to know."""
    tab = {"key": state, "label": LABELS[state], "query": view.query(state=state), "is_here": state == view.state}
    if state == "all" and not view.words:
        return {**tab, "count": ""}
    number = inbox.count(inbox.conversations(state=state, whose=view.whose, user=user, found=found))
    return {**tab, "count": f"{inbox.MOST_COUNTED}+" if number > inbox.MOST_COUNTED else str(number)}


def row_of(conversation: Any) -> dict[str, Any]:
    text = " ".join(block.get("text", "") for block in conversation.last_content or [])
    holder = conversation.owner or conversation.assignee
    return {
        "conversation": conversation,
        "preview": text[:PREVIEW_LENGTH] + ("…" if len(text) > PREVIEW_LENGTH else ""),
        "said_by": {"agent": _("Assistant:"), "staff": _("Shop:")}.get(conversation.last_author, ""),
        "since": conversation.last_at or conversation.updated_at,
        "wait_tone": wait_tone(conversation.waiting_since),
        "is_unread": inbox.stands_out(conversation),
        "holder": (holder.get_full_name() or holder.username) if holder else "",
    }


def wait_tone(since: datetime | None) -> str:
    """How a wait for a person stands out: info, from `INBOX_WAIT_MINUTES` on wait, from `INBOX_LATE_MINUTES` on bad."""
    if since is None:
        return ""
    waited = timezone.now() - since
    if waited >= timedelta(minutes=settings.INBOX_LATE_MINUTES):
        return "bad"
    return "wait" if waited >= timedelta(minutes=settings.INBOX_WAIT_MINUTES) else "info"
