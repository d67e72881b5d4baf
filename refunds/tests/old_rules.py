"""Rules that have been in force for a while, for orders placed under them. No service publishes for the past."""

from typing import Any

from django.db import connection, transaction

from orders.tests.factories import ago
from refunds.models import RefundPolicy


def published_long_ago(**changes: Any) -> RefundPolicy:
    """A second version for TWD, in force for 30 days; it says what the first one does, except for `changes`."""
    policy = RefundPolicy.objects.get(currency="TWD", version=1)
    for name, value in {"version": 2, "in_force_from": ago(days=30), **changes}.items():
        setattr(policy, name, value)
    return inserted(policy)


@transaction.atomic
def inserted(policy: RefundPolicy) -> RefundPolicy:
    """As a new row, past the trigger that lets no rules of the past in. For everybody else it stays awake."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with checks to come cannot be altered
        cursor.execute("ALTER TABLE refunds_refundpolicy DISABLE TRIGGER refunds_refundpolicy_no_past")
        policy.pk = None
        policy.save(force_insert=True)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE refunds_refundpolicy ENABLE TRIGGER refunds_refundpolicy_no_past")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    return policy
