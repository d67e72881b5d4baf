"""The rules change while people quote and confirm, on real connections: each order keeps what it was placed under.

What guards it: a version begins ahead of every order that exists, one writer per currency at a time, and a row that
the database does not let go back.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from orders.errors import Refusal
from orders.models import AuditEvent, Order
from orders.tests import cast
from orders.tests.race import at_once
from refunds import policies
from refunds.history import policy_for
from refunds.models import Refund, RefundPolicy, RefundQuote
from refunds.policy_selectors import seen_of
from refunds.redeem import redeem
from refunds.states import SETTLING, PolicyState
from refunds.tests.ask import ask
from refunds.tests.old_rules import inserted

pytestmark = pytest.mark.django_db(transaction=True)


def begun(**body: Any) -> RefundPolicy:
    actor = cast.staff("supervisor")
    policy, _ = policies.draft(currency="TWD", actor=actor)
    return policies.edit(currency="TWD", version=policy.version, body=body, actor=actor)


def publish(policy: RefundPolicy, *, by: str = "marketing", minutes: float = 6, **options: Any) -> Callable[[], object]:
    """The press, its actor known beforehand: nobody is looked up in the race."""
    return partial(
        policies.publish,
        currency=policy.currency,
        version=policy.version,
        in_force_from=timezone.now() + timedelta(minutes=minutes),
        actor=cast.staff(by),
        **options,
    )


def all_at_once(actions: Sequence[Callable[[], object]]) -> list[object]:
    """Different things at once."""
    return at_once(actions)


def codes(answers: Sequence[object]) -> Counter[str]:
    return Counter(answer.code if isinstance(answer, Refusal) else type(answer).__name__ for answer in answers)


def orders(count: int, first: int) -> list[Order]:
    return [cast.place(str(first + number)) for number in range(count)]


def test_while_a_version_is_published_every_quote_keeps_the_one_its_order_was_placed_under() -> None:
    placed, customer = orders(6, 7600), cast.shopper()
    kept = [ask(order, (2, 1, "other")) for order in placed[:3]]
    draft = begun(return_fee=0, quote_minutes=60, tender_order=["*"])
    answers = all_at_once(
        [
            publish(draft),
            *(partial(redeem, quote_id=quote.pk, actor=customer) for quote in kept),
            *(partial(ask, order, (2, 1, "other"), actor=customer) for order in placed[3:]),
        ]
    )
    assert codes(answers) == {"RefundPolicy": 1, "Redeemed": 3, "RefundQuote": 3}
    assert RefundPolicy.objects.get(currency="TWD", version=2).state == PolicyState.PUBLISHED
    assert set(RefundQuote.objects.values_list("policy__version", flat=True)) == {1}

    for answer in answers:
        if isinstance(answer, RefundQuote):
            redeem(quote_id=answer.pk, actor=customer)
    assert Refund.objects.count() == 6
    later = cast.place("7699")
    assert policy_for(later).version == 1
    later.placed_at = timezone.now() + timedelta(minutes=7)
    assert policy_for(later).version == 2


def test_without_the_lead_an_order_would_be_settled_by_two_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shows what the lead is for, and that the database refuses where it is forgotten."""
    order = cast.place("7610")
    quote = ask(order, (2, 1, "other"))
    draft = begun(return_fee=0)
    monkeypatch.setattr(policies, "_check_moment", lambda *arguments: None)
    with pytest.raises(IntegrityError, match="rules of the past"):
        publish(draft, minutes=-60 * 24 * 30)()
    assert policy_for(order).version == 1

    RefundPolicy.objects.filter(pk=draft.pk).delete()
    draft.state, draft.in_force_from = PolicyState.PUBLISHED, timezone.now() - timedelta(days=30)
    inserted(draft)
    assert policy_for(order).version == 2
    assert redeem(quote_id=quote.pk, actor=cast.shopper()).created
    quote.refresh_from_db()
    assert quote.policy.version == 1


def test_two_who_publish_at_once_publish_one_version() -> None:
    for _ in range(4):
        draft = begun()
        earlier = RefundPolicy.objects.filter(currency="TWD", state=PolicyState.PUBLISHED).get()
        newest = max(earlier.in_force_from, timezone.now())
        minutes = (newest - timezone.now()).total_seconds() / 60 + 6
        answers = all_at_once([publish(draft, minutes=minutes), publish(draft, by="admin", minutes=minutes + 1)] * 2)
        assert codes(answers) == {"RefundPolicy": 1, "wrong_state": 3}
        events = AuditEvent.objects.filter(subject_type="policy", subject_id=str(draft.pk))
        assert events.filter(action="policy.published").count() == 1
        earlier.refresh_from_db()
        assert earlier.state == PolicyState.SUPERSEDED
    assert RefundPolicy.objects.filter(currency="TWD", state=PolicyState.PUBLISHED).count() == 1


def test_withdrawing_and_publishing_at_once_leave_one_published_version_that_begins_last() -> None:
    publish(begun(), minutes=60 * 24)()
    actor = cast.staff("supervisor")
    withdraw = partial(policies.withdraw, currency="TWD", version=2, reason="日期打錯", actor=actor)
    answers = all_at_once([withdraw, publish(begun()), withdraw, publish(begun(), by="admin")])
    assert codes(answers)["wrong_state"] >= 1  # of the two who withdraw, one comes too late
    (newest,) = RefundPolicy.objects.filter(currency="TWD", state=PolicyState.PUBLISHED)
    settling = RefundPolicy.objects.filter(currency="TWD", state__in=SETTLING)
    assert newest == settling.latest("in_force_from")
    assert AuditEvent.objects.filter(action="policy.withdrawn").count() == 1


def test_many_who_draft_at_once_get_one_draft() -> None:
    actors = [cast.staff("supervisor"), cast.staff("marketing")] * 4
    answers = at_once([partial(policies.draft, currency="TWD", actor=actor) for actor in actors])
    made = [answer for answer in answers if isinstance(answer, tuple)]
    assert len(made) == len(actors), answers
    assert {policy.pk for policy, _ in made} == {RefundPolicy.objects.get(state=PolicyState.DRAFT).pk}
    assert sum(created for _, created in made) == 1
    assert AuditEvent.objects.filter(action="policy.drafted").count() == 1


@contextmanager
def meeting_at(monkeypatch: pytest.MonkeyPatch, name: str) -> Any:
    """Both have looked before either writes; whoever is kept out by a lock is not waited for."""
    meeting, original = Barrier(2), getattr(policies, name)

    def met(*arguments: Any, **options: Any) -> Any:
        found = original(*arguments, **options)
        with suppress(BrokenBarrierError):
            meeting.wait(timeout=1)
        return found

    monkeypatch.setattr(policies, name, met)
    yield


def test_an_edit_and_a_press_at_once_never_publish_what_the_publisher_has_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(3):
        draft = begun(return_fee=60, note=str(number))
        moment = timezone.now() + timedelta(hours=number + 1)
        press = partial(
            policies.publish,
            currency="TWD",
            version=draft.version,
            in_force_from=moment,
            actor=cast.staff("marketing"),
            seen=seen_of(draft),
        )
        change = partial(
            policies.edit,
            currency="TWD",
            version=draft.version,
            body={"return_fee": 6000},
            actor=cast.staff("supervisor"),
        )
        with meeting_at(monkeypatch, "_draft"):
            answers = codes(all_at_once([press, change]))
        monkeypatch.undo()
        draft.refresh_from_db()
        assert answers in ({"RefundPolicy": 1, "wrong_state": 1}, {"RefundPolicy": 1, "draft_changed": 1})
        assert (draft.state, draft.return_fee) in {(PolicyState.PUBLISHED, 60), (PolicyState.DRAFT, 6000)}
        if draft.state == PolicyState.DRAFT:
            policies.discard(currency="TWD", version=draft.version, actor=cast.staff("supervisor"))


def test_without_the_currencys_lock_the_same_edit_and_press_collide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shows the race: this is what the lock is for. If both go through here, nothing but luck kept them apart."""
    draft = begun(return_fee=60)
    press = publish(draft, seen=seen_of(draft))
    change = partial(
        policies.edit,
        currency="TWD",
        version=draft.version,
        body={"return_fee": 6000},
        actor=cast.staff("supervisor"),
    )
    monkeypatch.setattr(policies, "_lock", lambda currency: None)
    with meeting_at(monkeypatch, "_draft"):
        answers = all_at_once([press, change])
    refused = [answer for answer in answers if isinstance(answer, Exception)]
    draft.refresh_from_db()
    broken = draft.state == PolicyState.PUBLISHED and draft.return_fee == 6000
    assert broken or any(isinstance(answer, IntegrityError) for answer in refused)
