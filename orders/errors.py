"""The one error that every service raises when it refuses, and every door shows: code, message, hint, retryable."""

from typing import Any

from django.utils.translation import gettext as _


class Refusal(Exception):
    """A service's refusal, in the reader's language.

    `code` is stable and for machines; `message` says what is wrong; `hint` says what to do instead; `field` names the
    argument; `status` is the HTTP status an API answers with; `details` are data a door may show. `staff_hint` takes
    the place of a hint that sends the reader to the shop's staff, where the reader is one of them (`told_to`).
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str = "",
        field: str = "",
        retryable: bool = False,
        status: int = 409,
        details: dict[str, Any] | None = None,
        staff_hint: str = "",
    ) -> None:
        super().__init__(message)
        self.staff_hint = staff_hint
        self.code, self.message, self.hint, self.field = code, message, hint, field
        self.retryable, self.status, self.details = retryable, status, details or {}

    def told_to(self, *, staff: bool) -> "Refusal":
        """This refusal with the hint for its reader."""
        if staff and self.staff_hint:
            self.hint = self.staff_hint
        return self

    def as_dict(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "retryable": self.retryable,
        }
        if self.field:
            body["field"] = self.field
        if self.details:
            body["details"] = self.details
        return body


class InvalidInput(Refusal):
    """An argument that cannot be used: `field` names it, the message says what it must be."""

    def __init__(self, field: str, message: str, *, hint: str = "", status: int = 400) -> None:
        again = _("Correct this field and send it again.") if field else _("Correct this and send it again.")
        super().__init__("invalid_argument", message, hint=hint or again, field=field, status=status)


class NotFound(Refusal):
    """It does not exist, or is not yours: word for word the same."""

    def __init__(self, message: str, *, hint: str = "", field: str = "") -> None:
        super().__init__("not_found", message, hint=hint, field=field, status=404)


class SignedOut(Refusal):
    """Nobody is behind this request any more: the session or the link has ended while a page was open."""

    def __init__(self) -> None:
        message = _("You are signed out, or your link has ended.")
        super().__init__("signed_out", message, hint=_("Sign in, or open your link again."), status=401)
