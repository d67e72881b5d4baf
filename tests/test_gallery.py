"""Every page has a picture in docs/screens/."""

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
        "staff-refund-retry",
        "staff-refund-settled",
        "staff-refund-undo",
        "staff-refund-failed",
        "staff-refund-by-hand",
        "staff-alert-settle",
        "staff-approve",
        "staff-reject",
        "staff-replacement-send",
        "staff-replacement-release",
        "staff-return-receive",
        "staff-return-accept",
        "staff-return-withdraw",
        "staff-return-reject",
        "staff-policy-draft",
        "staff-policy-examples",
        "staff-policy-publish",
        "staff-policy-withdraw",
        "staff-policy-discard",
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
# Pages that need what the gallery's day does not bring about.
NOT_SHOWN: Final = frozenset({"staff-canned-edit", "staff-export", "staff-refund-assign", "staff-link"})
FOLDER: Final = Path(__file__).resolve().parents[1] / "docs" / "screens"


def test_every_page_has_a_scene() -> None:
    names = [getattr(pattern, "name", None) for pattern in [*urls.staff, *urls.urlpatterns]]
    routes = {name for name in names if name}
    assert routes - NO_PAGES - NOT_SHOWN - {scene.route for scene in SCENES} == set()
    assert (NO_PAGES | NOT_SHOWN) - routes == set(), "names that are gone"


def test_every_scene_has_its_pictures() -> None:
    pictures = {path.stem for path in FOLDER.glob("*.png")}
    assert {f"{scene.name}-{device}" for scene in SCENES for device in scene.devices} - pictures == set()
