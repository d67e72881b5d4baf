"""What the read-only admin pages of all apps share: no way to write, money and codes as people read them.

A page shows every field: foreign keys as links, amounts with their currency, JSON on several lines; and links to all
records that point here, of whatever app.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache, reduce
from typing import Any, ClassVar

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.utils import get_fields_from_path
from django.contrib.admin.views.main import ChangeList
from django.db.models import BooleanField, CharField, DateTimeField, ForeignKey, JSONField, Model, QuerySet, TextField
from django.http import HttpRequest
from django.template.defaultfilters import yesno
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from orders.admin_csv import export_csv
from orders.admin_links import NOTHING, admin_link, folded_json, pretty_json, related_links
from orders.admin_many import CountedToALimit, ValuesFilter
from orders.admin_search import explained, narrowed
from orders.money import format_money

Column = str | Callable[[Any], Any]


def with_code(words: str, code: str) -> str:
    """Words for people, and under them the code that the log and the API use."""
    return words if words == code else format_html('{}<br><code class="code">{}</code>', words, code)


@cache
def _money_field(model: type[Model], name: str, currency: str) -> Callable[[Model], str]:
    @admin.display(description=model._meta.get_field(name).verbose_name, ordering=name)  # type: ignore[union-attr]
    def money(record: Model) -> str:
        amount = getattr(record, name)
        if amount is None:
            return NOTHING
        return format_money(amount, str(reduce(getattr, currency.split("."), record)))

    return _named(money, name)


@cache
def _json_field(model: type[Model], name: str, show: Callable[[Any], str]) -> Callable[[Model], str]:
    @admin.display(description=model._meta.get_field(name).verbose_name)  # type: ignore[union-attr]
    def pretty(record: Model) -> str:
        value = getattr(record, name)
        return NOTHING if value in (None, {}, []) else show(value)

    return _named(pretty, name)


@cache
def _account_field(model: type[Model], name: str) -> Callable[[Model], str]:
    """An account without a link: whoever reads records need not be allowed to look into accounts."""

    @admin.display(description=model._meta.get_field(name).verbose_name)  # type: ignore[union-attr]
    def account(record: Model) -> str:
        return str(getattr(record, name) or NOTHING)

    return _named(account, name)


@cache
def _time_field(model: type[Model], name: str) -> Callable[[Model], str]:
    """To the second, in the shop's zone: what came first matters here, and dates of one width make a column."""

    @admin.display(description=model._meta.get_field(name).verbose_name, ordering=name)  # type: ignore[union-attr]
    def moment(record: Model) -> str:
        value = getattr(record, name)
        if value is None:
            return NOTHING
        return format_html('<time class="moment">{}</time>', f"{timezone.localtime(value):%Y-%m-%d %H:%M:%S}")

    return _named(moment, name)


@cache
def _yes_or_no_field(model: type[Model], name: str) -> Callable[[Model], str]:
    """In words: a red cross beside "error" would say the opposite of what it means."""

    @admin.display(description=model._meta.get_field(name).verbose_name, ordering=name)  # type: ignore[union-attr]
    def answer(record: Model) -> str:
        return str(yesno(getattr(record, name)))

    return _named(answer, name)


@cache
def _key_field(model: type[Model]) -> Callable[[Model], str]:
    """An inline leaves out the primary key; a public id is wanted there."""

    @admin.display(description=model._meta.pk.verbose_name)
    def number(record: Model) -> str:
        return admin_link(record, str(record.pk))

    return number


def _named(column: Callable[[Model], str], name: str) -> Callable[[Model], str]:
    column.__name__ = name  # admin finds the field's help text by it
    return column


class WordsFilter(ValuesFilter, ABC):
    """A filter on a field whose values are codes: a subclass says them in words."""

    @abstractmethod
    def in_words(self, value: str) -> str: ...

    def choices(self, changelist: ChangeList) -> Any:
        for choice in super().choices(changelist):
            yield {**choice, "display": self.in_words(str(choice["display"]))}


class _ReadOnly:
    """Nobody adds, changes or deletes here; whoever has the view permission looks.

    amounts: fields that hold money, each with the way from a record to its currency, such as `order.currency`.
    """

    model: type[Model]
    amounts: ClassVar[Mapping[str, str]] = {}
    show_json = staticmethod(pretty_json)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def readable(self, name: Any) -> Any:
        """The column or row that shows this field as people read it."""
        if name in self.amounts:
            return _money_field(self.model, name, self.amounts[name])
        field = next((each for each in self.model._meta.concrete_fields if each.name == name), None)
        if isinstance(field, JSONField):
            return _json_field(self.model, field.name, self.show_json)
        if isinstance(field, BooleanField):
            return _yes_or_no_field(self.model, field.name)
        if isinstance(field, DateTimeField):
            return _time_field(self.model, field.name)
        if isinstance(field, ForeignKey) and field.remote_field.model._meta.label == settings.AUTH_USER_MODEL:
            return _account_field(self.model, field.name)
        return name

    def for_currency(self) -> set[str]:
        """The relations that lead to the currency, so that a list reads them in its one query."""
        ways = {currency.rpartition(".")[0] for currency in self.amounts.values()}
        return {way.replace(".", "__") for way in ways if way}


class ReadOnlyInline(_ReadOnly, admin.TabularInline):
    extra = 0
    can_delete = False
    show_change_link = True
    show_json = staticmethod(folded_json)

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return [self.readable(name) for name in self.fields or ()]

    def readable(self, name: Any) -> Any:
        return _key_field(self.model) if name == self.model._meta.pk.name else super().readable(name)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.get_fields(request, obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found = super().get_queryset(request)
        return found.select_related(*self.for_currency()) if self.for_currency() else found


class ReadOnlyAdmin(_ReadOnly, admin.ModelAdmin):
    """All fields, read-only. `extra_fields` are methods that a page shows besides; `in_words` names the method that
    shows a field instead of its bare value; `beside` the method whose row stands above a field's own; `in_files` what
    stands in a file where the list only has the beginning."""

    actions = (export_csv,)
    show_full_result_count = False
    # A row costs more than what the database takes to find it.
    list_per_page = 50
    # Leads from a record's page to its story at the desk: which of its fields, or of its relations', is the question,
    # and how it is put.
    story: ClassVar[str] = ""
    story_asked: ClassVar[str] = "{}"
    extra_fields: Sequence[str] = ()
    in_words: ClassVar[Mapping[str, str]] = {}
    beside: ClassVar[Mapping[str, str]] = {}
    in_files: ClassVar[Mapping[str, str]] = {}

    def get_view_on_site_url(self, obj: Model | None = None) -> str | None:
        if obj is None or not self.story:
            return None
        question: Any = reduce(getattr, self.story.split("."), obj)
        return f"{reverse('staff-audit')}?{urlencode({'q': self.story_asked.format(question)})}"

    @property
    def search_help_text(self) -> str:  # type: ignore[override]
        return explained(self.model, self.search_fields)

    def get_paginator(self, request: HttpRequest, queryset: Any, per_page: int, *args: Any, **kwargs: Any) -> Any:
        return CountedToALimit(queryset, per_page, *args, **kwargs)

    def get_list_filter(self, request: HttpRequest) -> Any:
        """A bare field of which Django would read every row for its values gets a filter that does not."""
        return [self._fast_filter(each) for each in super().get_list_filter(request)]

    def _fast_filter(self, asked: Any) -> Any:
        if not isinstance(asked, str):
            return asked
        field = get_fields_from_path(self.model, asked)[-1]
        by_values = isinstance(field, CharField | TextField) and not field.choices
        return (asked, ValuesFilter) if by_values else asked

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return narrowed(queryset, self.search_fields, search_term), False

    def get_list_display(self, request: HttpRequest) -> Any:
        return [self.readable(name) for name in super().get_list_display(request)]

    def get_list_select_related(self, request: HttpRequest) -> Any:
        listed: Any = super().get_list_select_related(request)
        return [*(listed or ()), *self.for_currency()] if self.for_currency() else listed

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self._shown()

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self._shown()

    def _shown(self) -> list[Any]:
        shown: list[Any] = []
        for field in self.model._meta.concrete_fields:
            shown += [self.beside[field.name]] if field.name in self.beside else []
            shown.append(self.in_words.get(field.name) or self.readable(field.name))
        return [*shown, *self.extra_fields, "related_records"]

    @admin.display(description=_("Records that belong to it"))
    def related_records(self, record: Model) -> str:
        return related_links(record, self.admin_site)
