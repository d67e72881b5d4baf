"""The steps of an amount as rows that people read, for the admin's pages of quotes, refunds and the history."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.html import format_html, format_html_join

from orders.admin_links import NOTHING
from orders.models import AuditEvent
from orders.money import format_money
from refunds.explain import step_lines
from refunds.models import RefundQuote


def steps_of_quote(quote: RefundQuote) -> str:
    """One row per step and the sum, with the names that the order shows."""
    lines = quote.lines.select_related("line_item")
    names = {line.line_item.line_item_id: line.line_item.name for line in lines}
    return _table(quote.steps, quote.currency, names, quote.amount)


def steps_of_event(event: AuditEvent) -> str:
    """The same for an audit event that keeps steps; "" for any other."""
    steps, currency = event.computed.get("steps"), event.computed.get("currency")
    if steps is None or currency is None or event.order is None:
        return ""
    names = dict(event.order.lines.values_list("line_item_id", "name"))
    return _table(steps, currency, names, event.computed["amount"])


def _table(steps: Sequence[Mapping[str, Any]], currency: str, names: Mapping[str, str], total: int) -> str:
    if not steps:
        return f"{NOTHING} {format_money(total, currency)}"
    rows = format_html_join(
        "",
        "<tr><td>{}</td><td>{}</td></tr>",
        ((line["text"], line["display"]) for line in step_lines(steps, currency, names)),
    )
    return format_html(
        '<table class="steps">{}<tr class="sum"><td></td><td>{}</td></tr></table>', rows, format_money(total, currency)
    )
