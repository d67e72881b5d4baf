"""The API of orders: take in, read, move shipments, change the address, make and revoke the customer's link."""

from typing import Final

from django.conf import settings
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from orders import access
from orders.actors import Actor, staff_actor
from orders.address import change_address
from orders.bodies import AddressBody, OrderBody, ShipmentBody
from orders.converters import ORDER_NUMBER
from orders.ingest import take_in
from orders.links import PERMISSION as MAKE_LINKS
from orders.links import issue_link, revoke_link
from orders.models import CustomerLink, Order
from orders.selectors import order_as_dict, with_everything
from orders.serializers import CustomerLinkSerializer, ErrorSerializer, OrderSerializer, ShipmentSerializer
from orders.shipments import PERMISSION as HANDLE_SHIPMENTS
from orders.shipments import upsert_shipment

NUMBER: Final = OpenApiParameter(
    "order_number",
    str,
    OpenApiParameter.PATH,
    pattern=f"^{ORDER_NUMBER}$",
    description="The shop's own number; `#` is written %23.",
)
# A page beyond the last one is answered with 404.
PAGES: Final = [
    OpenApiParameter("page", {"type": "integer", "minimum": 1}),
    OpenApiParameter("page_size", {"type": "integer", "minimum": 1, "maximum": 100}),
]


def refusals(*statuses: int) -> dict[int, type[ErrorSerializer]]:
    """Answers of a refusal for the OpenAPI page: the one error object, for these statuses and for 401."""
    return dict.fromkeys(sorted({401, *statuses}), ErrorSerializer)


def actor_of(request: Request) -> Actor:
    """Whoever calls acts as staff: without the permission there is nothing here to write."""
    return staff_actor(request.user, via="api")


class OrdersView(GenericAPIView[Order]):
    queryset = Order.objects.none()
    serializer_class = OrderSerializer

    @extend_schema(
        operation_id="orders_list",
        summary="List orders, newest first",
        description="Staff see all orders, a customer their own.",
        parameters=[
            OpenApiParameter("customer", str, description="The customer's external_id."),
            OpenApiParameter("number", str, description="The order's number, exactly."),
            *PAGES,
        ],
        responses={200: OrderSerializer(many=True), **refusals(400, 403, 404)},
    )
    def get(self, request: Request) -> Response:
        orders = access.orders_for(request)
        for parameter, field in (("customer", "customer__external_id"), ("number", "number")):
            if parameter in request.query_params:
                # PostgreSQL cannot hold a NUL, so nothing is called that.
                orders = orders.filter(**{field: request.query_params[parameter].replace("\x00", "\ufffd")})
        page = self.paginate_queryset(with_everything(orders))
        return self.get_paginated_response(OrderSerializer(page, many=True).data)

    @extend_schema(
        operation_id="orders_take_in",
        summary="Take in an order",
        description=(
            "Idempotent on `number`: the same body again is answered with 200, a different one with 409. Amounts are "
            "integers of the currency's smallest unit; the payments must come to exactly what the goods with discounts "
            "and shipping cost. Needs the permission `orders.add_order`."
        ),
        request=OrderBody,
        responses={201: OrderSerializer, 200: OrderSerializer, **refusals(400, 403, 409)},
    )
    def post(self, request: Request) -> Response:
        order, created = take_in(body=request.data, actor=actor_of(request))
        return Response(order_as_dict(order), status=status.HTTP_201_CREATED if created else status.HTTP_200_OK)


class OrderView(APIView):
    @extend_schema(
        operation_id="orders_read",
        summary="Read an order",
        parameters=[NUMBER],
        responses={200: OrderSerializer, **refusals(403, 404)},
    )
    def get(self, request: Request, order_number: str) -> Response:
        return Response(order_as_dict(access.order_for(request, order_number)))


class ShipmentsView(APIView):
    @extend_schema(
        operation_id="orders_upsert_shipment",
        summary="Say where a parcel is",
        description=(
            "Known by `external_id`: a new parcel is answered with 201, a known one with 200, also when nothing "
            "changed. A new parcel says its `lines`; they may change while it is packed. States go packed, shipped, "
            "delivered or lost, never back. Needs the permission `orders.handle_shipments`."
        ),
        parameters=[NUMBER],
        request=ShipmentBody,
        responses={201: ShipmentSerializer, 200: ShipmentSerializer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, order_number: str) -> Response:
        actor = actor_of(request)
        actor.require(HANDLE_SHIPMENTS)
        shipment, created = upsert_shipment(order=_order(order_number), body=request.data, actor=actor)
        shown = ShipmentSerializer(shipment).data
        return Response(shown, status=status.HTTP_201_CREATED if created else status.HTTP_200_OK)


class ShippingAddressView(APIView):
    @extend_schema(
        operation_id="orders_change_address",
        summary="Send an order to another address",
        description=(
            "By the customer of the order, or by staff with `orders.change_address`, while something of it is not "
            "packed yet. 409 for what has left and for what is picked up. The same address again changes nothing. "
            "The change is announced to the shop's webhook."
        ),
        parameters=[NUMBER],
        request=AddressBody,
        responses={200: OrderSerializer, **refusals(400, 403, 404, 409)},
    )
    def put(self, request: Request, order_number: str) -> Response:
        order = access.order_for(request, order_number)
        actor = access.actor_on(request, order, via="api")
        return Response(order_as_dict(change_address(order=order, body=request.data, actor=actor)))


class CustomerLinksView(APIView):
    @extend_schema(
        operation_id="orders_make_customer_link",
        summary="Make a link by which the customer reaches the order",
        description="Needs the permission `orders.issue_customer_link`. The address is shown once and is not kept.",
        parameters=[NUMBER],
        request=None,
        responses={201: CustomerLinkSerializer, **refusals(403, 404)},
    )
    def post(self, request: Request, order_number: str) -> Response:
        actor = actor_of(request)
        actor.require(MAKE_LINKS)
        path, link = issue_link(order=_order(order_number), actor=actor)
        shown = CustomerLinkSerializer(link, context={"url": settings.SITE_URL.rstrip("/") + path}).data
        return Response(shown, status=status.HTTP_201_CREATED)


class CustomerLinkView(APIView):
    @extend_schema(
        operation_id="orders_revoke_customer_link",
        summary="Revoke a customer's link",
        description="Whoever came in by it is out again. Needs the permission `orders.issue_customer_link`.",
        parameters=[NUMBER],
        responses={204: None, **refusals(403, 404)},
    )
    def delete(self, request: Request, order_number: str, link_id: int) -> Response:
        actor = actor_of(request)
        actor.require(MAKE_LINKS)
        link = CustomerLink.objects.filter(pk=link_id, order=_order(order_number)).first()
        if link is None:
            raise Http404
        revoke_link(link=link, actor=actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _order(number: str) -> Order:
    order = Order.objects.filter(number=number).first()
    if order is None:
        raise Http404
    return order
