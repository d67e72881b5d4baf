"""The API of refunds: quote, redeem, decline, read, retry, decide. Numbers and steps are those of every other door."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework import status
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from orders.access import order_for
from orders.actors import Actor
from orders.api import NUMBER, refusals
from orders.errors import InvalidInput
from orders.models import Order
from orders.strict import validated
from refunds import access, approvals, attention, quotes, redeem, retry, selectors
from refunds.bodies import (
    NoteBody,
    QuoteAnswer,
    ReasonBody,
    RefundAnswer,
    RetryBody,
    ReturnAnswer,
)
from refunds.choices import ChoicesBody
from refunds.present import quote_as_dict, refund_as_dict, return_as_dict
from refunds.states import Asker, QuoteState, RefundState

Row = TypeVar("Row", bound=Model)

# What the records say where a program of staff confirms without a note: in one language, for they are never rewritten.
NO_NOTE: Final = "Confirmed through the API without a note."
_PAGES: Final = [OpenApiParameter("page", int), OpenApiParameter("page_size", int, description="At most 100.")]
_REDEEMED: Final = PolymorphicProxySerializer(
    component_name="RefundOrReturn", serializers=[RefundAnswer, ReturnAnswer], resource_type_field_name=None
)


def actor_of(request: Request, order: Order) -> Actor:
    return access.actor_for(request, order, via="api")


def _of_order(request: Request, rows: QuerySet[Row]) -> QuerySet[Row]:
    """Of the order in the filter `order`, if there is one. What no number can contain finds nothing."""
    number = request.query_params.get("order")
    return rows if number is None else rows.filter(order__number=number.replace("\x00", "\ufffd"))


def _wanted_state(request: Request, states: list[str]) -> str | None:
    """The filter `state`. Raises InvalidInput for one that does not exist."""
    state = request.query_params.get("state")
    if state is not None and state not in states:
        raise InvalidInput("state", _("It must be one of: %(states)s.") % {"states": ", ".join(states)})
    return state


def _page(view: APIView, request: Request, rows: QuerySet[Row], show: Callable[[Row], dict[str, Any]]) -> Response:
    pages: PageNumberPagination = api_settings.DEFAULT_PAGINATION_CLASS()  # type: ignore[operator, misc]
    page = pages.paginate_queryset(rows, request, view=view) or []
    return pages.get_paginated_response([show(row) for row in page])


class OrderQuotesView(APIView):
    @extend_schema(
        operation_id="refund_quotes_ask",
        summary="Ask what a refund of these goods comes to",
        description=(
            "Customers for their own orders, staff with `refunds.ask_quote` for all. Goods are chosen, the amount "
            "follows. All lines of one quote need the same action; a refusal `mixed_actions` names the split. It "
            "holds for some minutes and supersedes your earlier open quotes on this order. Nothing moves."
        ),
        parameters=[NUMBER],
        request=ChoicesBody,
        responses={201: QuoteAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, order_number: str) -> Response:
        order = order_for(request, order_number)
        actor = actor_of(request, order)
        quote = quotes.ask(
            order=order,
            choices=quotes.parse_choices(request.data),
            actor=actor,
            asker=Asker.STAFF if actor.kind == "staff" else Asker.CUSTOMER,
            asker_ref=quotes.asker_ref(actor),
        )
        return Response(quote_as_dict(quote), status=status.HTTP_201_CREATED)


class QuotesView(APIView):
    @extend_schema(
        operation_id="refund_quotes_list",
        summary="List quotes, newest first",
        description="Staff with `refunds.view_refundquote` see all, a customer their own.",
        parameters=[
            OpenApiParameter("state", str, enum=QuoteState.values),
            OpenApiParameter("order", str, description="The order's number, exactly."),
            *_PAGES,
        ],
        responses={200: QuoteAnswer(many=True), **refusals(400, 403, 404)},
    )
    def get(self, request: Request) -> Response:
        rows = access.rows_for(request, selectors.quotes(), access.VIEW_QUOTE)
        state = _wanted_state(request, QuoteState.values)
        if state is not None:
            rows = selectors.in_shown_state(rows, state)
        return _page(self, request, _of_order(request, rows), quote_as_dict)


class QuoteView(APIView):
    @extend_schema(
        operation_id="refund_quotes_read",
        summary="Read a quote, with its refund or return once it has become one",
        responses={200: QuoteAnswer, **refusals(404)},
    )
    def get(self, request: Request, quote_id: str) -> Response:
        return Response(quote_as_dict(access.quote_for(request, quote_id)))


class RedeemView(APIView):
    @extend_schema(
        operation_id="refund_quotes_redeem",
        summary="Confirm a quote: the refund is made, or the return opened",
        description=(
            "By the customer of the order, or by staff with `refunds.redeem_quote`. 201 the first time, 200 with the "
            "same refund or return afterwards. 409 when the quote has run out or was superseded, or when the order has "
            "changed since: then nothing moved, and the hint says what to do. Changes of goods are announced to the "
            "shop's webhook. `note` is why, for the records; they say that none was given where staff leave it out."
        ),
        request=NoteBody,
        responses={201: _REDEEMED, 200: _REDEEMED, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, quote_id: str) -> Response:
        quote = access.quote_for(request, quote_id)
        actor = actor_of(request, quote.order)
        note = validated(NoteBody, request.data).get("note", "")
        if actor.kind == "staff":
            note = note or NO_NOTE
        redeemed = redeem.redeem(quote_id=quote.pk, actor=actor, note=note)
        answer = status.HTTP_201_CREATED if redeemed.created else status.HTTP_200_OK
        if redeemed.refund is not None:
            return Response(refund_as_dict(redeemed.refund), status=answer)
        assert redeemed.return_request is not None
        return Response(return_as_dict(redeemed.return_request), status=answer)


class DeclineView(APIView):
    @extend_schema(
        operation_id="refund_quotes_decline",
        summary="Decline a quote",
        description="Answers with the quote as it is then; one that had ended already stays as it ended.",
        request=None,
        responses={200: QuoteAnswer, **refusals(403, 404)},
    )
    def post(self, request: Request, quote_id: str) -> Response:
        quote = access.quote_for(request, quote_id)
        redeem.decline(quote_id=quote.pk, actor=actor_of(request, quote.order))
        return Response(quote_as_dict(access.quote_for(request, quote_id)))


class RefundsView(APIView):
    @extend_schema(
        operation_id="refunds_list",
        summary="List refunds, newest first",
        description="Staff with `refunds.view_refund` see all, a customer their own.",
        parameters=[
            OpenApiParameter("state", str, enum=RefundState.values),
            OpenApiParameter("order", str, description="The order's number, exactly."),
            *_PAGES,
        ],
        responses={200: RefundAnswer(many=True), **refusals(400, 403, 404)},
    )
    def get(self, request: Request) -> Response:
        rows = access.rows_for(request, selectors.refunds(), access.VIEW_REFUND)
        state = _wanted_state(request, RefundState.values)
        if state is not None:
            rows = rows.filter(state=state)
        return _page(self, request, _of_order(request, rows), refund_as_dict)


class RefundView(APIView):
    @extend_schema(operation_id="refunds_read", summary="Read a refund", responses={200: RefundAnswer, **refusals(404)})
    def get(self, request: Request, refund_id: str) -> Response:
        return Response(refund_as_dict(access.refund_for(request, refund_id)))


class RetryView(APIView):
    @extend_schema(
        operation_id="refunds_retry",
        summary="Send a failed refund again",
        description=(
            "Every part that the gateway has definitely refused is sent again as a new attempt, to the same payment or "
            "to `payment_id`. Needs the permission `refunds.retry_refund`."
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
            "has looked into it there, and each part is paid once and as asked. Needs a `note` and the permission "
            "`refunds.retry_refund`."
        ),
        request=NoteBody,
        responses={200: RefundAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, refund_id: str) -> Response:
        refund = access.refund_for(request, refund_id)
        note = validated(NoteBody, request.data).get("note", "")
        actor = actor_of(request, refund.order)
        return Response(refund_as_dict(attention.settle(refund_id=refund.pk, actor=actor, note=note)))


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
        return Response(refund_as_dict(approvals.approve(refund_id=refund.pk, actor=actor, reason=reason)))


class RejectView(APIView):
    @extend_schema(
        operation_id="refunds_reject",
        summary="Reject a refund that waits for a second person",
        description="Its goods count as kept again. Needs a reason and `refunds.approve_refund`, as approving does.",
        request=ReasonBody,
        responses={200: RefundAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, refund_id: str) -> Response:
        refund = access.refund_for(request, refund_id)
        reason = validated(ReasonBody, request.data).get("reason", "")
        actor = actor_of(request, refund.order)
        return Response(refund_as_dict(approvals.reject(refund_id=refund.pk, actor=actor, reason=reason)))
