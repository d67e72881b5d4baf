"""Every address of the product. Names and addresses are a contract with the outside (`docs/architecture.md`)."""

from django.contrib import admin
from django.urls import path

urlpatterns = [path("admin/", admin.site.urls)]
