"""Every page has a picture in docs/screens/."""

import re
from pathlib import Path
from typing import Final

from backoffice.screens import urls
from tests.gallery.scenes import SCENES

# What is no page: it does something, is a part of a page, a stream or a file.
NO_PAGES: Final = frozenset(
    {
        "staff-inbox-events",
        "staff-inbox-beside",
        "staff-conversation-log",
        "staff-conversation-events",
        "staff-assign",
        "staff-note",
        "staff-offer-quote",
        "staff-offer",
        "staff-copilot-beside",
        "staff-copilot-new",
        "staff-copilot-log",
        "staff-copilot-ask",
        "staff-copilot-again",
        "staff-canned-retire",
        "staff-take-over",
        "staff-reply",
        "staff-give-back",
        "staff-close",
        "staff-order-refunds",
        "staff-quote",
        "staff-exchange-products",
        "staff-exception-preview",
        "staff-pack",
        "staff-link-revoke",
        "staff-ship",
        "staff-deliver",
        "staff-return-receive",
        "staff-return-accept",
        "staff-policy-draft",
        "staff-policy-examples",
        "staff-policy-publish",
        "staff-report-file",
        "staff-eval-file",
        "staff-export-make",
        "staff-export-cancel",
        "staff-export-download",
        "order-side",
        "chat-waiting",
        "return-withdraw",
        "card-confirm",
        "card-decline",
    }
)
FOLDER: Final = Path(__file__).resolve().parents[1] / "docs" / "screens"


def test_every_page_has_a_scene() -> None:
    names = [getattr(pattern, "name", None) for pattern in [*urls.staff, *urls.urlpatterns]]
    routes = {name for name in names if name}
    assert routes - NO_PAGES - {scene.route for scene in SCENES} == set()
    assert NO_PAGES - routes == set(), "names that are gone"


def test_what_cannot_be_shown_and_what_opens_over_a_page_have_scenes_too() -> None:
    assert {scene.status for scene in SCENES} >= {403, 404, 410}
    assert [scene.name for scene in SCENES if "data-dialog" in scene.open]


def test_every_picture_is_one_of_a_scene_and_the_readme_shows_three() -> None:
    made = {f"{scene.name}-{device}.png" for scene in SCENES for device in scene.devices}
    assert {path.name for path in FOLDER.iterdir()} - made == set()
    shown = re.findall(r"\]\(docs/screens/([^)]+\.png)\)", (FOLDER.parents[1] / "README.md").read_text())
    assert len(shown) == 3
    assert set(shown) <= made


def test_every_scene_has_its_pictures() -> None:
    pictures = {path.stem for path in FOLDER.glob("*.png")}
    assert {f"{scene.name}-{device}" for scene in SCENES for device in scene.devices} - pictures == set()
