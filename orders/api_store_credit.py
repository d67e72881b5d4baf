"""The API of store credit: what a customer has and how it came about, and adding to it."""

from typing import Final

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from orders import access, store_credit
from orders.api import PAGES, actor_of, refusals
from orders.models import Customer, StoreCreditEntry
from orders.money import DECIMALS
from orders.serializers import StoreCreditAnswer, StoreCreditEntryAnswer
from orders.states import CreditKind
from orders.store_credit import MAX_NOTE, MAX_REFERENCE
from orders.strict import MAX_AMOUNT, StrictBody, StrictInteger, StrictText, validated

_CUSTOMER: Final = OpenApiParameter(
    "external_id",
    str,
    OpenApiParameter.PATH,
    pattern="^[^/\\x00-\\x1f]{1,64}$",
    description="The shop's customer number.",
)
# What was refunded comes through a refund, and never by hand.
_BY_HAND: Final = [choice for choice in CreditKind.choices if choice[0] != CreditKind.REFUNDED]


class StoreCreditBody(StrictBody):
    """An entry: `amount` in smallest units, negative where credit is spent. `reference` is the shop's own, once."""

    amount = StrictInteger(min_value=-MAX_AMOUNT, max_value=MAX_AMOUNT)
    currency = serializers.ChoiceField(choices=sorted(DECIMALS))
    kind = serializers.ChoiceField(choices=_BY_HAND)
    reference = StrictText(max_length=MAX_REFERENCE)
    note = StrictText(max_length=MAX_NOTE, required=False, allow_blank=True, default="")


class StoreCreditView(GenericAPIView[StoreCreditEntry]):
    queryset = StoreCreditEntry.objects.none()
    serializer_class = StoreCreditAnswer

    @extend_schema(
        operation_id="store_credit_read",
        summary="Read a customer's store credit: balances, and entries, newest first",
        description="For the customer, and for staff with `orders.view_storecreditentry`.",
        parameters=[_CUSTOMER, *PAGES],
        responses={200: StoreCreditAnswer, **refusals(400, 403, 404)},
    )
    def get(self, request: Request, external_id: str) -> Response:
        customer = access.customer_for(request, external_id, store_credit.VIEW)
        page = self.paginate_queryset(store_credit.entries_of(customer)) or []
        answer = self.get_paginated_response([store_credit.entry_as_dict(entry) for entry in page])
        assert isinstance(answer.data, dict)
        answer.data |= {
            "customer": customer.external_id,
            "balances": store_credit.balances_as_list(customer),
        }
        return answer

    @extend_schema(
        operation_id="store_credit_add",
        summary="Grant, spend or correct store credit",
        description=(
            "One entry per `reference`: the same again is answered with 200, another one under it with 409, and so is "
            "what would leave less than 0. Needs the permission `orders.add_storecreditentry`."
        ),
        parameters=[_CUSTOMER],
        request=StoreCreditBody,
        responses={201: StoreCreditEntryAnswer, 200: StoreCreditEntryAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, external_id: str) -> Response:
        actor = actor_of(request)
        actor.require(store_credit.PERMISSION)
        customer = Customer.objects.filter(external_id=external_id.replace("\x00", "\ufffd")).first()
        if customer is None:
            raise Http404
        facts = validated(StoreCreditBody, request.data)
        entry, created = store_credit.post_once(customer=customer, actor=actor, **facts)
        shown = store_credit.entry_as_dict(entry)
        return Response(shown, status=status.HTTP_201_CREATED if created else status.HTTP_200_OK)
