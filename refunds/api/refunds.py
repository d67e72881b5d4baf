"""Refunds by API: read, send again, settle, and what a second person decides."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from orders.api import PAGES, refusals
from orders.strict import validated
from refunds import access, approvals, attention, retry, selectors
from refunds.api.common import actor_of, in_wanted_state, of_order, page, said_of_refund
from refunds.bodies import (
    NeededNoteBody,
    NeededReasonBody,
    ReasonBody,
    RefundAnswer,
    RetryBody,
    SettleBody,
)
from refunds.present import refund_as_dict
from refunds.states import RefundState


class RefundsView(APIView):
    @extend_schema(
        operation_id="refunds_list",
        summary="List refunds, newest first",
        description="Staff with `refunds.view_refund` see all, a customer their own.",
        parameters=[
            OpenApiParameter("state", str, enum=RefundState.values),
            OpenApiParameter("order", str, description="The order's number, exactly."),
            *PAGES,
        ],
        responses={200: RefundAnswer(many=True), **refusals(400, 403, 404)},
    )
    def get(self, request: Request) -> Response:
        rows = access.rows_for(request, selectors.refunds(), access.VIEW_REFUND)
        rows = in_wanted_state(request, rows, RefundState.values)
        return page(self, request, of_order(request, rows), refund_as_dict)


class RefundView(APIView):
    @extend_schema(operation_id="refunds_read", summary="Read a refund", responses={200: RefundAnswer, **refusals(404)})
    def get(self, request: Request, refund_id: str) -> Response:
        return Response(refund_as_dict(access.refund_for(request, refund_id)))


class RetryView(APIView):
    @extend_schema(
        operation_id="refunds_retry",
        summary="Send the refused parts of a refund again",
        description=(
            "Every part that the gateway has definitely refused is sent again as a new attempt, to the same payment or "
            "to `payment_id`, whatever the other parts do. Needs the permission `refunds.retry_refund`."
        ),
        request=RetryBody,
        responses={200: RefundAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, refund_id: str) -> Response:
        refund = access.refund_for(request, refund_id)
        facts = validated(RetryBody, request.data)
        refund = retry.retry(
            refund_id=refund.pk,
            actor=actor_of(request, refund.order),
            payment_id=facts.get("payment_id"),
            note=facts.get("note", ""),
        )
        return Response(refund_as_dict(refund))


class SettleView(APIView):
    @extend_schema(
        operation_id="refunds_settle",
        summary="Say that a refund was settled with its payment provider",
        description=(
            "For a refund of which the provider has reported a payment after a refusal, or of another amount: somebody "
            "has looked into it there, and each part is paid once and as asked. `stands` says which payment counts of "
            "a part that was paid by hand as well, and has to be said there: `hand` (the provider's is taken back "
            "there), or `provider` (what was paid by hand has come back, or never left). Needs a `note` and the "
            "permission `refunds.retry_refund`."
        ),
        request=SettleBody,
        responses={200: RefundAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, refund_id: str) -> Response:
        refund = access.refund_for(request, refund_id)
        facts = validated(SettleBody, request.data)
        settled = attention.settle(refund_id=refund.pk, actor=actor_of(request, refund.order), **facts)
        return Response(refund_as_dict(settled))


class AdmitFailureView(APIView):
    @extend_schema(
        operation_id="refunds_admit_failure",
        summary="Say that a refund has failed at its payment provider after all",
        description=(
            "For a refund of which the provider has reported that it failed after it was paid, or that it is under way "
            "after a refusal: somebody has looked into it there, and the money is with the shop. It can be sent once "
            "more afterwards. Needs a `note` and the permission `refunds.retry_refund`."
        ),
        request=NeededNoteBody,
        responses={200: RefundAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, refund_id: str) -> Response:
        return said_of_refund(request, refund_id, attention.admit_failure)


class ApproveView(APIView):
    @extend_schema(
        operation_id="refunds_approve",
        summary="Approve a refund that waits for a second person",
        description="Needs `refunds.approve_refund`; never by whoever asked for it or confirmed it.",
        request=ReasonBody,
        responses={200: RefundAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, refund_id: str) -> Response:
        refund = access.refund_for(request, refund_id)
        reason = validated(ReasonBody, request.data).get("reason", "")
        actor = actor_of(request, refund.order)
        return Response(refund_as_dict(approvals.approve_refund(refund_id=refund.pk, actor=actor, reason=reason)))


class RejectView(APIView):
    @extend_schema(
        operation_id="refunds_reject",
        summary="Reject a refund that waits for a second person",
        description="Its goods count as kept again. Needs a reason and `refunds.approve_refund`, as approving does.",
        request=NeededReasonBody,
        responses={200: RefundAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, refund_id: str) -> Response:
        refund = access.refund_for(request, refund_id)
        reason = validated(NeededReasonBody, request.data)["reason"]
        actor = actor_of(request, refund.order)
        return Response(refund_as_dict(approvals.reject_refund(refund_id=refund.pk, actor=actor, reason=reason)))
