"""Jobs of a queue of which the broker keeps no books (`CELERY_TASK_QUEUES`): none is booked in when it is done either.

Celery asks the broker to book in every job; here that would be two commands and a wait for a row that was never there.
"""

from celery.worker.request import Request


class UnbookedRequest(Request):
    def acknowledge(self) -> None:
        self.acknowledged = True
