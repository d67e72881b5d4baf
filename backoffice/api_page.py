"""How the API's page describes what holds for every address: lists come in pages, and bodies are closed."""

from typing import Any

from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers
from rest_framework.pagination import BasePagination

from backoffice.api import Pages
from orders.strict import StrictBody


class Described(AutoSchema):
    def _get_paginator(self) -> BasePagination:
        """No address answers with a bare list, whatever class its view is of."""
        return Pages()

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Any:
        """A list that may not be empty, or is bounded, says so: of a list of objects the library does not."""
        described = super()._map_serializer_field(field, direction, bypass_extensions)  # type: ignore[no-untyped-call]
        if isinstance(field, serializers.ListSerializer | serializers.ListField) and "items" in (described or {}):
            described |= {} if field.allow_empty else {"minItems": 1}
            most = getattr(field, "max_length", None)
            described |= {"maxItems": most} if most else {}
        return described

    def _map_basic_serializer(self, serializer: serializers.Serializer, direction: Any) -> dict[str, Any]:
        """A field that nobody reads is refused (`orders/strict.py`), and so the page says."""
        described: dict[str, Any] = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        return {**described, "additionalProperties": False} if isinstance(serializer, StrictBody) else described
