"""What an event of the history names: who, which goods, how much and how that comes about, and why, in words.

Reads nothing: the event comes with its order, the order's lines and its payments.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from agent.words import HAND_OFF_REASONS
from backoffice.export_titles import title_of
from backoffice.screens.audit_sentences import FAILED_AFTER_ALL, sentence, tone
from backoffice.screens.gate import permissions_of
from backoffice.words import provider_name
from orders.admin_links import subject_link, subject_name
from orders.models import AuditEvent
from orders.money import DECIMALS, format_money
from orders.prose import aside, listed
from orders.states import ActorKinds
from orders.words import actor_name, told_as
from refunds.explain import StepLine, step_lines
from refunds.fact_words import refused_because
from refunds.present import payment_label
from refunds.states import AlertKind, ApprovalKind, EndedBecause, QuoteAction, Reason

NOTHING: Final = "–"
# Kinds of codes that `chosen.kind` and `outcome.kind` hold, by what the event is about.
_KINDS: Final[Mapping[str, Mapping[str, str | Promise]]] = {
    "approval": dict(ApprovalKind.choices),
    "alert": dict(AlertKind.choices),
}


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Told:
    """An event as the page shows it. `quotes`: words that somebody wrote. `how`: the steps of `amount`."""

    event: AuditEvent
    at: datetime
    sentence: str
    tone: str
    quotes: Sequence[str]
    facts: Sequence[str]
    amount: str
    how: Sequence[StepLine]
    record: str
    links: Sequence[Link]
    is_marked: bool


def told(event: AuditEvent, user: AbstractBaseUser | AnonymousUser, marked: frozenset[str] = frozenset()) -> Told:
    """`marked`: numbers that the question names; events about them stand out."""
    named = names_of(event)
    return Told(
        event=event,
        at=event.at,
        sentence=_sentence(event, named),
        tone=tone(event.action),
        quotes=_quotes(event),
        facts=_facts(event),
        amount=named["amount"],
        how=_steps(event),
        record=subject_link(event.subject_type, event.subject_id),
        links=_links(event, permissions_of(user)),
        is_marked=event.subject_id in marked,
    )


def sentence_of(event: AuditEvent) -> str:
    return _sentence(event, names_of(event))


def _sentence(event: AuditEvent, named: Mapping[str, str]) -> str:
    if event.action == "attempt.refused" and event.actor_kind == ActorKinds.STAFF:
        return str(FAILED_AFTER_ALL) % named
    return sentence(told_as(event), named)


def names_of(event: AuditEvent) -> dict[str, str]:
    """Everything that a sentence may name; a dash for what the event does not say."""
    found = {
        "who": actor_name(event) or str(event.get_actor_kind_display()),
        "goods": listed(_goods(event)) or _("goods of the order"),
        "amount": _amount(event),
        "to": _to(event),
        "because": _because(event),
        "kind": _kind(event),
        "provider": provider_name(str(event.computed.get("provider", ""))),
        "external": str(event.chosen.get("external_ref") or event.outcome.get("provider_refund_id") or ""),
        "currency": str(event.computed.get("currency", "")),
        "version": str(event.computed.get("version", "")),
        "list": title_of(str(event.chosen.get("kind", ""))),
        "rows": str(event.outcome.get("rows", "")),
    }
    return {name: value or NOTHING for name, value in found.items()}


def reason_of(event: AuditEvent) -> str:
    """Why, in the words of whoever did it, in one line: for a file."""
    return " / ".join(" ".join(text.split()) for text in _quotes(event))


def amount_of(event: AuditEvent) -> tuple[int, str] | None:
    """In the smallest unit of a currency; None where the event is about no amount."""
    amount = event.computed.get("amount", event.computed.get("price"))
    currency = str(event.computed.get("currency") or (event.order.currency if event.order else ""))
    return (amount, currency) if type(amount) is int and currency in DECIMALS else None


def _amount(event: AuditEvent) -> str:
    found = amount_of(event)
    if found:
        return format_money(*found)
    # Of a card that staff put on the page: as the customer reads it.
    said = event.chosen.get("amount") or event.chosen.get("button")
    return said if isinstance(said, str) else ""


def _goods(event: AuditEvent) -> list[str]:
    """“Case × 1 (changed mind)”, by the names on the order."""
    lines = event.chosen.get("lines")
    if not isinstance(lines, list):
        return [str(event.chosen[name]) for name in ("name", "sku") if event.chosen.get(name)][:1]
    known = {} if event.order is None else _names(event)
    return [_line(line, known) for line in lines if isinstance(line, Mapping)]


def _names(event: AuditEvent) -> dict[str, str]:
    assert event.order is not None
    rows = list(event.order.lines.all())
    return {row.external_id: row.name for row in rows} | {row.line_item_id: row.name for row in rows}


def _line(line: Mapping[str, Any], known: Mapping[str, str]) -> str:
    key = str(line.get("line_item_id") or line.get("external_id") or "")
    name = str(line.get("name") or known.get(key) or line.get("sku") or key)
    quantity, reason = line.get("quantity"), str(line.get("reason") or "")
    counted = f"{name} × {quantity}" if quantity else name
    return aside(counted, dict(Reason.choices).get(reason, reason))


def _to(event: AuditEvent) -> str:
    """The payments that money goes back to; whom a conversation was assigned to."""
    if event.action == "conversation.assigned":
        return str(event.chosen.get("to") or "")
    paid = event.outcome.get("to")
    keys = list(paid) if isinstance(paid, Mapping) else []
    keys += [str(place["payment_id"]) for place in (event.chosen, event.computed) if place.get("payment_id")]
    if event.order is None or not keys:
        return ""
    known = {row.pk: payment_label(row.method, row.last4) for row in event.order.payments.all()}
    return listed(dict.fromkeys(known.get(key, key) for key in keys))


def _because(event: AuditEvent) -> str:
    """Why it came so, from a code."""
    if event.action == "conversation.person_asked":
        reason = str(event.chosen.get("reason", ""))
        return str(HAND_OFF_REASONS.get(reason) or HAND_OFF_REASONS["other"])
    if event.action.startswith("attempt."):
        return refused_because(str(event.outcome.get("code", "")), str(event.outcome.get("message", "")))
    code = str(event.outcome.get("because") or "")
    return str(dict(EndedBecause.choices).get(code, code))


def _kind(event: AuditEvent) -> str:
    code = str(event.chosen.get("kind") or event.outcome.get("kind") or "")
    return str(_KINDS.get(event.subject_type, {}).get(code, code))


def _quotes(event: AuditEvent) -> list[str]:
    """What people wrote: a note, the reason of a decision, a message."""
    reason = event.chosen.get("reason") if event.action != "conversation.person_asked" else event.chosen.get("summary")
    said = [event.chosen.get("note"), reason, event.chosen.get("text"), event.outcome.get("note")]
    return list(dict.fromkeys(text for text in said if isinstance(text, str) and text.strip()))


def _facts(event: AuditEvent) -> list[str]:
    """What was worked out besides the amount."""
    action = dict(QuoteAction.choices).get(event.computed.get("action", ""))
    version = event.computed.get("policy_version")
    found = [str(action) if action else ""]
    found.append(_("by version %(version)s of the rules") % {"version": version} if version else "")
    return [fact for fact in found if fact]


def _steps(event: AuditEvent) -> Sequence[StepLine]:
    steps, currency = event.computed.get("steps"), event.computed.get("currency")
    if not steps or currency not in DECIMALS or event.order is None:
        return ()
    return step_lines(steps, currency, _names(event))


def _links(event: AuditEvent, may: Mapping[str, Any]) -> list[Link]:
    """Where it was said, and the assistant's turn that it came from; only what the reader may open."""
    talk = _number(event, "conversation", "conversation_id")
    turn = _number(event, "turn", "turn_id")
    links = []
    if talk and may["queue"]:
        links.append(Link(_("Open the conversation"), reverse("staff-conversation", args=[talk])))
    elif talk and may["records"] and event.subject_type != "conversation":  # that is the record's own link
        links.append(Link(_("Open the conversation"), reverse("admin:agent_conversation_change", args=[talk])))
    if talk and turn and may["trace"]:
        links.append(Link(_("The turn, step by step"), reverse("staff-turn", args=[talk, turn])))
    if may["records"]:
        links.append(Link(_("Record of the event"), reverse("admin:orders_auditevent_change", args=[event.pk])))
    return links


def _number(event: AuditEvent, subject_type: str, correlated: str) -> int | None:
    own = event.subject_id if event.subject_type == subject_type else ""
    text = own or str(event.correlation.get(correlated) or "")
    return int(text) if text.isascii() and text.isdigit() else None


def about(event: AuditEvent) -> str:
    """“refund rf_…”, without a link: for a file."""
    return f"{subject_name(event.subject_type)} {event.subject_id}".strip()
