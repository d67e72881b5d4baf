"""Text that means harm, through the stream, the page, the staff's pages and the admin: it stays text.

Watched in a real browser: no script of it runs, no element of it is made, and no request leaves the site.
"""

import json
import urllib.request
from collections.abc import Callable, Iterator
from typing import Final

import pytest
from playwright.sync_api import Page

from backoffice.local.stack import Stack
from orders.tests.factories import line_body, order_body, payment_body, shipment_body
from tests.browser.visit import Visit
from tests.stack import Visitor, rows

EVIL: Final = (
    '<img src="https://evil.example/a.png" onerror="window.ran=1"><script>window.ran=2</script>'
    '"><svg onload=window.ran=3><iframe src="//evil.example"></iframe> [x](javascript:window.ran=4) '
    "![x](https://evil.example/b.png) [x](https://evil.example/) {{7*7}} </template></li><style>@import'//evil.example'"
)
NAME: Final = '耳機<img src=//evil.example onerror="window.ran=5"></script><script>window.ran=6</script>'
MADE: Final = (
    "iframe, svg[onload], [onerror], [onload], [src*='evil.example'], [href*='evil.example'], [href^='javascript:']"
)


@pytest.fixture
def hostile_order(stack: Stack) -> str:
    number = "evil-1"
    with Visitor(stack, "supervisor") as supervisor:
        known = supervisor.get("/api/v1/orders/5531/").json()["customer"]
        customer = {key: known[key] for key in ("external_id", "name", "email", "phone") if known.get(key)}
        body = order_body(
            number,
            lines=[line_body(1, NAME, 1200, sku="EVIL", category="audio")],
            payments=[payment_body(1200)],
            shipments=[shipment_body({1: 1}, tracking_number="<script>window.ran=7</script>")],
            customer=customer,
        )
        answer = supervisor.post_json("/api/v1/orders/", body)
        assert answer.status_code in {200, 201}, answer.text
    return number


@pytest.fixture
def says_evil(stack: Stack) -> Iterator[None]:
    """The stand-in's next reply in the chat of this order is the text above."""
    url = stack.env["ANTHROPIC_BASE_URL"]
    scripted = {"replies": [{"text": EVIL, "match": "evil-words"}]}
    _control(f"{url}/control/script", json.dumps(scripted).encode(), "POST")
    yield
    _control(f"{url}/control", None, "DELETE")


def _control(url: str, body: bytes | None, method: str) -> None:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method=method)
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10).close()


def watched(visiting: Visit, asked: list[str]) -> Page:
    visiting.page.on("request", lambda request: asked.append(request.url))
    return visiting.page


def harm(page: Page, stack: Stack, asked: list[str]) -> list[str]:
    """What the text has done on this page."""
    found = [f"asked {url}" for url in asked if not url.startswith((stack.url, "data:", "blob:", "about:"))]
    if page.evaluate("window.ran") is not None:
        found.append("a script ran")
    found += [f"made {tag}" for tag in page.locator(MADE).evaluate_all("all => all.map(each => each.outerHTML)")]
    return found


def test_text_that_means_harm_stays_text_everywhere(
    visit: Callable[..., Visit], stack: Stack, hostile_order: str, says_evil: None
) -> None:
    asked: list[str] = []
    ming = visit("ming")
    page = watched(ming, asked)
    ming.open_order(hostile_order)
    ming.write("evil-words " + EVIL)
    ming.sees(ming.said_by("agent").filter(has_text="window.ran=2"))
    assert harm(page, stack, asked) == []
    page.reload()
    ming.sees(ming.said_by("agent").filter(has_text="window.ran=2"))
    assert harm(page, stack, asked) == []
    assert ming.problems == []

    (talk,) = rows(
        stack,
        "select c.id from agent_conversation c join orders_order o on o.id = c.order_id where o.number = %s",
        hostile_order,
    )
    (order,) = rows(stack, "select id from orders_order where number = %s", hostile_order)
    staff_pages = ("/staff/", f"/staff/conversations/{talk['id']}/", f"/staff/orders/{hostile_order}/")
    admin_pages = (f"/admin/agent/conversation/{talk['id']}/change/", f"/admin/orders/order/{order['id']}/change/")
    for who, paths in (("staff", staff_pages), ("auditor", admin_pages)):
        visiting = visit(who)
        page = watched(visiting, asked)
        for path in paths:
            answer = page.goto(path)
            assert answer is not None
            assert answer.status == 200, path
            assert harm(page, stack, asked) == [], path
        assert visiting.problems == []


def test_text_that_became_markup_would_be_noticed(visit: Callable[..., Visit], stack: Stack) -> None:
    """The proofs above, held against a page that takes the text for markup."""
    asked: list[str] = []
    page = watched(visit(None), asked)
    page.route("**/doctored/", lambda route: route.fulfill(body=f"<body>{EVIL}</body>", content_type="text/html"))
    page.goto("/doctored/")
    found = harm(page, stack, asked)
    assert "a script ran" in found
    assert any(each.startswith("asked https://evil.example") for each in found)
    assert any(each.startswith("made ") for each in found)
