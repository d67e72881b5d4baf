"""Every state machine, walked from each state to each other, by the services that people and jobs use.

An allowed move writes exactly one row of history that names it. Every other move is refused, by the service that leads
to that state and by the one function that moves, and changes not a single row of any table. The turns and cards of the
chat are walked in `agent/tests/test_state_tables.py`, money on its way in
`test_state_tables_of_money.py`.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest
from django.utils import timezone

from orders.models import Shipment
from orders.money import DECIMALS
from orders.states import SHIPMENT_MOVES
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import (
    approval_states,
    approvals,
    compensation,
    ending,
    policies,
    release,
    replacement_states,
    replacements,
    return_states,
    returns,
)
from refunds.acceptance import accept
from refunds.models import Approval, RefundPolicy, RefundQuote, Replacement, Return
from refunds.policy_selectors import newest_settling
from refunds.redeem import redeem
from refunds.states import (
    APPROVAL_MOVES,
    OPEN_RETURNS,
    POLICY_MOVES,
    QUOTE_MOVES,
    REPLACEMENT_MOVES,
    RETURN_MOVES,
    PolicyState,
)
from refunds.tests.ask import ask
from refunds.tests.going_back import accepted_exchange, exchange, leaves, parcel_is, sent_again, warehouse
from refunds.tests.machines import (
    NOTE,
    Door,
    Machine,
    a_week_passes,
    boss,
    expensive,
    large_refund,
    numbers,
    order,
    walk,
)

# --- Quotes ------------------------------------------------------------------------------------------------------


def overdue(quote: RefundQuote) -> None:
    RefundQuote.objects.filter(pk=quote.pk).update(expires_at=timezone.now() - timedelta(seconds=1))


def expire_quote(quote: RefundQuote) -> None:
    ending.expire_quotes()


def overtake(quote: RefundQuote) -> None:
    ending.supersede_open(order=quote.order, asker_ref=quote.asker_ref, actor=cast.shopper())


QUOTE_DOORS: Final[dict[Any, Door]] = {
    "redeemed": lambda quote: redeem(quote_id=quote.pk, actor=cast.shopper()),
    "declined": lambda quote: ending.decline(quote_id=quote.pk, actor=cast.shopper()),
    "expired": expire_quote,
    "superseded": overtake,
}


def make_quote(before: str, after: str) -> RefundQuote:
    quote = ask(order(), (2, 1, "other"))
    if before == "expired":
        overdue(quote)
    if before != "open":
        QUOTE_DOORS[before](quote)
    if after == "expired":
        overdue(quote)
    return quote


# --- Approvals ---------------------------------------------------------------------------------------------------


APPROVAL_DOORS: Final[dict[Any, Door]] = {
    "approved": lambda approval: approvals.approve(approval_id=approval.pk, actor=boss(), reason=NOTE),
    "rejected": lambda approval: approvals.reject(approval_id=approval.pk, actor=boss(), reason=NOTE),
    "expired": lambda approval: release.expire_approvals(),
}


def proposed() -> Approval:
    ref = f"form:{next(numbers)}"
    return compensation.propose(order=order(), amount=100, reason=NOTE, actor=cast.staff(), request_ref=ref)


def make_approval(ask_for: Callable[[], Approval], before: str, after: str) -> Approval:
    approval = ask_for()
    if before == "expired":
        a_week_passes(approval)
    if before != "waiting":
        APPROVAL_DOORS[before](approval)
    if after == "expired":
        a_week_passes(approval)
    return approval


def move_approval(approval: Approval, to: str) -> None:
    approval_states.move(approval=approval, to=to, actor=boss())  # type: ignore[arg-type]


# --- Returns -----------------------------------------------------------------------------------------------------

RETURN_DOORS: Final[dict[Any, Door]] = {
    "received": lambda item: returns.receive(return_id=item.pk, actor=warehouse()),
    "accepted": lambda item: accept(return_id=item.pk, actor=warehouse()),
    "refunded": lambda item: approvals.approve_refund(refund_id=item.refund_id or "", actor=boss(), reason=NOTE),
    "exchanged": lambda item: returns.complete_exchange(return_id=item.pk, actor=warehouse()),
    "rejected": lambda item: returns.reject(return_id=item.pk, actor=warehouse(), note=NOTE),
    ("accepted", "rejected"): lambda item: approvals.reject_refund(refund_id=item.refund_id, actor=boss(), reason=NOTE),
    "withdrawn": lambda item: returns.withdraw(return_id=item.pk, actor=cast.shopper()),
}
RETURN_WAYS: Final = {
    "requested": (),
    "received": ("received",),
    "accepted": ("received", "accepted"),
    "refunded": ("received", "accepted", "refunded"),
    "exchanged": ("received", "accepted", "exchanged"),
    "rejected": ("rejected",),
    "withdrawn": ("withdrawn",),
}


def make_return(before: str, after: str) -> Return:
    """A refund so large that it waits for a second person once it is accepted; an exchange where only that goes on."""
    place = expensive(shipments=[shipment_body({1: 1})])
    if before == "exchanged" or (after == "exchanged" and before in OPEN_RETURNS):
        item = exchange(place, ref=f"card_{place.pk}")
    else:
        redeemed = redeem(quote_id=ask(place, (1, 1, "changed_mind")).pk, actor=cast.shopper()).return_request
        assert redeemed is not None
        item = redeemed
    for step in RETURN_WAYS[before]:
        RETURN_DOORS[step](item)
        item.refresh_from_db()
    return item


def move_return(item: Return, to: str) -> None:
    return_states.move(request=item, to=to, actor=warehouse())  # type: ignore[arg-type]


# --- Replacements ------------------------------------------------------------------------------------------------

REPLACEMENT_DOORS: Final[dict[Any, Door]] = {
    "sent": leaves,
    "released": lambda item: replacements.release(replacement_id=item.pk, actor=warehouse(), note=NOTE),
}


def make_replacement(kind: str, before: str, after: str) -> Replacement:
    if kind == "exchange":
        place = order(shipments=[shipment_body({1: 1})])
        item = Replacement.objects.get(return_request=accepted_exchange(place, ref=f"card_{place.pk}"))
    else:
        place = order(shipments=[shipment_body({1: 1}, state="lost")])
        item = sent_again(place, (1, 1, "lost"), ref=f"card_{place.pk}")
    if before != "reserved":
        (EXCHANGE_DOORS if kind == "exchange" else REPLACEMENT_DOORS)[before](item)
    return item


# An exchange's replacement follows its return.
EXCHANGE_DOORS: Final[dict[Any, Door]] = {
    "sent": leaves,
    "released": lambda item: returns.reject(return_id=item.return_request_id, actor=warehouse(), note=NOTE),
}


def move_replacement(item: Replacement, to: str) -> None:
    replacement_states.move(replacement=item, to=to, actor=warehouse())  # type: ignore[arg-type]


# --- Parcels and rules -------------------------------------------------------------------------------------------


def make_shipment(before: str, after: str) -> Shipment:
    return cast.shipment(order(shipments=[shipment_body({1: 1}, state=before)]))


def parcel_becomes(state: str) -> Door:
    return lambda shipment: parcel_is(shipment.order, shipment.external_id, state)


def make_policy(before: str, after: str) -> RefundPolicy:
    drafts = RefundPolicy.objects.filter(state=PolicyState.DRAFT).values_list("currency", flat=True)
    currency = next(currency for currency in DECIMALS if currency not in drafts)
    policy, _ = policies.draft(currency=currency, actor=boss())
    if before != "draft":
        publish_policy(policy)
    if before == "superseded":
        follow_policy(policy)
    if before == "withdrawn":
        withdraw_policy(policy)
    return policy


def publish_policy(policy: RefundPolicy) -> None:
    newest = newest_settling(policy.currency)
    moment = max(timezone.now(), newest.in_force_from if newest else timezone.now()) + timedelta(hours=1)
    options = {"in_force_from": moment, "actor": cast.staff("marketing")}
    policies.publish(currency=policy.currency, version=policy.version, **options)  # type: ignore[arg-type]


def follow_policy(policy: RefundPolicy) -> None:
    publish_policy(policies.draft(currency=policy.currency, actor=boss())[0])


def withdraw_policy(policy: RefundPolicy) -> None:
    policies.withdraw(currency=policy.currency, version=policy.version, reason=NOTE, actor=boss())


def withdraw_what_followed(policy: RefundPolicy) -> None:
    follower = newest_settling(policy.currency)
    assert follower is not None
    withdraw_policy(follower)


def move_policy(policy: RefundPolicy, to: str) -> None:
    policies.move(policy, PolicyState(to), boss(), chosen={}, fields={})


MACHINES: Final = {
    "quote": Machine("quote", QUOTE_MOVES, make_quote, QUOTE_DOORS),
    "approval of a refund": Machine(
        "approval", APPROVAL_MOVES, partial(make_approval, large_refund), APPROVAL_DOORS, move_approval
    ),
    "approval of a compensation": Machine(
        "approval", APPROVAL_MOVES, partial(make_approval, proposed), APPROVAL_DOORS, move_approval
    ),
    "return": Machine("return", RETURN_MOVES, make_return, RETURN_DOORS, move_return),
    "replacement of lost goods": Machine(
        "replacement", REPLACEMENT_MOVES, partial(make_replacement, "lost"), REPLACEMENT_DOORS, move_replacement
    ),
    "replacement of an exchange": Machine(
        "replacement", REPLACEMENT_MOVES, partial(make_replacement, "exchange"), EXCHANGE_DOORS, move_replacement
    ),
    "shipment": Machine(
        "shipment", SHIPMENT_MOVES, make_shipment, {state: parcel_becomes(state) for state in SHIPMENT_MOVES}
    ),
    "policy": Machine(
        "policy",
        POLICY_MOVES,
        make_policy,
        {
            "published": publish_policy,
            ("published", "superseded"): follow_policy,
            ("superseded", "published"): withdraw_what_followed,
            "withdrawn": withdraw_policy,
        },
        move_policy,
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "before"), [(name, before) for name, each in MACHINES.items() for before in each.moves]
)
def test_an_allowed_move_is_told_once_and_every_other_changes_nothing(name: str, before: str) -> None:
    walk(MACHINES[name], before)
