"""Django admin as this project serves it: an auditor's view, never a way in for other roles."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from orders.words import register_actions, register_machines

register_machines({"demo": _("data of the demo")})
register_actions(
    {
        "demo.dates_moved": _("dates of the demo moved"),
        "shop.seeded": _("orders made up for trying out"),
        "export.made": _("list taken away as a file"),
    }
)


class BackofficeAdminConfig(AdminConfig):
    default_site = "backoffice.admin_site.BackofficeAdminSite"


class BackofficeAdminSite(AdminSite):
    site_header = site_title = _("Refund Desk: records")
    index_title = _("What happened, and who did it")

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        """A signed-in person without the role gets 403: a second sign-in would not help them."""
        gated = super().admin_view(view, cacheable)

        @wraps(gated)
        def refused_or_gated(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.user.is_authenticated and not self.has_permission(request):
                raise PermissionDenied
            response: HttpResponse = gated(request, *args, **kwargs)
            return response

        return refused_or_gated

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """A signed-in person without the role is refused instead of being asked to sign in again."""
        if request.user.is_authenticated and not self.has_permission(request):
            raise PermissionDenied
        return super().login(request, extra_context)
