"""Conversations in Django admin: every word, call, card and event to look at, and nothing to change."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet, TextChoices
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from agent import cards
from agent.models import Card, Conversation, ConversationEvent, CustomerMail, Message, ModelCall, ToolCall, Turn
from agent.states import CardState, TurnState
from agent.usage import cached_share, cost_words, dollars
from agent.words import ACTIONS, KINDS_OF_EVENT, MACHINES
from orders.admin_links import NOTHING, admin_link, history_link, register_subject
from orders.admin_pages import ReadOnlyAdmin, ReadOnlyInline, WordsFilter, with_code
from orders.prose import aside
from orders.words import register_actions, register_machines
from refunds.models import Approval, Refund, RefundQuote, Replacement, Return
from refunds.states import EndedBecause

register_actions(ACTIONS)
register_machines(MACHINES)
register_subject("conversation", Conversation)
register_subject("turn", Turn)
register_subject("card", Card)
SHORT = 120
STATES_OF_EVENT: dict[str, type[TextChoices]] = {"turn": TurnState}


def state_and_why(state: str, payload: Mapping[str, Any]) -> str:
    """“taken back (the customer wrote something else)”."""
    because = EndedBecause.WROTE_INSTEAD.label if cards.because_they_wrote(state, payload) else ""
    return aside(cards.state_words(state, payload), because)


def in_short(text: str) -> str:
    return text if len(text) <= SHORT else f"{text[:SHORT]}…"


class PartInline(ReadOnlyInline):
    """A part of a conversation, oldest first."""

    ordering = ("pk",)


class MessageInline(PartInline):
    model = Message
    fields = ("created_at", "author", "staff", "said", "stop_reason", "turn")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("staff", "turn")

    @admin.display(description=_("text"))
    def said(self, message: Message) -> str:
        return message.text


class TurnInline(PartInline):
    model = Turn
    fields = ("state", "steps", "failures", "error", "queued_at", "started_at", "finished_at")


class ToolCallInline(PartInline):
    model = ToolCall
    fields = ("created_at", "name", "arguments", "state", "is_error", "result")


class CardInline(ReadOnlyInline):
    model = Card
    ordering = ("created_at",)
    fields = ("created_at", "kind", "how_it_stands", "quote", "expires_at", "ended_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("quote")

    @admin.display(description=_("state"))
    def how_it_stands(self, card: Card) -> str:
        return state_and_why(card.state, card.payload)


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    story = "order.number"
    list_display = ("__str__", "of_order", "of_customer", "state", "needs_person", "owner", "created_at", "updated_at")
    list_select_related = ("order", "customer", "owner")
    search_fields = (
        "=id",
        "order__number__exact",
        "customer__name",
        "customer__external_id__exact",
        "messages__content",
        "cards__id__exact",
    )
    list_filter = ("state", "needs_person", ("owner", admin.EmptyFieldListFilter), "language")
    date_hierarchy = "created_at"
    inlines = (MessageInline, ToolCallInline, CardInline, TurnInline)
    extra_fields = ("history",)

    @admin.display(description=_("order"), ordering="order__number")
    def of_order(self, conversation: Conversation) -> str:
        return admin_link(conversation.order)

    @admin.display(description=_("customer"), ordering="customer__name")
    def of_customer(self, conversation: Conversation) -> str:
        return admin_link(conversation.customer)

    @admin.display(description=_("history"))
    def history(self, conversation: Conversation) -> str:
        return history_link(conversation, str(_("Audit events about it")))


def trace_link(conversation_id: int, turn_id: int) -> str:
    """To the page that shows the turn step by step."""
    address = reverse("staff-turn", args=[conversation_id, turn_id])
    return format_html('<a href="{}">{}</a>', address, _("The turn, step by step"))


class PartAdmin(ReadOnlyAdmin):
    """A part of a conversation: its list leads to the conversation and to the order."""

    list_select_related = ("conversation__order",)
    date_hierarchy = "created_at"
    extra_fields: Sequence[str] = ("of_order",)

    @admin.display(description=_("conversation"), ordering="conversation")
    def of_conversation(self, part: Any) -> str:
        return admin_link(part.conversation)

    @admin.display(description=_("order"), ordering="conversation__order__number")
    def of_order(self, part: Any) -> str:
        return admin_link(part.conversation.order)


@admin.register(Turn)
class TurnAdmin(PartAdmin):
    list_display = (
        "__str__",
        "of_conversation",
        "of_order",
        "state",
        "steps",
        "input_tokens",
        "from_cache",
        "output_tokens",
        "cost",
        "queued_at",
        "finished_at",
    )
    search_fields = ("=id", "=conversation__id", "conversation__order__number__exact", "error", "model")
    list_filter = ("state", "model", "error")
    date_hierarchy = "queued_at"
    extra_fields = ("of_order", "cost", "from_cache", "step_by_step", "history")

    @admin.display(description=_("cost"), ordering="cost_micro")
    def cost(self, turn: Turn) -> str:
        return cost_words(turn.cost_micro, [turn.model]) or dollars(0)

    @admin.display(description=_("from the cache"))
    def from_cache(self, turn: Turn) -> str:
        return cached_share(afresh=turn.input_tokens, cached=turn.cached_tokens) or NOTHING

    @admin.display(description=_("step by step"))
    def step_by_step(self, turn: Turn) -> str:
        return trace_link(turn.conversation_id, turn.pk)

    @admin.display(description=_("history"))
    def history(self, turn: Turn) -> str:
        return history_link(turn, str(_("Audit events about it")))


@admin.register(Message)
class MessageAdmin(PartAdmin):
    list_display = ("id", "of_conversation", "of_order", "author", "said", "stop_reason", "created_at")
    search_fields = ("=id", "=conversation__id", "conversation__order__number__exact", "content")
    list_filter = ("author", "stop_reason")
    in_files: ClassVar = {"said": "text"}

    @admin.display(description=_("text"))
    def said(self, message: Message) -> str:
        return in_short(message.text)


@admin.register(ToolCall)
class ToolCallAdmin(PartAdmin):
    list_display = ("tool_use_id", "of_conversation", "of_order", "name", "state", "is_error", "created_at")
    search_fields = (
        "tool_use_id__exact",
        "=conversation__id",
        "conversation__order__number__exact",
        "name",
        "arguments",
        "result",
        "card__id__exact",
    )
    list_filter = ("name", "state", "is_error")
    extra_fields = ("of_order", "of_quote", "of_approval")

    @admin.display(description=_("quote that it asked for"))
    def of_quote(self, call: ToolCall) -> str:
        return admin_link(RefundQuote.objects.filter(tool_call_ref=call.ref).first())

    @admin.display(description=_("compensation that it proposed"))
    def of_approval(self, call: ToolCall) -> str:
        return admin_link(Approval.objects.filter(request_ref=call.ref).first())


@admin.register(Card)
class CardAdmin(PartAdmin):
    list_display = ("id", "of_conversation", "of_order", "kind", "how_it_stands", "of_quote", "created_at")
    list_select_related = ("conversation__order", "quote")  # type: ignore[assignment]
    in_words: ClassVar = {"state": "how_it_stands"}
    search_fields = (
        "id__exact",
        "=conversation__id",
        "conversation__order__number__exact",
        "quote__id__exact",
        "quote__refund__id__exact",
        "tool_call__tool_use_id__exact",
    )
    list_filter = ("kind", "state")
    extra_fields = ("of_order", "of_refund", "of_return", "of_replacement", "history")

    @admin.display(description=_("state"), ordering="state")
    def how_it_stands(self, card: Card) -> str:
        return state_and_why(card.state, card.payload)

    @admin.display(description=_("quote"))
    def of_quote(self, card: Card) -> str:
        return admin_link(card.quote)

    @admin.display(description=_("refund"))
    def of_refund(self, card: Card) -> str:
        return admin_link(Refund.objects.filter(quote=card.quote_id).first() if card.quote_id else None)

    @admin.display(description=_("return"))
    def of_return(self, card: Card) -> str:
        """A card is what its return, or its replacement, was asked for by."""
        asked_by = {"quote_id": card.quote_id} if card.quote_id else {"request_ref": card.pk}
        return admin_link(Return.objects.filter(**asked_by).first())

    @admin.display(description=_("replacement"))
    def of_replacement(self, card: Card) -> str:
        return admin_link(Replacement.objects.filter(request_ref=card.pk).first())

    @admin.display(description=_("history"))
    def history(self, card: Card) -> str:
        return history_link(card, str(_("Audit events about it")))


class KindFilter(WordsFilter):
    def in_words(self, value: str) -> str:
        return str(KINDS_OF_EVENT.get(value, value))


@admin.register(ConversationEvent)
class ConversationEventAdmin(PartAdmin):
    list_display = ("number", "of_conversation", "of_order", "kind_of_event", "content", "created_at")
    search_fields = ("=conversation__id", "conversation__order__number__exact", "data")
    list_filter = (("kind", KindFilter),)
    in_words: ClassVar = {"kind": "kind_of_event"}
    in_files: ClassVar = {"content": "whole_content"}

    @admin.display(description=_("kind of event"), ordering="kind")
    def kind_of_event(self, event: ConversationEvent) -> str:
        return with_code(str(KINDS_OF_EVENT.get(event.kind, event.kind)), event.kind)

    @admin.display(description=_("content"))
    def content(self, event: ConversationEvent) -> str:
        return in_short(self.whole_content(event))

    def whole_content(self, event: ConversationEvent) -> str:
        state = event.data.get("state", "")
        if event.kind == "card" and state in CardState:
            return state_and_why(state, event.data)
        if event.kind in STATES_OF_EVENT and state in STATES_OF_EVENT[event.kind]:
            return str(STATES_OF_EVENT[event.kind](state).label)
        return str(event.data.get("text") or state or event.data.get("title") or "")


@admin.register(ModelCall)
class ModelCallAdmin(PartAdmin):
    list_display = (
        "__str__",
        "of_conversation",
        "ending",
        "input_tokens",
        "written_tokens",
        "cached_tokens",
        "from_cache",
        "output_tokens",
        "cost",
        "started_at",
        "ended_at",
    )
    extra_fields = ("of_order", "cost", "from_cache", "step_by_step")
    search_fields = ("=conversation__id", "=turn__id", "conversation__order__number__exact", "request_id__exact")
    list_filter = ("ending", "model")
    date_hierarchy = "started_at"

    @admin.display(description=_("cost"), ordering="cost_micro")
    def cost(self, call: ModelCall) -> str:
        return cost_words(call.cost_micro, [call.model]) or dollars(0)

    @admin.display(description=_("from the cache"))
    def from_cache(self, call: ModelCall) -> str:
        return cached_share(afresh=call.input_tokens + call.written_tokens, cached=call.cached_tokens) or NOTHING

    @admin.display(description=_("step by step"))
    def step_by_step(self, call: ModelCall) -> str:
        return trace_link(call.conversation_id, call.turn_id)


@admin.register(CustomerMail)
class CustomerMailAdmin(PartAdmin):
    list_display = ("key", "of_conversation", "kind", "state", "address", "tries", "not_before", "ended_at")
    search_fields = ("=conversation__id", "conversation__order__number__exact", "address", "key")
    list_filter = ("kind", "state")


# They register what staff ask the copilot, what they keep beside conversations, what is asked from outside, and
# evaluations.
from agent import admin_copilot, admin_desk, admin_doors, admin_evals  # noqa: E402, F401
