"""What staff must see although nobody asked, and the comparisons of books, by API."""

from typing import Any, Final

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from orders.actors import NotAllowed, staff_actor
from orders.api import PAGES, refusals
from orders.strict import validated
from refunds import alerts
from refunds.api.common import of_order, page, wanted, wanted_state
from refunds.models import BooksCompared, StaffAlert
from refunds.present import moment
from refunds.states import AlertKind
from refunds.watching_bodies import AlertAnswer, AlertNoteBody, BooksAnswer

VIEW_ALERTS: Final = "refunds.view_staffalert"
VIEW_BOOKS: Final = "refunds.view_bookscompared"
STATES: Final = ["open", "settled"]


class AlertsView(APIView):
    @extend_schema(
        operation_id="alerts_list",
        summary="List what staff must see to, newest first",
        description=(
            f"Money or goods that are overdue, books that differ, refunds nobody asked for. Needs `{VIEW_ALERTS}`."
        ),
        parameters=[
            OpenApiParameter("state", str, enum=STATES),
            OpenApiParameter("kind", str, enum=AlertKind.values),
            OpenApiParameter("order", str, description="The order's number, exactly."),
            *PAGES,
        ],
        responses={200: AlertAnswer(many=True), **refusals(400, 403, 404)},
    )
    def get(self, request: Request) -> Response:
        _require(request, VIEW_ALERTS)
        rows = _alerts()
        state = wanted_state(request, STATES)
        if state is not None:
            rows = rows.filter(settled_at__isnull=state == "open")
        kind = wanted(request, "kind", AlertKind.values)
        if kind is not None:
            rows = rows.filter(kind=kind)
        return page(self, request, of_order(request, rows), alert_as_dict)


class AlertSettleView(APIView):
    @extend_schema(
        operation_id="alerts_settle",
        summary="Say that an alert was seen to, and how",
        description=f"Needs a `note` and `{alerts.SETTLE}`. 409 where it is settled already.",
        request=AlertNoteBody,
        responses={200: AlertAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, alert_id: int) -> Response:
        actor = staff_actor(request.user, via="api")
        actor.require(alerts.SETTLE)
        note = validated(AlertNoteBody, request.data)["note"]
        alert = alerts.settle(alert_id=alert_id, actor=actor, note=note)
        return Response(alert_as_dict(alert))


class BooksView(APIView):
    @extend_schema(
        operation_id="books_list",
        summary="List the comparisons of our books with the providers', newest first",
        description=f"Made every night. Needs `{VIEW_BOOKS}`.",
        parameters=[OpenApiParameter("provider", str, description="The provider's name, exactly."), *PAGES],
        responses={200: BooksAnswer(many=True), **refusals(400, 403, 404)},
    )
    def get(self, request: Request) -> Response:
        _require(request, VIEW_BOOKS)
        rows = BooksCompared.objects.order_by("-until", "-pk")
        provider = request.query_params.get("provider")
        if provider is not None:
            rows = rows.filter(provider=provider.replace("\x00", "\ufffd"))
        return page(self, request, rows, books_as_dict)


def _require(request: Request, permission: str) -> None:
    """Whoever calls acts as staff: a customer has none of these permissions. Raises NotAllowed."""
    if not request.user.has_perm(permission):
        raise NotAllowed(permission)


def _alerts() -> QuerySet[StaffAlert]:
    return StaffAlert.objects.select_related("order", "refund", "settled_by").order_by("-raised_at", "-pk")


def alert_as_dict(alert: StaffAlert) -> dict[str, Any]:
    return {
        "alert_id": alert.pk,
        "kind": alert.kind,
        "kind_text": alert.get_kind_display(),
        "subject": alert.subject,
        "provider": alert.provider,
        "order_number": alert.order.number if alert.order else None,
        "refund_id": alert.refund_id,
        "facts": alert.facts,
        "raised_at": moment(alert.raised_at),
        "settled_at": moment(alert.settled_at),
        "settled_by": alert.settled_by.username if alert.settled_by else None,
        "note": alert.note,
    }


def books_as_dict(books: BooksCompared) -> dict[str, Any]:
    return {
        "provider": books.provider,
        "since": moment(books.since),
        "until": moment(books.until),
        "made_at": moment(books.made_at),
        "checked": books.checked,
        "differences": books.differences,
    }
