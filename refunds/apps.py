from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RefundsConfig(AppConfig):
    name = "refunds"
    verbose_name = _("Refunds")

    def ready(self) -> None:
        # Models exist only now. Orders come in below this app and know no money rules: it hands them the price check.
        from orders.ingest import register_price_check
        from refunds import receivers  # noqa: F401  (an alert also goes by e-mail)
        from refunds.snapshot import price_whole_order

        register_price_check(price_whole_order)
