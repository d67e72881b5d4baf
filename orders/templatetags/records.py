"""For the lists of Django admin: their days without reading every row, and their number as far as it was counted."""

from typing import Any

from django import template
from django.contrib.admin.templatetags.base import InclusionAdminNode
from django.contrib.admin.views.main import ChangeList

from orders.admin_many import date_hierarchy

register = template.Library()


@register.tag
def dates_of(parser: Any, token: Any) -> Any:
    node: Any = InclusionAdminNode
    return node(parser, token, func=date_hierarchy, template_name="date_hierarchy.html", takes_context=False)


@register.filter
def counted_to(changes: ChangeList) -> str:
    """Where counting stopped though there is more; empty where all were counted."""
    return f"{changes.paginator.count:,}" if getattr(changes.paginator, "is_more", False) else ""
