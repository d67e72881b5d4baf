"""Text that means harm, through the stream, the page, the staff's pages and the admin: it stays text.

Watched in a real browser: no script of it runs, no element of it is made, and no request leaves the site.
"""

import json
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pytest
from playwright.sync_api import Page, Route, expect

from backoffice.local.stack import Stack
from orders.tests.factories import FREE_DELIVERY, line_body, order_body, payment_body, shipment_body
from tests.browser.visit import WAIT, Visit
from tests.stack import Visitor, rows

EVIL: Final = (
    '<img src="https://evil.example/a.png" onerror="window.ran=1"><script>window.ran=2</script>'
    '"><svg onload=window.ran=3><iframe src="//evil.example"></iframe> [x](javascript:window.ran=4) '
    "![x](https://evil.example/b.png) [x](https://evil.example/) [<img src=//evil.example onerror=window.ran=10>](/) "
    "{{7*7}} </template></li><style>@import'//evil.example'"
    "</style></script><script>window.ran=8</script> " + "W" * 300
)
NAME: Final = '耳機<img src=//evil.example onerror="window.ran=5"></script><script>window.ran=6</script>'
STREET: Final = "路<img src=//evil.example onerror=window.ran=9> [x](https://evil.example/)"
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
            lines=[
                line_body(1, NAME, 1200, sku="EVIL", category="audio"),
                line_body(2, f"殼{NAME}", 380, sku="EVIL-2"),
            ],
            payments=[payment_body(1580)],
            shipping=FREE_DELIVERY,
            shipments=[shipment_body({1: 1}, tracking_number="<script>window.ran=7</script>")],
            customer=customer,
        )
        answer = supervisor.post_json("/api/v1/orders/", body)
        assert answer.status_code in {200, 201}, answer.text
    return number


@pytest.fixture
def says_evil(stack: Stack) -> Iterator[None]:
    """The stand-in's next replies in the chat of this order: the text above, in words, on cards and to colleagues."""
    url = stack.env["ANTHROPIC_BASE_URL"]
    line = {"line_item_id": "li_1", "quantity": 1, "reason": "defective", "product_id": None}
    place = {"recipient": NAME[:100], "phone": "0912345678", "postal_code": "106", "city": "台北市", "district": ""}
    cancel = {"lines": [{"line_item_id": "li_2", "quantity": 1, "reason": "late_delivery", "action": None}]}
    replies = [
        ("evil-words", EVIL, []),
        ("evil-cards", "", [{"name": "quote_refund", "input": cancel}]),
        (
            "evil-cards",
            EVIL,
            [
                {"name": "create_return", "input": {"quote_id": None, "exchange_lines": [line]}},
                {"name": "update_shipping_address", "input": {**place, "street": STREET}},
            ],
        ),
        ("evil-end", "", [{"name": "hand_off_to_human", "input": {"reason": "complaint", "summary": EVIL}}]),
        ("evil-end", EVIL, []),
    ]
    scripted = {"replies": [{"text": text, "tool_uses": uses, "match": match} for match, text, uses in replies]}
    _control(f"{url}/control/script", json.dumps(scripted).encode(), "POST")
    yield
    _control(f"{url}/control", None, "DELETE")


def _control(url: str, body: bytes | None, method: str) -> None:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method=method)
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10).close()


def watched(visiting: Visit, asked: list[str]) -> Page:
    """What leaves for another site is noted, and answered with a picture of nothing."""

    def gone(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(body="", content_type="image/png")

    visiting.page.route("**://evil.example/**", gone)
    visiting.page.on("request", lambda request: asked.append(request.url))
    return visiting.page


def harm(page: Page, stack: Stack, asked: list[str]) -> list[str]:
    """What the text has done on this page."""
    found = [f"asked {url}" for url in asked if not url.startswith((stack.url, "data:", "blob:", "about:"))]
    if page.evaluate("window.ran") is not None:
        found.append("a script ran")
    found += [f"made {tag}" for tag in page.locator(MADE).evaluate_all("all => all.map(each => each.outerHTML)")]
    return found


def conversation_of(stack: Stack, number: str) -> dict[str, Any]:
    (found,) = rows(
        stack,
        "select c.id, o.id as order_id, (select min(t.id) from agent_turn t where t.conversation_id = c.id) as turn_id "
        "from agent_conversation c join orders_order o on o.id = c.order_id where o.number = %s",
        number,
    )
    return found


def audit_rows(stack: Stack, order_id: int) -> list[int]:
    """One row of the history per kind of action: each has its own words."""
    query = "select min(id) as id from orders_auditevent where order_id = %s group by action"
    return [row["id"] for row in rows(stack, query, order_id)]


def visited(visiting: Visit, stack: Stack, asked: list[str], paths: Sequence[str]) -> None:
    page = watched(visiting, asked)
    for path in paths:
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 200, path
        assert "unsafe" not in answer.headers["content-security-policy"], path
        assert harm(page, stack, asked) == [], path
    assert visiting.problems == []


def test_text_that_means_harm_stays_text_everywhere(
    visit: Callable[..., Visit], stack: Stack, hostile_order: str, says_evil: None
) -> None:
    asked: list[str] = []
    ming = visit("ming")
    page = watched(ming, asked)
    ming.open_order(hostile_order)
    ming.write("evil-words " + EVIL)
    ming.sees(ming.said_by("agent").filter(has_text="window.ran=2"))
    ming.write("evil-cards")
    for kind in ("exchange", "address"):
        assert "onerror" in ming.sees(ming.card(kind)).inner_text()
    assert harm(page, stack, asked) == []
    page.reload()
    ming.sees(ming.card("address"))
    assert harm(page, stack, asked) == []
    ming.press(ming.card("address"), "確認新地址")
    ming.sees(ming.card("address", "confirmed"))
    ming.write("evil-end")
    expect(ming.said_by("agent").filter(has_text="window.ran=2")).to_have_count(3, timeout=WAIT)

    talk = conversation_of(stack, hostile_order)
    staff = visit("staff")
    watched(staff, asked)
    staff.page.goto(f"/staff/conversations/{talk['id']}/")
    expect(staff.page.locator("#about")).to_contain_text("window.ran=2")
    # What looks like a field of a ready-made answer that nobody has filled is not sent.
    staff.page.locator("#reply").fill(EVIL.replace("{{7*7}}", ""))
    staff.page.get_by_role("button", name="送出").click()
    ming.sees(ming.said_by("staff").filter(has_text="window.ran=2"))
    assert harm(page, stack, asked) == []
    assert page.locator(".chat-log a:not([href^='/'])").count() == 0
    assert ming.fits_the_width()
    assert ming.problems == []

    trace = f"/staff/conversations/{talk['id']}/turns/{talk['turn_id']}/"
    pages = ("/staff/", f"/staff/conversations/{talk['id']}/", trace, f"/staff/orders/{hostile_order}/")
    visited(staff, stack, asked, pages)
    rows_of_history = [f"/admin/orders/auditevent/{pk}/change/" for pk in audit_rows(stack, talk["order_id"])]
    assert len(rows_of_history) > 5
    in_admin = (
        f"/admin/agent/conversation/{talk['id']}/change/",
        f"/admin/orders/order/{talk['order_id']}/change/",
        f"/admin/orders/auditevent/?q={hostile_order}",
        *rows_of_history,
    )
    visited(visit("auditor"), stack, asked, in_admin)


# Put into a page of ours by somebody who got past the escaping.
PUT_IN: Final = "html => document.body.insertAdjacentHTML('beforeend', html)"
# A picture that cannot be had has told of itself by then.
TOLD: Final = """() => new Promise(done => {
    const picture = new Image();
    picture.onerror = picture.onload = () => setTimeout(done, 0);
    picture.src = "/static/there-is-no-such-picture.png";
})"""


@pytest.mark.parametrize("policy", [True, False], ids=["with the policy", "without it"])
def test_markup_that_got_past_the_escaping_is_held_by_the_policy_alone(
    visit: Callable[..., Visit], policy: bool
) -> None:
    """The same markup on the same page, with the Content-Security-Policy and with a browser that does not heed it."""
    visiting = visit(None, bypass_csp=not policy)
    left: list[str] = []

    def leaves(route: Route) -> None:
        left.append(route.request.url)
        route.abort()

    visiting.page.route("**://evil.example/**", leaves)
    visiting.page.goto("/accounts/login/")
    visiting.page.evaluate(PUT_IN, EVIL)
    visiting.page.evaluate(TOLD)
    assert (visiting.page.evaluate("window.ran") is None) is policy
    assert (left == []) is policy
    assert bool(visiting.problems) is policy


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
