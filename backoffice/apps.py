"""The project as a Django app: it owns the groups' migration and the template tags."""

from django.apps import AppConfig


class BackofficeConfig(AppConfig):
    name = "backoffice"
    verbose_name = "Refund Desk"
