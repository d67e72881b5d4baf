from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RefundsConfig(AppConfig):
    name = "refunds"
    verbose_name = _("Refunds")
