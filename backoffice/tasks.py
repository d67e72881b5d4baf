"""The desk's own jobs: lists that are written as files."""

from celery import shared_task

from backoffice import export_writing
from orders.jobs import one_at_a_time


@shared_task(name="backoffice.tasks.write_exports")
@one_at_a_time
def write_exports() -> None:
    """Write the lists that wait, one after the other; on beat also what a lost job or a killed worker has left."""
    export_writing.write_waiting()
    export_writing.sweep()
