"""What the admin pages of refunds share: records with public ids, and the goods they are about."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from orders.admin_links import admin_link, history_link
from orders.admin_pages import ReadOnlyAdmin, ReadOnlyInline


class Record(ReadOnlyAdmin):
    """A record with a public id: its page leads to its history, its list to its order."""

    extra_fields: tuple[str, ...] = ("history",)

    @admin.display(description=_("history"))
    def history(self, record: Any) -> str:
        return history_link(record, gettext("Audit events about it"))

    @admin.display(description=_("order"), ordering="order__number")
    def of_order(self, record: Any) -> str:
        return admin_link(record.order)


class LinesInline(ReadOnlyInline):
    show_change_link = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("line_item", "shipment_line__line_item")
