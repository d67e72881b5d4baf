"""What staff do beside a conversation, without the customer: whose job it is, and notes for colleagues."""

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agent import assignment, notes
from agent.access import conversation_for_staff
from backoffice.screens.acting import act
from backoffice.screens.forms import request_ref, whole_number
from backoffice.screens.gate import QUEUE, staff_screen
from orders.actors import staff_actor
from orders.errors import InvalidInput


@require_POST
@staff_screen(QUEUE)
def assign(request: HttpRequest, conversation_id: int) -> HttpResponse:
    """`to`: the account's number; empty: nobody in particular. `shown`: whose job the page showed it to be."""
    row = conversation_for_staff(request.user, conversation_id)
    if "shown" in request.POST:
        seen = whole_number(request.POST["shown"])
        row.assignee_id = seen if isinstance(seen, int) else None

    def work() -> str:
        to = _colleague(request.POST.get("to", ""))
        assignment.assign(conversation=row, actor=staff_actor(request.user), to=to)
        if to is None:
            return _("Nobody in particular looks after it now.")
        if to == request.user:
            return _("It is assigned to you. Who answers has not changed.")
        name = to.get_full_name() or to.username
        return _("It is assigned to %(name)s. Who answers has not changed.") % {"name": name}

    return act(request, work, back=reverse("staff-conversation", args=[row.pk]))


def _colleague(number: str) -> User | None:
    if not number:
        return None
    found = User.objects.filter(pk=whole_number(number)).first() if isinstance(whole_number(number), int) else None
    if found is None:
        raise InvalidInput("to", _("There is no such colleague."), hint=_("Choose a colleague from the list."))
    return found


@require_POST
@staff_screen(QUEUE)
def note(request: HttpRequest, conversation_id: int) -> HttpResponse:
    row = conversation_for_staff(request.user, conversation_id)

    def work() -> str:
        ref = request_ref("note", request.user, request.POST)
        text = request.POST.get("text", "")
        notes.write(conversation=row, actor=staff_actor(request.user), text=text, client_ref=ref)
        return _("Kept for colleagues. The customer does not see it.")

    return act(request, work, back=reverse("staff-conversation", args=[row.pk]))
