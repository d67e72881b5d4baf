"""States of conversations, turns, tool calls and cards."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ConversationState(models.TextChoices):
    OPEN = "open", _("open")
    CLOSED = "closed", _("closed")


class Author(models.TextChoices):
    CUSTOMER = "customer", _("customer")
    AGENT = "agent", _("agent")
    STAFF = "staff", _("staff")
    # A line the system writes by itself: money's outcome, an expired card, a model that cannot be reached.
    SYSTEM = "system", _("system")


class TurnState(models.TextChoices):
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    WAITING = "waiting", _("waiting for the customer's press")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")


# A conversation has at most one turn in these states, by database constraint.
LIVE_TURNS = frozenset({TurnState.QUEUED, TurnState.RUNNING, TurnState.WAITING})


class ToolCallState(models.TextChoices):
    ASKED = "asked", _("asked")
    SUSPENDED = "suspended", _("waiting for the customer's press")
    ANSWERED = "answered", _("answered")


class CopilotState(models.TextChoices):
    """Of a colleague's talk with the copilot: whether it is at work on what was asked last."""

    IDLE = "idle", _("nothing to do")
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    FAILED = "failed", _("failed")


# Somebody waits for an answer: what the sweeper looks through.
LIVE_RUNS = frozenset({CopilotState.QUEUED, CopilotState.RUNNING})


class CopilotAuthor(models.TextChoices):
    STAFF = "staff", _("staff")
    COPILOT = "copilot", _("copilot")


class Door(models.TextChoices):
    """By what a tool was called where no chat did (`agent/doors/`)."""

    HTTP = "http", _("MCP over HTTP")
    STDIO = "stdio", _("MCP over a pipe")
    SHELL = "shell", _("command line")


class TokenScope(models.TextChoices):
    CUSTOMER = "customer", _("one customer's own orders")
    STAFF = "staff", _("what one member of staff may look up")


class CardKind(models.TextChoices):
    REFUND = "refund", _("refund")
    RETURN = "return", _("return")
    EXCHANGE = "exchange", _("exchange")
    RESEND = "resend", _("lost goods sent again")
    ADDRESS = "address", _("change of address")


class CardState(models.TextChoices):
    OPEN = "open", _("open")
    CONFIRMED = "confirmed", _("confirmed")
    DECLINED = "declined", _("declined")
    EXPIRED = "expired", _("expired")
    WITHDRAWN = "withdrawn", _("withdrawn")


class MailKind(models.TextChoices):
    """What a customer who has left the page is told of by e-mail."""

    ANSWERED = "answered", _("a person answered")
    EXPIRING = "expiring", _("a card is about to expire")
    OUTCOME = "outcome", _("the outcome of money is known")
    WAIT_OVER = "wait_over", _("no person will answer")


class MailState(models.TextChoices):
    WAITING = "waiting", _("waiting")
    SENT = "sent", _("sent")
    # The customer has been on the page meanwhile, or what it would say is no longer so.
    NOT_NEEDED = "not_needed", _("not needed")
    FAILED = "failed", _("failed")
