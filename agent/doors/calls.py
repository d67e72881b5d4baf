"""The one way in for tools from outside the chat: whose call it is, checked, run once, kept, and answered.

As in the chat (`tools/executor.py`), an effect and the result that tells of it are one transaction, keyed by the call.
Nothing is confirmed here: what needs consent becomes a card on the customer's page, and the answer says where that is.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import structlog
from django.conf import settings
from django.db import OperationalError, transaction
from django.utils import translation
from django.utils.translation import gettext as translate

from agent import flood, intake
from agent.client import storable
from agent.doors import asking, refusals
from agent.doors.identity import Identity
from agent.doors.refusals import Reason
from agent.models import Conversation, DoorCall
from agent.states import ConversationState, Door
from agent.tools import executor
from agent.tools.base import Context, StaffContext, Tool
from orders.actors import NotAllowed, program_actor, staff_actor
from orders.errors import InvalidInput, NotFound, Refusal
from orders.json_values import is_shallow
from orders.models import Order

log = structlog.get_logger(__name__)
CALLS_PER_MINUTE: Final = 120


@dataclass(frozen=True, slots=True)
class Answer:
    """What the caller is told: the tool's result, or the one error object."""

    result: dict[str, Any]
    is_error: bool = False


def call(identity: Identity, name: str, arguments: Any, door: Door) -> Answer:
    """Run one call for `identity`. Never raises: every refusal, and every fault of ours, is an answer."""
    began = time.monotonic()
    with translation.override(settings.LANGUAGE_CODE):
        try:
            translation.activate(_language(identity))  # a query: it may fail like all that follows
            answer = _call(identity, name, arguments, door, began)
        except Refusal as refusal:
            answer = Answer(refusal.as_dict(), is_error=True)
        except OperationalError:
            log.exception("tool.not_reached", tool=name[:64], door=door)
            answer = Answer(busy().as_dict(), is_error=True)
        except Exception:
            # What broke is ours to read in the log; whoever called hears one plain sentence.
            log.exception("tool.broke", tool=name[:64], door=door)
            answer = Answer(_broke(identity).as_dict(), is_error=True)
    log.info(
        "tool.called",
        tool=name[:64],
        door=door,
        code=answer.result.get("code", "") if answer.is_error else "",
        duration_ms=round((time.monotonic() - began) * 1000),
    )
    return answer


def _call(identity: Identity, name: str, arguments: Any, door: Door, began: float) -> Answer:
    _within_limit(identity)
    given = _storable(arguments)
    row = DoorCall.objects.create(
        door=door,
        token=identity.token,
        customer=identity.customer,
        staff=identity.user,
        name=storable(name[:64]),
        arguments=given if _is_short(given) else {},
    )
    with structlog.contextvars.bound_contextvars(tool_call_id=row.ref):
        for attempt in range(1, executor.TRIES + 1):
            try:
                return _answer(identity, row, given, began)
            except OperationalError as error:
                # A deadlock or a lock that could not be had: nothing of this transaction was kept.
                log.warning("tool.retried", tool_call=row.ref, attempt=attempt, error=str(error))
                if attempt == executor.TRIES:
                    return _keep(row, busy().as_dict(), began, is_error=True)
    raise AssertionError("the last attempt returns")


def _answer(identity: Identity, row: DoorCall, arguments: Any, began: float) -> Answer:
    """The kept answer. Raises OperationalError, with nothing kept."""
    try:
        tool = identity.tools.get(row.name)
        if tool is None:
            raise _unknown_tool(identity)
        executor.check_arguments(tool, arguments)
        if identity.user is not None:
            return _for_staff(identity, tool, row, began)
        return _for_customer(identity, tool, row, began)
    except Refusal as refusal:
        result = refusal.as_dict()
    except NotAllowed:
        result = _not_allowed(identity).as_dict()
    except OperationalError:
        raise
    except Exception:
        log.exception("tool.broke", tool=row.name, tool_call=row.ref)
        result = _broke(identity).as_dict()
    return _keep(row, result, began, is_error=True)


def _for_staff(identity: Identity, tool: Tool, row: DoorCall, began: float) -> Answer:
    assert identity.user is not None, "a colleague's call"
    context = StaffContext(identity.user, staff_actor(identity.user, tool_call_id=row.ref), row)
    if tool.remote:
        return _kept_from_outside(tool, context, row, began)
    with transaction.atomic():
        outcome = tool.handler(context, row.arguments)
        assert isinstance(outcome, dict), "tools of colleagues put no card on a customer's page"
        return _keep(row, outcome, began)


def _for_customer(identity: Identity, tool: Tool, row: DoorCall, began: float) -> Answer:
    customer = identity.customer
    assert customer is not None, "a customer's call"
    order = Order.objects.filter(customer=customer, number=row.arguments["order_number"]).first()
    if order is None:
        raise _not_theirs(identity, row.arguments["order_number"])
    row.order = order
    row.conversation = Conversation.objects.filter(order=order, customer=customer, state=ConversationState.OPEN).first()
    if tool.reads:
        unsaid = Conversation(order=order, customer=customer, language=translation.get_language() or "")
        context = Context(row.conversation or unsaid, order, customer, row)
        if tool.remote:
            return _kept_from_outside(tool, context, row, began)
        with transaction.atomic():
            outcome = tool.handler(context, row.arguments)
            assert isinstance(outcome, dict), "a tool that reads puts up no card"
            return _keep(row, outcome, began)
    by = program_actor(customer, tool_call_id=row.ref)
    with intake.talking("", order=order, customer=customer, language=_language(identity), actor=by) as conversation:
        outcome = asking.run(tool, Context(conversation, order, customer, row))
        return _keep(row, outcome, began, conversation=conversation)


def _not_theirs(identity: Identity, number: str) -> Refusal:
    """The same for an order of somebody else and for none; which it was is told to whoever watches the desk."""
    is_there = Order.objects.filter(number=number).exists()
    reason = Reason.FOREIGN_ORDER if is_there else Reason.NO_SUCH_ORDER
    refusals.note(reason, token_id=identity.token.pk if identity.token else None)
    return NotFound(
        translate("You have no order with this number."),
        hint=translate("Use the number that the customer sees on their order's page."),
        field="order_number",
    )


def _kept_from_outside(tool: Tool, context: Context | StaffContext, row: DoorCall, began: float) -> Answer:
    """Somebody outside is asked: no transaction is open meanwhile, and asking again does no harm."""
    outcome = executor.ask_outside(tool, context)
    if isinstance(outcome, Refusal):
        raise outcome
    return _keep(row, outcome, began)


def _keep(
    row: DoorCall,
    result: Mapping[str, Any],
    began: float,
    *,
    is_error: bool = False,
    conversation: Conversation | None = None,
) -> Answer:
    """The answer becomes part of the row: inside the transaction of its effect, where it has one."""
    row.result, row.is_error = dict(result), is_error
    row.conversation = conversation or row.conversation
    row.duration_ms = round((time.monotonic() - began) * 1000)
    row.save(update_fields=["result", "is_error", "order", "conversation", "duration_ms"])
    return Answer(row.result, is_error)


def _language(identity: Identity) -> str:
    """The customer's language is that of their newest conversation; the shop's own, where there was none."""
    if identity.customer is None:
        return str(settings.LANGUAGE_CODE)
    talks = Conversation.objects.filter(customer=identity.customer).order_by("-pk")
    return talks.values_list("language", flat=True).first() or str(settings.LANGUAGE_CODE)


def _within_limit(identity: Identity) -> None:
    """Raises Refusal too_many_calls. Whoever has the server's shell is not counted."""
    if identity.token is None:
        return
    wait = flood.seconds_to_wait("called", identity.token.pk, most=CALLS_PER_MINUTE)
    if wait:
        raise Refusal(
            "too_many_calls",
            translate("Too many calls in one minute: this one was not run."),
            hint=translate("Wait %(seconds)s seconds, then go on.") % {"seconds": wait},
            retryable=True,
            status=429,
            details={"retry_after": wait},
        )


def _storable(arguments: Any) -> Any:
    """As PostgreSQL can keep them. Raises InvalidInput for what is nested without end."""
    if not is_shallow(arguments):
        raise InvalidInput(
            "arguments",
            translate("The arguments are nested too deeply."),
            hint=translate("Send only what the schema asks for."),
        )
    return storable({} if arguments is None else arguments)


def _is_short(arguments: Any) -> bool:
    return len(json.dumps(arguments, ensure_ascii=False)) <= executor.MAX_ARGUMENT_CHARACTERS


def _unknown_tool(identity: Identity) -> Refusal:
    names = ", ".join(sorted(identity.tools))
    return Refusal(
        "unknown_tool",
        translate("There is no tool of this name."),
        hint=translate("Use one of: %(names)s.") % {"names": names},
    )


def _not_allowed(identity: Identity) -> Refusal:
    if identity.customer is not None:
        return executor.not_allowed()
    return Refusal(
        "not_allowed",
        translate("This account may not do that."),
        hint=translate("Do not try another way: somebody who may has to do it."),
    )


def _broke(identity: Identity) -> Refusal:
    if identity.customer is not None:
        return executor.broke()
    return Refusal(
        "internal_error",
        translate("This could not be done because of a fault on our side. Nothing was changed."),
        hint=translate("Tell whoever looks after this system; its log says what happened."),
    )


def busy() -> Refusal:
    return Refusal(
        "temporarily_unavailable",
        translate("This could not be done at the moment. Nothing was changed."),
        hint=translate("Try the same call again in a little while."),
        retryable=True,
        status=503,
    )
