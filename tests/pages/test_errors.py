"""What cannot be answered is answered kindly: a page for people, one object for programs."""

import pytest
from django.test import Client
from rest_framework import exceptions

from backoffice.api import as_refusal
from orders.strict import first_problem
from orders.tests import cast
from tests.pages.visiting import program, signed_in, stranger, text_of

pytestmark = pytest.mark.django_db
KEYS = {"code", "message", "hint", "retryable"}


def test_a_missing_page_says_so_in_both_languages_and_shows_the_way_back() -> None:
    assert "找不到這個頁面" in text_of(stranger().get("/nothing/"))
    page = stranger("en").get("/nothing/")
    assert page.status_code == 404
    assert "We could not find this" in text_of(page)
    assert 'href="/"' in text_of(page)


@pytest.mark.parametrize("path", ["/api/v1/nothing/", "/api/v1/orders/none/nothing/"])
def test_below_the_api_a_missing_address_is_the_error_object(path: str) -> None:
    answer = Client().get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert set(answer.json()) >= KEYS


def test_a_program_that_accepts_json_gets_json_from_pages_too() -> None:
    answer = Client(headers={"Accept": "application/json"}).get("/nothing/")
    assert answer.json()["code"] == "not_found"


def test_a_fault_of_ours_shows_no_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise RuntimeError("secret of the inside")

    monkeypatch.setattr("backoffice.screens.customer.orders_of", broken)
    cast.order_5531()
    browser = signed_in("ming", raise_request_exception=False)
    answer = browser.get("/orders/")
    assert answer.status_code == 500
    assert "我們這邊出了點問題" in text_of(answer)
    assert "secret" not in text_of(answer)


def test_a_host_that_is_not_ours_is_refused_without_a_trace() -> None:
    answer = Client(raise_request_exception=False).get("/", headers={"host": "evil.example"})
    assert answer.status_code == 400
    assert "Traceback" not in text_of(answer)


API_ERRORS = [
    ("get", "/api/v1/orders/", {}, 401, "not_authenticated"),
    ("get", "/api/v1/orders/", {"HTTP_AUTHORIZATION": "Token wrong"}, 401, "not_authenticated"),
    ("delete", "/api/v1/orders/", {}, 401, "not_authenticated"),
]


@pytest.mark.parametrize(("method", "path", "extra", "status", "code"), API_ERRORS)
def test_every_refusal_of_the_api_is_the_one_object(
    method: str, path: str, extra: dict[str, str], status: int, code: str
) -> None:
    answer = getattr(Client(), method)(path, **extra)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert set(answer.json()) >= KEYS


def test_a_wrong_method_type_and_body_are_each_named() -> None:
    staff = program("supervisor")
    wrong_method = staff.delete("/api/v1/orders/")
    assert (wrong_method.status_code, wrong_method.json()["code"]) == (405, "method_not_allowed")
    wrong_type = staff.post("/api/v1/orders/", "x=1", content_type="application/x-www-form-urlencoded")
    assert (wrong_type.status_code, wrong_type.json()["code"]) == (415, "unsupported_media_type")
    wrong_body = staff.post("/api/v1/orders/", "{", content_type="application/json")
    assert (wrong_body.status_code, wrong_body.json()["code"]) == (400, "malformed_body")


def test_a_session_without_its_token_is_refused_as_such() -> None:
    browser = program("supervisor", enforce_csrf_checks=True)
    answer = browser.post("/api/v1/orders/", "{}", content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")


@pytest.mark.parametrize(
    ("detail", "field", "message"),
    [
        ({"lines": {1: {"quantity": ["wrong"]}}}, "lines[1].quantity", "wrong"),
        ({"lines": [{}, {"quantity": ["wrong"]}]}, "lines[1].quantity", "wrong"),
        ({"shipping": {"fee": ["wrong"]}}, "shipping.fee", "wrong"),
        ({"shipping": {"non_field_errors": ["wrong"]}}, "shipping", "wrong"),
        ({"shipping": {"fee": "wrong"}}, "shipping.fee", "wrong"),
        (["wrong"], "", "wrong"),
    ],
)
def test_the_field_of_a_complaint_is_named_by_its_path(detail: object, field: str, message: str) -> None:
    assert first_problem(detail) == (field, message)


def test_too_many_requests_say_how_long_to_wait() -> None:
    refusal = as_refusal(exceptions.Throttled(wait=12))
    assert refusal
    assert (refusal.status, refusal.details, refusal.retryable) == (429, {"retry_after": 12}, True)


def test_what_nobody_expected_is_no_refusal() -> None:
    assert as_refusal(ValueError("surprise")) is None


def test_the_api_page_needs_nothing_from_elsewhere_and_no_inline_script() -> None:
    page = text_of(signed_in("staff").get("/api/v1/docs/"))
    assert "https://" not in page
    assert "<style" not in page
    assert page.count("<script") == page.count('<script src="/')
    assert program("staff").get("/api/v1/schema/").status_code == 200
