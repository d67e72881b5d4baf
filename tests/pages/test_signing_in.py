"""The front door: everybody lands where their work is, and a language is chosen."""

import pytest
from django.test import Client
from pytest_django import Settings

from orders.tests import cast
from tests.pages.visiting import signed_in, stranger, text_of

pytestmark = pytest.mark.django_db

LANDINGS = {
    "ming": "/orders/",
    "staff": "/staff/",
    "supervisor": "/staff/",
    "warehouse": "/staff/orders/",
    "auditor": "/staff/audit/",
    "admin": "/admin/",
}


@pytest.mark.parametrize(("name", "landing"), LANDINGS.items())
def test_everybody_signs_in_with_djangos_form_and_lands_where_their_work_is(name: str, landing: str) -> None:
    _ = cast.customer_user(name) if name in cast.WITH_ACCOUNT else cast.staff_user(name)
    browser = Client(enforce_csrf_checks=True)
    browser.get("/accounts/login/")
    token = browser.cookies["csrftoken"].value
    form = {"username": name, "password": cast.PASSWORD, "csrfmiddlewaretoken": token}
    answer = browser.post("/accounts/login/", form, follow=True)
    assert (answer.status_code, answer.request["PATH_INFO"]) == (200, landing)
    assert "sessionid" in browser.cookies


def test_a_wrong_password_is_told_in_words_and_signs_nobody_in() -> None:
    cast.customer_user("ming")
    answer = stranger().post("/accounts/login/", {"username": "ming", "password": "wrong"})
    assert "帳號或密碼不正確" in text_of(answer)
    assert not answer.wsgi_request.user.is_authenticated


def test_a_stranger_at_the_front_door_is_asked_to_sign_in() -> None:
    answer = stranger().get("/", follow=True)
    assert answer.request["PATH_INFO"] == "/accounts/login/"


def test_somebody_without_any_role_lands_on_a_page_that_says_what_would_be_there() -> None:
    browser = stranger()
    browser.force_login(cast.user("nobody"))
    answer = browser.get("/", follow=True)
    assert answer.status_code == 200
    assert "這裡還沒有訂單" in text_of(answer)


def test_the_demo_accounts_stand_there_only_in_a_demo(settings: Settings) -> None:
    settings.DEMO = False
    assert "supervisor" not in text_of(stranger().get("/accounts/login/"))
    settings.DEMO = True
    assert "supervisor" in text_of(stranger().get("/accounts/login/"))


@pytest.mark.parametrize("wanted", ["https://elsewhere.example/", "elsewhere.example", "/" + "x" * 3000])
def test_a_way_back_to_what_is_no_page_of_ours_is_not_taken(wanted: str) -> None:
    cast.customer_user("ming")
    form = {"username": "ming", "password": cast.PASSWORD, "next": wanted}
    assert stranger().post("/accounts/login/", form)["Location"] == "/"


@pytest.mark.parametrize(
    ("accepts", "words"),
    [
        ("zh-TW,zh;q=0.9,en;q=0.5", "登入"),
        ("zh", "登入"),
        ("zh-HK", "登入"),
        ("de-DE", "登入"),
        ("", "登入"),
        ("en-US,en;q=0.9", "Sign in"),
        ("de-DE,de;q=0.9,en;q=0.5", "Sign in"),
    ],
)
def test_the_browsers_languages_decide_and_chinese_is_for_everybody_else(accepts: str, words: str) -> None:
    assert f"<h1>{words}</h1>" in text_of(stranger(accepts).get("/accounts/login/"))


def test_the_switch_outweighs_the_browser() -> None:
    browser = stranger()
    browser.post("/i18n/setlang/", {"language": "en", "next": "/accounts/login/"})
    page = text_of(browser.get("/accounts/login/"))
    assert "<h1>Sign in</h1>" in page
    assert ">繁體中文</button>" in page


def test_signing_out_leads_back_to_the_sign_in() -> None:
    answer = signed_in("ming").post("/accounts/logout/", follow=True)
    assert answer.request["PATH_INFO"] == "/accounts/login/"


@pytest.mark.parametrize(
    ("page", "goes_on_at"),
    [("/staff/conversations/7/", "/staff/conversations/7/"), ("https://elsewhere.example/x/", "/"), ("", "/")],
)
def test_whose_session_was_over_when_a_form_was_sent_goes_on_at_its_page(
    client: Client, page: str, goes_on_at: str
) -> None:
    came_from = f"http://testserver{page}" if page.startswith("/") else page
    answer = client.post("/staff/conversations/7/reply/", {"text": "您好"}, headers={"referer": came_from})
    assert answer["Location"] == f"/accounts/login/?next={goes_on_at}"
