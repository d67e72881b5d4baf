"""Every refusal of this app in words: what is wrong, and what to do instead. Nothing else words a refusal.

Codes are stable; the wording follows the reader's language. What a refusal says about units is in
`refunds/unit_errors.py`, of a quote that is over in `refunds/quote_errors.py`.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from orders.errors import InvalidInput, NotFound, Refusal
from orders.models import Order
from orders.money import format_money
from orders.prose import sentences


def day(moment: date | datetime) -> str:
    """A calendar day of the shop as the reader's language writes it."""
    return date_format(timezone.localdate(moment) if isinstance(moment, datetime) else moment)


def no_policy(order: Order) -> Refusal:
    return Refusal(
        "no_policy",
        _("There is no refund policy in %(currency)s for an order placed on %(day)s.")
        % {"currency": order.currency, "day": day(order.placed_at)},
        hint=_("A person has to look at this order."),
    )


def no_such_line(line_item_id: str, field: str) -> InvalidInput:
    return InvalidInput(
        field,
        _("This order has no line item %(line_item_id)s.") % {"line_item_id": line_item_id},
        hint=_("Use a line_item_id of this order, such as li_1."),
    )


def more_than_ordered(name: str, ordered: int, field: str) -> InvalidInput:
    return InvalidInput(
        field,
        _("That is more than the %(ordered)s of “%(name)s” that there are.") % {"ordered": ordered, "name": name},
        hint=_("Ask for at most that many."),
    )


def named_twice(name: str, field: str) -> InvalidInput:
    return InvalidInput(
        field,
        _("“%(name)s” is named twice, and together that is more than there are.") % {"name": name},
        hint=_("Name it once, with the whole quantity; or twice with another reason each, for no more than there are."),
    )


def action_does_not_fit(name: str, action: str, field: str, options: list[str]) -> InvalidInput:
    values = {"name": name, "action": action, "options": ", ".join(options)}
    hint = _("Possible: %(options)s.") % values if options else ""
    return InvalidInput(field, _("The action “%(action)s” does not fit “%(name)s”.") % values, hint=hint)


def reason_is_the_shops(field: str) -> InvalidInput:
    return InvalidInput(
        field,
        _("Only the shop's staff can say that the shop cancelled, and only of goods that are not packed yet."),
        hint=_("Choose another reason."),
    )


def reason_is_not_lost(name: str, field: str) -> InvalidInput:
    return InvalidInput(
        field,
        _("“%(name)s” is not lost as far as its parcel shows.") % {"name": name},
        hint=_("Choose another reason, or look up where the parcel is."),
    )


def needs_a_person(order: Order, *, by_hand: bool, by_staff: bool, because: str = "") -> Refusal:
    """`by_hand`: the payment was made in cash. `because`: what its provider cannot do (`gateways/plan.py`); else the
    provider is not connected here. `by_staff`: the reader is the person that it needs.
    """
    reasons = {
        "cannot_partial": _(
            "Part of this refund would go back to a payment that its provider refunds only as a whole."
        ),
        "window_over": _("Part of this refund would go back to a payment that its provider refunds no longer."),
    }
    not_connected = _("Part of this refund would go back through a payment provider that is not connected here.")
    return Refusal(
        "needs_a_person",
        _("Part of this refund would go back to a payment in cash on delivery, and no machine can do that.")
        if by_hand
        else reasons.get(because, not_connected),
        hint=_("Pay it back by transfer or in cash, and then book that as a refund made elsewhere.")
        if by_staff
        else _("Let a person of the shop take over: they arrange the transfer."),
        details={"order_number": order.number},
    )


def no_such_quote() -> NotFound:
    return NotFound(
        _("There is no refund quote with this id."), hint=_("Check the id, or ask for a new quote."), field="quote_id"
    )


def no_such_refund() -> NotFound:
    return NotFound(_("There is no refund with this id."), hint=_("Check the id."), field="refund_id")


def no_such_approval() -> NotFound:
    return NotFound(_("There is no approval with this id."), hint=_("Check the id."), field="approval_id")


def no_such_return() -> NotFound:
    return NotFound(_("There is no return with this id."), hint=_("Check the id."), field="return_id")


def no_such_replacement() -> NotFound:
    return NotFound(_("There is no replacement with this id."), hint=_("Check the id."), field="replacement_id")


def no_such_alert() -> NotFound:
    return NotFound(_("There is no alert with this id."), hint=_("Check the id."), field="alert_id")


def note_missing(field: str) -> InvalidInput:
    return InvalidInput(
        field,
        _("The reason is missing."),
        hint=_("Say in a few words why, so that others can follow it later, and confirm once more."),
    )


def note_unusable(field: str, longest: int) -> InvalidInput:
    return InvalidInput(
        field,
        _("The reason must be plain text of at most %(longest)s characters.") % {"longest": longest},
        hint=_("Shorten it and leave out control characters."),
    )


def order_changed(what: str, hint: str, details: Mapping[str, Any] | None = None) -> Refusal:
    """`what` changed since the quote, in a whole sentence; `hint`: what to do next."""
    message = _("The order has changed since this quote, so nothing was refunded. %(what)s") % {"what": what}
    return Refusal("order_changed", message, hint=hint, details=dict(details or {}))


def amount_changed() -> Refusal:
    return order_changed(
        _("Other goods of it were cancelled, returned or refunded in the meantime, and that changes the amount."),
        _("Ask for a new quote for the same goods."),
    )


def busy() -> Refusal:
    return Refusal(
        "order_busy",
        _("Somebody else is changing this order at this moment. Nothing was refunded."),
        hint=_("Try again in a moment."),
        retryable=True,
    )


def wrong_state(what: str) -> Refusal:
    """`what` names the thing and its state: “refund rf_… (succeeded)”."""
    return Refusal(
        "wrong_state",
        _("That is not possible as things stand: %(what)s.") % {"what": what},
        hint=_("Look where it stands now."),
    )


def paid_already(refund_id: str) -> Refusal:
    return Refusal(
        "paid_already",
        _("The payment provider reports that it has paid %(number)s after all: once more would pay twice.")
        % {"number": refund_id},
        hint=_("Look into it with the payment provider, and then mark it as settled."),
    )


def reported_already(number: str, amount: int, currency: str, refund_id: str) -> Refusal:
    """`number`: the provider's, of a refund of the same payment and amount; `refund_id`: what it is booked as."""
    return Refusal(
        "reported_already",
        _("The payment provider has reported a refund of %(amount)s, %(number)s, and nobody has said what it was for.")
        % {"amount": format_money(amount, currency), "number": number},
        hint=_("If it is the one that you mean, give its number; if it is another, enter first what that one was for."),
        field="external_ref",
        details={"refund_id": refund_id, "external_ref": number},
    )


def may_be_paid(number: str) -> Refusal:
    """`number`: of a refund that was made elsewhere or reported, and that nobody has explained."""
    return Refusal(
        "may_be_paid",
        _("Money of this order has gone back already, %(number)s, and nobody has said what for: this may be it.")
        % {"number": number},
        hint=_(
            "If it is this refund, say that it was paid by hand, under that number. If it is another, enter what it "
            "was for, and settle its alert; then this one can be sent."
        ),
    )


def own_decision(*, made_a_link: bool) -> Refusal:
    """`made_a_link`: they are told of that too, because it does not show where they decide."""
    own = _("Whoever asked for this, confirmed it or gets the money cannot also approve or reject it.")
    link = _("Whoever made a customer's link for this order cannot decide either.")
    return Refusal(
        "own_decision",
        sentences(own, link if made_a_link else ""),
        hint=_("Ask another person who may approve."),
        status=403,
    )


def approval_expired() -> Refusal:
    return Refusal(
        "approval_expired",
        _("Nobody decided about this in time, so nothing was done."),
        hint=_("Ask for it anew if it is still wanted."),
    )


def needs_assignment(order: Order, refund_id: str) -> Refusal:
    return Refusal(
        "needs_assignment",
        _("A refund of this order was made elsewhere (%(refund_id)s), and nobody has said yet for which goods.")
        % {"refund_id": refund_id},
        hint=_("Let a person of the shop enter its goods first: until then nobody knows what is still due."),
        staff_hint=_("Say first what it was for: until then nobody knows what is still due."),
        details={"order_number": order.number, "refund_id": refund_id},
    )


def payment_has_less(left: int, currency: str) -> Refusal:
    return Refusal(
        "payment_has_less",
        _("That payment has only %(left)s left that was not given back yet.") % {"left": format_money(left, currency)},
        hint=_("Check the amount and the payment: nobody can get back more than they paid."),
        field="amount",
        details={"left": left, "currency": currency},
    )


def payments_have_less(amount: int, currency: str, field: str) -> Refusal:
    return Refusal(
        "payments_have_less",
        _("The payments of this order do not have %(amount)s left that nobody else was promised.")
        % {"amount": format_money(amount, currency)},
        hint=_("Ask for less, or give it in another way."),
        field=field,
    )


def above_compensation_cap(cap: int, used: int, currency: str, field: str) -> Refusal:
    """`used`: what is proposed, approved or paid already."""
    words = {"cap": format_money(cap, currency), "left": format_money(max(cap - used, 0), currency)}
    return Refusal(
        "above_compensation_cap",
        _("Compensations of one order may come to %(cap)s together; %(left)s of that are left.") % words,
        hint=_("Propose at most what is left. The limit is the policy's: a new version changes it for orders to come."),
        field=field,
        details={"cap": cap, "used": used, "left": max(cap - used, 0), "currency": currency},
    )


def more_than_can_be_proposed(field: str) -> Refusal:
    """`above_compensation_cap` for the agent, which talks with the customer: without the shop's numbers."""
    return Refusal(
        "above_compensation_cap",
        _("This is more than can be proposed here."),
        hint=_("Name no limit. Offer the customer a person with hand_off_to_human, who decides what else can be done."),
        field=field,
    )


def reference_reused(field: str) -> Refusal:
    return Refusal(
        "reference_reused",
        _("This reference was used before, for something else."),
        hint=_("Use a new reference for a new request; send the same request to repeat it."),
        field=field,
    )


def number_of_another_order(order_number: str, refund_id: str) -> Refusal:
    """For staff, who see all orders."""
    return Refusal(
        "reference_reused",
        _("This number was entered for order %(order)s already (%(refund_id)s).")
        % {"order": order_number, "refund_id": refund_id},
        hint=_("Check the number and the order. If the other entry is the wrong one, take that back first."),
        field="external_ref",
        details={"order_number": order_number, "refund_id": refund_id},
    )


def paid_before_it_was_had(moment: datetime) -> InvalidInput:
    """`moment`: when the shop got the money."""
    return InvalidInput(
        "at",
        _("The payment was made on %(moment)s: nothing of it can have gone back before.")
        % {"moment": date_format(timezone.localtime(moment), "DATETIME_FORMAT")},
        hint=_("Check when it was paid back, and the payment."),
    )


def no_exception_needed() -> Refusal:
    return Refusal(
        "no_exception_needed",
        _("These goods can be returned by the ordinary rules."),
        hint=_("Ask for an ordinary quote for the same goods."),
    )


def already_asked(approval_id: str) -> Refusal:
    return Refusal(
        "already_asked",
        _("An exception for these goods already waits for a second person: %(approval_id)s.")
        % {"approval_id": approval_id},
        hint=_("Wait for that decision."),
        details={"approval_id": approval_id},
    )


def proposal_waits(approval_id: str, amount: int, currency: str, field: str) -> Refusal:
    return Refusal(
        "proposal_waits",
        _("A proposal of %(amount)s waits already for a second person: %(approval_id)s.")
        % {"amount": format_money(amount, currency), "approval_id": approval_id},
        hint=_("Wait for that decision: nothing new was proposed."),
        field=field,
        details={"approval_id": approval_id, "amount": amount, "currency": currency},
    )


def no_such_order() -> NotFound:
    return NotFound(_("There is no order with this number."), hint=_("Check the number."), field="order_number")


def waits_for_approval() -> Refusal:
    return Refusal(
        "waits_for_approval",
        _("This quote is an exception to a rule and waits for a second person of the shop. Nothing was refunded."),
        hint=_("Once that person has approved it, the return is opened by itself."),
    )


def payment_cannot_take(amount: int, currency: str, *, field: str = "") -> Refusal:
    """`field`: the argument that chose the payment, if one did."""
    return Refusal(
        "payment_cannot_take",
        _("That payment cannot take %(amount)s back.") % {"amount": format_money(amount, currency)},
        hint=_("Choose a payment of this order that has that much left and that the gateway can refund."),
        field=field,
    )
