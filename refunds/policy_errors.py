"""Why a version of the rules cannot be written or published, in words. The codes are stable."""

from datetime import datetime

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from orders.errors import InvalidInput, NotFound, Refusal
from refunds.models import RefundPolicy


def no_such_policy() -> NotFound:
    return NotFound(
        _("There is no refund policy with this currency and version."),
        hint=_("Look at the list of versions."),
        field="version",
    )


def unknown_currency(currencies: str) -> InvalidInput:
    return InvalidInput("currency", _("It must be one of: %(currencies)s.") % {"currencies": currencies})


def not_a_draft(policy: RefundPolicy) -> Refusal:
    return Refusal(
        "wrong_state",
        _("%(policy)s is no draft any more (%(state)s), and what was published stays as it is.")
        % {"policy": _named(policy), "state": policy.get_state_display()},
        hint=_("Draft a new version."),
    )


def not_published(policy: RefundPolicy) -> Refusal:
    return Refusal(
        "wrong_state",
        _("Only the newest published version can be withdrawn; %(policy)s is: %(state)s.")
        % {"policy": _named(policy), "state": policy.get_state_display()},
        hint=_("Look at the list of versions."),
    )


def in_force(policy: RefundPolicy, *, from_beginning: bool) -> Refusal:
    """`from_beginning`: its moment is no day of the shop's (`policy_selectors.Standing`)."""
    if from_beginning:
        message = _("%(policy)s has been in force from the beginning: orders are placed under it.")
    else:
        message = _(
            "%(policy)s is in force from %(moment)s: it is too late to withdraw it, orders are placed under it."
        )
    return Refusal(
        "wrong_state",
        message % {"policy": _named(policy), "moment": _moment(policy.in_force_from)},
        hint=_("Draft a new version."),
    )


def draft_changed() -> Refusal:
    return Refusal(
        "draft_changed",
        _("Somebody has changed this draft since you opened it. Nothing was saved."),
        hint=_("Look at the draft as it is now, and decide once more."),
    )


def own_draft() -> Refusal:
    return Refusal(
        "own_draft",
        _("Whoever has written on a draft cannot also publish it."),
        hint=_("Ask another person who may publish policies."),
        status=403,
    )


def below_the_law(days: int) -> InvalidInput:
    """Consumer Protection Act, Taiwan, article 19: seven days from receipt on, for whatever is sold at a distance."""
    return InvalidInput(
        "return_window_days",
        _("In this currency customers have at least %(days)s days to return goods.") % {"days": days},
        hint=_(
            "Taiwan's Consumer Protection Act gives them that much time on everything that is sold at a distance. "
            "Goods that the law exempts belong to the excluded categories."
        ),
    )


def too_early(earliest: datetime) -> InvalidInput:
    """Orders that exist already keep the rules they were placed under."""
    return InvalidInput(
        "in_force_from",
        _("A new version is for orders to come: it can be in force from %(moment)s at the earliest.")
        % {"moment": _moment(earliest)},
        hint=_("Choose a later moment."),
    )


def not_after_the_newest(newest: datetime) -> InvalidInput:
    return InvalidInput(
        "in_force_from",
        _("The newest published version is in force from %(moment)s; the next one begins after it.")
        % {"moment": _moment(newest)},
        hint=_("Choose a later moment, or withdraw that version while it is not in force yet."),
    )


def too_late(latest: datetime) -> InvalidInput:
    return InvalidInput(
        "in_force_from",
        _("That is too far ahead: at the latest %(moment)s.") % {"moment": _moment(latest)},
        hint=_("Keep it as a draft until then, or choose an earlier moment."),
    )


def _named(policy: RefundPolicy) -> str:
    """As the pages name it."""
    return _("%(currency)s version %(version)s") % {"currency": policy.currency, "version": policy.version}


def _moment(value: datetime) -> str:
    return date_format(timezone.localtime(value), "DATETIME_FORMAT")
