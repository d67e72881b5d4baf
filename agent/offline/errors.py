"""The one error shape of the Messages API."""

from typing import Any


class ApiError(Exception):
    """A request that is answered with an error. `kind` is the API's `error.type`, `code` its `details.error_code`."""

    def __init__(
        self, status: int, kind: str, message: str, *, headers: dict[str, str] | None = None, code: str = ""
    ) -> None:
        super().__init__(message)
        self.status, self.kind, self.message, self.headers, self.code = status, kind, message, headers or {}, code

    def body(self, request_id: str) -> dict[str, Any]:
        error: dict[str, Any] = {"type": self.kind, "message": self.message}
        if self.code:
            error["details"] = {"error_code": self.code}
        return {"type": "error", "error": error, "request_id": request_id}


def invalid(message: str) -> ApiError:
    """A request that no retry will help: 400 invalid_request_error."""
    return ApiError(400, "invalid_request_error", message)


def unexpected(path: str) -> ApiError:
    return invalid(f"{path}: Extra inputs are not permitted")


def missing(path: str) -> ApiError:
    return invalid(f"{path}: Field required")
