"""Every way in which a model call ends, and what is done about it: one table, the one that docs/agent.md shows.

An ending is recognised by a stop reason (`stop:`), an error type of the API (`type:`), the class of an exception
(`anthropic.`, `httpx2.`, `builtins.`; the nearest class that is named counts) or a shape of a reply that the client
knows to be broken (`shape:`). Classes stand here by name: only `agent/client.py` knows the SDK.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Mend = Literal["lenient", "fold"]


@dataclass(frozen=True, slots=True)
class Words:
    """The turn fails and says so: `farewell` names the words in `agent/farewells.py`. `hand_off`: a person is asked."""

    farewell: str
    hand_off: bool = False


@dataclass(frozen=True, slots=True)
class Keep:
    """The reply is kept, and the turn goes on from there."""

    then: str


@dataclass(frozen=True, slots=True)
class Retry:
    """The same request again, up to `tries` requests in all, after pauses that grow; then words."""

    tries: int = 3
    last: Words = Words("other")


@dataclass(frozen=True, slots=True)
class Repair:
    """Another request for the same reply, mended one way after the other; then words."""

    how: tuple[Mend, ...]
    last: Words


@dataclass(frozen=True, slots=True)
class Leave:
    """Nothing is written: whoever holds the turn next begins this call anew."""


@dataclass(frozen=True, slots=True)
class TakeBack:
    """The page is told that it is not so; the model is told what is, and asked once more; then words."""

    last: Words


What = Keep | Retry | Repair | Words | Leave | TakeBack


@dataclass(frozen=True, slots=True)
class Ending:
    """A line of the table. `alarm`: somebody of the shop has to do something, so it is logged as an error."""

    name: str
    seen_as: tuple[str, ...]
    what: What
    alarm: bool = False

    @property
    def last_words(self) -> Words:
        """What the turn ends in when nothing else has helped."""
        if isinstance(self.what, Retry | Repair | TakeBack):
            return self.what.last
        return self.what if isinstance(self.what, Words) else Words("other", hand_off=True)


OUT_OF_ORDER = Words("out_of_order", hand_off=True)
TABLE: Final[tuple[Ending, ...]] = (
    # A reply that came to its end.
    Ending("end_turn", ("stop:end_turn", "stop:stop_sequence"), Keep("the turn is done")),
    Ending("tool_use", ("stop:tool_use",), Keep("its calls are run, and their answers sent")),
    Ending("pause_turn", ("stop:pause_turn",), Keep("the model is asked to go on")),
    Ending("max_tokens", ("stop:max_tokens",), Words("max_tokens")),
    Ending("refusal", ("stop:refusal",), Words("refusal", hand_off=True)),
    Ending(
        "window_exceeded",
        (
            "stop:model_context_window_exceeded",
            "type:request_too_large",
            "anthropic.ContentTooLargeError",
        ),
        Repair(("fold",), Words("too_long", hand_off=True)),
    ),
    Ending("unknown_stop", ("shape:a stop reason that is not in this table",), Words("other", hand_off=True), True),
    Ending("empty", ("shape:a whole reply without words or calls",), Retry(tries=2)),
    Ending(
        "false_claim",
        ("shape:words that say something was done of which no record knows",),
        TakeBack(Words("false_claim", hand_off=True)),
    ),
    # A stream that broke, or held what is no reply.
    Ending("no_stop_reason", ("shape:a clean end without a stop reason, in words or in a call's JSON",), Retry()),
    Ending(
        "malformed_reply",
        (
            "shape:a call without id, name or arguments, or with an id used before; `tool_use` without a call; "
            "more words than tokens were asked for",
            "anthropic.APIResponseValidationError",
        ),
        Retry(),
    ),
    Ending(
        "broken_frames",
        (
            "builtins.AssertionError",
            "builtins.AttributeError",
            "builtins.LookupError",
            "builtins.RuntimeError",
            "builtins.TypeError",
            "builtins.ValueError",
            "httpx2.DecodingError",
            "httpx2.SSEError",
            "httpx2.RequestNotRead",
            "httpx2.ResponseNotRead",
            "httpx2.StreamClosed",
            "httpx2.StreamConsumed",
            "httpx2.StreamError",
            "anthropic.StreamAlreadyConsumed",
        ),
        Retry(),
    ),
    Ending(
        "connection_cut",
        (
            "builtins.OSError",
            "httpx2.HTTPError",
            "httpx2.RequestError",
            "httpx2.TransportError",
            "httpx2.NetworkError",
            "httpx2.CloseError",
            "httpx2.ReadError",
            "httpx2.WriteError",
            "httpx2.ProtocolError",
            "httpx2.RemoteProtocolError",
        ),
        Retry(),
    ),
    Ending(
        "silence",
        (
            "httpx2.TimeoutException",
            "httpx2.ReadTimeout",
            "httpx2.WriteTimeout",
            "httpx2.PoolTimeout",
            "anthropic.APITimeoutError",
        ),
        Retry(),
    ),
    # A request that was not answered, or refused for a while.
    Ending(
        "unreachable",
        (
            "anthropic.APIConnectionError",
            "httpx2.ConnectError",
            "httpx2.ConnectTimeout",
            "httpx2.ProxyError",
        ),
        Retry(),
    ),
    Ending("rate_limited", ("type:rate_limit_error", "anthropic.RateLimitError"), Retry()),
    Ending("overloaded", ("type:overloaded_error", "anthropic.OverloadedError"), Retry()),
    Ending(
        "passing_fault",
        (
            "type:api_error",
            "type:timeout_error",
            "type:conflict_error",
            "anthropic.APIError",
            "anthropic.APIStatusError",
            "anthropic.RequestTimeoutError",
            "anthropic.ConflictError",
            "anthropic.ClientClosedRequestError",
            "anthropic.InternalServerError",
            "anthropic.ServiceUnavailableError",
            "anthropic.GatewayTimeoutError",
            "anthropic.RetryableError",
        ),
        Retry(),
    ),
    # A request that will not be taken as it is.
    Ending(
        "bad_request",
        (
            "type:invalid_request_error",
            "anthropic.BadRequestError",
            "anthropic.UnprocessableEntityError",
        ),
        Repair(("lenient", "fold"), Words("too_long", hand_off=True)),
        True,
    ),
    # What only the shop can put right.
    Ending(
        "no_credit",
        (
            "type:billing_error",
            "anthropic.PaymentRequiredError",
            "anthropic.ContractSpendLimitReachedError",
            "anthropic.EnforcedSpendLimitReachedError",
            "anthropic.OrganizationOnHoldError",
        ),
        OUT_OF_ORDER,
        True,
    ),
    Ending(
        "not_admitted",
        (
            "type:authentication_error",
            "type:permission_error",
            "anthropic.AuthenticationError",
            "anthropic.PermissionDeniedError",
            "anthropic.CMEKKeyDisabledError",
            "anthropic.CMEKKeyNetworkBlockedError",
            "anthropic.OrganizationTypeNotSupportedError",
            "anthropic.ParentOrganizationRequiredError",
            "anthropic.WorkspaceHumanReviewDisabledError",
            "anthropic.CredentialsError",
            "anthropic.IdentityTokenFileError",
            "anthropic.WorkloadIdentityError",
        ),
        OUT_OF_ORDER,
        True,
    ),
    Ending(
        "wrong_settings",
        (
            "type:not_found_error",
            "anthropic.NotFoundError",
            "anthropic.HTTPNotImplementedError",
            "anthropic.RequestHeaderFieldsTooLargeError",
            "httpx2.HTTPStatusError",
            "httpx2.InvalidURL",
            "httpx2.LocalProtocolError",
            "httpx2.TooManyRedirects",
            "httpx2.UnsupportedProtocol",
        ),
        OUT_OF_ORDER,
        True,
    ),
    Ending(
        "not_ours",
        (
            "type:memory_path_conflict_error",
            "type:memory_precondition_failed_error",
            "anthropic.AnthropicError",
            "anthropic.APIWebhookValidationError",
            "anthropic.MissingDependencyError",
            "anthropic.MutuallyExclusiveAuthError",
            "anthropic.PreconditionFailedError",
            "anthropic.ToolsetClosedError",
            "anthropic.ToolsetConfigError",
            "anthropic.ToolsetContractError",
            "anthropic.ToolsetUsageError",
            "anthropic.ToolsetsFixedError",
            "httpx2.CookieConflict",
            "builtins.Exception",
        ),
        OUT_OF_ORDER,
        True,
    ),
    # What ends a call from this side.
    Ending("out_of_time", ("shape:the turn's seconds are over",), Words("seconds")),
    Ending("told_later", ("shape:a retry-after that is longer than the turn may still take",), Words("busy")),
    Ending("left", ("shape:the worker goes down, or the turn is no longer its own",), Leave()),
)
BY_NAME: Final[Mapping[str, Ending]] = {ending.name: ending for ending in TABLE}
BY_SIGN: Final[Mapping[str, Ending]] = {sign: ending for ending in TABLE for sign in ending.seen_as}
# A type of the API that says more than the status it came with, or that came in a stream with status 200.
TELLING_TYPES = frozenset({"type:billing_error", "type:request_too_large"})


def of_stop(stop_reason: str | None) -> Ending:
    """The ending of a stream that came to its end."""
    if stop_reason is None:
        return BY_NAME["no_stop_reason"]
    return BY_SIGN.get(f"stop:{stop_reason}", BY_NAME["unknown_stop"])


def of_class(kind: type[BaseException]) -> Ending:
    """The line of the nearest class that the table names."""
    for each in kind.__mro__:
        found = BY_SIGN.get(f"{each.__module__.partition('.')[0]}.{each.__name__}")
        if found is not None:
            return found
    return BY_NAME["not_ours"]


def of_status(kind: type[BaseException], *, status: int, type_: str | None) -> Ending:
    """The line of an error that the API answered. An error frame in a stream has status 200: then its type decides."""
    sign = f"type:{type_}"
    if sign in BY_SIGN and (status < 400 or sign in TELLING_TYPES):
        return BY_SIGN[sign]
    # A code that the SDK has no class for: what is not known to pass will not.
    plain = kind.__name__ == "APIStatusError" and 400 <= status < 500
    return BY_NAME["wrong_settings"] if plain else of_class(kind)


def table_as_markdown() -> str:
    """The table as docs/agent.md shows it."""
    rows = [f"| `{ending.name}` | {_signs(ending)} | {_deed(ending.what)} | {_words(ending)} |" for ending in TABLE]
    return "\n".join(["| ending | seen as | what is done | if that does not help |", "|---|---|---|---|", *rows])


def _signs(ending: Ending) -> str:
    def readable(sign: str) -> str:
        kind, _, rest = sign.partition(":")
        if kind == "shape":
            return rest
        return f"stop reason `{rest}`" if kind == "stop" else f"error type `{rest}`" if kind == "type" else f"`{sign}`"

    return ", ".join(readable(sign) for sign in ending.seen_as).replace("`builtins.", "`")


def _deed(what: What) -> str:
    if isinstance(what, Keep):
        return f"kept; {what.then}"
    if isinstance(what, Retry):
        return f"asked again, {what.tries} requests in all, pauses with jitter, `retry-after` honoured"
    if isinstance(what, Repair):
        return "asked again, " + ", then ".join(MENDS[how] for how in what.how)
    if isinstance(what, TakeBack):
        return "taken back on the page, and the model told and asked once more"
    return "left; the next holder asks anew" if isinstance(what, Leave) else "words at once"


def _words(ending: Ending) -> str:
    if isinstance(ending.what, Keep | Leave):
        return ""
    words = ending.last_words
    alarm = ", an error in the log" if ending.alarm else ""
    return f"words “{words.farewell}”" + (", a person is asked" if words.hand_off else ", a person is offered") + alarm


MENDS: Final[Mapping[Mend, str]] = {
    "lenient": "with the history rebuilt leniently (without thinking blocks)",
    "fold": "with the older half of the conversation told in short",
}
