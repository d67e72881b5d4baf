"""The addresses of the refund buttons (`docs/architecture.md`, addresses)."""

from django.urls import path

from refunds import views

urlpatterns = [
    path("refunds/quotes/<str:quote_id>/confirm/", views.confirm, name="quote-confirm"),
    path("refunds/quotes/<str:quote_id>/decline/", views.decline, name="quote-decline"),
]
