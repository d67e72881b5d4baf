"""Why nothing may be asked for some units, in words: packed, on their way, already refunded (when, how much, number).

The codes and their data come from `refunds/eligibility.py`; the facts of the sentences come from the unit groups.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from orders.errors import InvalidInput, Refusal
from orders.models import Order
from orders.money import format_money
from orders.prose import sentences
from refunds import eligibility
from refunds.errors import day, order_changed
from refunds.goods import UnitGroup, names_of
from refunds.history import policy_for
from refunds.models import Refund
from refunds.refund_days import made_at
from refunds.refund_words import state_text
from refunds.states import Reason, RefundKind, RefundState

_ACTIONS: Final = {
    "cancel": gettext_lazy("cancel"),
    "lost": gettext_lazy("refund as lost"),
    "return": gettext_lazy("return"),
    "exchange": gettext_lazy("exchange"),
    "resend": gettext_lazy("send again"),
}
_NOT_POSSIBLE: Final = {
    "cancel": gettext_lazy("“%(name)s” cannot be cancelled as things stand."),
    "lost": gettext_lazy("“%(name)s” does not count as lost."),
    "return": gettext_lazy("“%(name)s” cannot be returned as things stand."),
    "exchange": gettext_lazy("“%(name)s” cannot be exchanged as things stand."),
    "resend": gettext_lazy("“%(name)s” cannot be sent again: it does not count as lost."),
}
# What to do about goods that stand in a refund which has not been paid.
_NEXT: Final[Mapping[str, Any]] = {
    RefundState.PENDING_APPROVAL: gettext_lazy(
        "Nothing has been paid yet. Wait for the decision: it is not asked for a second time."
    ),
    RefundState.PENDING: gettext_lazy("Wait until it has arrived: it is not refunded a second time."),
    RefundState.UNKNOWN: gettext_lazy(
        "Nobody knows yet whether it was paid. Wait for the answer: it is not refunded a second time meanwhile."
    ),
    RefundState.FAILED: gettext_lazy(
        "A person of the shop sees to it that the money is paid. It is not refunded a second time."
    ),
}


def refused(order: Order, groups: Sequence[UnitGroup], obstacle: eligibility.Obstacle, *, field: str = "") -> Refusal:
    """The refusal of `eligibility.choose_action` in words; `field`: what of the request it is about."""
    if obstacle.code == "mixed_actions":
        return _mixed(groups, obstacle.params)
    if obstacle.code == "ambiguous_action":
        return _ambiguous(groups, obstacle)
    of_line = [group for group in groups if group.line.line_item_id == obstacle.line_item_id]
    group = next(group for group in of_line if eligibility.REFUSED.get(group.state) == obstacle.code)
    message, hint, details = _WORDS[obstacle.code](order, group)
    staff_hint = _for_staff(obstacle.code)
    if obstacle.params["available"]:
        available = {"available": obstacle.params["available"]}
        only = _("Only %(available)s can be asked for at this moment.") % available
        hint, staff_hint = sentences(only, hint), sentences(only, staff_hint) if staff_hint else ""
    details = {"line_item_id": obstacle.line_item_id, **details}
    return Refusal(obstacle.code, message, hint=hint, field=field, details=details, staff_hint=staff_hint)


def _for_staff(code: str) -> str:
    """What staff are told where others are told that staff decide."""
    if code not in {"return_window_over", "excluded_category"}:
        return ""
    return _("Ask for an exception, so that they can come back: a second person decides about it.")


def not_possible(name: str, action: str, available: int, options: Sequence[str], field: str) -> InvalidInput:
    """`available`: how many pieces of it can take the action all the same; `options`: what else can be asked."""
    values = {"name": name, "action": _ACTIONS[action], "available": available}
    if available:
        message = _("Of “%(name)s”, only %(available)s can be asked for now: %(action)s.")
        return InvalidInput(field, message % values, hint=_("Ask for at most that many."))
    named = [str(_ACTIONS[option]) for option in dict.fromkeys(options)]
    return InvalidInput(
        field,
        str(_NOT_POSSIBLE[action]) % values,
        hint=_("What can be asked for it: %(options)s.") % {"options": _(", ").join(named)} if named else "",
    )


def why_nothing(order: Order, group: UnitGroup) -> Refusal | None:
    """Why nothing may be asked for these units; None if something may."""
    code = eligibility.refusal_code(group.state)
    if code is None:
        return None
    message, hint, details = _WORDS[code](order, group)
    details = {"line_item_id": group.line.line_item_id, **details}
    return Refusal(code, message, hint=hint, details=details, staff_hint=_for_staff(code))


def changed_since(order: Order, group: UnitGroup) -> Refusal:
    """The refusal of a quote whose units have moved on: `group` is where they are now."""
    code = eligibility.refusal_code(group.state)
    if code is None:
        return order_changed(
            _("“%(name)s” is no longer where it was.") % {"name": group.product_name},
            _("Ask for a new quote for the same goods."),
        )
    message, hint, details = _WORDS[code](order, group)
    changed = order_changed(message, hint, {"because": code, "line_item_id": group.line.line_item_id, **details})
    changed.staff_hint = _for_staff(code)
    return changed


def not_lost_after_all(group: UnitGroup) -> Refusal:
    """The refusal of a quote for lost goods whose parcel has been reported delivered, or on its way, since."""
    values = {"name": group.product_name, "day": day(group.until) if group.until else "–"}
    details = {"line_item_id": group.line.line_item_id, "state": group.state}
    if group.state == "shipped":
        message = _("“%(name)s” is on its way after all: it does not count as lost any more.") % values
        return order_changed(message, _("It can be returned once it has arrived."), details)
    message = _("“%(name)s” has been reported as delivered meanwhile: it is not lost.") % values
    if group.state == "window_over":
        hint = _("It could be returned until %(day)s; a person of the shop decides about exceptions.") % values
    else:
        hint = _("It can be returned or exchanged until %(day)s: ask for a new quote for that.") % values
    changed = order_changed(message, hint, details)
    if group.state == "window_over":
        until = _("It could be returned until %(day)s.") % values
        changed.staff_hint = sentences(until, _for_staff("return_window_over"))
    return changed


_Words = tuple[str, str, dict[str, Any]]


def _in_fulfilment(order: Order, group: UnitGroup) -> _Words:
    days = policy_for(order).return_window_days
    return (
        _("“%(name)s” is being prepared for shipping and can no longer be cancelled; it has not been refunded.")
        % {"name": group.product_name},
        ngettext(
            "Once it has arrived, it can be returned within %(days)s day.",
            "Once it has arrived, it can be returned within %(days)s days.",
            days,
        )
        % {"days": days},
        {},
    )


def _in_transit(order: Order, group: UnitGroup) -> _Words:
    shipment = group.shipment
    number = shipment.tracking_number if shipment else ""
    carrier = shipment.carrier if shipment else ""
    hint = _("It can be returned once it has arrived.")
    if shipment and shipment.shipped_at:
        lost_after = policy_for(order).lost_after_days
        lost = timezone.localdate(shipment.shipped_at) + timedelta(days=lost_after)
        hint = sentences(hint, _("If it has not arrived by %(day)s, it counts as lost.") % {"day": day(lost)})
    if number:
        tracking = _("Tracking number: %(carrier)s %(number)s.") % {"carrier": carrier, "number": number}
        hint = sentences(hint, tracking)
    return _("“%(name)s” is on its way and cannot be cancelled.") % {"name": group.product_name}, hint, {}


def _window_over(order: Order, group: UnitGroup) -> _Words:
    values = {"name": group.product_name, "day": day(group.until) if group.until else "–"}
    return (
        _("“%(name)s” could be returned or exchanged until %(day)s; that day is over.") % values,
        _("A person of the shop decides about exceptions."),
        {},
    )


def _already_gone(order: Order, group: UnitGroup) -> _Words:
    refund = Refund.objects.filter(pk=group.refund_id).first() if group.refund_id else None
    if refund is None:
        return (
            _("“%(name)s” has already been cancelled or refunded.") % {"name": group.product_name},
            _("Look at the refunds of the order."),
            {},
        )
    values = {
        "name": group.product_name,
        "day": day(made_at(refund)),
        "amount": format_money(refund.amount, refund.currency),
        "refund_id": refund.pk,
        "state": state_text(refund),
    }
    if refund.state != RefundState.SUCCEEDED:
        message = _("“%(name)s” is already in refund %(refund_id)s of %(amount)s, made on %(day)s: %(state)s.") % values
    elif refund.kind == RefundKind.ELSEWHERE:
        message = _(
            "The shop has already given the money for “%(name)s” back in another way on %(day)s: %(amount)s, number "
            "%(refund_id)s."
        )
        message %= values
    elif group.state == "cancelled":
        message = _("“%(name)s” was already cancelled on %(day)s: refund of %(amount)s, number %(refund_id)s.") % values
    else:
        message = _("“%(name)s” was already refunded on %(day)s: %(amount)s, number %(refund_id)s.") % values
    date = timezone.localdate(made_at(refund)).isoformat()
    details = {"refund_id": refund.pk, "amount": refund.amount, "date": date, "state": refund.state}
    hint = _("It is not refunded a second time. Look at that refund to see where its money is.")
    return message, str(_NEXT.get(refund.state, hint)), details


def _coming_back(order: Order, group: UnitGroup) -> _Words:
    values = {"name": group.product_name, "return_id": group.return_id or "–"}
    if group.state == "exchanging":
        message = _("“%(name)s” is already being exchanged, exchange number %(return_id)s.") % values
    else:
        message = _("“%(name)s” is already being returned, return number %(return_id)s.") % values
    return message, _("Send it back under that number."), {"return_id": group.return_id}


def _being_sent_again(order: Order, group: UnitGroup) -> _Words:
    values = {"name": group.product_name, "number": group.replacement_id or "–"}
    return (
        _("“%(name)s” is already being sent again, number %(number)s.") % values,
        _("Wait for the new parcel. If it cannot be sent, a person of the shop frees these goods again."),
        {"replacement_id": group.replacement_id},
    )


_WORDS: Final[Mapping[eligibility.RefusalCode, Callable[[Order, UnitGroup], _Words]]] = {
    "line_in_fulfilment": _in_fulfilment,
    "line_in_transit": _in_transit,
    "return_window_over": _window_over,
    "already_cancelled": _already_gone,
    "already_refunded": _already_gone,
    "already_returning": _coming_back,
    "already_exchanging": _coming_back,
    "already_resending": _being_sent_again,
}


def excluded(group: UnitGroup, only_for: Sequence[str]) -> Refusal:
    """Goods of a category that comes back only through the shop's fault: for the reasons `only_for`, of the policy."""
    values = {"name": group.product_name, "reasons": _(", ").join(str(Reason(reason).label) for reason in only_for)}
    if only_for:
        message = _("“%(name)s” belongs to goods that cannot be returned unless the shop is at fault (%(reasons)s).")
    else:
        message = _("“%(name)s” belongs to goods that cannot be returned.")
    return Refusal(
        "excluded_category",
        message % values,
        hint=_("A person of the shop decides about exceptions."),
        staff_hint=_for_staff("excluded_category"),
        details={"line_item_id": group.line.line_item_id},
    )


def _ambiguous(groups: Sequence[UnitGroup], obstacle: eligibility.Obstacle) -> Refusal:
    assert obstacle.line_item_id is not None, "what is ambiguous is a line"
    name = names_of(groups)[obstacle.line_item_id]
    options = obstacle.params["options"]
    named = ", ".join(f"{_ACTIONS[action]} ({action}: {units})" for action, units in options.items())
    return Refusal(
        "ambiguous_action",
        _("Pieces of “%(name)s” are in different places: %(options)s.") % {"name": name, "options": named},
        hint=_("Ask which pieces are meant and name the action of that line."),
        details={"line_item_id": obstacle.line_item_id, "options": dict(options)},
    )


def _mixed(groups: Sequence[UnitGroup], params: Mapping[str, Any]) -> Refusal:
    """One quote, one action. The hint names the split, in the order in which to quote it."""
    names = names_of(groups)
    parts = []
    for part in params["split"]:
        goods = _(", ").join(f"{names[line['line_item_id']]} × {line['quantity']}" for line in part["lines"])
        parts.append(_("%(action)s: %(goods)s") % {"action": _ACTIONS[part["action"]], "goods": goods})
    return Refusal(
        "mixed_actions",
        _("These goods cannot go through one quote, because they need different actions."),
        hint=_("Ask for one quote after the other, in this order: %(parts)s. Confirm each before you quote the next.")
        % {"parts": _("; ").join(parts)},
        details={"split": params["split"]},
    )
