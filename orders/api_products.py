"""The API of products: search, read, take in."""

import re
from typing import Final

from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from orders import access, products
from orders.api import PAGES, actor_of, refusals
from orders.errors import InvalidInput
from orders.models import Product
from orders.money import DECIMALS
from orders.products import MAX_WORDS, ProductBody, product_as_dict
from orders.serializers import ProductAnswer
from orders.strict import MAX_AMOUNT, validated

_PRODUCT_ID: Final = OpenApiParameter(
    "product_id", str, OpenApiParameter.PATH, pattern="^[^/\\x00-\\x1f]{1,64}$", description="The shop's own SKU."
)
_TEXT: Final = {"type": "string", "maxLength": MAX_WORDS}


class ProductsView(GenericAPIView[Product]):
    queryset = Product.objects.none()
    serializer_class = ProductAnswer

    @extend_schema(
        operation_id="products_search",
        summary="Search products, by name",
        description="For customers, and for staff with `orders.view_product`.",
        parameters=[
            OpenApiParameter("q", _TEXT, description="Words that all stand in name, SKU, category or description."),
            OpenApiParameter("category", _TEXT, description="Exactly this category; capital letters do not matter."),
            OpenApiParameter(
                "price_max",
                {"type": "integer", "minimum": 0, "maximum": MAX_AMOUNT},
                description="At most this, in the smallest unit of the product's currency.",
            ),
            OpenApiParameter("currency", str, enum=sorted(DECIMALS)),
            *PAGES,
        ],
        responses={200: ProductAnswer(many=True), **refusals(400, 403, 404)},
    )
    def get(self, request: Request) -> Response:
        access.require_products(request)
        found = products.matching_products(
            words=_text(request, "q"),
            category=_text(request, "category"),
            price_max=_price_max(request),
            currency=_currency(request),
        )
        page = self.paginate_queryset(found) or []
        return self.get_paginated_response([product_as_dict(product) for product in page])


class ProductView(APIView):
    @extend_schema(
        operation_id="products_read",
        summary="Read a product",
        description="For customers, and for staff with `orders.view_product`.",
        parameters=[_PRODUCT_ID],
        responses={200: ProductAnswer, **refusals(403, 404)},
    )
    def get(self, request: Request, product_id: str) -> Response:
        access.require_products(request)
        product = products.product_by_id(product_id)
        if product is None:
            raise Http404
        return Response(product_as_dict(product))

    @extend_schema(
        operation_id="products_take_in",
        summary="Say what a product is, costs, and how many there are",
        description=(
            "201 for a new product, 200 for a known one, also when nothing changed. What is left out is left as it is "
            "known. `stock` null: pieces are not counted here. Orders keep the name and price they were placed with, "
            "and what is promised to replacements stays promised. Needs the permission `orders.change_product`."
        ),
        parameters=[_PRODUCT_ID],
        request=ProductBody,
        responses={201: ProductAnswer, 200: ProductAnswer, **refusals(400, 403, 404)},
    )
    def put(self, request: Request, product_id: str) -> Response:
        actor = actor_of(request)
        actor.require(products.PERMISSION)
        facts = validated(ProductBody, request.data)
        product, created = products.take_in_product(body={**facts, "sku": product_id}, actor=actor)
        shown = product_as_dict(product)
        return Response(shown, status=status.HTTP_201_CREATED if created else status.HTTP_200_OK)


def _text(request: Request, name: str) -> str:
    text: str = request.query_params.get(name, "")
    if len(text) > MAX_WORDS:
        raise InvalidInput(name, _("It may have at most %(most)s characters.") % {"most": MAX_WORDS})
    return text


def _price_max(request: Request) -> int | None:
    text = request.query_params.get("price_max")
    if text is None:
        return None
    if not re.fullmatch("[0-9]{1,13}", text) or int(text) > MAX_AMOUNT:
        raise InvalidInput("price_max", _("It must be a whole number from 0 to %(most)s.") % {"most": MAX_AMOUNT})
    return int(text)


def _currency(request: Request) -> str:
    code: str | None = request.query_params.get("currency")
    if code is not None and code not in DECIMALS:
        raise InvalidInput("currency", _("It must be one of: %(codes)s.") % {"codes": ", ".join(sorted(DECIMALS))})
    return code or ""
