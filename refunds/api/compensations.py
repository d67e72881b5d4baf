"""Compensation by API: staff propose it, a second person approves it (`refunds/api/approvals.py`)."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from orders.access import order_for
from orders.api import NUMBER, refusals
from orders.strict import validated
from refunds import compensation
from refunds.api.common import actor_of
from refunds.deciding_bodies import ApprovalAnswer, CompensationBody
from refunds.models import Approval
from refunds.present import approval_as_dict


class OrderCompensationsView(APIView):
    @extend_schema(
        operation_id="compensations_propose",
        summary="Propose a compensation, beside any refund of goods",
        description=(
            "Nothing is held or paid before a second person approves it. All compensations of an order come to at most "
            "the policy's cap, and to no more than its payments have left. 201, or 200 with the "
            "same proposal where `request_ref` was used before. Staff with `refunds.propose_compensation`."
        ),
        parameters=[NUMBER],
        request=CompensationBody,
        responses={201: ApprovalAnswer, 200: ApprovalAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, order_number: str) -> Response:
        order = order_for(request, order_number)
        facts = validated(CompensationBody, request.data)
        ref = f"api:{order.pk}:{facts['request_ref']}"
        known = Approval.objects.filter(request_ref=ref).exists()
        asked = compensation.propose(
            order=order,
            amount=facts["amount"],
            reason=facts["reason"],
            actor=actor_of(request, order),
            request_ref=ref,
        )
        return Response(approval_as_dict(asked), status=status.HTTP_200_OK if known else status.HTTP_201_CREATED)
