"""Reading versions of the rules: lists of them, one of them, and how each stands today."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from django.db.models import QuerySet

from orders.models import AuditEvent
from orders.money import DECIMALS
from refunds.models import RefundPolicy
from refunds.states import SETTLING, PolicyState

Phase = Literal["draft", "coming", "in_force", "past", "withdrawn"]

VIEW: Final = "refunds.view_refundpolicy"
# What a version says. Everything else of the row says how it came about.
RULES: Final = (
    "return_fee",
    "return_fee_enabled",
    "return_window_days",
    "lost_after_days",
    "excluded_categories",
    "shop_fault_reasons",
    "tender_order",
    "approval_above",
    "compensation_cap",
    "quote_minutes",
    "note",
)
# From when on the rules hold that came with the installation.
BEGINNING: Final = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a version stands: `until` is when the next one, of number `by`, takes over, None while none is published."""

    policy: RefundPolicy
    phase: Phase
    until: datetime | None
    by: int | None = None

    @property
    def from_beginning(self) -> bool:
        """Whether no order can be older: what the migrations put there. A currency may come later than the shop."""
        return self.policy.in_force_from <= BEGINNING


def versions(*, currency: str = "") -> QuerySet[RefundPolicy]:
    """All versions, the newest first, with the accounts that wrote and published them."""
    rows = RefundPolicy.objects.select_related("edited_by", "published_by").order_by("currency", "-version")
    return rows.filter(currency=currency) if currency else rows


def find(currency: str, version: int) -> RefundPolicy | None:
    """One version. What cannot be a currency never reaches the database."""
    return versions(currency=currency).filter(version=version).first() if currency in DECIMALS else None


def newest_settling(currency: str) -> RefundPolicy | None:
    """The published version whose day comes last."""
    return versions(currency=currency).filter(state__in=SETTLING).order_by("-in_force_from", "-version").first()


def standings(rows: Iterable[RefundPolicy], *, now: datetime) -> list[Standing]:
    """How each stands. `rows` must hold all versions of each currency in it."""
    known = list(rows)
    return [_standing(policy, known, now) for policy in known]


def _standing(policy: RefundPolicy, known: list[RefundPolicy], now: datetime) -> Standing:
    if policy.state == PolicyState.DRAFT:
        return Standing(policy, "draft", None)
    if policy.state == PolicyState.WITHDRAWN:
        return Standing(policy, "withdrawn", None)
    later = [
        (other.in_force_from, other.version)
        for other in known
        if other.currency == policy.currency
        and other.state in SETTLING
        and (other.in_force_from, other.version) > (policy.in_force_from, policy.version)
    ]
    until, by = min(later, default=(None, None))
    if policy.in_force_from > now:
        return Standing(policy, "coming", until, by)
    return Standing(policy, "past" if until and until <= now else "in_force", until, by)


def standing_of(policy: RefundPolicy, *, now: datetime) -> Standing:
    """How one version stands, among all of its currency."""
    known = standings(versions(currency=policy.currency), now=now)
    return next(standing for standing in known if standing.policy.pk == policy.pk)


def rules_of(policy: RefundPolicy) -> dict[str, Any]:
    """What the version says, by the names of the model's fields."""
    return {name: getattr(policy, name) for name in RULES}


def authors_of(policy: RefundPolicy) -> set[int]:
    """The accounts of everybody who began the version or changed it, by its history: not only who did so last."""
    written = AuditEvent.objects.filter(
        subject_type="policy", subject_id=str(policy.pk), action__in=["policy.drafted", "policy.edited"]
    )
    people = {*written.values_list("actor_user_id", flat=True), policy.edited_by_id}
    return {user_id for user_id in people if user_id is not None}


def withdrawal_of(policy: RefundPolicy) -> AuditEvent | None:
    """What the history tells of it: who did it, when, and in `chosen` the reason."""
    if policy.state != PolicyState.WITHDRAWN:
        return None
    events = AuditEvent.objects.filter(subject_type="policy", subject_id=str(policy.pk), action="policy.withdrawn")
    return events.select_related("actor_user").order_by("-pk").first()


def seen_of(policy: RefundPolicy) -> str:
    """Stands for what the version says and who wrote it: whoever sends it back has seen exactly that."""
    content = {**rules_of(policy), "edited_by": policy.edited_by_id, "row": policy.pk}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:20]
