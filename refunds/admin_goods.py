"""Goods that come back and goods that are sent in their place, in Django admin. Nothing can be changed here."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from orders.admin_links import NOTHING, admin_link, register_subject
from refunds.admin_parts import LinesInline, Record
from refunds.models import Replacement, ReplacementLine, Return, ReturnLine

register_subject("return", Return)
register_subject("replacement", Replacement)


class ReturnLineInline(LinesInline):
    model = ReturnLine
    fields = ("line_item", "shipment_line", "quantity", "reason", "of_product", "found")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("product").prefetch_related("findings")

    @admin.display(description=_("wanted instead"))
    def of_product(self, line: ReturnLine) -> str:
        return admin_link(line.product)

    @admin.display(description=_("found"))
    def found(self, line: ReturnLine) -> str:
        """What the warehouse found of these units; nothing before they were received."""
        return gettext(", ").join(str(finding) for finding in line.findings.all()) or NOTHING


class ReplacementLineInline(LinesInline):
    model = ReplacementLine
    fields = ("line_item", "shipment_line", "quantity", "of_product")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("product")

    @admin.display(description=_("sent instead"))
    def of_product(self, line: ReplacementLine) -> str:
        return admin_link(line.product)


@admin.register(Return)
class ReturnAdmin(Record):
    story = "pk"
    list_display = (
        "id",
        "of_order",
        "kind",
        "state",
        "of_refund",
        "of_replacement",
        "confirmed_by_kind",
        "created_at",
    )
    list_select_related = ("order", "refund", "replacement")
    search_fields = (
        "id__exact",
        "order__number__exact",
        "quote__id__exact",
        "refund__id__exact",
        "replacement__id__exact",
        "note",
    )
    list_filter = ("state", "kind", "lines__findings__found", "confirmed_by_kind")
    date_hierarchy = "created_at"
    inlines = (ReturnLineInline,)

    @admin.display(description=_("refund"))
    def of_refund(self, request: Return) -> str:
        return admin_link(request.refund)

    @admin.display(description=_("replacement"))
    def of_replacement(self, request: Return) -> str:
        return admin_link(getattr(request, "replacement", None))


@admin.register(Replacement)
class ReplacementAdmin(Record):
    story = "pk"
    list_display = ("id", "of_order", "kind", "state", "of_return", "of_shipment", "confirmed_by_kind", "created_at")
    list_select_related = ("order", "return_request", "shipment")
    search_fields = (
        "id__exact",
        "order__number__exact",
        "return_request__id__exact",
        "shipment__id__exact",
        "shipment__tracking_number__exact",
        "note",
    )
    list_filter = ("state", "kind", "confirmed_by_kind")
    date_hierarchy = "created_at"
    inlines = (ReplacementLineInline,)

    @admin.display(description=_("return"))
    def of_return(self, replacement: Replacement) -> str:
        return admin_link(replacement.return_request)

    @admin.display(description=_("shipment"))
    def of_shipment(self, replacement: Replacement) -> str:
        return admin_link(replacement.shipment)
