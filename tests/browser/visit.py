"""What a person does on the pages: signs in, writes, waits for an answer, presses a button, looks."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

WAIT = 30_000
SEND = re.compile("^(送出|Send)$")


@dataclass
class Visit:
    page: Page
    device: str
    screens: Path
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        # A script that breaks or a request that the CSP refuses is a failure, whatever the page looks like.
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on(
            "console",
            lambda message: self.problems.append(message.text) if "Content Security Policy" in message.text else None,
        )

    def sign_in(self, username: str, password: str = "demo") -> None:
        self.page.goto("/accounts/login/")
        self.page.fill("input[name=username]", username)
        self.page.fill("input[name=password]", password)
        self.page.click("main button[type=submit], main form button:not([type=button])")
        self.page.wait_for_url(lambda url: "/accounts/login" not in url)

    def open_order(self, number: str) -> None:
        self.page.goto(f"/orders/{number}/")
        expect(self.page.locator("#chat")).to_be_visible()

    def write(self, text: str) -> None:
        self.page.fill("#chat-text", text)
        if self.device == "phone":  # where Enter begins a new line
            self.page.get_by_role("button", name=SEND).click()
        else:
            self.page.press("#chat-text", "Enter")
        expect(self.said_by("customer").filter(has_text=text[:20]).last).to_be_visible()

    def said_by(self, author: str) -> Locator:
        return self.page.locator(f".chat-log .bubble[data-author={author}]")

    def card(self, kind: str, state: str = "open") -> Locator:
        return self.page.locator(f".chat-log article.card[data-kind={kind}][data-state={state}]")

    def sees(self, locator: Locator) -> Locator:
        expect(locator.first).to_be_visible(timeout=WAIT)
        return locator.first

    def press(self, card: Locator, name: str) -> None:
        card.get_by_role("button", name=name).click()

    def tab_to(self, target: Locator, at_most: int = 120) -> None:
        """Reach `target` with the Tab key alone, as somebody without a mouse does."""
        for _ in range(at_most):
            if target.evaluate("(node) => node === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"the Tab key does not lead to {target}")

    def shoot(self, name: str) -> None:
        self.screens.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=self.screens / f"{name}-{self.device}.png", full_page=True)

    def shoot_part(self, part: Locator, name: str) -> None:
        """One part of the page, as a picture for the README."""
        part.screenshot(path=self.screens / f"{name}-{self.device}.png")

    def fits_the_width(self) -> bool:
        """Nothing sticks out sideways: a phone must not scroll to the right."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1"))
