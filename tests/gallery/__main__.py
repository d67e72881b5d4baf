"""Runs the desk with the demo's data, plays a day on it, and takes a picture of every page."""

import argparse
import os
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from backoffice.local.chromium import find_chromium
from backoffice.local.stack import Stack
from tests.browser.conftest import QUIET, SIZES
from tests.browser.visit import Visit
from tests.gallery.scenes import SCENES, Scene
from tests.gallery.story import play
from tests.stack import running_stack

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "screens"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.gallery", description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the pictures go")
    parser.add_argument("--only", default="", help="scenes whose name contains one of these words, with commas between")
    parser.add_argument("--all", action="store_true", help="every scene at three widths in both languages, to look at")
    options = parser.parse_args()
    if options.all and options.folder == FOLDER:
        raise SystemExit("--all makes some 250 pictures: give another --folder than that of the documentation.")
    path = find_chromium()
    if not path:
        raise SystemExit("The gallery needs Chromium: run `make screens`, which finds or installs one.")
    chosen = [scene for scene in SCENES if any(each in scene.name for each in options.only.split(","))]
    with running_stack(SWEEP_SECONDS="5") as stack:
        os.environ.update(stack.env)
        import django

        django.setup()
        values = play(stack)
        flags = [*QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=flags)
            for number, (scene, device) in enumerate(all_of(everywhere(chosen) if options.all else chosen), start=1):
                print(f"{number:3} {scene.name} ({device})", flush=True)
                shoot(browser, stack, scene, device, values, options.folder)


def everywhere(scenes: list[Scene]) -> list[Scene]:
    """Each page once per language, at every width."""
    pages = {(each.route, each.values, each.query, each.who, each.open): each for each in reversed(scenes)}
    return [
        replace(scene, name=f"{scene.name}-{language[:2]}", devices=tuple(SIZES), language=language)
        for scene in reversed(pages.values())
        for language in ("zh-TW", "en")
    ]


def all_of(scenes: list[Scene]) -> list[tuple[Scene, str]]:
    return [(scene, device) for scene in scenes for device in scene.devices]


def shoot(browser: Browser, stack: Stack, scene: Scene, device: str, values: dict[str, str], folder: Path) -> None:
    """Every picture with a browser of its own: nobody else's session, nothing half loaded."""
    context: BrowserContext = browser.new_context(
        base_url=stack.url,
        viewport=SIZES[device],  # type: ignore[arg-type]
        is_mobile=device == "phone",
        locale=scene.language,
        timezone_id="Asia/Taipei",
        reduced_motion="reduce",
    )
    page: Page = context.new_page()
    visit = Visit(page, device=device, screens=folder)
    if scene.who:
        visit.sign_in(scene.who)
    answer = page.goto(address(scene, values), wait_until="load")
    if answer is None or answer.status != scene.status:
        raise SystemExit(f"{scene.name}: {page.url} answered {answer and answer.status}")
    if scene.open:
        page.locator(scene.open).first.click()
    page.wait_for_load_state("networkidle") if "/chat/" not in page.content() else page.wait_for_timeout(500)
    if scene.part:
        visit.shoot_part(page.locator(scene.part).first, scene.name)
    elif page.locator("dialog[open]").count():  # it lies over the window, not over the page
        page.screenshot(path=folder / f"{scene.name}-{device}.png")
    else:
        visit.shoot(scene.name)
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    if wide > 0:
        print(f"    {scene.name} ({device}) is {wide} px wider than its window", flush=True)
    context.close()


def address(scene: Scene, values: dict[str, str]) -> str:
    from django.urls import reverse

    return reverse(scene.route, args=[values[name] for name in scene.values]) + scene.query.format(**values)


if __name__ == "__main__":
    main()
