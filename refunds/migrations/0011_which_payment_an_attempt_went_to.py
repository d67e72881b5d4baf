"""An attempt names its payment: a person may have sent its allocation to another one since.

Attempts of the past: the history knows the payment of each that was sent; what was refused unsent is the allocation's.
"""

import django.db.models.deletion
from django.db import migrations, models

NAME_PAYMENTS = """
UPDATE refunds_gatewayattempt AS attempt SET payment_id = COALESCE(
    (
        SELECT payment.id FROM orders_auditevent AS event
        JOIN orders_payment AS payment ON payment.id = event.computed ->> 'payment_id'
        WHERE event.action = 'attempt.sending' AND event.subject_type = 'gateway_attempt'
            AND event.subject_id = attempt.id::text
        ORDER BY event.id LIMIT 1
    ),
    (SELECT allocation.payment_id FROM refunds_refundallocation AS allocation WHERE allocation.id = attempt.allocation_id)
);
SET CONSTRAINTS ALL IMMEDIATE;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("orders", "0004_stock_not_counted_and_credit_adds_up"),
        ("refunds", "0010_refunds_that_wait_for_their_goods"),
    ]

    operations = [
        migrations.AddField(
            model_name="gatewayattempt",
            name="payment",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="attempts",
                to="orders.payment",
                verbose_name="payment",
            ),
        ),
        migrations.RunSQL(NAME_PAYMENTS, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="gatewayattempt",
            name="payment",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="attempts",
                to="orders.payment",
                verbose_name="payment",
            ),
        ),
    ]
