"""What Django admin lists, narrows and searches by has an index (`orders/admin_many.py`, `orders/admin_search.py`)."""

from django.db import migrations, models

PARTS = """
CREATE INDEX orders_line_name_pieces ON orders_lineitem USING gin (orders_pieces(name, 1, 2));
CREATE INDEX orders_line_sku_pieces ON orders_lineitem USING gin (orders_pieces(sku, 3, 3));
"""

NO_PARTS = """
DROP INDEX orders_line_sku_pieces;
DROP INDEX orders_line_name_pieces;
"""


class Migration(migrations.Migration):
    dependencies = [("orders", "0008_history_by_the_name_of_who_acted")]

    operations = [
        migrations.AddIndex("auditevent", models.Index(fields=["subject_id"], name="audit_by_subject")),
        migrations.AddIndex("auditevent", models.Index(fields=["actor_name"], name="audit_by_any_name")),
        migrations.RemoveIndex("order", name="orders_orde_custome_7b68ab_idx"),
        migrations.AddIndex(
            "order",
            models.Index(
                fields=["customer", "-placed_at"], include=["id", "paid_amount"], name="order_of_customer"
            ),
        ),
        migrations.AddIndex(
            "order", models.Index(fields=["shipping_method", "-placed_at", "-id"], name="order_method_newest")
        ),
        migrations.AddIndex(
            "order",
            models.Index(
                fields=["shipping_waiver", "-placed_at", "-id"],
                condition=models.Q(shipping_waiver__isnull=False),
                name="order_waiver_newest",
            ),
        ),
        migrations.AddIndex("lineitem", models.Index(fields=["category"], name="line_category")),
        migrations.AddIndex("payment", models.Index(fields=["captured_at"], name="payment_by_time")),
        migrations.AddIndex("payment", models.Index(fields=["method"], name="payment_method")),
        migrations.AddIndex("payment", models.Index(fields=["provider"], name="payment_provider")),
        migrations.AddIndex("payment", models.Index(fields=["last4"], name="payment_last4")),
        migrations.AddIndex("payment", models.Index(fields=["external_id"], name="payment_by_shops_number")),
        migrations.AddIndex("shipment", models.Index(fields=["packed_at", "id"], name="shipment_by_time")),
        migrations.AddIndex(
            "shipment",
            models.Index(
                fields=["packed_at", "id"], condition=models.Q(is_replacement=True), name="shipment_replaces"
            ),
        ),
        migrations.AddIndex("shipment", models.Index(fields=["carrier"], name="shipment_carrier")),
        migrations.AddIndex("shipment", models.Index(fields=["external_id"], name="shipment_by_shops_number")),
        migrations.RunSQL(PARTS, NO_PARTS),
    ]
