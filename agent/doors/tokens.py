"""Tokens: 32 random bytes, shown once. They end by themselves, can be revoked, and open nobody else's orders."""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as translate

from agent.doors import identity, refusals
from agent.doors.identity import Identity
from agent.doors.refusals import Reason
from agent.models import ToolToken
from agent.states import TokenScope
from orders import audit
from orders.actors import Actor
from orders.errors import InvalidInput
from orders.models import Customer

PERMISSION: Final = "agent.manage_tool_tokens"
USUAL_LIFE: Final = timedelta(days=30)
LONGEST_LIFE: Final = timedelta(days=366)
MARK: Final = "rdt_"
RANDOM_BYTES: Final = 32
PREFIX: Final = 12
LONGEST: Final = 200
# When a token was last used is told to the minute: a program that calls often does not write a row each time.
NOTED_EVERY: Final = timedelta(minutes=1)


def issue(
    *, actor: Actor, name: str, expires_at: datetime, customer: Customer | None = None, staff: User | None = None
) -> tuple[str, ToolToken]:
    """The token, which nobody sees again, and its row. For a customer or for a member of staff, not for both.

    Raises NotAllowed, and InvalidInput for a time that is over or too far off, or an account that could not use it.
    """
    user = actor.require_staff(PERMISSION)
    check(name, expires_at, customer, staff)
    secret = MARK + secrets.token_urlsafe(RANDOM_BYTES)
    with transaction.atomic():
        token = ToolToken.objects.create(
            name=name.strip(),
            prefix=secret[:PREFIX],
            hash=_hash(secret),
            scope=TokenScope.CUSTOMER if customer else TokenScope.STAFF,
            customer=customer,
            staff=staff,
            made_by=user,
            expires_at=expires_at,
        )
        _record("tool_token.issued", token, actor)
    return secret, token


def check(name: str, expires_at: datetime, customer: Customer | None, staff: User | None) -> None:
    """Raises InvalidInput with the field."""
    if not name.strip():
        raise InvalidInput("name", translate("Give it a name by which somebody knows it again."))
    now = timezone.now()
    if not now < expires_at <= now + LONGEST_LIFE:
        raise InvalidInput(
            "expires_at",
            translate("A token ends in the future, and within %(days)s days.") % {"days": LONGEST_LIFE.days},
        )
    if (customer is None) == (staff is None):
        raise InvalidInput("customer", translate("Choose either a customer or a member of staff."))
    if staff is not None and identity.of_staff(staff) is None:
        raise InvalidInput("staff", translate("This account may not use the tools of colleagues."))


def revoke(*, token: ToolToken, actor: Actor) -> bool:
    """End the token at once. False: it had been revoked already. Raises NotAllowed."""
    actor.require_staff(PERMISSION)
    with transaction.atomic():
        ended = ToolToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
        if ended:
            _record("tool_token.revoked", token, actor)
    return bool(ended)


def identify(secret: str) -> Identity | None:
    """Whose token it is. None for one that is wrong, over or revoked, and for an account that may not any more."""
    token = _row_of(secret)
    reason = Reason.UNKNOWN if token is None else _closed(token)
    found = _whose(token) if token is not None and reason is None else None
    if found is None:
        refusals.note(reason or Reason.ACCOUNT, token_id=token.pk if token else None)
    return found


def _row_of(secret: str) -> ToolToken | None:
    if not secret.startswith(MARK) or len(secret) > LONGEST or not secret.isascii():
        return None
    return ToolToken.objects.select_related("customer__user", "staff").filter(hash=_hash(secret)).first()


def _closed(token: ToolToken) -> Reason | None:
    if token.revoked_at is not None:
        return Reason.REVOKED
    return Reason.EXPIRED if token.expires_at <= timezone.now() else None


def _whose(token: ToolToken) -> Identity | None:
    found = None
    if token.customer is not None:
        found = identity.of_customer(token.customer, token)
    elif token.staff is not None:
        found = identity.of_staff(token.staff, token)
    if found is not None:
        _note_use(token)
    return found


def _note_use(token: ToolToken) -> None:
    now = timezone.now()
    long_ago = Q(last_used_at=None) | Q(last_used_at__lt=now - NOTED_EVERY)
    ToolToken.objects.filter(long_ago, pk=token.pk).update(last_used_at=now)


def _hash(secret: str) -> str:
    """Nothing slow is needed: nobody guesses 32 random bytes."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _record(action: str, token: ToolToken, actor: Actor) -> None:
    audit.record(
        action=action,
        actor=actor,
        subject_type="tool_token",
        subject_id=str(token.pk),
        chosen={
            "name": token.name,
            "scope": token.scope,
            "customer": token.customer.external_id if token.customer else None,
            "staff": token.staff.username if token.staff else None,
            "expires_at": token.expires_at.isoformat(),
        },
    )
