"""A value that cannot work stops the start with one sentence that names it, before anything else runs."""

import os
import subprocess
import sys

import pytest

from backoffice.local.preflight import check_settings
from backoffice.local.processes import StartError
from backoffice.local.stack import ROOT

WELL_FORMED = {
    "DJANGO_SETTINGS_MODULE": "backoffice.settings",
    "SECRET_KEY": "a long text that only this test knows of",
    "DATABASE_URL": "postgres://127.0.0.1/none",
    "REDIS_URL": "redis://127.0.0.1/0",
    "PATH": os.environ["PATH"],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REDIS_URL", "redis://host:port"),
        ("REDIS_URL", "redis://"),
        ("ANTHROPIC_BASE_URL", "http://"),
        ("ANTHROPIC_BASE_URL", ""),
        ("SITE_URL", "https://:8000"),
        ("ORDER_WEBHOOK_URL", "http://"),
        ("AGENT_MODEL", " "),
        ("PAYMENT_GATEWAY", "cash"),
        ("STRIPE_WEBHOOK_SECRET", "whsec_short"),
        ("STRIPE_API_BASE", "api.stripe.com"),
        ("STAFF_ALERT_EMAIL", "a@example.com, b@example.com"),
        ("EMAIL_URL", "carrier-pigeon://roof"),
        ("MODEL_PRICES", "claude-sonnet-5-5=3/3.75/0.3/15"),
        ("MODEL_PRICES", "*=3/15"),
        ("MODEL_PRICES", "*=3/-1/0.3/15"),
        ("OFFICE_HOURS", "monday 09:00-18:00"),
        ("OFFICE_HOURS", "mon-fri 18:00-09:00"),
        ("CLOSED_DAYS", "2027-02-30"),
        ("CLOSED_DAYS", "01-01, 13-01"),
        ("CLOSED_DAYS", "2027-2-8"),
        ("CLOSED_DAYS", "new year"),
        ("AGENT_DIE_AT", "reply_kept.before"),
        ("AGENT_DIE_AT", "on the way home:1"),
        ("CSRF_TRUSTED_ORIGINS", "https://desk.example.com,desk.example.com"),
    ],
)
def test_a_value_that_cannot_work_is_refused_in_one_sentence(name: str, value: str) -> None:
    with pytest.raises(StartError) as refused:
        check_settings(env={**WELL_FORMED, name: value}, cwd=ROOT)
    assert str(refused.value).startswith(name)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"REDIS_URL": "unix:///run/valkey.sock"},
        {"REDIS_URL": "rediss://:secret@[::1]:6380/1"},
        {"ORDER_WEBHOOK_URL": ""},
        {"OFFICE_HOURS": "mon-fri 09:00-18:00, sat 10:00-12:30"},
        {"OFFICE_HOURS": ""},
        {"CLOSED_DAYS": "2027-02-08, 01-01,02-29"},
        {"AGENT_DIE_AT": "reply_kept.before:1"},
        {"MODEL_PRICES": "*=0/0/0/0"},
        {"PAYMENT_GATEWAY": "stripe", "STRIPE_API_KEY": "sk_test_1"},
        {"STAFF_ALERT_EMAIL": "desk@example.com", "EMAIL_URL": "smtp+tls://desk:secret@mail.example.com:587"},
        {"CSRF_TRUSTED_ORIGINS": "https://desk.example.com,https://*.example.com"},
    ],
)
def test_what_can_work_is_taken(given: dict[str, str]) -> None:
    check_settings(env=WELL_FORMED | given, cwd=ROOT)


@pytest.mark.parametrize(("given", "secure"), [({"SECURE_COOKIES": "true"}, "True"), ({}, "False")])
def test_both_cookies_keep_to_https_or_neither_does(given: dict[str, str], secure: str) -> None:
    asked = "from backoffice import settings as s; print(s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE)"
    command = [sys.executable, "-W", "ignore", "-c", asked]
    done = subprocess.run(command, env=WELL_FORMED | given, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [secure, secure]


def test_stripe_needs_its_key() -> None:
    with pytest.raises(StartError) as refused:
        check_settings(env=WELL_FORMED | {"PAYMENT_GATEWAY": "stripe"}, cwd=ROOT)
    assert str(refused.value).startswith("STRIPE_API_KEY")
