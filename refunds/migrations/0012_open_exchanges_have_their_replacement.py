"""Exchanges that were open before there were replacements get theirs: the same goods, reserved."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F

from orders.ids import replacement_id

OPEN = ("requested", "received", "accepted")


def reserve(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    returns = apps.get_model("refunds", "Return").objects.filter(kind="exchange", state__in=OPEN, replacement=None)
    for request in returns.prefetch_related("lines__line_item"):
        made = apps.get_model("refunds", "Replacement").objects.create(
            id=replacement_id(),
            order_id=request.order_id,
            kind="exchange",
            state="reserved",
            return_request=request,
            confirmed_by_kind=request.confirmed_by_kind,
            confirmed_by_id=request.confirmed_by_id,
            request_ref=f"return:{request.pk}",
        )
        for line in request.lines.all():
            apps.get_model("refunds", "ReplacementLine").objects.create(
                replacement=made,
                line_item_id=line.line_item_id,
                shipment_line_id=line.shipment_line_id,
                quantity=line.quantity,
            )
            products = apps.get_model("orders", "Product").objects.filter(pk=line.line_item.product_id)
            products.update(reserved=F("reserved") + line.quantity)


class Migration(migrations.Migration):
    dependencies = [
        ("refunds", "0011_which_payment_an_attempt_went_to"),
        ("orders", "0004_stock_not_counted_and_credit_adds_up"),
    ]

    operations = [migrations.RunPython(reserve, migrations.RunPython.noop)]
