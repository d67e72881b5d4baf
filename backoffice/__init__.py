"""The project: settings, screens and the pages that put an order and its chat together."""

from backoffice.celery import app as celery_app

__all__ = ["celery_app"]
