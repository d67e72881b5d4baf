"""What one caller from outside did without a long pause: a session, the nearest thing to a turn that a door has."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Final

from django.db.models import QuerySet

from agent.models import DoorCall

PAUSE: Final = timedelta(minutes=10)
# On each side of the call that is looked at.
MOST: Final = 100


@dataclass(frozen=True, slots=True)
class Session:
    """Calls in order. `earlier`, `later`: the caller's calls beside these, after a pause or for want of room."""

    calls: list[DoorCall]
    earlier: int | None
    later: int | None


def around(call: DoorCall) -> Session:
    """The session of a call, in two queries however long it is."""
    rows = _of_the_same_caller(call)
    before, earlier = _together(call, rows.filter(pk__lt=call.pk).order_by("-pk")[: MOST + 1])
    after, later = _together(call, rows.filter(pk__gt=call.pk).order_by("pk")[: MOST + 1])
    return Session([*reversed(before), call, *after], earlier, later)


def _of_the_same_caller(call: DoorCall) -> QuerySet[DoorCall]:
    same = DoorCall.objects.select_related("order")
    return same.filter(token=call.token_id, customer=call.customer_id, staff=call.staff_id)


def _together(call: DoorCall, rows: Iterable[DoorCall]) -> tuple[list[DoorCall], int | None]:
    """Those that follow one another without a pause, going away from `call`; and the first that does not belong."""
    found: list[DoorCall] = []
    for last, each in pairwise([call, *rows]):
        if abs(each.created_at - last.created_at) > PAUSE or len(found) == MOST:
            return found, each.pk
        found.append(each)
    return found, None
