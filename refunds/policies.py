"""The life of a version of the rules: drafted, edited, published by a second person, superseded by the next.

Staff only, with the permissions `refunds.edit_policy` and `refunds.publish_policy`. What is published never changes,
and is for orders to come: an order keeps the version in force when it was placed. Until then it can be withdrawn
(docs/money.md, States).
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from orders import audit
from orders.actors import Actor
from orders.money import DECIMALS
from refunds import policy_errors as errors
from refunds.choices import clean_note
from refunds.models import RefundPolicy
from refunds.policy_bodies import parse_changes
from refunds.policy_selectors import BEGINNING, authors_of, find, newest_settling, rules_of, seen_of
from refunds.states import POLICY_MOVES, PolicyState

EDIT: Final = "refunds.edit_policy"
PUBLISH: Final = "refunds.publish_policy"
# Ahead of every clock that places an order (`orders.strict.CLOCK_TOLERANCE`), so that no order changes its rules.
PUBLISH_LEAD: Final = timedelta(minutes=5)
# A version published for a year that was mistyped keeps every earlier one out until somebody withdraws it.
AT_MOST_AHEAD: Final = timedelta(days=366)
# What the law gives everybody who buys at a distance, by the currency in which a shop sells there.
LEAST_WINDOW: Final[Mapping[str, int]] = {"TWD": 7}


@transaction.atomic
def draft(*, currency: str, actor: Actor) -> tuple[RefundPolicy, bool]:
    """The currency's draft, and whether it is new: then a copy of the newest version. There is never more than one.

    Raises NotAllowed, and InvalidInput for a currency that nobody counts in.
    """
    user = _allowed(actor, EDIT)
    _lock(currency)
    found = RefundPolicy.objects.filter(currency=currency, state=PolicyState.DRAFT).first()
    if found is not None:
        return found, False
    policy = RefundPolicy(
        currency=currency,
        version=_next_version(currency),
        in_force_from=timezone.now(),  # means nothing before it is published
        edited_by=user,
        **(_copied(currency) | {"note": ""}),
    )
    policy.save(force_insert=True)
    _record("drafted", policy, actor, outcome={"rules": rules_of(policy)})
    return policy, True


@transaction.atomic
def edit(*, currency: str, version: int, body: object, actor: Actor) -> RefundPolicy:
    """Change a draft as `body` says (`policy_bodies.PolicyBody`); what it leaves out stays.

    Raises NotAllowed, NotFound, InvalidInput naming the field, and Refusal wrong_state or draft_changed.
    """
    user = _allowed(actor, EDIT)
    _lock(currency)
    policy = _draft(currency, version)
    changes, seen = parse_changes(body, faults=policy.shop_fault_reasons)
    if "return_window_days" in changes:
        _check_window(currency, changes["return_window_days"])
    _check_seen(policy, seen)
    before = {name: getattr(policy, name) for name, value in changes.items() if getattr(policy, name) != value}
    if not before:
        return policy
    for name in before:
        setattr(policy, name, changes[name])
    policy.edited_by = user
    policy.save(update_fields=[*before, "edited_by"])
    after = {name: changes[name] for name in before}
    _record("edited", policy, actor, chosen=after, outcome={"before": before, "after": after})
    return policy


@transaction.atomic
def discard(*, currency: str, version: int, actor: Actor, seen: str = "") -> None:
    """Throw a draft away; the history keeps what it said. `seen`: as for `publish`.

    Raises NotAllowed, NotFound, and Refusal wrong_state or draft_changed.
    """
    _allowed(actor, EDIT)
    _lock(currency)
    policy = _draft(currency, version)
    _check_seen(policy, seen)
    _record("discarded", policy, actor, outcome={"rules": rules_of(policy)})
    policy.delete()


@transaction.atomic
def publish(
    *, currency: str, version: int, in_force_from: datetime, actor: Actor, note: str = "", seen: str = ""
) -> RefundPolicy:
    """Put a draft in force for orders placed from `in_force_from` on, for good; the version before it is superseded.

    Never by anybody who has written on it (`policy_selectors.authors_of`). `seen`: the draft as the publisher read it
    (`policy_selectors.seen_of`). Raises NotAllowed, NotFound, InvalidInput for a moment that is too early or too late,
    and Refusal wrong_state, own_draft or draft_changed.
    """
    user = _allowed(actor, PUBLISH)
    text = clean_note(note)
    _lock(currency)
    policy = _draft(currency, version)
    if user.pk in authors_of(policy):
        raise errors.own_draft()
    _check_seen(policy, seen)
    _check_window(currency, policy.return_window_days)
    _check_moment(in_force_from, newest_settling(currency), timezone.now())
    fields = {"in_force_from": in_force_from, "published_by": user, "published_at": timezone.now()}
    move(policy, PolicyState.PUBLISHED, actor, chosen={"note": text}, fields=fields)
    for older in RefundPolicy.objects.filter(currency=currency, state=PolicyState.PUBLISHED).exclude(pk=policy.pk):
        move(older, PolicyState.SUPERSEDED, actor, chosen={"by_version": policy.version}, fields={})
    return policy


@transaction.atomic
def withdraw(*, currency: str, version: int, reason: str, actor: Actor) -> RefundPolicy:
    """Take back a version that was published and is not in force yet; the one that it superseded goes on.

    It never settles an order. Up to `PUBLISH_LEAD` before its moment, for the reason of that lead. Raises NotAllowed,
    NotFound, InvalidInput for a missing reason, and Refusal wrong_state.
    """
    _allowed(actor, PUBLISH)
    text = clean_note(reason, field="reason", required=True)
    _lock(currency)
    policy = _existing(currency, version)
    if policy.state != PolicyState.PUBLISHED:
        raise errors.not_published(policy)
    if not can_be_withdrawn(policy):
        raise errors.in_force(policy, from_beginning=policy.in_force_from <= BEGINNING)
    move(policy, PolicyState.WITHDRAWN, actor, chosen={"reason": text}, fields={})
    newest = newest_settling(currency)
    if newest is not None and newest.state == PolicyState.SUPERSEDED:
        move(newest, PolicyState.PUBLISHED, actor, chosen={"instead_of_version": policy.version}, fields={})
    return policy


def can_be_withdrawn(policy: RefundPolicy) -> bool:
    """Published, and not so close to its moment that an order could already have been placed under it."""
    return policy.state == PolicyState.PUBLISHED and policy.in_force_from >= timezone.now() + PUBLISH_LEAD


def _allowed(actor: Actor, permission: str) -> User:
    """Rules are made by people who answer for them: never by a customer, an agent or a machine."""
    return actor.require_staff(permission)


def _lock(currency: str) -> None:
    """One writer per currency at a time, also while there is no row to lock yet. Held until the transaction ends."""
    if currency not in DECIMALS:
        raise errors.unknown_currency(", ".join(DECIMALS))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"refund_policy:{currency}"])


def _existing(currency: str, version: int) -> RefundPolicy:
    policy = find(currency, version)
    if policy is None:
        raise errors.no_such_policy()
    return policy


def _draft(currency: str, version: int) -> RefundPolicy:
    policy = _existing(currency, version)
    if policy.state != PolicyState.DRAFT:
        raise errors.not_a_draft(policy)
    return policy


def _check_seen(policy: RefundPolicy, seen: str) -> None:
    if seen and seen != seen_of(policy):
        raise errors.draft_changed()


def _check_window(currency: str, days: int) -> None:
    if days < (least := LEAST_WINDOW.get(currency, 1)):
        raise errors.below_the_law(least)


def _check_moment(moment: datetime, newest: RefundPolicy | None, now: datetime) -> None:
    """A currency's first version may reach back: there is nothing yet whose rules it could change."""
    if moment > now + AT_MOST_AHEAD:
        raise errors.too_late(now + AT_MOST_AHEAD)
    if newest is None:
        return
    if moment < now + PUBLISH_LEAD:
        raise errors.too_early(now + PUBLISH_LEAD)
    if moment <= newest.in_force_from:
        raise errors.not_after_the_newest(newest.in_force_from)


def _next_version(currency: str) -> int:
    newest = RefundPolicy.objects.filter(currency=currency).aggregate(newest=Max("version"))["newest"]
    return (newest or 0) + 1


def _copied(currency: str) -> dict[str, Any]:
    """What the newest version says, but for days that are fewer than the law's; for a currency without any, rules that
    cost nobody anything.
    """
    newest = newest_settling(currency)
    if newest is not None:
        days = max(newest.return_window_days, LEAST_WINDOW.get(currency, 1))
        return {**rules_of(newest), "return_window_days": days}
    return {
        "return_fee": 0,
        "return_fee_enabled": False,
        "shop_fault_reasons": ["defective", "wrong_item", "lost", "shop_cancelled"],
        "tender_order": ["card", "*", "store_credit"],
        "approval_above": 0,
    }


def move(
    policy: RefundPolicy, to: PolicyState, actor: Actor, *, chosen: Mapping[str, Any], fields: Mapping[str, Any]
) -> None:
    """Compare-and-set with its audit row. Raises Refusal wrong_state where somebody else was faster."""
    moved = 0
    if to in POLICY_MOVES[policy.state]:
        moved = RefundPolicy.objects.filter(pk=policy.pk, state=policy.state).update(state=to, **fields)
    if moved != 1:
        raise errors.not_a_draft(policy)
    policy.refresh_from_db()
    outcome = {"state": to, "in_force_from": policy.in_force_from.isoformat(), "rules": rules_of(policy)}
    _record(str(to), policy, actor, chosen=chosen, outcome=outcome)


def _record(
    what: str,
    policy: RefundPolicy,
    actor: Actor,
    *,
    outcome: Mapping[str, Any],
    chosen: Mapping[str, Any] | None = None,
) -> None:
    audit.record(
        action=f"policy.{what}",
        actor=actor,
        subject_type="policy",
        subject_id=str(policy.pk),
        chosen=chosen,
        computed={"currency": policy.currency, "version": policy.version},
        outcome=outcome,
    )
