"""Words and tones for states, where a page speaks to a person: in one place, so that screens never disagree."""

from datetime import date, datetime
from typing import Final, NamedTuple

from django.utils import formats, timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from orders.models import Order
from orders.states import ShipmentState
from refunds.errors import day
from refunds.goods import UnitGroup
from refunds.models import Return
from refunds.present import refund_that_settles
from refunds.selection import claims_of
from refunds.states import Reason, RefundState


class Said(NamedTuple):
    """`tone` is good, wait, bad, info or empty: how a badge is coloured."""

    text: str
    tone: str
    detail: str = ""


REFUND_TONES: Final = {
    "pending_approval": "wait",
    "pending": "wait",
    "succeeded": "good",
    "failed": "bad",
    "unknown": "wait",
    "rejected": "bad",
    "expired": "",
}
RETURN_TONES: Final = {
    "requested": "wait",
    "received": "wait",
    "accepted": "wait",
    "refunded": "good",
    "exchanged": "good",
    "rejected": "bad",
    "withdrawn": "",
}
APPROVAL_TONES: Final = {"waiting": "wait", "approved": "good", "rejected": "bad", "expired": ""}
REPLACEMENT_TONES: Final = {"reserved": "wait", "sent": "good", "released": ""}
SHIPMENT_TONES: Final = {"packed": "wait", "shipped": "info", "delivered": "good", "lost": "bad"}
PROVIDERS: Final = {
    "simulated": gettext_lazy("simulated provider"),
    "store_credit": gettext_lazy("store credit"),
    "stripe": "Stripe",
}
# What whoever opens the parcel says about goods, in the place of the customer's reason.
FOUND: Final = {
    Reason.DEFECTIVE: gettext_lazy("defective"),
    Reason.WRONG_ITEM: gettext_lazy("wrong item"),
    Reason.CHANGED_MIND: gettext_lazy("nothing wrong with it"),
    Reason.OTHER: gettext_lazy("something else"),
}


def return_tone(item: Return) -> str:
    """Once a return has its refund, the tone of that."""
    refund = refund_that_settles(item)
    return REFUND_TONES[refund.state] if refund else RETURN_TONES[item.state]


def provider_name(provider: str) -> str:
    """Who holds the money, as people call them; the shop's own code where nobody has named it."""
    return str(PROVIDERS.get(provider, provider))


def short_day(moment: datetime | date | None) -> str:
    """A day as people say it here; the year only when it is another one."""
    if moment is None:
        return ""
    local = timezone.localtime(moment).date() if isinstance(moment, datetime) else moment
    return formats.date_format(local, "MONTH_DAY_FORMAT") if local.year == timezone.localdate().year else day(local)


def about_units(group: UnitGroup) -> Said:
    """Where these units are and what that means for the customer."""
    when, until = short_day(group.since), short_day(group.until)
    numbers = {
        "day": when,
        "until": until,
        "refund": group.refund_id or "",
        "return": group.return_id or "",
        "replacement": group.replacement_id or "",
        "reasons": _only_for(group),
    }
    said: dict[str, tuple[str, str, str]] = {
        "unfulfilled": (_("Not sent yet"), "info", _("Can still be cancelled.")),
        "packed": (
            _("Being packed"),
            "wait",
            _("Too late to cancel; it can be returned once it has arrived."),
        ),
        "shipped": (_("On its way"), "info", _("Handed to the carrier on %(day)s.")),
        "lost": (_("Probably lost"), "bad", _("Sent on %(day)s and not arrived. We refund it or send it again.")),
        "delivered": (
            _("Delivered"),
            "good",
            _("Arrived on %(day)s. Returns and exchanges until %(until)s."),
        ),
        "only_faulty": (
            _("Delivered"),
            "good",
            _("Arrived on %(day)s. Returns and exchanges until %(until)s, only for: %(reasons)s."),
        ),
        "kept": (_("Delivered"), "good", _("Arrived on %(day)s. Goods of this kind are not taken back.")),
        "window_over": (_("Delivered"), "good", _("Arrived on %(day)s. The time for returns ended on %(until)s.")),
        "returning": (_("Coming back"), "wait", _("Return %(return)s.")),
        "exchanging": (_("Being exchanged"), "wait", _("Exchange %(return)s.")),
        "resending": (_("Being sent again"), "wait", _("Replacement %(replacement)s.")),
        "cancelled": (_("Cancelled"), "", _("Cancelled on %(day)s, refund %(refund)s.")),
        "refunded": (_("Refunded"), "", _("Refunded on %(day)s, refund %(refund)s.")),
        "not_approved": (_("Waiting for approval"), "wait", _("Asked for on %(day)s, refund %(refund)s.")),
        "not_paid": (_("Refund under way"), "wait", _("Asked for on %(day)s, refund %(refund)s.")),
    }
    text, tone, detail = said[_standing(group)]
    needed = _NUMBER_OF.get(group.state)
    return Said(text, tone, detail % numbers if needed is None or numbers[needed] else "")


# Units that something took: the number of it, without which there is nothing to tell.
_NUMBER_OF: Final = {
    "cancelled": "refund",
    "refunded": "refund",
    "returning": "return",
    "exchanging": "return",
    "resending": "replacement",
}


def _standing(group: UnitGroup) -> str:
    """Goods whose money nobody has approved or paid yet are not called refunded."""
    if group.refund_state == RefundState.PENDING_APPROVAL:
        return "not_approved"
    if group.state == "refunded" and group.refund_state not in {None, RefundState.SUCCEEDED}:
        return "not_paid"
    if group.state == "delivered" and group.rules and group.rules.excludes(group.category):
        return "only_faulty" if claims_of(group.rules) else "kept"
    return group.state


def _only_for(group: UnitGroup) -> str:
    """The reasons for which goods of a kind that stays with the customer may come back all the same."""
    reasons = claims_of(group.rules) if group.rules else []
    return _(", ").join(str(Reason(reason).label) for reason in reasons)


def about_order(order: Order) -> Said:
    """One word for a whole order, from rows that are already loaded (`receipt.LISTED`): no further query."""
    lines, shipments = list(order.lines.all()), list(order.shipments.all())
    packed = [line for shipment in shipments for line in shipment.lines.all()]
    cancelled = sum(line.cancelled_quantity for line in lines)
    refunded = sum(line.refunded_quantity for line in packed)
    if cancelled + refunded == sum(line.quantity for line in lines):
        if any(refund.state == RefundState.PENDING_APPROVAL for refund in order.refunds.all()):
            return Said(_("Waiting for approval"), "wait")
        return Said(_("Refund arranged") if refunded else _("Cancelled"), "")
    if any(line.returning_quantity or line.exchanging_quantity or line.resending_quantity for line in packed):
        return Said(_("Return or exchange under way"), "wait")
    if any(line.unfulfilled_quantity for line in lines):
        return Said(_("Partly sent") if shipments else _("Not sent yet"), "info")
    return _about_parcels(
        {parcel.state for parcel in shipments if any(line.untouched_quantity for line in parcel.lines.all())}
    )


def _about_parcels(states: set[str]) -> Said:
    """What is least far on its way speaks for the order."""
    if ShipmentState.PACKED in states:
        return Said(_("Being packed"), "wait")
    if ShipmentState.LOST in states:
        return Said(_("Probably lost"), "bad")
    if ShipmentState.SHIPPED in states:
        return Said(_("On its way"), "info")
    return Said(_("Delivered"), "good")
