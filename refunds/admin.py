"""Refunds in Django admin: everything to look at, nothing to change, except the simulated gateway's switches.

Here are policies, quotes and money; goods that come back are in `admin_goods.py`, what is watched and decided in
`admin_watching.py`.
"""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from orders.admin import register_step_reader
from orders.admin_links import NOTHING, admin_link, history_link, list_link, register_subject, subject_link
from orders.admin_pages import ReadOnlyAdmin, ReadOnlyInline
from orders.money import format_money
from orders.prose import aside
from orders.words import register_actions, register_machines
from refunds import admin_goods, admin_watching  # noqa: F401  importing them registers their pages
from refunds.admin_parts import LinesInline, Record
from refunds.admin_steps import steps_of_event, steps_of_quote
from refunds.models import (
    GatewayAttempt,
    ProviderEvent,
    QuoteLine,
    Refund,
    RefundAllocation,
    RefundPolicy,
    RefundQuote,
)
from refunds.refund_words import quote_state_words
from refunds.words import ACTIONS, MACHINES

register_actions(ACTIONS)
register_machines(MACHINES)
register_step_reader(steps_of_event)
register_subject("quote", RefundQuote)
register_subject("refund", Refund)
register_subject("allocation", RefundAllocation)
register_subject("gateway_attempt", GatewayAttempt)
register_subject("policy", RefundPolicy)


class QuoteLineInline(LinesInline):
    model = QuoteLine
    fields = ("line_item", "shipment_line", "quantity", "reason", "shop_fault")


class AllocationInline(ReadOnlyInline):
    model = RefundAllocation
    amounts: ClassVar = {"amount": "refund.currency"}
    fields = ("id", "position", "payment", "amount", "state", "attempt", "not_before", "external_ref")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("payment")


class AttemptInline(ReadOnlyInline):
    model = GatewayAttempt
    fields = (
        "number",
        "kind",
        "outcome",
        "provider",
        "provider_refund_id",
        "code",
        "started_at",
        "answered_at",
        "times_tried",
        "times_asked",
    )


@admin.register(RefundPolicy)
class RefundPolicyAdmin(ReadOnlyAdmin):
    amounts: ClassVar = dict.fromkeys(("return_fee", "approval_above", "compensation_cap"), "currency")
    list_display = ("__str__", "state", "in_force_from", "return_fee", "approval_above", "edited_by", "published_by")
    list_select_related = ("edited_by", "published_by")
    search_fields = ("currency", "version", "note")
    list_filter = (
        "currency",
        "state",
        "return_fee_enabled",
        ("edited_by", admin.RelatedOnlyFieldListFilter),
        ("published_by", admin.RelatedOnlyFieldListFilter),
    )
    date_hierarchy = "in_force_from"
    extra_fields = ("history",)

    @admin.display(description=_("history"))
    def history(self, policy: RefundPolicy) -> str:
        return history_link(policy, gettext("Audit events about it"))


@admin.register(RefundQuote)
class RefundQuoteAdmin(Record):
    story = "pk"
    amounts: ClassVar = dict.fromkeys(("amount", "fee"), "currency")
    in_words: ClassVar = {"conversation_ref": "of_conversation", "state": "how_it_stands"}
    beside: ClassVar = {"steps": "reasons"}
    list_display = ("id", "of_order", "action", "how_it_stands", "amount", "asker", "asked_by", "created_at")
    list_select_related = ("order", "asked_by")
    search_fields = (
        "id__exact",
        "order__number__exact",
        "customer__name",
        "refund__id__exact",
        "conversation_ref__exact",
        "tool_call_ref__exact",
    )
    list_filter = ("state", "action", "asker", "currency", "policy")
    date_hierarchy = "created_at"
    inlines = (QuoteLineInline,)

    @admin.display(description=_("state"), ordering="state")
    def how_it_stands(self, quote: RefundQuote) -> str:
        because = quote.get_ended_because_display() if quote.was_taken_back else ""
        return aside(quote_state_words(quote), because)

    @admin.display(description=_("conversation"))
    def of_conversation(self, quote: RefundQuote) -> str:
        return subject_link("conversation", quote.conversation_ref)

    @admin.display(description=_("How the amount comes about"))
    def reasons(self, quote: RefundQuote) -> str:
        return steps_of_quote(quote)


@admin.register(Refund)
class RefundAdmin(Record):
    story = "pk"
    amounts: ClassVar = {"amount": "currency"}
    extra_fields = ("reasons", "history")
    list_display = (
        "id",
        "of_order",
        "kind",
        "amount",
        "state",
        "created_at",
        "of_quote",
        "confirmed_by",
    )
    list_select_related = ("order", "quote", "confirmed_by")
    search_fields = (
        "id__exact",
        "order__number__exact",
        "quote__id__exact",
        "external_ref__exact",
        "allocations__external_ref__exact",
        "note",
        "allocations__attempts__provider_refund_id__exact",
    )
    list_filter = ("state", "kind", "confirmed_by_kind", "needs_assignment", "currency")
    date_hierarchy = "created_at"
    inlines = (AllocationInline,)

    @admin.display(description=_("quote"))
    def of_quote(self, refund: Refund) -> str:
        return admin_link(refund.quote)

    @admin.display(description=_("How the amount comes about"))
    def reasons(self, refund: Refund) -> str:
        return steps_of_quote(refund.quote) if refund.quote else NOTHING


@admin.register(RefundAllocation)
class RefundAllocationAdmin(Record):
    story = "pk"
    amounts: ClassVar = {"amount": "refund.currency"}
    list_display = ("id", "of_refund", "of_payment", "amount", "state", "attempt")
    list_select_related = ("refund", "payment")
    search_fields = ("id__exact", "refund__id__exact", "refund__order__number__exact", "payment__id__exact")
    list_filter = ("state", "payment__method")
    inlines = (AttemptInline,)

    @admin.display(description=_("refund"))
    def of_refund(self, allocation: RefundAllocation) -> str:
        return admin_link(allocation.refund)

    @admin.display(description=_("payment"))
    def of_payment(self, allocation: RefundAllocation) -> str:
        return admin_link(allocation.payment)


@admin.register(GatewayAttempt)
class GatewayAttemptAdmin(Record):
    story = "allocation.refund_id"
    list_display = (
        "idempotency_key",
        "of_refund",
        "paid_out",
        "kind",
        "outcome",
        "provider_refund_id",
        "code",
        "started_at",
    )
    list_select_related = ("allocation__refund",)
    search_fields = (
        "idempotency_key__exact",
        "provider_refund_id__exact",
        "allocation__refund__id__exact",
        "allocation__refund__order__number__exact",
    )
    list_filter = (
        "outcome",
        "kind",
        "provider",
        "trouble",
        ("settled_at", admin.EmptyFieldListFilter),
        "code",
    )
    date_hierarchy = "started_at"
    extra_fields = ("of_refund", "paid_out", "history", "told")

    @admin.display(description=_("provider events"))
    def told(self, attempt: GatewayAttempt) -> str:
        if not attempt.provider_refund_id:
            return NOTHING
        return list_link(ProviderEvent, gettext("What the provider has told of it"), q=attempt.provider_refund_id)

    @admin.display(description=_("refund"))
    def of_refund(self, attempt: GatewayAttempt) -> str:
        return admin_link(attempt.allocation.refund)

    @admin.display(description=_("amount"), ordering="allocation__amount")
    def paid_out(self, attempt: GatewayAttempt) -> str:
        return format_money(attempt.allocation.amount, attempt.allocation.refund.currency)

    @admin.display(description=_("history"))
    def history(self, record: GatewayAttempt) -> str:
        return history_link(record.allocation.refund, gettext("Audit events about its refund"))
