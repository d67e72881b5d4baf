"""Answers that are written once: their fields, filled from rows, and how supervisors keep them.

A ready-made answer is put into the field, where a person reads it and sends it; it sends nothing by itself.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.functional import Promise
from django.utils.translation import gettext as translate
from django.utils.translation import gettext_lazy as _

from agent.models import CannedReply, Conversation
from agent.text import MAX_REPLY_CHARACTERS, readable
from orders import audit
from orders.actors import Actor
from orders.errors import InvalidInput, Refusal
from orders.money import format_money
from refunds import selectors
from refunds.models import Refund, Return

EDIT: Final = "agent.edit_canned_replies"
MAX_TITLE: Final = 60
FIELD: Final = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")


class Facts:
    """What fields are filled from: looked up once for all answers of a page, and only where one needs it."""

    def __init__(self, conversation: Conversation, user: User) -> None:
        self.conversation, self.user = conversation, user

    @cached_property
    def refund(self) -> Refund | None:
        return next(iter(selectors.refunds_shown_to_customer(self.conversation.order)), None)

    @cached_property
    def goods_back(self) -> Return | None:
        return next(iter(selectors.returns_of(self.conversation.order)), None)


@dataclass(frozen=True, slots=True)
class Field:
    """`says`: what stands there. `fill` gives an empty text where no row knows it yet."""

    says: Promise
    fill: Callable[[Facts], str]


def _refund_amount(facts: Facts) -> str:
    return format_money(facts.refund.amount, facts.refund.currency) if facts.refund else ""


FIELDS: Final[Mapping[str, Field]] = {
    "customer_name": Field(_("the customer's name"), lambda facts: facts.conversation.customer.name),
    "order_number": Field(_("the order's number"), lambda facts: facts.conversation.order.number),
    "staff_name": Field(_("your own name"), lambda facts: facts.user.get_full_name() or facts.user.username),
    "shop_name": Field(_("the shop's name"), lambda facts: settings.SHOP_NAME),
    "refund_amount": Field(_("the amount of the newest refund"), _refund_amount),
    "refund_number": Field(_("the number of the newest refund"), lambda facts: facts.refund.pk if facts.refund else ""),
    "return_number": Field(
        _("the number of the newest return"), lambda facts: facts.goods_back.pk if facts.goods_back else ""
    ),
}


def filled(text: str, facts: Facts) -> str:
    """The text with its fields filled. One that no row can fill stays, for a person to see."""

    def fill(found: re.Match[str]) -> str:
        known = FIELDS.get(found[1])
        return (known.fill(facts) if known else "") or found[0]

    return FIELD.sub(fill, text)


def require_filled(text: str) -> None:
    """Raises `InvalidInput` for an answer in which a field still stands: no customer is to read one."""
    left = FIELD.search(text)
    if left is not None:
        raise InvalidInput(
            "text",
            translate("“%(field)s” is not filled in.") % {"field": left[0]},
            hint=translate("Write in its place what the customer is to read, or take it out."),
        )


def _require_known(text: str) -> None:
    for found in FIELD.finditer(text):
        if found[1] not in FIELDS:
            raise InvalidInput(
                "text",
                translate("There is no field “%(field)s”.") % {"field": found[0]},
                hint=translate("Use one of these: %(fields)s.")
                % {"fields": translate(", ").join(f"{{{{{name}}}}}" for name in FIELDS)},
            )


def in_use() -> list[CannedReply]:
    return list(CannedReply.objects.filter(is_used=True).select_related("written_by"))


def for_conversation(conversation: Conversation) -> list[CannedReply]:
    """Those in the customer's language first."""
    return sorted(in_use(), key=lambda reply: (reply.language != conversation.language, reply.title))


def save(*, reply: CannedReply | None, actor: Actor, title: str, language: str, text: str) -> CannedReply:
    """Write a new answer, or write anew `reply`, as its writer has read it.

    Raises `NotAllowed`, `InvalidInput` with the field, Refusal `answer_changed` where somebody else wrote meanwhile.
    """
    user = actor.require_staff(EDIT)
    title = title.strip()
    if not title or len(title) > MAX_TITLE:
        raise InvalidInput(
            "title", translate("Give it a title of at most %(count)s characters.") % {"count": MAX_TITLE}
        )
    if language not in dict(settings.LANGUAGES):
        raise InvalidInput("language", translate("Choose a language from the list."))
    text = readable(text, limit=MAX_REPLY_CHARACTERS)
    _require_known(text)
    try:
        with transaction.atomic():
            kept = _unchanged(reply) if reply else CannedReply()
            kept.title, kept.language, kept.text, kept.written_by = title, language, text, user
            kept.save()
            _record(kept, actor, "canned_reply.written")
    except IntegrityError:
        raise InvalidInput(
            "title",
            translate("There is an answer of this title in this language already."),
            hint=translate("Choose another title, or change that one."),
        ) from None
    return kept


def _unchanged(read: CannedReply) -> CannedReply:
    """The row under its lock, if nobody has changed it since it was read."""
    now = CannedReply.objects.select_for_update(of=("self",), no_key=True).select_related("written_by").get(pk=read.pk)
    if now.is_used and now.updated_at == read.updated_at:
        return now
    if not now.is_used:
        message = translate("This answer was retired while you were writing.")
        raise Refusal("answer_changed", message, hint=translate("Write it as a new answer if it is still needed."))
    raise Refusal(
        "answer_changed",
        translate("%(name)s has changed this answer while you were writing.")
        % {"name": now.written_by.get_full_name() or now.written_by.username},
        hint=translate("Nothing of yours was kept yet. Compare the two, and keep yours if it is the better one."),
    )


def retire(*, reply: CannedReply, actor: Actor) -> None:
    """Offer it no longer. Raises `NotAllowed`."""
    actor.require_staff(EDIT)
    with transaction.atomic():
        if CannedReply.objects.filter(pk=reply.pk, is_used=True).update(is_used=False):
            _record(reply, actor, "canned_reply.retired")


def _record(reply: CannedReply, actor: Actor, action: str) -> None:
    audit.record(
        action=action,
        actor=actor,
        subject_type="canned_reply",
        subject_id=str(reply.pk),
        chosen={"title": reply.title, "language": reply.language, "text": reply.text},
    )
