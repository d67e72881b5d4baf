"""Who is answered in JSON: programs, whatever they say of themselves; never a browser."""

import pytest
from django.test import RequestFactory

from orders.http import wants_json

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize(
    ("path", "headers", "expected"),
    [
        ("/orders/", {"Accept": BROWSER}, False),
        ("/orders/", {"Accept": "text/html, application/json"}, False),
        ("/orders/", {"Accept": "*/*", "HX-Request": "true"}, False),
        ("/orders/", {"Accept": "application/json"}, True),
        ("/orders/", {"Accept": "*/*"}, True),
        ("/orders/", {}, True),
        ("/api/v1/orders/", {"Accept": BROWSER}, True),
    ],
)
def test_browsers_get_pages_and_programs_json(path: str, headers: dict[str, str], expected: bool) -> None:
    assert wants_json(RequestFactory().get(path, headers=headers)) is expected
