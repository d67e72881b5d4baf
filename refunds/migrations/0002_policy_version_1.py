"""Version 1 of the refund policy, in force from the beginning, for the three currencies the shop sells in."""

from datetime import UTC, datetime

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# Currency: fee for every return after the first, and above what amount a second person approves. Smallest units.
AMOUNTS = {"TWD": (80, 20_000), "USD": (250, 65_000), "CNY": (1_800, 460_000)}


def publish(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for currency, (return_fee, approval_above) in AMOUNTS.items():
        apps.get_model("refunds", "RefundPolicy").objects.create(
            version=1,
            currency=currency,
            state="published",
            in_force_from=datetime(2000, 1, 1, tzinfo=UTC),
            return_fee=return_fee,
            return_fee_enabled=True,
            return_window_days=7,
            lost_after_days=14,
            excluded_categories=[],
            shop_fault_reasons=["defective", "wrong_item", "lost", "shop_cancelled"],
            tender_order=["card", "*", "store_credit"],
            approval_above=approval_above,
            quote_minutes=15,
        )


def withdraw(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("refunds", "RefundPolicy").objects.filter(version=1, currency__in=AMOUNTS).delete()


class Migration(migrations.Migration):
    dependencies = [("refunds", "0001_initial")]

    operations = [migrations.RunPython(publish, withdraw)]
