"""Template tags that every template may use."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django import template
from django.utils import timezone
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince
from django.utils.translation import gettext as _

from agent import cards
from agent.words import HAND_OFF_REASONS
from backoffice import chat_text, words
from backoffice.admin_places import Place, places
from backoffice.screens.card_words import button_addresses, moment_said, reason_words
from orders.admin_links import subject_name
from orders.kept_form import kept_form
from orders.models import AuditEvent
from orders.money import format_money
from orders.prose import aside, listed, sentences
from orders.words import action_name, actor_name
from refunds import fact_words
from refunds.api.common import NO_NOTE
from refunds.models import GatewayAttempt, Refund, RefundAllocation, Return
from refunds.present import payment_label, refund_that_settles, return_text
from refunds.refund_words import number_by_hand, paid_by_hand, state_text
from refunds.states import RELEASED, AllocationState, RefundKind

register = template.Library()
register.filter(action_name)
register.filter(actor_name)
register.filter(aside)

# As `line_item_id` gives them out.
_LINE_CODE: Final = re.compile(r'"(li_\d+)"')
# Drawn on a grid of 24, in the colour of the text around them.
_ICONS: Final = {
    "desk": "M4 12a8 8 0 1 1 3.2 6.4L4 20l1.2-3.4A8 8 0 0 1 4 12Zm5.2 1.8c.6 1 1.6 1.5 2.8 1.5 1.6 0 2.7-.8 2.7-1.9"
    " 0-2.6-5.3-1.2-5.3-3.7 0-1.1 1-1.9 2.6-1.9 1.2 0 2.2.5 2.7 1.4M12 6.5v1.3m0 7.5v1.4",
    "check": "M5 12.5l4.5 4.5L19 7.5",
    "cross": "M6 6l12 12M18 6L6 18",
    "clock": "M12 7v5l3 2m6-2a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z",
    "refund": "M9 14l-4-4 4-4M5 10h9a5 5 0 0 1 0 10h-3",
    "return": "M4 8l8-4 8 4v8l-8 4-8-4V8Zm0 0l8 4 8-4m-8 4v8",
    "exchange": "M7 4L3 8l4 4M3 8h13m1 12l4-4-4-4m4 4H8",
    "send": "M4 12l16-8-5 16-3.5-6.5L4 12Z",
    "card": "M3 7a2 2 0 0 1 2-2h14a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V7Zm0 3h18M7 15h3",
    "person": "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7 8c.8-3.6 3.6-5.5 7-5.5s6.2 1.9 7 5.5",
    "truck": "M3 6h11v10H3V6Zm11 4h4l3 3v3h-7v-6ZM7 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4Zm10 0a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
    "place": "M12 21c-4-4.5-6-7.8-6-11a6 6 0 1 1 12 0c0 3.2-2 6.5-6 11Zm0-8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z",
    "alert": "M12 4l9 16H3L12 4Zm0 6v4m0 3v.1",
    "search": "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm5-2l5 5",
    "chat": "M4 5h16v11H10l-5 4v-4H4V5Z",
    "bag": "M5 8h14l-1 12H6L5 8Zm4 0a3 3 0 0 1 6 0",
    "rules": "M6 4h9l3 3v13H6V4Zm8 0v4h4M9 12h6m-6 4h6",
    "chart": "M4 20h16M7 16v-5m5 5V6m5 10v-7",
    "book": "M5 4h10a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3V4Zm0 13a3 3 0 0 1 3-3h10",
    "history": "M4 12a8 8 0 1 0 2.5-5.8L4 8.5M4 4v4.5h4.5M12 8v4.5l3 1.5",
    "menu": "M4 7h16M4 12h16M4 17h16",
    "copilot": "M12 3v3m-6 2h12v9H6V8Zm3.5 3.5v1.5m5-1.5v1.5M3 11v3m18-3v3M9 20h6",
    "note": "M5 4h14v10l-6 6H5V4Zm14 10h-6v6",
    "print": "M7 9V4h10v5M7 17H4V9h16v8h-3m-10-3h10v6H7v-6Z",
    "download": "M12 4v11m-4-4l4 4 4-4M5 20h14",
    "down": "M7 10l5 5 5-5",
    "keys": "M3 7h18v10H3V7Zm4 3h.1m3 0h.1m3 0h.1m3 0h.1M8 14h8",
    "eye": "M2 12c5-9 15-9 20 0-5 9-15 9-20 0Zm10 3a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
    "again": "M20 11a8 8 0 1 0-2 6.3M20 5v6h-6",
    "flask": "M9 4h6m-5 0v6l-5 9h14l-5-9V4M8 14h8",
    "globe": "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm0 0c2.5-2.4 3.6-5.4 3.6-9S14.5 5.4 12 3C9.5 5.4 8.4 8.4 8.4 12"
    "s1.1 6.6 3.6 9ZM3.5 9h17M3.5 15h17",
}


@register.simple_tag
def icon(name: str) -> SafeString:
    """A small drawing that says nothing by itself: the words stand beside it."""
    return format_html(
        '<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d="{}"/></svg>', _ICONS[name]
    )


@register.filter
def money(amount: int, currency: str) -> str:
    """`{{ refund.amount|money:refund.currency }}` → NT$230."""
    return format_money(amount, currency)


@register.filter
def moment(text: str) -> datetime | None:
    """An ISO time, as events carry it, as a moment that `|date` can show in the shop's zone."""
    return timezone.localtime(datetime.fromisoformat(text)) if text else None


@register.filter
def chat_moment(text: str) -> str:
    """An ISO time as the chat says it: “14:05”, and with its day where that is not today."""
    return moment_said(datetime.fromisoformat(text), now=timezone.now()) if text else ""


@register.filter
def short_day(value: datetime) -> str:
    return words.short_day(value)


@register.filter
def how_long_ago(value: datetime) -> str:
    """“5 minutes ago”, and “just now” within the first."""
    if timezone.now() - value < timedelta(minutes=1):
        return _("just now")
    return _("%(time)s ago") % {"time": timesince(value)}


@register.filter
def how_long(since: datetime) -> str:
    """“5 minutes”, in its largest unit only."""
    if timezone.now() - since < timedelta(minutes=1):
        return _("less than a minute")
    return timesince(since, depth=1)


@register.filter
def hand_off_reason(code: str) -> str:
    """Why a person was asked for. What is not named here is an ending that the assistant came to."""
    return str(HAND_OFF_REASONS.get(code) or HAND_OFF_REASONS["other"])


@register.filter
def rich(text: str) -> SafeString:
    """What the agent or a person wrote, with bold, lists and line breaks; everything else is plain text."""
    return chat_text.as_html(text)


@register.filter
def reason(code: str) -> str:
    return reason_words().get(code, code)


@register.simple_tag(name="sentences")
def sentences_tag(*parts: str | Sequence[str]) -> SafeString:
    """Whole sentences one after the other, as the reader's language puts them; a part may be a list of them."""
    single = [one for part in parts for one in ([part] if isinstance(part, str) else part)]
    return mark_safe(sentences(*map(conditional_escape, single)))


@register.simple_tag(takes_context=True)
def desk_places(context: template.Context) -> list[Place]:
    """The desk's pages that the reader may open, with what waits there."""
    return places(context["request"].user)


@register.simple_tag
def card_addresses(card: Mapping[str, Any], number: str) -> dict[str, str]:
    return button_addresses(card, number)


@register.filter
def payment_name(payment: Any) -> str:
    return payment_label(payment.method, payment.last4)


@register.filter
def by_hand(part: RefundAllocation) -> str:
    """“paid by hand, number TR0412”; empty for what goes to a payment."""
    number = number_by_hand(part.refund, part)
    return paid_by_hand(number) if number else ""


@register.filter
def part_state(state: str) -> str:
    """How what goes to one payment stands."""
    return str(AllocationState(state).label)


@register.filter
def refund_state(refund: Refund) -> str:
    """As staff call it. Nobody has refused a refund made elsewhere that was taken back."""
    return state_text(refund) if _is_undone(refund) else refund.get_state_display()


@register.filter
def refund_tone(refund: Refund) -> str:
    return "" if _is_undone(refund) else words.REFUND_TONES.get(refund.state, "")


def _is_undone(refund: Refund) -> bool:
    return refund.kind == RefundKind.ELSEWHERE and refund.state in RELEASED


@register.filter
def return_tone(item: Return) -> str:
    return words.return_tone(item)


@register.filter
def return_state(item: Return) -> str:
    """As staff call it; once there is its refund, where that stands."""
    return return_text(item) if refund_that_settles(item) else item.get_state_display()


@register.filter
def return_amount(item: Return) -> str:
    """What its refund comes to, before that what was promised; empty for an exchange."""
    settled = refund_that_settles(item) or item.quote
    return format_money(settled.amount, settled.currency) if settled else ""


@register.filter
def shipment_tone(state: str) -> str:
    return words.SHIPMENT_TONES.get(state, "")


@register.filter
def approval_tone(state: str) -> str:
    return words.APPROVAL_TONES.get(state, "")


@register.filter
def replacement_tone(state: str) -> str:
    return words.REPLACEMENT_TONES.get(state, "")


@register.simple_tag(takes_context=True)
def was_refused(context: template.Context, address: str) -> bool:
    """Whether the form that sends to `address` was refused just before: then it is shown unfolded."""
    return kept_form(context["request"], address) is not None


@register.simple_tag(takes_context=True)
def kept(context: template.Context, address: str, name: str, default: str = "") -> str:
    """What was typed in the field `name` of the form that sends to `address`, if it was refused just before."""
    form = kept_form(context["request"], address)
    return default if form is None else form.get(name, default)


@register.filter
def note_text(note: str) -> str:
    """A note as it was written; the one that stands where a program wrote none is in the reader's language."""
    return _("Confirmed through the API without a note.") if note == NO_NOTE else note


@register.filter
def attempt_message(attempt: GatewayAttempt) -> str:
    """Why the provider refused: in the reader's language where we know the code, else as the provider said it."""
    return fact_words.refused_because(attempt.code, attempt.message)


@register.filter
def provider(name: str) -> str:
    return words.provider_name(name)


@register.filter
def subject(event: AuditEvent) -> str:
    """What an event is about: “refund rf_…”."""
    return f"{subject_name(event.subject_type)} {event.subject_id}"


@register.filter
def card_state(data: Mapping[str, Any]) -> str:
    """`data`: of the card's event."""
    return cards.state_words(data["state"], data)


@register.filter
def get(mapping: Mapping[str, Any], key: str) -> Any:
    return mapping.get(key)


@register.filter
def pretty(value: Any) -> str:
    """JSON as a person reads it."""
    return json.dumps(value, ensure_ascii=False, indent=2)


@register.filter
def grouped(number: int) -> str:
    """48,210, as amounts are written."""
    return f"{number:,}"


@register.filter
def goods_in(value: Any, names: Mapping[str, str]) -> str:
    """Which goods the codes in some JSON stand for: “li_1 = Earphones”. `names`: line_item_id to name."""
    codes = dict.fromkeys(_LINE_CODE.findall(json.dumps(value, ensure_ascii=False)))
    return listed(f"{code} = {names[code]}" for code in codes if code in names)
