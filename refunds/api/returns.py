"""Returns and exchanges by API: what is possible, exchange, receive, accept, reject, withdraw, send the new goods."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from orders.access import is_staff_reader, order_for
from orders.actors import Actor
from orders.api import NUMBER, PAGES, refusals
from orders.strict import validated
from refunds import acceptance, access, returns, selectors
from refunds.api.common import actor_of, in_wanted_state, of_order, page, request_ref_of
from refunds.bodies import NeededNoteBody, NoteBody
from refunds.eligibility_report import what_may_be_asked
from refunds.exchange_check import exchange_choices
from refunds.goods_bodies import EligibilityAnswer, ReturnAnswer
from refunds.models import Return
from refunds.present import return_as_dict
from refunds.return_bodies import AcceptBody, ExchangeBody, ReceiveBody, SendBody
from refunds.states import ReturnState


class EligibilityView(APIView):
    @extend_schema(
        operation_id="returns_eligibility",
        summary="Read what may be asked for every unit of an order",
        description=(
            "Per line the units by where they are, what may be asked for them (`can`), until which day, and otherwise "
            "why not and what to do instead. 409 where the order's currency has no refund policy."
        ),
        parameters=[NUMBER],
        responses={200: EligibilityAnswer, **refusals(403, 404, 409)},
    )
    def get(self, request: Request, order_number: str) -> Response:
        order = order_for(request, order_number)
        lines = what_may_be_asked(order, timezone.now(), by_staff=is_staff_reader(request))
        return Response({"order_number": order.number, "lines": lines})


class OrderExchangesView(APIView):
    @extend_schema(
        operation_id="returns_exchange",
        summary="Exchange goods for the same again, or for others of the same price",
        description=(
            "By the customer of the order, or by staff with `refunds.redeem_quote`. Stock is reserved at once; the "
            "replacement is sent once the goods are back and accepted. 201, or 200 with the same exchange where "
            "`request_ref` was used before. Refusals `unknown_product`, `currency_differs`, `price_differs`, "
            "`out_of_stock`, and those of every return."
        ),
        parameters=[NUMBER],
        request=ExchangeBody,
        responses={201: ReturnAnswer, 200: ReturnAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, order_number: str) -> Response:
        order = order_for(request, order_number)
        actor = actor_of(request, order)
        facts = validated(ExchangeBody, request.data)
        ref = request_ref_of(facts, order, actor)
        known = Return.objects.filter(request_ref=ref).exists()
        made = returns.request_exchange(
            order=order,
            lines=exchange_choices(facts["lines"]),
            actor=actor,
            request_ref=ref,
            note=facts.get("note", ""),
        )
        return Response(_shown(made), status=status.HTTP_200_OK if known else status.HTTP_201_CREATED)


class ReturnsView(APIView):
    @extend_schema(
        operation_id="returns_list",
        summary="List returns and exchanges, newest first",
        description=("Staff with `refunds.view_return` or `orders.handle_shipments` see all, a customer their own."),
        parameters=[
            OpenApiParameter("state", str, enum=ReturnState.values),
            OpenApiParameter("order", str, description="The order's number, exactly."),
            *PAGES,
        ],
        responses={200: ReturnAnswer(many=True), **refusals(400, 403, 404)},
    )
    def get(self, request: Request) -> Response:
        permission = access.goods_permission(request, access.VIEW_RETURN)
        rows = access.rows_for(request, selectors.returns(), permission)
        rows = in_wanted_state(request, rows, ReturnState.values)
        return page(self, request, of_order(request, rows), return_as_dict)


class ReturnView(APIView):
    @extend_schema(
        operation_id="returns_read",
        summary="Read a return or an exchange",
        responses={200: ReturnAnswer, **refusals(404)},
    )
    def get(self, request: Request, return_id: str) -> Response:
        return Response(_shown(access.return_for(request, return_id)))


class ReceiveView(APIView):
    @extend_schema(
        operation_id="returns_receive",
        summary="Say that returned goods have arrived, and what was found",
        description=(
            "Pieces are `accepted`, `damaged`, `short` (not in the parcel) or `wrong_item`; those of a line come to "
            "what was announced. Only accepted pieces are refunded or replaced. Sent again with other findings it "
            "corrects them, until the goods are accepted. Needs the permission `orders.handle_shipments`."
        ),
        request=ReceiveBody,
        responses={200: ReturnAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, return_id: str) -> Response:
        item, actor = _found(request, return_id)
        facts = validated(ReceiveBody, request.data)
        returns.receive(return_id=item.pk, actor=actor, note=facts.get("note", ""), found=facts.get("found"))
        return Response(_shown(item))


class AcceptView(APIView):
    @extend_schema(
        operation_id="returns_accept",
        summary="Take the accepted goods back: refund them, or set their replacement free to be sent",
        description=(
            "The amount is worked out anew over the accepted pieces; less than was promised waits for a second "
            "person. `nothing_accepted` where nothing was found as it should be. Needs the permission "
            "`orders.handle_shipments`."
        ),
        request=AcceptBody,
        responses={200: ReturnAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, return_id: str) -> Response:
        item, actor = _found(request, return_id)
        facts = validated(AcceptBody, request.data)
        acceptance.accept(return_id=item.pk, actor=actor, note=facts.get("note", ""), found=facts.get("reasons"))
        return Response(_shown(item))


class RejectView(APIView):
    @extend_schema(
        operation_id="returns_reject",
        summary="Do not take the goods back",
        description=(
            "They are the customer's again, and reserved stock is free. Needs a `note`, the reason, and the permission "
            "`orders.handle_shipments`."
        ),
        request=NeededNoteBody,
        responses={200: ReturnAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, return_id: str) -> Response:
        item, actor = _found(request, return_id)
        returns.reject(return_id=item.pk, actor=actor, note=validated(NeededNoteBody, request.data)["note"])
        return Response(_shown(item))


class WithdrawView(APIView):
    @extend_schema(
        operation_id="returns_withdraw",
        summary="Withdraw a return or an exchange before the goods have arrived",
        description="By its customer, or by staff with `refunds.redeem_quote`. Again: the same.",
        request=NoteBody,
        responses={200: ReturnAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, return_id: str) -> Response:
        item, actor = _found(request, return_id)
        returns.withdraw(return_id=item.pk, actor=actor, note=validated(NoteBody, request.data).get("note", ""))
        return Response(_shown(item))


class SendReplacementView(APIView):
    @extend_schema(
        operation_id="returns_send_replacement",
        summary="Say that the replacement of an exchange has left the house",
        description="Makes its parcel and ends the exchange. Needs the permission `orders.handle_shipments`.",
        request=SendBody,
        responses={200: ReturnAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, return_id: str) -> Response:
        item, actor = _found(request, return_id)
        returns.complete_exchange(return_id=item.pk, actor=actor, **validated(SendBody, request.data))
        return Response(_shown(item))


def _found(request: Request, return_id: str) -> tuple[Return, Actor]:
    """The return, and who acts on it. Raises Http404."""
    item = access.return_for(request, return_id)
    return item, actor_of(request, item.order)


def _shown(item: Return) -> dict[str, Any]:
    """As it is in the database now."""
    return return_as_dict(selectors.returns().get(pk=item.pk))
