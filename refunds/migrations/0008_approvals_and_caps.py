"""Refunds that wait for a second person get their approval; version 1 of the policy gets its cap on compensation."""

from datetime import timedelta

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from orders import ids

# In smallest units, per order. Version 1 had no compensation, so nothing was settled by another number.
CAPS = {"TWD": 300, "USD": 1_000, "CNY": 7_000}
LIFE = timedelta(days=7)


def ask_for_what_waits(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    refunds = apps.get_model("refunds", "Refund").objects.filter(state="pending_approval")
    approvals = apps.get_model("refunds", "Approval").objects
    for refund in refunds.select_related("quote__policy"):
        above = refund.amount > refund.quote.policy.approval_above
        approvals.create(
            id=ids.approval_id(),
            kind="amount" if above else "less_than_promised",
            order_id=refund.order_id,
            refund=refund,
            amount=refund.amount,
            currency=refund.currency,
            reason=refund.note,
            asked_by_kind=refund.confirmed_by_kind,
            asked_by_id=refund.confirmed_by_id,
            conversation_ref=refund.quote.conversation_ref,
            request_ref=f"refund:{refund.pk}",
            expires_at=refund.created_at + LIFE,
        )


def set_caps(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("ALTER TABLE refunds_refundpolicy DISABLE TRIGGER refunds_refundpolicy_no_change")
        for currency, cap in CAPS.items():
            cursor.execute(
                "UPDATE refunds_refundpolicy SET compensation_cap = %s WHERE version = 1 AND currency = %s",
                [cap, currency],
            )
        cursor.execute("ALTER TABLE refunds_refundpolicy ENABLE TRIGGER refunds_refundpolicy_no_change")


class Migration(migrations.Migration):
    dependencies = [("refunds", "0007_what_a_shop_gives_back"), ("orders", "0004_stock_not_counted_and_credit_adds_up")]

    operations = [
        migrations.RunPython(ask_for_what_waits, migrations.RunPython.noop),
        migrations.RunPython(set_caps, migrations.RunPython.noop),
    ]
