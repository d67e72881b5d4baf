"""Quotes by API: ask, read, confirm, decline."""

from typing import Final

from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from orders.access import order_for
from orders.api import NUMBER, PAGES, refusals
from orders.strict import validated
from refunds import access, quotes, redeem, selectors
from refunds.api.common import NO_NOTE, actor_of, of_order, page, wanted_state
from refunds.bodies import NoteBody, QuoteAnswer, RefundAnswer
from refunds.choices import ChoicesBody
from refunds.goods_bodies import ReturnAnswer
from refunds.present import quote_as_dict, refund_as_dict, return_as_dict
from refunds.states import Asker, QuoteState

_REDEEMED: Final = PolymorphicProxySerializer(
    component_name="RefundOrReturn", serializers=[RefundAnswer, ReturnAnswer], resource_type_field_name=None
)


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
            *PAGES,
        ],
        responses={200: QuoteAnswer(many=True), **refusals(400, 403, 404)},
    )
    def get(self, request: Request) -> Response:
        rows = access.rows_for(request, selectors.quotes(), access.VIEW_QUOTE)
        state = wanted_state(request, QuoteState.values)
        if state is not None:
            rows = selectors.in_shown_state(rows, state)
        return page(self, request, of_order(request, rows), quote_as_dict)


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
        description=(
            "Answers with the quote as it is then; one that had ended already stays as it ended. 409 for an exception "
            "that waits for a second person."
        ),
        request=None,
        responses={200: QuoteAnswer, **refusals(403, 404, 409)},
    )
    def post(self, request: Request, quote_id: str) -> Response:
        quote = access.quote_for(request, quote_id)
        redeem.decline(quote_id=quote.pk, actor=actor_of(request, quote.order))
        return Response(quote_as_dict(access.quote_for(request, quote_id)))
