"""The history is only ever added to, whoever asks."""

import pytest
from django.db import IntegrityError, connection

from orders import audit
from orders.models import AuditEvent
from orders.tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def event() -> AuditEvent:
    return audit.record(action="test.happened", actor=cast.SHOP, subject_type="test", subject_id="1")


def test_an_event_cannot_be_changed(event: AuditEvent) -> None:
    with pytest.raises(IntegrityError, match="append-only"):
        AuditEvent.objects.filter(pk=event.pk).update(actor_name="somebody else")


def test_an_event_cannot_be_deleted(event: AuditEvent) -> None:
    with pytest.raises(IntegrityError, match="append-only"):
        event.delete()


def test_the_history_cannot_be_emptied(event: AuditEvent) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        # The tests' own flush needs TRUNCATE and has switched the trigger off; here it is as in production.
        cursor.execute("ALTER TABLE orders_auditevent ENABLE TRIGGER orders_auditevent_no_truncate")
        with pytest.raises(IntegrityError, match="append-only"):
            cursor.execute("TRUNCATE orders_auditevent CASCADE")
