"""5 act: the one executor. It checks every call against its schema, runs it, and turns every refusal into a result.

An effect and the result that tells of it are kept in one transaction, keyed by the tool call: a worker that dies leaves
both or neither, and the next one runs the call or finds its answer. A remote tool asks somebody outside between two
transactions, and only reads: run again, it asks again.
"""

import json
import time
from collections.abc import Mapping
from typing import Any

import jsonschema
import structlog
from django.db import OperationalError, transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as translate
from jsonschema.exceptions import best_match

from agent import calls, cards, events, limits, retracting
from agent.models import Conversation, ToolCall
from agent.save_points import reached
from agent.states import ToolCallState
from agent.tools.base import CardSpec, Context, Outcome, StaffContext, Tool
from agent.tools.misfits import problem
from agent.tools.registry import BY_NAME, HIDDEN_ON_ORDER_PAGE
from agent.turns import Lease, holding
from orders.actors import NotAllowed
from orders.errors import InvalidInput, Refusal

log = structlog.get_logger(__name__)
MAX_ARGUMENT_CHARACTERS = 20_000
MAX_CALLS_PER_MESSAGE = 8
TRIES = 3
PAUSE_SECONDS = 0.3


def run_call(lease: Lease, call_id: int) -> None:
    """Run one asked call under the lease. A call that is already answered or suspended is left alone."""
    name, tool_use_id = ToolCall.objects.values_list("name", "tool_use_id").get(pk=call_id)
    tool = BY_NAME.get(name)
    with structlog.contextvars.bound_contextvars(tool_call_id=tool_use_id):
        began = time.monotonic()
        if tool is not None and tool.remote:
            _run_remote(lease, call_id, tool)
        else:
            _run_here(lease, call_id)
        _log_end(call_id, began)


def _log_end(call_id: int, began: float) -> None:
    """One line per call: what came of it and how long it took. Arguments and results are in the row, not in the log."""
    call = ToolCall.objects.only("name", "state", "is_error", "result").get(pk=call_id)
    code = (call.result or {}).get("code", "") if call.is_error else ""
    log.info(
        "tool.called",
        tool=call.name,
        state=call.state,
        code=code,
        duration_ms=round((time.monotonic() - began) * 1000),
    )


def _begin(call: ToolCall) -> None:
    """From when it is worked on. Inside `holding`: a run that is undone and tried again begins anew."""
    ToolCall.objects.filter(pk=call.pk).update(started_at=timezone.now())


def _run_here(lease: Lease, call_id: int) -> None:
    for attempt in range(1, TRIES + 1):
        try:
            with holding(lease, "call_run") as (conversation, turn):
                call = ToolCall.objects.select_related("message").get(pk=call_id)
                if call.state == ToolCallState.ASKED:
                    _begin(call)
                    with translation.override(conversation.language):
                        _run(conversation, call)
                        retracting.look_again(conversation, turn, call)
            return
        except OperationalError as error:
            # A deadlock or a lock that could not be had: nothing of this transaction was kept.
            log.warning("tool.retried", tool_call=call_id, attempt=attempt, error=str(error))
            if attempt == TRIES:
                raise


def _run_remote(lease: Lease, call_id: int, tool: Tool) -> None:
    """Nothing is locked while somebody outside thinks; what they said is kept if the lease still holds."""
    with holding(lease, "outside_asked") as (conversation, _turn), translation.override(conversation.language):
        call = ToolCall.objects.select_related("message").get(pk=call_id)
        if call.state != ToolCallState.ASKED:
            return
        _begin(call)
        try:
            _check_number(call)
            context = _context(conversation, call, tool)
        except Refusal as refusal:
            _refuse(conversation, call, refusal)
            return
    with translation.override(conversation.language):
        outcome = _told_from_outside(tool, context)
    reached("outside_answered")
    with holding(lease, "outside_answer_kept") as (conversation, _turn), translation.override(conversation.language):
        call.refresh_from_db()
        if call.state != ToolCallState.ASKED:
            return
        if isinstance(outcome, Refusal):
            _refuse(conversation, call, outcome)
        else:
            calls.answer(call, outcome)
            tell_work(conversation, call, "done")


def ask_outside(tool: Tool, context: Context | StaffContext) -> dict[str, Any] | Refusal:
    """The answer, or why there is none. Asked again, so many times, where the refusal says that it may help.

    What is not allowed and what broke get through: each door has words of its own for them.
    """
    for attempt in range(1, TRIES + 1):
        try:
            outcome = tool.handler(context, context.call.arguments)
            assert isinstance(outcome, dict), "a remote tool only reads"
            return outcome
        except Refusal as refusal:
            if not refusal.retryable or attempt == TRIES:
                return refusal
            log.warning("tool.asked_again", tool=tool.name, tool_call=context.call.pk, code=refusal.code)
        time.sleep(PAUSE_SECONDS * attempt)
    raise AssertionError("the last attempt returns")


def _told_from_outside(tool: Tool, context: Context) -> dict[str, Any] | Refusal:
    try:
        return ask_outside(tool, context)
    except NotAllowed:
        return not_allowed()
    except OperationalError:
        raise
    except Exception:
        log.exception("tool.broke", tool=tool.name, tool_call=context.call.pk)
        return broke()


def _run(conversation: Conversation, call: ToolCall) -> None:
    tool = BY_NAME.get(call.name)
    try:
        with transaction.atomic():
            outcome = _outcome(conversation, call, tool)
            if isinstance(outcome, CardSpec):
                calls.suspend(call)
                cards.open_card(conversation=conversation, call=call, spec=outcome)
            else:
                calls.answer(call, outcome)
        tell_work(conversation, call, "done")
    except Refusal as refusal:
        _refuse(conversation, call, refusal)
    except NotAllowed:
        _refuse(conversation, call, not_allowed())
    except OperationalError:
        raise
    except Exception:
        # Whatever breaks in a handler is ours to read in the log; the model hears one plain sentence.
        log.exception("tool.broke", tool=call.name, tool_call=call.pk)
        _refuse(conversation, call, broke())


def _outcome(conversation: Conversation, call: ToolCall, tool: Tool | None) -> Outcome:
    _check_number(call)
    if tool is None:
        raise Refusal(
            "unknown_tool",
            translate("There is no tool of this name."),
            hint=translate("Use one of: %(names)s.") % {"names": ", ".join(sorted(BY_NAME))},
        )
    return tool.handler(_context(conversation, call, tool), call.arguments)


def _check_number(call: ToolCall) -> None:
    """Raises a Refusal for a call too many: in its reply, in its turn, or the same as before."""
    if list(call.message.tool_calls.values_list("pk", flat=True)).index(call.pk) >= MAX_CALLS_PER_MESSAGE:
        raise Refusal(
            "too_many_calls",
            translate("Too many calls in one reply: this one was not run."),
            hint=translate("Make at most %(count)s calls at once.") % {"count": MAX_CALLS_PER_MESSAGE},
        )
    limits.check_call(call)


def _context(conversation: Conversation, call: ToolCall, tool: Tool) -> Context:
    """Who and what the call is about. Raises a Refusal for arguments that do not fit."""
    check_arguments(tool, call.arguments, HIDDEN_ON_ORDER_PAGE)
    return Context(conversation, conversation.order, conversation.customer, call)


def check_arguments(tool: Tool, arguments: Any, hidden: frozenset[str] = frozenset()) -> None:
    """Raises `InvalidInput` that names the field, for whatever does not fit the schema without the `hidden` fields."""
    if len(json.dumps(arguments, ensure_ascii=False)) > MAX_ARGUMENT_CHARACTERS:
        raise InvalidInput(
            "arguments", translate("The arguments are too long."), hint=translate("Send only what the schema asks for.")
        )
    validator = jsonschema.Draft202012Validator(tool.schema_without(hidden))
    wrong = best_match(validator.iter_errors(arguments))
    if wrong is None:
        return
    field = _field(wrong)
    raise InvalidInput(
        field,
        translate("%(field)s does not fit the schema: %(problem)s") % {"field": field, "problem": problem(wrong)},
        hint=translate("Correct this field and call %(tool)s again.") % {"tool": tool.name},
    )


def _field(error: jsonschema.ValidationError) -> str:
    """The path of the argument that is wrong, missing or not known."""
    path: list[str | int] = list(error.absolute_path)
    if isinstance(error.instance, dict) and isinstance(error.schema, Mapping):
        odd = {
            "required": [name for name in error.schema.get("required", ()) if name not in error.instance],
            "additionalProperties": [name for name in error.instance if name not in error.schema.get("properties", {})],
        }.get(str(error.validator), [])
        path += odd[:1]
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.lstrip(".")[:100] or "arguments"


def _refuse(conversation: Conversation, call: ToolCall, refusal: Refusal) -> None:
    calls.answer(call, refusal.as_dict(), is_error=True)
    tell_work(conversation, call, "failed")


def tell_work(conversation: Conversation, call: ToolCall, state: str) -> None:
    """The short human line that a customer sees about a tool. Inside `events.writing`."""
    tool = BY_NAME.get(call.name)
    if tool is None:
        return
    events.add(
        conversation,
        "work",
        {"tool_call_id": call.tool_use_id, "tool": tool.name, "state": state, "text": str(tool.working)},
    )


def not_allowed() -> Refusal:
    return Refusal(
        "not_allowed",
        translate("This is not allowed here."),
        hint=translate("Do not try another way. Offer the customer a person with hand_off_to_human."),
    )


def broke() -> Refusal:
    return Refusal(
        "internal_error",
        translate("This could not be done because of a fault on our side. Nothing was changed."),
        hint=translate("Apologise and offer the customer a person with hand_off_to_human."),
    )
