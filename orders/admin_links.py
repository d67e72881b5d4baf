"""Links between records of the admin's pages, of whatever app, and JSON that can be read."""

import json
from typing import Any, Final
from urllib.parse import urlencode

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.sites import AdminSite
from django.contrib.admin.utils import quote
from django.db.models import ForeignKey, Model
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe

NOTHING: Final = "–"
SHORT: Final = 60

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
    if not subject_id:
        return NOTHING
    model = _subjects.get(subject_type)
    # A number that is only counted says nothing without what it counts: conversation 35.
    text = f"{subject_name(subject_type)} {subject_id}" if subject_id.isdigit() else subject_id
    return model_link(model, subject_id, text) if model else text


def subject_name(subject_type: str) -> str:
    """What kind of record an audit event is about, in words."""
    model = _subjects.get(subject_type)
    return str(model._meta.verbose_name) if model else subject_type


def history_link(record: Model, text: str) -> str:
    """A link to the audit events about this record and no other."""
    subject_type = next(each for each, model in _subjects.items() if model is type(record))
    audit_event = apps.get_model("orders", "AuditEvent")
    return list_link(audit_event, text, subject_type__exact=subject_type, subject_id__exact=record.pk)


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


def folded_json(value: Any) -> str:
    """One line of it, and the whole when it is opened: for tables."""
    line = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if len(line) <= SHORT:
        return format_html("<code>{}</code>", line)
    return format_html("<details><summary><code>{}…</code></summary>{}</details>", line[:SHORT], pretty_json(value))


def _name(model: type[Model]) -> str:
    return f"{model._meta.app_label}_{model._meta.model_name}"
