"""What a second person decides, by API: list, read, approve, reject, and ask for an exception."""

from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from orders.access import order_for
from orders.api import NUMBER, PAGES, refusals
from orders.strict import validated
from refunds import access, approvals, overrides, selectors
from refunds.api.common import actor_of, in_wanted_state, of_order, page, wanted
from refunds.bodies import NeededReasonBody, ReasonBody
from refunds.choices import parse_choices
from refunds.deciding_bodies import ApprovalAnswer, OverrideBody
from refunds.models import Approval
from refunds.present import approval_as_dict
from refunds.states import ApprovalKind, ApprovalState

_DECIDED: Final = (
    " Needs `refunds.approve_refund`, and never by whoever asked for it, quoted or confirmed it, nor by the customer "
    "who would get the money. 409 once it has ended."
)


class ApprovalsView(APIView):
    @extend_schema(
        operation_id="approvals_list",
        summary="List what a second person decides about, newest first",
        description="Staff with `refunds.view_approval`.",
        parameters=[
            OpenApiParameter("state", str, enum=ApprovalState.values),
            OpenApiParameter("kind", str, enum=ApprovalKind.values),
            OpenApiParameter("order", str, description="The order's number, exactly."),
            *PAGES,
        ],
        responses={200: ApprovalAnswer(many=True), **refusals(400, 403, 404)},
    )
    def get(self, request: Request) -> Response:
        rows = access.approvals_for(request, selectors.approvals())
        rows = in_wanted_state(request, rows, ApprovalState.values)
        kind = wanted(request, "kind", ApprovalKind.values)
        if kind is not None:
            rows = rows.filter(kind=kind)
        return page(self, request, of_order(request, rows), approval_as_dict)


class ApprovalView(APIView):
    @extend_schema(
        operation_id="approvals_read",
        summary="Read what a second person decides about",
        responses={200: ApprovalAnswer, **refusals(404)},
    )
    def get(self, request: Request, approval_id: str) -> Response:
        return Response(approval_as_dict(access.approval_for(request, approval_id)))


class ApproveView(APIView):
    @extend_schema(
        operation_id="approvals_approve",
        summary="Approve: what was asked for is done",
        description=(
            "The refund is sent, the compensation paid, or the return of an exception opened. An exception whose order "
            "has changed since is ended, and answered with 409." + _DECIDED
        ),
        request=ReasonBody,
        responses={200: ApprovalAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, approval_id: str) -> Response:
        approval = access.approval_for(request, approval_id)
        reason = validated(ReasonBody, request.data).get("reason", "")
        decided = approvals.approve(approval_id=approval.pk, actor=actor_of(request, approval.order), reason=reason)
        return _shown(decided)


class RejectView(APIView):
    @extend_schema(
        operation_id="approvals_reject",
        summary="Reject: nothing is paid, and what was held is let go of",
        description="Needs a `reason`." + _DECIDED,
        request=NeededReasonBody,
        responses={200: ApprovalAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, approval_id: str) -> Response:
        approval = access.approval_for(request, approval_id)
        reason = validated(NeededReasonBody, request.data)["reason"]
        decided = approvals.reject(approval_id=approval.pk, actor=actor_of(request, approval.order), reason=reason)
        return _shown(decided)


class OrderOverridesView(APIView):
    @extend_schema(
        operation_id="overrides_ask",
        summary="Ask a second person for an exception: a return that the rules refuse",
        description=(
            "Only `return_window_over` and `excluded_category` can be set aside. The amount follows from the same "
            "rules as ever; nothing is held, and nobody can redeem its quote while it waits. Once approved, the return "
            "is open. Staff with `refunds.ask_override`."
        ),
        parameters=[NUMBER],
        request=OverrideBody,
        responses={201: ApprovalAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, order_number: str) -> Response:
        order = order_for(request, order_number)
        facts = validated(OverrideBody, request.data)
        asked = overrides.ask(
            order=order,
            choices=parse_choices({"lines": facts["lines"]}),
            reason=facts["reason"],
            actor=actor_of(request, order),
        )
        return _shown(asked, status.HTTP_201_CREATED)


def _shown(approval: Approval, answer: int = status.HTTP_200_OK) -> Response:
    return Response(approval_as_dict(approval), status=answer)
