"""What the frameworks say by themselves reaches people in their own language."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone, translation
from django.utils.timesince import timesince
from rest_framework import serializers

from orders.strict import StrictBody, validated
from orders.tests import cast
from refunds.return_bodies import ReceiveBody

CHINESE = {"Accept-Language": "zh-TW"}


def kinds(kind: type[Any] = StrictBody) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from kinds(each)


def fields(serializer: Any) -> Iterator[Any]:
    """The serializer and all that stands in it, however deep."""
    yield serializer
    below = list(serializer.fields.values()) if isinstance(serializer, serializers.Serializer) else []
    child = getattr(serializer, "child", None)
    for each in [*below, *([child] if child is not None else [])]:
        yield from fields(each)


def test_every_sentence_of_a_field_that_a_body_has_is_translated() -> None:
    # Without a language a sentence stands as it is written.
    with translation.override(None):
        said = sentences()
    assert 'Expected a dictionary of items but got type "{input_type}".' in said
    with translation.override("zh-hant"):
        assert [each for each in sorted(said) if translation.gettext(each).isascii()] == []


def sentences() -> set[str]:
    return {str(sentence) for kind in kinds() for field in fields(kind()) for sentence in field.error_messages.values()}


@pytest.mark.parametrize("body", [None, [], {"found": []}, {"found": {"li_1": 3}}])
def test_a_body_of_another_shape_is_refused_in_words(body: object) -> None:
    with translation.override("zh-hant"), pytest.raises(Exception) as refused:
        validated(ReceiveBody, body)
    assert not str(refused.value)[:5].isascii()


@pytest.mark.django_db
def test_a_request_without_the_token_of_the_session_is_refused_in_words() -> None:
    browser = Client(enforce_csrf_checks=True, headers=CHINESE)
    browser.force_login(cast.staff_user("supervisor"))
    refused = browser.post("/api/v1/orders/", {}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf_failed")
    assert not any(word in refused.json()["message"] for word in ("Failed", "Referer", "missing"))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("{", "第 1 行第 2 個字"),
        ('{"amount": NaN}', "JSON"),
        ("\n\n  x", "第 3 行第 3 個字"),
    ],
)
def test_a_body_that_is_no_json_is_refused_in_words(body: str, words: str) -> None:
    browser = Client(headers=CHINESE)
    browser.force_login(cast.staff_user("supervisor"))
    refused = browser.post("/api/v1/orders/", body, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (400, "malformed_body")
    assert words in refused.json()["message"]
    assert "parse error" not in refused.json()["message"]


@pytest.mark.django_db
@pytest.mark.parametrize("size", [2_500_001, 3_000_000])
def test_a_body_that_is_too_large_is_refused_with_the_limit(size: int) -> None:
    browser = Client(headers={"Accept-Language": "en"})
    browser.force_login(cast.staff_user("supervisor"))
    refused = browser.post("/api/v1/orders/", '"' + "x" * size + '"', content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (413, "body_too_large")
    assert "2,500,000 bytes" in refused.json()["message"]


@pytest.mark.django_db
def test_so_is_one_that_no_address_of_the_api_was_to_read() -> None:
    refused = Client(headers={"Accept-Language": "en"}).post(
        "/webhooks/stripe/", "x" * 3_000_000, content_type="application/json"
    )
    assert (refused.status_code, refused.json()["code"]) == (413, "body_too_large")
    assert "2,621,440 bytes" in refused.json()["message"]


@pytest.mark.parametrize(("language", "said"), [("zh-hant", "14\xa0分鐘"), ("en", "14\xa0minutes")])
def test_minutes_that_have_passed_are_called_minutes(language: str, said: str) -> None:
    with translation.override(language):
        assert timesince(timezone.now() - timedelta(minutes=14, seconds=5)) == said
