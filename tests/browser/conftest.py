"""A real browser on the whole desk. Screenshots are kept as files in build/screens."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from backoffice.local.chromium import find_chromium
from backoffice.local.stack import Stack
from tests.browser.visit import Visit

SCREENS = Path(__file__).resolve().parents[2] / "build" / "screens"
# No calls home, and no sandbox where a root user runs the tests.
QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SIZES = {
    "desktop": {"width": 1440, "height": 900},
    "tablet": {"width": 1024, "height": 768},
    "phone": {"width": 390, "height": 844},
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Started per module and gone after it: Playwright's loop would make Django refuse the ORM in other tests."""
    path = find_chromium()
    assert path, "The browser tests need Chromium: run `make test`, which finds or installs one."
    options = [*QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=options)
        yield running
        running.close()


@pytest.fixture
def visit(browser: Browser, stack: Stack) -> Iterator[Callable[..., Visit]]:
    """`visit("ming", device="phone", language="en")`: a signed-in page in a browser of its own."""
    contexts = []

    def open_page(
        username: str | None, *, device: str = "desktop", language: str = "zh-TW", **options: object
    ) -> Visit:
        context = browser.new_context(
            base_url=stack.url,
            viewport=SIZES[device],  # type: ignore[arg-type]
            is_mobile=device == "phone",
            has_touch=device == "phone",
            locale=language,
            timezone_id="Asia/Taipei",
            **options,  # type: ignore[arg-type]
        )
        contexts.append(context)
        page: Page = context.new_page()
        page.set_default_timeout(20_000)
        visiting = Visit(page, device=device, screens=SCREENS)
        if username:
            visiting.sign_in(username)
        return visiting

    yield open_page
    for context in contexts:
        context.close()
