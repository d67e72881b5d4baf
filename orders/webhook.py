"""Sends announcements to the shop's webhook, signed, until it accepts them.

A row is claimed in one short transaction, which also sets when it is due again; the call is made outside of it; what
came of it is written in another. A worker that dies in between has only made the next attempt wait. The shop may
therefore hear the same announcement twice: `id` tells it so.
"""

import hashlib
import hmac
import json
from datetime import timedelta
from http.client import HTTPException, HTTPMessage
from typing import IO, Any, Final
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from orders.models import OrderAnnouncement
from orders.states import AnnouncementState

TIMEOUT_SECONDS: Final = 5
FIRST_WAIT: Final = timedelta(seconds=15)
LONGEST_WAIT: Final = timedelta(hours=1)
AT_MOST: Final = 50

log = structlog.get_logger(__name__)


class NoRedirects(HTTPRedirectHandler):
    """A redirect is not an acceptance: following it would turn the POST into a GET."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


_opener: Final = build_opener(NoRedirects)


def send_due(*, at_most: int = AT_MOST) -> int:
    """Send what is due, one after the other; gives how many were accepted. Several workers may do this at once.

    Ends with the first that is not accepted: all go to one address, and a server that hangs would hold the worker for
    as many time-outs as there are announcements. The rest waits for the next sweep.
    """
    accepted = 0
    while accepted < at_most:
        announcement = _claim()
        if announcement is None or not _send(announcement):
            break
        _accept(announcement)
        accepted += 1
    return accepted


def wait_after(attempts: int) -> timedelta:
    """How long until the next attempt, after `attempts` of them: 15 s, doubling, at most an hour."""
    doublings = min(attempts - 1, 20)
    return min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)


def signature(*, secret: str, timestamp: str, body: bytes) -> str:
    """What the shop compares with: HMAC-SHA256, in hex, over the timestamp, a dot and the body as it was sent."""
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def _claim() -> OrderAnnouncement | None:
    """One due announcement, whose next attempt is already set. Of one order, only the oldest that is not accepted."""
    waiting = OrderAnnouncement.objects.filter(state=AnnouncementState.WAITING)
    older = waiting.filter(order=OuterRef("order"), pk__lt=OuterRef("pk"))
    with transaction.atomic():
        due = waiting.filter(~Exists(older), next_attempt_at__lte=timezone.now()).order_by("next_attempt_at", "pk")
        announcement = due.select_for_update(skip_locked=True, of=("self",)).first()
        if announcement is not None:
            announcement.attempts += 1
            announcement.next_attempt_at = timezone.now() + wait_after(announcement.attempts)
            announcement.save(update_fields=["attempts", "next_attempt_at"])
    return announcement


def _send(announcement: OrderAnnouncement) -> bool:
    """One call. True if the shop accepted it, which is any 2xx."""
    try:
        with _opener.open(_request(announcement), timeout=TIMEOUT_SECONDS) as answer:
            return bool(200 <= answer.status < 300)
    except (OSError, HTTPException) as error:
        reason = f"status {error.code}" if isinstance(error, HTTPError) else type(error).__name__
        log.warning(
            "announcement.not_accepted", announcement=announcement.pk, attempt=announcement.attempts, reason=reason
        )
        return False


def _request(announcement: OrderAnnouncement) -> Request:
    body = json.dumps(_body(announcement), ensure_ascii=False).encode()
    timestamp = str(int(timezone.now().timestamp()))
    signed = signature(secret=settings.ORDER_WEBHOOK_SECRET, timestamp=timestamp, body=body)
    headers = {
        "Content-Type": "application/json",
        "X-Refund-Desk-Timestamp": timestamp,
        "X-Refund-Desk-Signature": f"sha256={signed}",
    }
    # The address is the shop's own setting, checked at start to be http or https.
    return Request(settings.ORDER_WEBHOOK_URL, data=body, headers=headers, method="POST")


def _body(announcement: OrderAnnouncement) -> dict[str, Any]:
    return {
        "id": announcement.pk,
        "event": announcement.event,
        "order_number": announcement.order.number,
        "created_at": announcement.created_at.isoformat(),
        "data": announcement.payload,
    }


def _accept(announcement: OrderAnnouncement) -> None:
    OrderAnnouncement.objects.filter(pk=announcement.pk, state=AnnouncementState.WAITING).update(
        state=AnnouncementState.ACCEPTED
    )
