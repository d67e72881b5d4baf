"""The desk's own pages as the front page of the records shows them: what each is for, and what waits there."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.urls import reverse
from django.utils.translation import gettext as _

from agent.models import Conversation
from backoffice.screens import alerts, approval_rows, refund_rows
from backoffice.screens.gate import permissions_of
from refunds import selectors


@dataclass(frozen=True, slots=True)
class Place:
    """`waiting` None: nothing is counted there."""

    name: str
    about: str
    address: str
    icon: str
    waiting: int | None = None


def places(user: AbstractBaseUser | AnonymousUser) -> list[Place]:
    """Those that the reader may open."""
    may = permissions_of(user)
    known: dict[str, Callable[[], Place]] = {
        "history": lambda: Place(_("History"), _("Who gave back what, and why"), reverse("staff-audit"), "history"),
        "reports": lambda: Place(
            _("Reports"), _("Refunds, answers and costs in numbers"), reverse("staff-reports"), "chart"
        ),
        "queue": lambda: Place(
            _("Inbox"),
            _("Conversations that wait for a person"),
            reverse("staff-queue"),
            "chat",
            Conversation.objects.filter(needs_person=True).count(),
        ),
        "orders": lambda: Place(
            _("Orders"), _("Search, and one order with all its money"), reverse("staff-orders"), "bag"
        ),
        "returns": lambda: Place(
            _("Returns"),
            _("Goods on their way back"),
            reverse("staff-returns"),
            "return",
            selectors.open_returns().count(),
        ),
        "refunds": lambda: Place(
            _("Needs a look"),
            _("Refunds and alerts that need a person"),
            reverse("staff-refunds"),
            "alert",
            refund_rows.needing_a_look().count() + alerts.to_see_to().count(),
        ),
        "approvals": lambda: Place(
            _("Approvals"),
            _("Questions to a second person"),
            reverse("staff-approvals"),
            "check",
            approval_rows.waiting().count(),
        ),
        "policies": lambda: Place(
            _("Rules"), _("Versions of the rules of refunds"), reverse("staff-policies"), "rules"
        ),
    }
    allowed = {**may, "returns": may["orders"]}
    return [make() for name, make in known.items() if allowed[name]]
