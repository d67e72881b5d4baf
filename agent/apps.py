from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AgentConfig(AppConfig):
    name = "agent"
    verbose_name = _("Agent")

    def ready(self) -> None:
        from agent import receivers  # noqa: F401  (connects the signals of refunds)
