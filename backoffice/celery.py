"""The Celery application: `chat` runs turns, `money` pays, `sweep` brings lost work back, `shop` calls the shop."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_init, worker_ready

from backoffice import garbage

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")

app = Celery("backoffice")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def _steps() -> None:
    from backoffice.heartbeat import Heartbeat  # reads Django's settings, which are being loaded around this module

    app.steps["consumer"].add(Heartbeat)


@worker_init.connect
def _bound_waits(**kwargs: Any) -> None:
    from backoffice import waits  # needs Django's settings, too

    waits.bound()


@worker_ready.connect
def _settle(**kwargs: Any) -> None:
    garbage.settle()


_steps()
