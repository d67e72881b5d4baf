"""What staff keep beside conversations, in Django admin: to look at. It is changed on the staff's own pages."""

from django.contrib import admin

from agent.admin import PartAdmin
from agent.models import CannedReply, ReadMark, StaffNote
from orders.admin_links import register_subject
from orders.admin_pages import ReadOnlyAdmin

register_subject("canned_reply", CannedReply)


@admin.register(StaffNote)
class StaffNoteAdmin(PartAdmin):
    list_display = ("created_at", "staff", "of_conversation", "of_order", "text")
    list_select_related = ("staff", "conversation__order")  # type: ignore[assignment]
    search_fields = ("=conversation__id", "conversation__order__number__exact", "text", "staff__username")


@admin.register(ReadMark)
class ReadMarkAdmin(PartAdmin):
    list_display = ("read_at", "staff", "of_conversation", "of_order", "read_to")
    list_select_related = ("staff", "conversation__order")  # type: ignore[assignment]
    search_fields = ("=conversation__id", "conversation__order__number__exact", "staff__username")
    date_hierarchy = "read_at"


@admin.register(CannedReply)
class CannedReplyAdmin(ReadOnlyAdmin):
    list_display = ("title", "language", "is_used", "written_by", "updated_at")
    list_select_related = ("written_by",)
    list_filter = ("is_used", "language")
    search_fields = ("title", "text")
