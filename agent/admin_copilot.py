"""What colleagues have asked the copilot, in Django admin: every word, call and cost to look at."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from agent.models import CopilotCall, CopilotDraft, CopilotMessage, CopilotRequest, CopilotThread
from orders.admin_links import register_subject
from orders.admin_pages import ReadOnlyAdmin, ReadOnlyInline

register_subject("copilot_thread", CopilotThread)


class CopilotMessageInline(ReadOnlyInline):
    model = CopilotMessage
    ordering = ("pk",)
    fields = ("created_at", "author", "said", "stop_reason")

    @admin.display(description=_("text"))
    def said(self, message: CopilotMessage) -> str:
        return message.text


class CopilotCallInline(ReadOnlyInline):
    model = CopilotCall
    ordering = ("pk",)
    fields = ("created_at", "name", "arguments", "state", "is_error", "result")


class CopilotRequestInline(ReadOnlyInline):
    model = CopilotRequest
    ordering = ("pk",)
    fields = ("started_at", "ended_at", "ending", "model", "input_tokens", "cached_tokens", "output_tokens")


@admin.register(CopilotThread)
class CopilotThreadAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "user", "conversation", "state", "error", "created_at", "updated_at")
    list_select_related = ("user", "conversation__order")
    search_fields = ("=id", "user__username", "conversation__order__number")
    list_filter = ("state",)
    inlines = (CopilotMessageInline, CopilotCallInline, CopilotRequestInline)


@admin.register(CopilotDraft)
class CopilotDraftAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "user", "conversation", "text")
    list_select_related = ("user", "conversation__order")
    search_fields = ("=conversation__id", "conversation__order__number", "user__username", "text")
