"""What staff keep beside conversations, in Django admin: to look at. It is changed on the staff's own pages."""

from django.contrib import admin

from agent.models import CannedReply, ReadMark, StaffNote
from orders.admin_links import register_subject
from orders.admin_pages import ReadOnlyAdmin

register_subject("canned_reply", CannedReply)


@admin.register(StaffNote)
class StaffNoteAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "staff", "conversation", "text")
    list_select_related = ("staff", "conversation__order")
    search_fields = ("=conversation__id", "conversation__order__number", "text", "staff__username")
    date_hierarchy = "created_at"


@admin.register(ReadMark)
class ReadMarkAdmin(ReadOnlyAdmin):
    list_display = ("read_at", "staff", "conversation", "read_to")
    list_select_related = ("staff", "conversation__order")
    search_fields = ("=conversation__id", "conversation__order__number", "staff__username")


@admin.register(CannedReply)
class CannedReplyAdmin(ReadOnlyAdmin):
    list_display = ("title", "language", "is_used", "written_by", "updated_at")
    list_select_related = ("written_by",)
    list_filter = ("is_used", "language")
    search_fields = ("title", "text")
