"""What every page knows."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from agent import inbox
from backoffice.screens import alerts, approval_rows
from backoffice.screens.gate import permissions_of
from backoffice.screens.refund_rows import needing_a_look


def site(request: HttpRequest) -> dict[str, Any]:
    return {
        "shop_name": settings.SHOP_NAME,
        "agent_is_stand_in": settings.AGENT_IS_STAND_IN,
        # Lazy: an event stream and an error page must not ask the database who is reading.
        "may": SimpleLazyObject(lambda: permissions_of(request.user)),
        "people_wanted": inbox.waiting_for_people,
        "needing_a_look": lambda: needing_a_look().count() + alerts.to_see_to().count(),
        "approvals_waiting": lambda: approval_rows.waiting().count(),
    }
