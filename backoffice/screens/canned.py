"""Ready-made answers: supervisors write them, with fields that are filled from the order they are used in."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from agent import canned
from agent.models import CannedReply
from backoffice.screens.acting import act
from backoffice.screens.forms import form_screen
from backoffice.screens.gate import CANNED, QUEUE, staff_screen
from orders.actors import staff_actor


def fields() -> list[dict[str, str]]:
    return [{"name": f"{{{{{name}}}}}", "says": str(field.says)} for name, field in canned.FIELDS.items()]


@never_cache
@require_safe
@staff_screen(QUEUE)
def answers(request: HttpRequest) -> HttpResponse:
    context = {"here": "queue", "replies": canned.in_use(), "fields": fields()}
    return render(request, "staff/canned.html", context)


@never_cache
@staff_screen(CANNED)
def new(request: HttpRequest) -> HttpResponse:
    return _form(request, None)


@never_cache
@staff_screen(CANNED)
def edit(request: HttpRequest, reply_id: int) -> HttpResponse:
    return _form(request, get_object_or_404(CannedReply, pk=reply_id, is_used=True))


def _form(request: HttpRequest, reply: CannedReply | None) -> HttpResponse:
    def work(typed: QueryDict) -> str:
        if reply and "version" in typed:
            # The answer as the form has shown it: whoever changed it since is not overwritten.
            reply.updated_at = _moment(typed.get("version", ""))
        canned.save(
            reply=reply,
            actor=staff_actor(request.user),
            title=typed.get("title", ""),
            language=typed.get("language", ""),
            text=typed.get("text", ""),
        )
        return _("The answer is kept.")

    def context(typed: QueryDict) -> Mapping[str, Any]:
        now = CannedReply.objects.select_related("written_by").get(pk=reply.pk) if reply else None
        kept = {"title": now.title, "language": now.language, "text": now.text} if now else {}
        version = now.updated_at.isoformat() if now else ""
        return {
            "here": "queue",
            "reply": reply,
            "shown": {name: typed.get(name, kept.get(name, "")) for name in ("title", "language", "text")},
            "version": version,
            "meanwhile": now if now and now.is_used and typed.get("version", version) != version else None,
            "fields": fields(),
            "languages": settings.LANGUAGES,
        }

    return form_screen(
        request, template="staff/canned_edit.html", back=reverse("staff-canned"), context=context, work=work
    )


def _moment(version: str) -> datetime:
    """When the answer that a form has shown was written; of what no form has shown, never."""
    try:
        return datetime.fromisoformat(version)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)


@require_POST
@staff_screen(CANNED)
def retire(request: HttpRequest, reply_id: int) -> HttpResponse:
    reply = get_object_or_404(CannedReply, pk=reply_id)

    def work() -> str:
        canned.retire(reply=reply, actor=staff_actor(request.user))
        return _("“%(title)s” is offered no longer.") % {"title": reply.title}

    return act(request, work, back=reverse("staff-canned"))
