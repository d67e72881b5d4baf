"""A version of the rules as the API shows it, and in plain words as people read it.

Amounts are integers of the policy's currency in its smallest unit; `display` is how people read them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, User
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from orders.money import format_money
from orders.prose import sentences
from refunds.allocation import OTHERS
from refunds.models import RefundPolicy
from refunds.policy_selectors import Standing, seen_of
from refunds.present import moment, payment_label
from refunds.refund_words import at_time
from refunds.states import PolicyState, Reason

_AMOUNTS = ("return_fee", "approval_above", "compensation_cap")


@dataclass(frozen=True, slots=True)
class Rule:
    """`said` is what the version says about `label`, in a sentence."""

    field: str
    label: str
    said: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One rule in two versions."""

    field: str
    label: str
    before: str
    after: str

    @property
    def changed(self) -> bool:
        return self.before != self.after


def policy_as_dict(standing: Standing) -> dict[str, Any]:
    """`in_force`: whether an order that is placed now gets it. `state` alone does not say so: a version is superseded
    as soon as the next one is published, and goes on until that one's day.

    `seen` stands for this content: sent back with a change, it says on what the change was based.
    """
    policy = standing.policy
    is_draft = policy.state == PolicyState.DRAFT
    return {
        "currency": policy.currency,
        "version": policy.version,
        "state": policy.state,
        "state_text": _stands(standing),
        "in_force": standing.phase == "in_force",
        "in_force_from": None if is_draft else moment(policy.in_force_from),
        "return_fee": policy.return_fee,
        "return_fee_enabled": policy.return_fee_enabled,
        "return_window_days": policy.return_window_days,
        "lost_after_days": policy.lost_after_days,
        "excluded_categories": list(policy.excluded_categories),
        "shop_fault": {reason: reason in policy.shop_fault_reasons for reason in Reason.values},
        "tender_order": list(policy.tender_order),
        "approval_above": policy.approval_above,
        "compensation_cap": policy.compensation_cap,
        "quote_minutes": policy.quote_minutes,
        "display": {name: format_money(getattr(policy, name), policy.currency) for name in _AMOUNTS},
        "note": policy.note,
        "edited_by": account_name(policy.edited_by),
        "published_by": account_name(policy.published_by),
        "published_at": moment(policy.published_at),
        "seen": seen_of(policy),
    }


def _stands(standing: Standing) -> str:
    """As of today, and what comes next."""
    policy = standing.policy
    words = {"from": at_time(policy.in_force_from), "version": standing.by}
    if standing.phase == "coming":
        return _("Published, in force from %(from)s on") % words
    if standing.phase != "in_force":
        return policy.get_state_display()
    if standing.until is None:
        return _("In force")
    return _("In force; version %(version)s takes its place from %(from)s on") % {
        **words,
        "from": at_time(standing.until),
    }


def account_name(user: User | AbstractBaseUser | None) -> str | None:
    """As the history names a person: their full name, else their sign-in."""
    return (user.get_full_name() or user.username) if isinstance(user, User) else None


def in_words(policy: RefundPolicy) -> list[Rule]:
    """Every rule of the version in a sentence, in the active language."""
    return [
        Rule("return_fee", _("Return fee"), _fee(policy)),
        Rule("return_window_days", _("Time for returns"), _window(policy.return_window_days)),
        Rule("lost_after_days", _("Lost goods"), _lost(policy.lost_after_days)),
        Rule("excluded_categories", _("Not returned"), _excluded(policy.excluded_categories)),
        Rule("shop_fault", _("The shop's fault"), _faults(policy.shop_fault_reasons)),
        Rule("tender_order", _("Which payment first"), _tenders(policy.tender_order)),
        Rule("approval_above", _("A second person"), _approval(policy)),
        Rule("compensation_cap", _("Compensation"), _compensation(policy)),
        Rule("quote_minutes", _("How long a quote holds"), _minutes(policy.quote_minutes)),
        Rule("note", _("What is new"), policy.note or _("Nothing is written about it.")),
    ]


def differences(before: RefundPolicy, after: RefundPolicy) -> list[Difference]:
    """Every rule in both versions, side by side."""
    return [
        Difference(old.field, old.label, old.said, new.said)
        for old, new in zip(in_words(before), in_words(after), strict=True)
    ]


def tender_label(method: str) -> str:
    return _("all others") if method == OTHERS else payment_label(method, "")


def _fee(policy: RefundPolicy) -> str:
    values = {"fee": format_money(policy.return_fee, policy.currency)}
    if not policy.return_fee_enabled:
        return _("No fee is taken (switched off; it would be %(fee)s).") % values
    return _("%(fee)s for the second and every further return of an order.") % values


def _window(days: int) -> str:
    return ngettext(
        "Until the end of the %(days)s day after the day of receipt.",
        "Until the end of %(days)s days after the day of receipt.",
        days,
    ) % {"days": days}


def _lost(days: int) -> str:
    return ngettext(
        "Taken for lost %(days)s day after they were sent, if they have not arrived.",
        "Taken for lost %(days)s days after they were sent, if they have not arrived.",
        days,
    ) % {"days": days}


def _excluded(categories: Sequence[str]) -> str:
    if not categories:
        return _("Everything can be returned.")
    return _("Only if the shop is at fault: %(categories)s.") % {"categories": _listed(categories)}


def _faults(reasons: Sequence[str]) -> str:
    return _("%(reasons)s: no coupon is lost and no fee taken because of it.") % {
        "reasons": _listed([str(Reason(reason).label) for reason in reasons])
    }


def _tenders(methods: Sequence[str]) -> str:
    # Translators: what stands between payments in the order in which they give back.
    return _(", then ").join(tender_label(method) for method in methods)


def _approval(policy: RefundPolicy) -> str:
    above = _("Decides about every refund above %(amount)s.") % {
        "amount": format_money(policy.approval_above, policy.currency)
    }
    return sentences(above, _("What one order has given back without one counts with it."))


def _compensation(policy: RefundPolicy) -> str:
    if not policy.compensation_cap:
        return _("None can be proposed.")
    return _("At most %(amount)s per order, all together, always approved by a second person.") % {
        "amount": format_money(policy.compensation_cap, policy.currency)
    }


def _minutes(minutes: int) -> str:
    return ngettext("%(minutes)s minute.", "%(minutes)s minutes.", minutes) % {"minutes": minutes}


def _listed(words: Sequence[str]) -> str:
    # Translators: what stands between the names of goods in a list.
    return _(", ").join(words)
