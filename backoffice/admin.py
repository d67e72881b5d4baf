"""Accounts and groups in Django admin, with permissions in the reader's language; and lists that became files."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import ManyToManyField
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from backoffice.export_titles import title_of
from backoffice.models import Export
from backoffice.permission_words import permission_name
from orders.admin_links import register_subject
from orders.admin_pages import ReadOnlyAdmin

register_subject("export", Export)
admin.site.unregister(User)
admin.site.unregister(Group)


class PermissionField(forms.ModelMultipleChoiceField):
    def label_from_instance(self, obj: Permission) -> str:
        return permission_name(obj)


def in_words(db_field: "ManyToManyField[Any, Any]", options: dict[str, Any]) -> dict[str, Any]:
    """What a form's field of permissions is made with."""
    return options | ({"form_class": PermissionField} if db_field.remote_field.model is Permission else {})


@admin.register(User)
class AccountAdmin(UserAdmin):
    list_display = ("username", "full_name", "email", "in_groups", "is_active", "is_staff", "last_login")
    list_filter = ("groups", "is_active", "is_staff", "is_superuser")
    date_hierarchy = "date_joined"

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **more: Any) -> Any:
        return super().formfield_for_manytomany(db_field, request, **in_words(db_field, more))

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).prefetch_related("groups")

    @admin.display(description=_("full name"), ordering="first_name")
    def full_name(self, user: User) -> str:
        return user.get_full_name()

    @admin.display(description=_("groups"))
    def in_groups(self, user: User) -> str:
        return ", ".join(group.name for group in user.groups.all())


@admin.register(Group)
class TeamAdmin(GroupAdmin):
    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest | None = None, **more: Any) -> Any:
        return super().formfield_for_manytomany(db_field, request, **in_words(db_field, more))


@admin.register(Export)
class ExportAdmin(ReadOnlyAdmin):
    """Lists that are being written or lie ready; the history keeps who took away which (`export.made`)."""

    list_display = ("id", "list_name", "state", "asked_by", "rows_done", "rows_expected", "created_at", "finished_at")
    list_select_related = ("asked_by",)
    list_filter = ("state", "kind")
    search_fields = ("asked_by__username", "kind")
    date_hierarchy = "created_at"
    in_words: ClassVar = {"kind": "list_name"}

    @admin.display(description=_("list"), ordering="kind")
    def list_name(self, export: Export) -> str:
        return title_of(export.kind)
