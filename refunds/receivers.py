"""What this app does when it is told something: always after commit."""

from typing import Any

from django.conf import settings
from django.dispatch import receiver

from orders.jobs import enqueue_on_commit
from refunds import tasks
from refunds.signals import alert_raised


@receiver(alert_raised)
def mail_it(alert_id: str, **_: Any) -> None:
    """An alert also goes to the staff's address, by a job: the mail server is a stranger's."""
    if settings.STAFF_ALERT_EMAIL:
        enqueue_on_commit(tasks.mail_alert, int(alert_id))
