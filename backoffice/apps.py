"""The project as a Django app: it owns the groups' migration and the template tags."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class BackofficeConfig(AppConfig):
    name = "backoffice"
    verbose_name = _("Refund Desk")
