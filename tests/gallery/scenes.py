"""Which pages are in the gallery: one picture per page, at the sizes that its readers have."""

from dataclasses import dataclass
from typing import Final

PHONE: Final = ("phone",)
DESK: Final = ("desktop",)
BOTH: Final = ("desktop", "phone")


@dataclass(frozen=True, slots=True)
class Scene:
    """`route` is the name of the page's address, `values` what `story.play` has found for it, as `{number}`.

    `query` follows the address, with such values in it too; it answers with `status`. `open` is what is pressed before
    the picture, `part` what of the page is on it (all of it where nothing is said), `language` the reader's.
    """

    name: str
    who: str | None
    route: str
    values: tuple[str, ...] = ()
    query: str = ""
    devices: tuple[str, ...] = DESK
    open: str = ""
    part: str = ""
    status: int = 200
    language: str = "zh-TW"


SCENES: Final = (
    Scene("sign-in", None, "login", devices=BOTH),
    Scene("no-such-page", "ming", "order", ("unknown",), status=404, devices=BOTH),
    Scene("not-for-this-role", "warehouse", "staff-approvals", status=403),
    Scene("link-over", None, "enter-by-link", ("forged",), status=410, devices=BOTH),
    Scene("confirm-card", "ming", "order", ("talk",), part=".card[data-kind=refund]"),
    Scene("customer-orders", "ming", "orders", devices=BOTH),
    Scene("customer-order-cards", "ming", "order", ("talk",), devices=BOTH),
    Scene("customer-order-cards-english", "ming", "order", ("talk",), devices=BOTH, language="en"),
    Scene("customer-order-refunded", "ming", "order", ("refunded",), devices=BOTH),
    Scene("customer-refunds", "ming", "refunds", devices=BOTH),
    Scene("customer-slip", "ming2", "return-slip", ("return_order", "return"), devices=BOTH),
    Scene("staff-inbox", "supervisor", "staff-queue", devices=BOTH),
    Scene("staff-inbox-english", "supervisor", "staff-queue", language="en"),
    Scene("staff-conversation", "supervisor", "staff-conversation", ("conversation",), devices=BOTH),
    Scene("staff-conversation-steps", "supervisor", "staff-conversation", ("talk_conversation",)),
    Scene("staff-offer-exchange", "supervisor", "staff-offer-exchange", ("talk_conversation",)),
    Scene("staff-offer-resend", "supervisor", "staff-offer-resend", ("lost_conversation",)),
    Scene("staff-offer-address", "supervisor", "staff-offer-address", ("lost_conversation",)),
    Scene(
        "staff-offer-dialog",
        "supervisor",
        "staff-conversation",
        ("lost_conversation",),
        open="[href$='/offer/resend/']",
    ),
    Scene("staff-turn", "supervisor", "staff-turn", ("talk_conversation", "turn")),
    Scene("staff-door-calls", "supervisor", "staff-door-calls", ("door_call",)),
    Scene("staff-copilot", "supervisor", "staff-copilot"),
    Scene("staff-copilot-thread", "supervisor", "staff-copilot-thread", ("copilot",), devices=BOTH),
    Scene("staff-orders", "supervisor", "staff-orders", devices=BOTH),
    Scene("staff-orders-search", "supervisor", "staff-orders", query="?q=王小明"),
    Scene("staff-orders-none", "supervisor", "staff-orders", query="?q=沒有這筆"),
    Scene("staff-order", "supervisor", "staff-order", ("talk",), devices=BOTH),
    Scene("staff-order-dialog", "supervisor", "staff-order", ("fresh",), open="[data-dialog][href$='/compensation/']"),
    Scene("staff-order-refunded", "supervisor", "staff-order", ("refunded",)),
    Scene("staff-order-warehouse", "warehouse", "staff-order", ("talk",)),
    Scene("staff-exchange", "supervisor", "staff-exchange", ("fresh",)),
    Scene("staff-resend", "supervisor", "staff-resend", ("lost",)),
    Scene("staff-exception", "supervisor", "staff-exception", ("late",)),
    Scene("staff-compensation", "supervisor", "staff-compensation", ("fresh",)),
    Scene("staff-elsewhere", "supervisor", "staff-elsewhere", ("fresh",)),
    Scene("staff-address", "supervisor", "staff-address", ("unsent",)),
    Scene("staff-link", "supervisor", "staff-link", ("fresh",)),
    Scene("staff-link-made", "supervisor", "staff-link", ("fresh",), open="main form .button-primary"),
    Scene("staff-refund-assign", "supervisor", "staff-refund-assign", ("elsewhere",)),
    Scene("staff-refunds", "supervisor", "staff-refunds"),
    Scene("staff-refund-retry", "supervisor", "staff-refund-retry", ("refused",)),
    Scene("staff-refund-by-hand", "supervisor", "staff-refund-by-hand", ("refused",)),
    Scene("staff-refund-settled", "supervisor", "staff-refund-settled", ("failed",)),
    Scene("staff-refund-failed", "supervisor", "staff-refund-failed", ("failed",)),
    Scene("staff-refund-failed-dialog", "supervisor", "staff-refunds", open="[data-dialog][href*='/failed/']"),
    Scene("staff-refund-undo", "supervisor", "staff-refund-undo", ("elsewhere",)),
    Scene("staff-alert-settle", "supervisor", "staff-alert-settle", ("alert",)),
    Scene("staff-books", "supervisor", "staff-books"),
    Scene("staff-approvals", "supervisor", "staff-approvals", devices=BOTH),
    Scene("staff-approve", "supervisor", "staff-approve", ("approval",), devices=BOTH),
    Scene("staff-approve-dialog", "supervisor", "staff-approvals", open="[data-dialog][data-key=a]"),
    Scene("staff-reject", "supervisor", "staff-reject", ("approval",)),
    Scene("staff-returns", "warehouse", "staff-returns", devices=BOTH),
    Scene("staff-return", "warehouse", "staff-return", ("return",), devices=BOTH),
    Scene("staff-return-reject", "warehouse", "staff-return-reject", ("return",)),
    Scene("staff-return-withdraw", "supervisor", "staff-return-withdraw", ("return",)),
    Scene("staff-replacements", "warehouse", "staff-replacements"),
    Scene("staff-replacement-send", "warehouse", "staff-replacement-send", ("replacement",)),
    Scene("staff-replacement-release", "warehouse", "staff-replacement-release", ("replacement",)),
    Scene("staff-policies", "marketing", "staff-policies"),
    Scene("staff-policy", "marketing", "staff-policy", ("currency", "version")),
    Scene("staff-policy-edit", "marketing", "staff-policy-edit", ("currency", "draft")),
    Scene("staff-policy-compare", "marketing", "staff-policy-compare", ("currency", "draft")),
    Scene("staff-policy-withdraw", "supervisor", "staff-policy-withdraw", ("other_currency", "to_come")),
    Scene("staff-policy-discard", "marketing", "staff-policy-discard", ("currency", "draft")),
    Scene("staff-answers", "supervisor", "staff-canned"),
    Scene("staff-reports", "supervisor", "staff-reports", devices=BOTH),
    Scene("staff-evals", "supervisor", "staff-evals"),
    Scene("staff-eval", "supervisor", "staff-eval", ("evaluation",)),
    Scene("staff-eval-compare", "supervisor", "staff-eval-compare", ("evaluation",), query="?with={evaluation_before}"),
    Scene("staff-eval-case", "supervisor", "staff-eval-case", ("evaluation", "eval_case")),
    Scene("staff-audit", "auditor", "staff-audit", query="?q=5532", devices=BOTH),
    Scene("staff-answer-new", "supervisor", "staff-canned-new"),
    Scene("staff-answer-edit", "supervisor", "staff-canned-edit", ("answer",)),
    Scene("staff-exports", "supervisor", "staff-exports"),
    Scene("staff-export", "supervisor", "staff-export", ("export",)),
    Scene("admin", "auditor", "admin:index"),
    Scene("admin-history", "auditor", "admin:orders_auditevent_changelist"),
    Scene("admin-refunds", "auditor", "admin:refunds_refund_changelist"),
    Scene("admin-refund", "auditor", "admin:refunds_refund_change", ("refund",)),
    Scene("api", "admin", "api-docs"),
)
