"""Replacements by API: lost goods sent again, what is to be sent, what was sent."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from orders.access import order_for
from orders.actors import Actor
from orders.api import NUMBER, PAGES, refusals
from orders.strict import validated
from refunds import access, replacements, resend, selectors
from refunds.api.common import actor_of, in_wanted_state, of_order, page, request_ref_of
from refunds.bodies import NeededNoteBody
from refunds.goods_bodies import ReplacementAnswer
from refunds.models import Replacement
from refunds.present import replacement_as_dict
from refunds.resend_check import resend_choices
from refunds.return_bodies import ResendBody, SendBody
from refunds.states import ReplacementState


class OrderResendsView(APIView):
    @extend_schema(
        operation_id="replacements_resend",
        summary="Send lost goods again instead of refunding them",
        description=(
            "By the customer of the order, or by staff with `refunds.redeem_quote`; for units that are lost as their "
            "parcel shows. Stock is reserved at once. 201, or 200 with the same replacement where `request_ref` was "
            "used before."
        ),
        parameters=[NUMBER],
        request=ResendBody,
        responses={201: ReplacementAnswer, 200: ReplacementAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, order_number: str) -> Response:
        order = order_for(request, order_number)
        actor = actor_of(request, order)
        facts = validated(ResendBody, request.data)
        ref = request_ref_of(facts, order, actor)
        known = Replacement.objects.filter(request_ref=ref).exists()
        made = resend.resend(
            order=order, lines=resend_choices(facts["lines"]), actor=actor, request_ref=ref, note=facts.get("note", "")
        )
        return Response(_shown(made), status=status.HTTP_200_OK if known else status.HTTP_201_CREATED)


class ReplacementsView(APIView):
    @extend_schema(
        operation_id="replacements_list",
        summary="List replacements, newest first",
        description=(
            "Staff with `refunds.view_replacement` or `orders.handle_shipments` see all, a customer their own."
        ),
        parameters=[
            OpenApiParameter("state", str, enum=ReplacementState.values),
            OpenApiParameter("order", str, description="The order's number, exactly."),
            *PAGES,
        ],
        responses={200: ReplacementAnswer(many=True), **refusals(400, 403, 404)},
    )
    def get(self, request: Request) -> Response:
        permission = access.goods_permission(request, access.VIEW_REPLACEMENT)
        rows = access.rows_for(request, selectors.replacements(), permission)
        rows = in_wanted_state(request, rows, ReplacementState.values)
        return page(self, request, of_order(request, rows), replacement_as_dict)


class ReplacementView(APIView):
    @extend_schema(
        operation_id="replacements_read",
        summary="Read a replacement",
        responses={200: ReplacementAnswer, **refusals(404)},
    )
    def get(self, request: Request, replacement_id: str) -> Response:
        return Response(_shown(access.replacement_for(request, replacement_id)))


class ReplacementSendView(APIView):
    @extend_schema(
        operation_id="replacements_send",
        summary="Say that a replacement has left the house",
        description=(
            "Makes a parcel whose `external_id` is the replacement's number; its units stand for the old ones from "
            "then on. Again: the same. An exchange has to be accepted before. Needs `orders.handle_shipments`."
        ),
        request=SendBody,
        responses={200: ReplacementAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, replacement_id: str) -> Response:
        item, actor = _found(request, replacement_id)
        replacements.send(replacement_id=item.pk, actor=actor, **validated(SendBody, request.data))
        return Response(_shown(item))


class ReplacementReleaseView(APIView):
    @extend_schema(
        operation_id="replacements_release",
        summary="Do not send lost goods again after all",
        description=(
            "The units stand again where their parcel says, and the stock is free. An exchange is rejected or "
            "withdrawn instead. Needs a `note`, the reason, and `orders.handle_shipments` or `refunds.redeem_quote`."
        ),
        request=NeededNoteBody,
        responses={200: ReplacementAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, replacement_id: str) -> Response:
        item, actor = _found(request, replacement_id)
        note = validated(NeededNoteBody, request.data)["note"]
        replacements.release(replacement_id=item.pk, actor=actor, note=note)
        return Response(_shown(item))


def _found(request: Request, replacement_id: str) -> tuple[Replacement, Actor]:
    """The replacement, and who acts on it. Raises Http404."""
    item = access.replacement_for(request, replacement_id)
    return item, actor_of(request, item.order)


def _shown(item: Replacement) -> dict[str, Any]:
    """As it is in the database now."""
    return replacement_as_dict(selectors.replacements().get(pk=item.pk))
