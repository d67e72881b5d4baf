"""Money that customers wait for too long is told to staff, by the law's days, and somebody says how it ended."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from smtplib import SMTPException
from typing import Any

import pytest
from django.core import mail
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings
from rest_framework.authtoken.models import Token

from orders.actors import NotAllowed
from orders.errors import InvalidInput, NotFound, Refusal
from orders.models import AuditEvent
from orders.tests import cast
from orders.tests.factories import shipment_body
from orders.tests.race import at_once
from refunds import alerts, returns, tasks
from refunds.acceptance import accept
from refunds.models import Refund, Replacement, Return, StaffAlert
from refunds.redeem import redeem
from refunds.states import AlertKind, RefundState
from refunds.tests.ask import ask
from refunds.tests.going_back import earphones, exchange, leaves, received_return, sent_again
from refunds.tests.paying import pending_refund, state_of, switch_on

pytestmark = pytest.mark.django_db(transaction=True)


def overdue(*, days: float) -> list[str]:
    """The subjects that are raised so many days from now."""
    alerts.raise_overdue(timezone.now() + timedelta(days=days))
    return list(StaffAlert.objects.filter(kind=AlertKind.OVERDUE).order_by("pk").values_list("subject", flat=True))


def test_a_refund_that_is_not_finished_warns_after_10_days_and_again_when_the_laws_15_are_over() -> None:
    refund = pending_refund()
    assert overdue(days=9.9) == []
    assert overdue(days=10) == [f"{refund.pk}:warning"]
    assert overdue(days=14.9) == [f"{refund.pk}:warning"]
    assert overdue(days=15) == [f"{refund.pk}:warning", f"{refund.pk}:statutory"]
    assert overdue(days=40) == [f"{refund.pk}:warning", f"{refund.pk}:statutory"]
    alert = StaffAlert.objects.get(subject=f"{refund.pk}:statutory")
    assert (alert.order, alert.refund, alert.facts["days"]) == (refund.order, refund, 15)
    assert (alert.facts["amount"], alert.facts["currency"], alert.facts["state"]) == (230, "TWD", "pending")


@pytest.mark.parametrize("state", sorted(set(RefundState.values)))
def test_every_state_in_which_the_customer_still_waits_counts(state: str) -> None:
    refund = pending_refund()
    Refund.objects.filter(pk=refund.pk).update(state=state)
    waits = state in {"pending_approval", "pending", "failed", "unknown"}
    assert bool(overdue(days=11)) == waits


def test_a_refund_that_failed_after_it_was_paid_counts_too_until_it_is_settled() -> None:
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    assert overdue(days=11) == []
    refund.allocations.get().attempts.update(trouble="failed_after_paid")
    assert overdue(days=11) == [f"{refund.pk}:warning"]


def test_goods_that_came_back_and_are_not_paid_count_from_their_receipt() -> None:
    order = cast.place("6801", shipments=[shipment_body({1: 1})])
    request = redeem(quote_id=ask(order, (1, 1, "defective")).pk, actor=cast.shopper()).return_request
    assert request is not None
    assert overdue(days=11) == []  # nothing has come back yet
    returns.receive(return_id=request.pk, actor=cast.staff("warehouse"))
    assert overdue(days=11) == [f"{request.pk}:warning"]
    assert StaffAlert.objects.get().facts["amount"] == 1200


def test_accepting_the_goods_does_not_start_the_days_anew() -> None:
    """Received, looked at for 14 days, accepted, and refused by the provider: the customer has waited since receipt."""
    request = received_return(cast.place("6804", shipments=[shipment_body({1: 1})]), (1, 1, "defective"))
    switch_on("refuse")
    accept(return_id=request.pk, actor=cast.staff("warehouse"))
    refund = Refund.objects.get()
    tasks.send_refund(refund.pk)
    Refund.objects.update(created_at=timezone.now() + timedelta(days=14))
    assert (state_of(refund), Return.objects.get().state) == ("failed", "refunded")
    assert overdue(days=16) == [f"{refund.pk}:warning", f"{refund.pk}:statutory"]
    assert {alert.facts["days"] for alert in StaffAlert.objects.all()} == {16}


# --- goods that are owed ---
def owed(*, days: float) -> list[str]:
    alerts.raise_overdue(timezone.now() + timedelta(days=days))
    return list(StaffAlert.objects.filter(kind=AlertKind.OWED_GOODS).order_by("pk").values_list("subject", flat=True))


def test_an_exchange_whose_goods_are_here_is_told_from_their_receipt_accepted_or_forgotten() -> None:
    request = exchange(earphones())
    assert owed(days=40) == []  # nothing has come back yet
    returns.receive(return_id=request.pk, actor=cast.staff("warehouse"))
    replacement = Replacement.objects.get()
    Replacement.objects.update(created_at=timezone.now() - timedelta(days=9))
    assert owed(days=9.9) == []
    assert owed(days=10) == [f"{replacement.pk}:late"]
    accept(return_id=request.pk, actor=cast.staff("warehouse"))  # accepted, they are owed all the same
    assert owed(days=15) == [f"{replacement.pk}:late", f"{replacement.pk}:very_late"]
    assert owed(days=40) == [f"{replacement.pk}:late", f"{replacement.pk}:very_late"]
    alert = StaffAlert.objects.get(subject=f"{replacement.pk}:very_late")
    assert (alert.order, alert.facts["state"], alert.facts["days"]) == (replacement.order, "reserved", 15)


def test_lost_goods_that_are_to_be_sent_again_are_told_from_when_it_was_confirmed_until_they_leave() -> None:
    replacement = sent_again(cast.place("6805", shipments=[shipment_body({1: 1}, state="lost")]), (1, 1, "lost"))
    assert owed(days=10) == [f"{replacement.pk}:late"]
    leaves(replacement)
    assert owed(days=40) == [f"{replacement.pk}:late"]


def test_many_sweeps_at_once_raise_one_alert() -> None:
    pending_refund()
    now = timezone.now() + timedelta(days=11)
    assert sorted(map(str, at_once([lambda: alerts.raise_overdue(now)] * 4))) == ["0", "0", "0", "1"]
    assert StaffAlert.objects.count() == 1
    assert AuditEvent.objects.filter(action="alert.raised").count() == 1


# --- by e-mail too ---
def raise_one() -> StaffAlert:
    pending_refund()
    alerts.raise_overdue(timezone.now() + timedelta(days=11))
    return StaffAlert.objects.get()


def test_staff_are_told_by_e_mail_where_an_address_is_set(settings: Settings) -> None:
    settings.STAFF_ALERT_EMAIL = "desk@example.com"
    tasks.mail_alert(raise_one().pk)
    (letter,) = mail.outbox
    assert letter.to == ["desk@example.com"]
    assert "5531" in letter.body
    assert "王小明" not in letter.body


def test_without_an_address_nothing_is_sent() -> None:
    tasks.mail_alert(raise_one().pk)
    assert mail.outbox == []


def test_the_mail_is_a_job_after_commit_and_is_never_sent_inside_a_transaction(
    settings: Settings, redis_server: Any
) -> None:
    settings.STAFF_ALERT_EMAIL = "desk@example.com"
    pending_refund()
    with transaction.atomic():
        alerts.raise_overdue(timezone.now() + timedelta(days=11))
        alert = StaffAlert.objects.get()
        assert redis_server.llen("shop") == 0
        with pytest.raises(RuntimeError):
            alerts.mail(alert.pk)
    assert redis_server.llen("shop") == 1


def test_a_mail_server_that_fails_takes_nothing_back(settings: Settings) -> None:
    settings.STAFF_ALERT_EMAIL, settings.EMAIL_BACKEND = "desk@example.com", "refunds.tests.test_alerts.BrokenMail"
    alert = raise_one()
    with pytest.raises(SMTPException):
        tasks.mail_alert(alert.pk)
    assert StaffAlert.objects.filter(pk=alert.pk, settled_at=None).exists()


def test_what_the_mail_server_did_not_take_is_sent_once_it_works_again_and_only_once(settings: Settings) -> None:
    settings.STAFF_ALERT_EMAIL, working = "desk@example.com", settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "refunds.tests.test_alerts.BrokenMail"
    alert = raise_one()
    with pytest.raises(SMTPException):
        tasks.mail_alert(alert.pk)
    tasks.raise_overdue()  # it still fails: the next round tries again
    settings.EMAIL_BACKEND = working
    for _ in range(2):
        tasks.raise_overdue()
        assert len(mail.outbox) == 1
        tasks.mail_alert(alert.pk)
    assert len(mail.outbox) == 1
    alert.refresh_from_db()
    assert (alert.mailed_at is None, alert.mailing_since) == (False, None)


def test_what_is_settled_needs_no_mail_any_more_and_without_an_address_all_wait(settings: Settings) -> None:
    alert = raise_one()
    tasks.raise_overdue()
    assert StaffAlert.objects.get().mailed_at is None
    alerts.settle(alert_id=alert.pk, actor=cast.staff(), note="好了")
    settings.STAFF_ALERT_EMAIL = "desk@example.com"
    tasks.raise_overdue()
    assert mail.outbox == []


def test_workers_at_once_send_it_once(settings: Settings) -> None:
    settings.STAFF_ALERT_EMAIL = "desk@example.com"
    alert = raise_one()
    sends: list[Callable[[], None]] = [partial(alerts.mail, alert.pk), alerts.mail_waiting]
    assert {str(ended) for ended in at_once(sends * 3)} == {"None"}
    assert len(mail.outbox) == 1


def test_a_worker_that_died_over_it_keeps_it_for_minutes_and_not_for_ever(settings: Settings) -> None:
    settings.STAFF_ALERT_EMAIL = "desk@example.com"
    alert, now = raise_one(), timezone.now()
    for begun, sent in ((now - timedelta(minutes=9), 0), (now - timedelta(minutes=11), 1)):
        StaffAlert.objects.filter(pk=alert.pk).update(mailing_since=begun)
        tasks.raise_overdue()
        assert len(mail.outbox) == sent


def test_a_mail_server_that_is_away_is_not_asked_for_every_alert(settings: Settings) -> None:
    settings.STAFF_ALERT_EMAIL, settings.EMAIL_BACKEND = "desk@example.com", "refunds.tests.test_alerts.BrokenMail"
    for number in range(5):
        alerts.raise_alert(kind=AlertKind.DIFFERENCE, subject=f"simulated:amount:{number}")
    BrokenMail.asked = 0
    tasks.raise_overdue()
    assert BrokenMail.asked == 3


class BrokenMail:
    """A mail server that hangs up."""

    asked = 0

    def __init__(self, **options: Any) -> None:
        self.options = options

    def send_messages(self, messages: Any) -> int:
        type(self).asked += 1
        raise SMTPException("gone")


# --- settled by a person ---
def test_a_person_settles_it_once_with_a_note() -> None:
    alert = raise_one()
    settled = alerts.settle(alert_id=alert.pk, actor=cast.staff(), note="已改以匯款退還")
    assert (settled.settled_by, settled.note) == (cast.staff_user(), "已改以匯款退還")
    assert AuditEvent.objects.get(action="alert.settled").chosen == {"note": "已改以匯款退還"}
    with pytest.raises(Refusal) as caught:
        alerts.settle(alert_id=alert.pk, actor=cast.staff(), note="再一次")
    assert caught.value.code == "wrong_state"
    assert alerts.raise_overdue(timezone.now() + timedelta(days=12)) == 0


def test_two_people_at_once_settle_it_once() -> None:
    alert, actor = raise_one(), cast.staff()
    ended = at_once([lambda: alerts.settle(alert_id=alert.pk, actor=actor, note="好了")] * 3)
    assert sorted(type(each).__name__ for each in ended) == ["Refusal", "Refusal", "StaffAlert"]
    assert AuditEvent.objects.filter(action="alert.settled").count() == 1


def test_settling_needs_the_permission_a_note_and_an_alert() -> None:
    alert = raise_one()
    for actor in (cast.staff("auditor"), cast.shopper()):
        with pytest.raises(NotAllowed):
            alerts.settle(alert_id=alert.pk, actor=actor, note="好了")
    with pytest.raises(InvalidInput):
        alerts.settle(alert_id=alert.pk, actor=cast.staff(), note=" ")
    with pytest.raises(NotFound):
        alerts.settle(alert_id=alert.pk + 1, actor=cast.staff(), note="好了")


# --- by API ---
def api(role: str) -> Client:
    token, _ = Token.objects.get_or_create(user=cast.staff_user(role) if role != "customer" else cast.customer_user())
    return Client(headers={"Authorization": f"Token {token.key}"})


def test_the_api_lists_and_settles() -> None:
    switch_on("refuse")
    alert = raise_one()
    shown = api("auditor").get("/api/v1/alerts/?state=open&kind=overdue&order=5531").json()
    assert [each["alert_id"] for each in shown["results"]] == [alert.pk]
    assert shown["results"][0]["facts"]["level"] == "warning"
    address = f"/api/v1/alerts/{alert.pk}/settle/"
    body = {"note": "已處理"}
    assert api("auditor").post(address, body, content_type="application/json").status_code == 403
    answer = api("staff").post(address, body, content_type="application/json")
    assert (answer.status_code, answer.json()["settled_by"], answer.json()["note"]) == (200, "staff", "已處理")
    assert api("staff").post(address, body, content_type="application/json").status_code == 409
    assert api("staff").get("/api/v1/alerts/?state=open").json()["results"] == []
    assert api("staff").post("/api/v1/alerts/99/settle/", body, content_type="application/json").status_code == 404
    assert api("staff").post(address, {}, content_type="application/json").json()["field"] == "note"


def test_a_long_list_of_alerts_costs_as_many_queries_as_a_short_one() -> None:
    client = api("staff")
    pending_refund()
    counts = []
    for number in ("6802", "6803"):
        alerts.raise_overdue(timezone.now() + timedelta(days=16))
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/api/v1/alerts/").status_code == 200
        counts.append(len(queries))
        pending_refund(cast.place(number), (1, 1, "other"))
    assert StaffAlert.objects.count() == 4
    assert counts[0] == counts[1]


def test_customers_read_neither_alerts_nor_books() -> None:
    for address in ("/api/v1/alerts/", "/api/v1/books/"):
        assert api("customer").get(address).status_code == 403
        assert api("auditor").get(address).status_code == 200


def test_the_api_shows_what_was_compared() -> None:
    tasks.compare_books()
    shown = api("staff").get("/api/v1/books/?provider=simulated").json()["results"]
    assert [(each["provider"], each["differences"]) for each in shown] == [("simulated", [])]
