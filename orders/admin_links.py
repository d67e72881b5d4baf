"""What the read-only admin pages of all apps share: no way to write, links between records, JSON that can be read.

A page shows every field, foreign keys as links, and links to all records that point here, of whatever app.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.admin.sites import AdminSite
from django.contrib.admin.utils import quote
from django.db.models import ForeignKey, JSONField, Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _

NOTHING: Final = "–"

# Which records an audit event's `subject_type` means; `subject_id` is their primary key. Filled by each app's admin.
_subjects: dict[str, type[Model]] = {}


def register_subject(subject_type: str, model: type[Model]) -> None:
    """Let audit events about `subject_type` link to the admin page of `model`."""
    _subjects[subject_type] = model


def admin_link(record: Model | None, text: str | None = None) -> str:
    """A link to the record's admin page; its name alone where there is no such page."""
    if record is None:
        return NOTHING
    return model_link(type(record), record.pk, str(record) if text is None else text)


def model_link(model: type[Model], key: Any, text: str) -> str:
    """A link to the admin page of the `model` with this primary key, without reading it."""
    if not admin.site.is_registered(model):
        return text
    # Admin escapes keys: without it, one that begins with rq_22 would be read as rq and a quotation mark.
    address = reverse(f"admin:{_name(model)}_change", args=[quote(key)])
    return format_html('<a href="{}">{}</a>', address, text or NOTHING)


def subject_link(subject_type: str, subject_id: str) -> str:
    """A link from an audit event to what it is about."""
    model = _subjects.get(subject_type)
    return model_link(model, subject_id, subject_id) if model else subject_id


def list_link(model: type[Model], text: str, **filters: Any) -> str:
    """A link to the admin list of `model`, filtered."""
    address = f"{reverse(f'admin:{_name(model)}_changelist')}?{urlencode(filters)}"
    return format_html('<a href="{}">{}</a>', address, text)


def pretty_json(value: Any) -> str:
    """JSON on several lines, with its own letters."""
    return format_html("<pre>{}</pre>", json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True))


def related_links(record: Model, site: AdminSite) -> str:
    """Links to the lists of all records that point to this one."""
    links = []
    for relation in record._meta.related_objects:
        model, field = relation.related_model, relation.field
        if isinstance(model, str) or not isinstance(field, ForeignKey) or not site.is_registered(model):
            continue
        lookup = f"{field.name}__{field.target_field.name}__exact"
        links.append((list_link(model, str(model._meta.verbose_name_plural), **{lookup: record.pk}),))
    return format_html_join(mark_safe(" · "), "{}", links) or NOTHING


def _name(model: type[Model]) -> str:
    return f"{model._meta.app_label}_{model._meta.model_name}"


@cache
def _pretty_field(name: str, label: str) -> Callable[[Model], str]:
    @admin.display(description=label)
    def pretty(record: Model) -> str:
        return pretty_json(getattr(record, name))

    pretty.__name__ = f"pretty_{name}"
    return pretty


class _ReadOnly:
    """Nobody adds, changes or deletes here; whoever has the view permission looks."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnlyInline(_ReadOnly, admin.TabularInline):
    extra = 0
    can_delete = False
    show_change_link = True

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.fields


class ReadOnlyAdmin(_ReadOnly, admin.ModelAdmin):
    """All fields, read-only, JSON readable. `extra_fields` are methods that a page shows besides."""

    actions = None
    show_full_result_count = False
    extra_fields: Sequence[str] = ()

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self._shown()

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self._shown()

    def _shown(self) -> list[Any]:
        shown: list[Any] = [
            _pretty_field(field.name, str(field.verbose_name)) if isinstance(field, JSONField) else field.name
            for field in self.model._meta.concrete_fields
        ]
        return [*shown, *self.extra_fields, "related_records"]

    @admin.display(description=_("Records that belong to it"))
    def related_records(self, record: Model) -> str:
        return related_links(record, self.admin_site)
