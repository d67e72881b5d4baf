"""How an order's number stands in an address: the shop's own letters, digits, `-`, `_` and `#` (escaped as %23)."""

from typing import Final

from django.urls import register_converter

ORDER_NUMBER: Final = r"[A-Za-z0-9#_-]{1,40}"


class OrderNumberConverter:
    regex = ORDER_NUMBER

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


# Every urls module that says `<order_number:number>` imports this one.
register_converter(OrderNumberConverter, "order_number")
