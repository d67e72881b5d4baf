"""Signing in: Django's own form, with the demo's accounts beside it where the demo says so."""

from typing import Any, Final

from django.conf import settings
from django.contrib.auth.views import LoginView
from django.utils.translation import gettext_lazy as _

from orders.http import path_of_site

DEMO_ACCOUNTS: Final = [
    ("ming", _("customer 王小明, order 5531")),
    ("ming2", _("another customer 王小明, order 5602")),
    ("staff", _("support staff")),
    ("supervisor", _("supervisor: may approve too")),
    ("warehouse", _("warehouse: packs and receives")),
    ("marketing", _("marketing: drafts and publishes the rules")),
    ("auditor", _("auditor: reads the records")),
    ("admin", _("administrator")),
]


class SignIn(LoginView):
    template_name = "registration/login.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(demo_accounts=DEMO_ACCOUNTS if settings.DEMO else [], **kwargs)

    def get_success_url(self) -> str:
        """The page that somebody wanted before they had to sign in, else the front page."""
        return path_of_site(self.get_redirect_url(), self.get_default_redirect_url())
