"""Every address of the product. Names and addresses are a contract with the outside (`docs/architecture.md`)."""

from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import include, path
from django.views.i18n import set_language
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from backoffice import health
from backoffice.screens import front, sign_in
from refunds import webhooks

handler400 = "backoffice.errors.bad_request"
handler403 = "backoffice.errors.forbidden"
handler404 = "backoffice.errors.not_found"
handler500 = "backoffice.errors.server_error"


urlpatterns = [
    path("", front.front, name="front"),
    path("accounts/login/", sign_in.SignIn.as_view(), name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("i18n/setlang/", set_language, name="set_language"),
    path("", include("backoffice.screens.urls")),
    path("", include("orders.urls")),
    path("", include("agent.urls")),
    path("", include("refunds.urls")),
    path("admin/", admin.site.urls),
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("webhooks/stripe/", webhooks.stripe_event, name="webhook-stripe"),
    path("api/v1/", include("orders.api_urls")),
    path("api/v1/", include("refunds.api_urls")),
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/v1/docs/", SpectacularSwaggerSplitView.as_view(), name="api-docs"),
]
