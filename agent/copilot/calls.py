"""The copilot's tools are run here: every call checked against its schema, every refusal turned into a result.

Effect and answer are one transaction, keyed by the call. A remote tool asks somebody outside between two transactions
and only reads: run again, it asks again.
"""

from collections.abc import Callable
from typing import Any

import structlog
from django.contrib.auth.models import User
from django.db import OperationalError, transaction
from django.utils import timezone
from django.utils.translation import gettext as translate

from agent.copilot import leases, limits
from agent.copilot.leases import Lease
from agent.models import CopilotCall, CopilotMessage
from agent.save_points import reached
from agent.states import ToolCallState
from agent.tools.base import StaffContext, Tool
from agent.tools.executor import ask_outside, check_arguments
from agent.tools.registry import COPILOT_BY_NAME
from orders.actors import NotAllowed, staff_actor
from orders.errors import Refusal

log = structlog.get_logger(__name__)
Answer = dict[str, Any] | Refusal


def run(lease: Lease, call_id: int, *, user: User, question: CopilotMessage) -> None:
    """Run one asked call under the lease. One that is answered already is left alone."""
    call = CopilotCall.objects.select_related("message", "thread__conversation__order").get(pk=call_id)
    tool = COPILOT_BY_NAME.get(call.name)
    if tool is not None and tool.remote:
        # No transaction is open meanwhile.
        answer = _answer(call, lambda: ask_outside(tool, _context(tool, call, user, question)))
        reached("copilot_outside_answered")
        with leases.holding(lease, "copilot_outside_kept"):
            _keep(call, answer)
        return
    with leases.holding(lease, "copilot_call_run"):
        if CopilotCall.objects.filter(pk=call.pk, state=ToolCallState.ASKED).exists():
            _keep(call, _answer(call, lambda: _outcome(tool, call, user, question)))


def _keep(call: CopilotCall, answer: Answer) -> None:
    refused = isinstance(answer, Refusal)
    result = answer.as_dict() if isinstance(answer, Refusal) else answer
    asked = CopilotCall.objects.filter(pk=call.pk, state=ToolCallState.ASKED)
    asked.update(state=ToolCallState.ANSWERED, result=result, is_error=refused, answered_at=timezone.now())
    log.info("copilot.called", tool=call.name, thread=call.thread_id, code=result.get("code", "") if refused else "")


def _answer(call: CopilotCall, work: Callable[[], Answer]) -> Answer:
    """What `work` comes to: what is refused, not allowed or broken is an answer too. Raises OperationalError."""
    try:
        answer = work()
    except (Refusal, NotAllowed) as refused:
        return _told(refused)
    except OperationalError:
        raise
    except Exception:
        log.exception("copilot.tool_broke", tool=call.name, call=call.pk)
        return _broke()
    return _told(answer) if isinstance(answer, Refusal) else answer


def _outcome(tool: Tool | None, call: CopilotCall, user: User, question: CopilotMessage) -> dict[str, Any]:
    if tool is None:
        raise Refusal(
            "unknown_tool",
            translate("There is no tool of this name."),
            hint=translate("Use one of: %(names)s.") % {"names": ", ".join(sorted(COPILOT_BY_NAME))},
        )
    with transaction.atomic():
        outcome = tool.handler(_context(tool, call, user, question), call.arguments)
    assert isinstance(outcome, dict), "the copilot puts no card on any page"
    return outcome


def _context(tool: Tool, call: CopilotCall, user: User, question: CopilotMessage) -> StaffContext:
    """Raises a Refusal for a call too many, or arguments that do not fit."""
    limits.check_call(call, question)
    check_arguments(tool, call.arguments)
    actor = staff_actor(user, copilot_thread=call.thread_id, tool_call_id=call.tool_use_id)
    return StaffContext(user, actor, call, call.thread.conversation)


def _told(refused: Refusal | NotAllowed) -> Refusal:
    if isinstance(refused, Refusal):
        return refused.told_to(staff=True)
    return Refusal(
        "not_allowed",
        translate("Your colleague's account may not see or do this."),
        hint=translate("Do not try another way. Tell them that they need the permission for it."),
    )


def _broke() -> Refusal:
    return Refusal(
        "internal_error",
        translate("This could not be done because of a fault on our side. Nothing was changed."),
        hint=translate("Say so, and what you could find out without it."),
    )
