"""Refunds that were made elsewhere or by hand, by API: book one, and say for which goods it was."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from orders.access import order_for
from orders.api import NUMBER, refusals
from orders.strict import validated
from refunds import access, by_hand, elsewhere, elsewhere_undone
from refunds.api.common import actor_of, said_of_refund
from refunds.bodies import NeededNoteBody, RefundAnswer
from refunds.deciding_bodies import AssignBody, ByHandBody, ElsewhereBody
from refunds.present import refund_as_dict


class OrderElsewhereView(APIView):
    @extend_schema(
        operation_id="refunds_elsewhere_book",
        summary="Book a refund that was made without us",
        description=(
            "At the provider's desk, by transfer, in cash. With `lines` those goods are gone and the amount counts as "
            "given back for them. Without `lines` every quote of the order is refused (`needs_assignment`) until "
            "somebody assigns it. `for_goods: false`, without lines: it was for no goods. Never more than the "
            "payment has left. Idempotent on `external_ref`: 201 the first time, 200 afterwards, 409 for another "
            "amount, payment or other goods under the same number. The same number with `lines`, where it was booked "
            "without, assigns it. Staff with `refunds.record_elsewhere`."
        ),
        parameters=[NUMBER],
        request=ElsewhereBody,
        responses={201: RefundAnswer, 200: RefundAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, order_number: str) -> Response:
        order = order_for(request, order_number)
        booked = elsewhere.book(order=order, body=request.data, actor=actor_of(request, order))
        answer = status.HTTP_201_CREATED if booked.created else status.HTTP_200_OK
        return Response(refund_as_dict(booked.refund), status=answer)


class ByHandView(APIView):
    @extend_schema(
        operation_id="refunds_paid_by_hand",
        summary="Say that the refused parts of a refund were paid back by hand",
        description=(
            "For parts that no machine could pay, such as cash on delivery: they count as paid from then on, under the "
            "number in `external_ref`; the same number again changes nothing. Under the number of a refund that the "
            "provider has reported, only the part of its payment and amount is paid. Parts of which the provider has "
            "reported a payment are not among them. 409 where nothing of it was refused. Staff with "
            "`refunds.record_elsewhere`."
        ),
        request=ByHandBody,
        responses={200: RefundAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, refund_id: str) -> Response:
        refund = access.refund_for(request, refund_id)
        facts = validated(ByHandBody, request.data)
        paid = by_hand.paid_by_hand(refund_id=refund.pk, actor=actor_of(request, refund.order), **facts)
        return Response(refund_as_dict(paid))


class UndoView(APIView):
    @extend_schema(
        operation_id="refunds_elsewhere_undo",
        summary="Say that a refund made elsewhere did not take place",
        description=(
            "For one that was booked by mistake, or that came back to the shop. Its goods count as kept again, the "
            "payment has its money again, and its number is free. Staff with `refunds.record_elsewhere`, with a `note`."
        ),
        request=NeededNoteBody,
        responses={200: RefundAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, refund_id: str) -> Response:
        return said_of_refund(request, refund_id, elsewhere_undone.undo)


class AssignView(APIView):
    @extend_schema(
        operation_id="refunds_elsewhere_assign",
        summary="Say for which goods a refund was that was booked without",
        description=(
            "From then on its goods are gone and the order can be quoted again. `lines: []` with `for_goods: false`: "
            "it was for no goods. 409 if it does not wait for its goods. Staff with `refunds.record_elsewhere`."
        ),
        request=AssignBody,
        responses={200: RefundAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, refund_id: str) -> Response:
        refund = access.refund_for(request, refund_id)
        facts = validated(AssignBody, request.data)
        assigned = elsewhere.assign(
            refund_id=refund.pk,
            lines=facts["lines"],
            actor=actor_of(request, refund.order),
            note=facts["note"],
            for_goods=facts["for_goods"],
        )
        return Response(refund_as_dict(assigned))
