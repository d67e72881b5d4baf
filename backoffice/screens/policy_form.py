"""The form of a draft of the rules: what stands in it, and what is typed as the body that the service reads."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _

from backoffice.screens.forms import money_of, whole_number
from orders.errors import InvalidInput
from orders.money import currency_decimals
from refunds.models import RefundPolicy
from refunds.policies import PUBLISH_LEAD
from refunds.policy_bodies import BETWEEN_CATEGORIES, CHOOSABLE_FAULTS, TENDERS
from refunds.policy_present import tender_label
from refunds.policy_selectors import seen_of
from refunds.states import Reason

AMOUNTS: Final = ("return_fee", "approval_above", "compensation_cap")
NUMBERS: Final = ("return_window_days", "lost_after_days", "quote_minutes")


def body_of(form: QueryDict, currency: str) -> dict[str, Any]:
    """What is typed, as the service reads it. Raises InvalidInput for what is no amount, naming the field."""
    categories = re.split(rf"[{BETWEEN_CATEGORIES}\n\r]", form.get("excluded_categories", ""))
    return {
        **{name: money_of(form.get(name, ""), currency, field=name) for name in AMOUNTS},
        **{name: whole_number(form.get(name, "")) for name in NUMBERS},
        "return_fee_enabled": "return_fee_enabled" in form,
        "excluded_categories": [each.strip() for each in categories if each.strip()],
        "shop_fault": {reason: reason in form.getlist("shop_fault") for reason in CHOOSABLE_FAULTS},
        "tender_order": [method for method in form.getlist("tender_order") if method],
        "note": form.get("note", "").replace("\r\n", "\n"),
        "seen": form.get("seen", ""),
    }


def shown(policy: RefundPolicy, typed: QueryDict) -> dict[str, Any]:
    """What the form's fields hold: what was typed, else what the draft says."""
    values = _typed(typed) if typed else _stored(policy)
    order = [*values["tender_order"], *[""] * len(TENDERS)][: len(TENDERS)]
    return {
        **values,
        "places": list(enumerate(order, start=1)),
        "tenders": [(method, tender_label(method)) for method in TENDERS],
        "faults": [(reason, Reason(reason).label, reason in values["shop_fault"]) for reason in CHOOSABLE_FAULTS],
    }


def _typed(form: QueryDict) -> dict[str, Any]:
    return {
        **{name: form.get(name, "") for name in (*AMOUNTS, *NUMBERS, "excluded_categories", "note", "seen")},
        "return_fee_enabled": "return_fee_enabled" in form,
        "shop_fault": form.getlist("shop_fault"),
        "tender_order": form.getlist("tender_order"),
    }


def _stored(policy: RefundPolicy) -> dict[str, Any]:
    return {
        **{name: amount_text(getattr(policy, name), policy.currency) for name in AMOUNTS},
        **{name: str(getattr(policy, name)) for name in NUMBERS},
        "return_fee_enabled": policy.return_fee_enabled,
        "excluded_categories": "\n".join(policy.excluded_categories),
        "shop_fault": policy.shop_fault_reasons,
        "tender_order": policy.tender_order,
        "note": policy.note,
        "seen": seen_of(policy),
    }


def amount_text(amount: int, currency: str) -> str:
    """An amount as it is typed: 80, 2.50."""
    decimals = currency_decimals(currency)
    whole, rest = divmod(amount, 10**decimals)
    return f"{whole}.{rest:0{decimals}d}" if decimals else str(whole)


def publishing_of(form: QueryDict) -> dict[str, Any]:
    """The form of publishing as the service's body: its day and time are the shop's."""
    typed = form.get("in_force_from", "")
    return {"in_force_from": _in_shop_time(typed), "note": form.get("note", ""), "seen": form.get("seen", "")}


def _in_shop_time(typed: str) -> str:
    """`2026-12-01T00:00` with the shop's offset. Raises InvalidInput for what is no moment."""
    try:
        return timezone.make_aware(datetime.strptime(typed, "%Y-%m-%dT%H:%M")).isoformat()
    except (ValueError, OverflowError):
        raise InvalidInput("in_force_from", _("Choose a day and a time of day.")) from None


def proposed_moment(newest: RefundPolicy | None, typed: Mapping[str, Any]) -> str:
    """What stands in the field: what was typed, else the next midnight of the shop at which it can begin."""
    if "in_force_from" in typed:
        return str(typed["in_force_from"])
    earliest = timezone.now() + PUBLISH_LEAD
    if newest is not None:
        earliest = max(earliest, newest.in_force_from)
    midnight = timezone.localtime(earliest).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return midnight.strftime("%Y-%m-%dT%H:%M")
