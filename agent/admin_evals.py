"""Evaluations in Django admin: to look at. The staff's pages show them with their numbers (`/staff/evals/`)."""

from django.contrib import admin

from agent.models import EvalCase, EvalRun
from orders.admin_pages import ReadOnlyAdmin


@admin.register(EvalRun)
class EvalRunAdmin(ReadOnlyAdmin):
    list_display = ("id", "created_at", "model", "is_stand_in", "state", "repetitions", "seed", "wording", "note")
    list_filter = ("state", "is_stand_in")
    search_fields = ("note", "model", "wording", "tasks_digest")
    date_hierarchy = "created_at"


@admin.register(EvalCase)
class EvalCaseAdmin(ReadOnlyAdmin):
    list_display = ("task", "toolset", "repetition", "outcome", "model", "tool_calls", "run")
    list_select_related = ("run",)
    list_filter = ("outcome", "toolset", "held_out")
    search_fields = ("task", "=run__id")
