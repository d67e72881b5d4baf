"""What a version of the rules may say, read strictly: each wrong field is named. Reasons: docs/money.md.

Amounts are integers of the policy's currency in its smallest unit. A body may leave fields out: those stay as they are.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers

from orders.money import DECIMALS
from orders.states import PaymentMethod
from orders.strict import Amount, AwareDateTime, StrictBody, StrictInteger, StrictText, validated
from refunds.allocation import OTHERS
from refunds.bodies import NoteText
from refunds.policy_present import tender_label
from refunds.states import Reason

MAX_DAYS: Final = 365
MAX_MINUTES: Final = 24 * 60
MAX_CATEGORIES: Final = 100
MAX_CATEGORY: Final = 64
# What stands between the names of categories where people type them.
BETWEEN_CATEGORIES: Final = ",，、"
TENDERS: Final = (*PaymentMethod.values, OTHERS)
# What of the fault table is not the policy's to say: lost follows from shipments, and the rest is never the shop's.
FIXED_FAULTS: Final[Mapping[str, bool]] = {
    Reason.CHANGED_MIND: False,
    Reason.LATE_DELIVERY: False,
    Reason.LOST: True,
    Reason.OTHER: False,
}
CHOOSABLE_FAULTS: Final = tuple(reason for reason in Reason.values if reason not in FIXED_FAULTS)


class StrictBoolean(serializers.BooleanField):
    """true or false: "yes", 1 and null are refused."""

    def to_internal_value(self, data: Any) -> bool:
        if type(data) is not bool:
            self.fail("invalid", input=data)
        return data


class FutureDateTime(AwareDateTime):
    """A moment with its offset, between the years 2000 and 2200. The service says how far ahead it may be."""

    default_error_messages = {"out_of_range": gettext_lazy("This lies too far from today.")}

    def to_internal_value(self, value: Any) -> datetime:
        moment = self._parsed(value)
        if moment.utcoffset() is None:
            self.fail("naive")
        if not 2000 <= moment.year < 2200:
            self.fail("out_of_range")
        return moment.astimezone(UTC)


def _repeated(values: Sequence[str]) -> str | None:
    names = [value.casefold() for value in values]
    return next((value for index, value in enumerate(values) if names[index] in names[:index]), None)


def _not_twice(values: Sequence[str]) -> None:
    repeated = _repeated(values)
    if repeated is not None:
        raise serializers.ValidationError(_("“%(value)s” stands there twice.") % {"value": repeated})


def _each_payment_once(values: Sequence[str]) -> None:
    repeated = _repeated(values)
    if repeated is not None:
        raise serializers.ValidationError(_("“%(value)s” stands there twice.") % {"value": tender_label(repeated)})
    if OTHERS not in values:
        said = _("All payments that are not named need a place too: add “%(others)s” (*).")
        raise serializers.ValidationError(said % {"others": tender_label(OTHERS)})


class ShopFaultBody(StrictBody):
    """Per reason, whether it is the shop's fault. What is left out stays; what no policy can change is refused."""

    def get_fields(self) -> dict[str, serializers.Field]:
        return {reason: StrictBoolean(required=False) for reason in Reason.values}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        for reason, fixed in FIXED_FAULTS.items():
            if attrs.get(reason, fixed) != fixed:
                said = _("This is always the shop's fault.") if fixed else _("This is never the shop's fault.")
                raise serializers.ValidationError({reason: [said]})
        return attrs


def _one_name(value: str) -> None:
    """The form of the staff parts names there, so that a name with one in it would be two for the next who saves it."""
    if any(mark in value for mark in BETWEEN_CATEGORIES):
        raise serializers.ValidationError(_("Name one category an entry: a comma stands between two."))


class PolicyBody(StrictBody):
    """Changes of a draft. `seen`: the draft's `seen` as you read it; if it has changed since, nothing is saved.

    `excluded_categories`: one name an entry, without commas; capitals and spaces around it make no difference.
    """

    return_fee = Amount(required=False)
    return_fee_enabled = StrictBoolean(required=False)
    return_window_days = StrictInteger(required=False, min_value=1, max_value=MAX_DAYS)
    lost_after_days = StrictInteger(required=False, min_value=1, max_value=MAX_DAYS)
    excluded_categories = serializers.ListField(
        child=StrictText(max_length=MAX_CATEGORY, validators=[_one_name]),
        required=False,
        max_length=MAX_CATEGORIES,
        validators=[_not_twice],
    )
    shop_fault = ShopFaultBody(required=False)
    tender_order = serializers.ListField(
        child=serializers.ChoiceField(choices=TENDERS),
        required=False,
        max_length=len(TENDERS),
        validators=[_each_payment_once],
    )
    approval_above = Amount(required=False)
    compensation_cap = Amount(required=False)
    quote_minutes = StrictInteger(required=False, min_value=1, max_value=MAX_MINUTES)
    note = NoteText(required=False, allow_blank=True)
    seen = StrictText(required=False, allow_blank=True, max_length=64)


class DraftBody(StrictBody):
    """For which currency a new version is drafted."""

    currency = serializers.ChoiceField(choices=tuple(DECIMALS))


class PublishBody(StrictBody):
    """From when on orders are placed under it, and why, in the words of whoever publishes. `seen` as for changes."""

    in_force_from = FutureDateTime()
    note = NoteText(required=False, allow_blank=True)
    seen = StrictText(required=False, allow_blank=True, max_length=64)


def parse_changes(body: object, *, faults: Sequence[str]) -> tuple[dict[str, Any], str]:
    """What a body changes, by the names of the model's fields, and its `seen`. `faults`: the table as it is.

    Raises InvalidInput with the field as a path: `tender_order[1]`, `shop_fault.lost`.
    """
    changes = validated(PolicyBody, body)
    seen = changes.pop("seen", "")
    if "shop_fault" in changes:
        table = {**{reason: reason in faults for reason in Reason.values}, **FIXED_FAULTS, **changes.pop("shop_fault")}
        changes["shop_fault_reasons"] = [reason for reason in Reason.values if table[reason]]
    return changes, seen
