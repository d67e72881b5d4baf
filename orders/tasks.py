"""Jobs of orders. `sweep` runs on beat and whenever something is announced."""

from celery import shared_task

from orders import webhook
from orders.jobs import one_at_a_time


@shared_task(name="orders.tasks.sweep")
@one_at_a_time
def sweep() -> int:
    """Send the announcements that are due; how many the shop accepted."""
    return webhook.send_due()
