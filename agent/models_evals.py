"""Evaluations that were run: how often each toolset led to the right end, and every talk of it, step by step.

Plain records of plays in a scratch database. Nothing here points to an order or a conversation of the desk.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _


class EvalState(models.TextChoices):
    RUNNING = "running", _("being run")
    DONE = "done", _("complete")
    STOPPED = "stopped", _("stopped before its end")


class EvalOutcome(models.TextChoices):
    """What a play came to; of several faults, the gravest."""

    RIGHT = "right", _("right")
    NEVER = "never", _("what must never happen")
    WRONG_MONEY = "wrong_money", _("wrong money moved")
    STUCK = "stuck", _("stuck half-way")
    MISSING = "missing", _("not done")


class EvalRun(models.Model):
    """One evaluation. `wording` and `tasks_digest` say what was measured: tools and prompts, and the tasks."""

    state = models.CharField(_("state"), max_length=8, choices=EvalState.choices, default=EvalState.RUNNING)
    model = models.CharField(_("model"), max_length=60)
    # A script played the model's part: its numbers say nothing about any model.
    is_stand_in = models.BooleanField(_("stand-in"))
    seed = models.BigIntegerField(_("seed"))
    repetitions = models.PositiveIntegerField(_("repetitions"))
    toolsets = models.JSONField(_("toolsets"))
    tasks_digest = models.CharField(_("digest of the tasks"), max_length=12)
    wording = models.CharField(_("digest of tools and prompts"), max_length=12)
    note = models.CharField(_("note"), max_length=200, blank=True)
    plays_planned = models.PositiveIntegerField(_("plays planned"))
    limit_micro = models.PositiveBigIntegerField(
        _("spending limit"), null=True, blank=True, help_text=_("In millionths of a US dollar; empty for none.")
    )
    stopped_because = models.CharField(_("why it stopped"), max_length=240, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)

    class Meta:
        app_label = "agent"
        verbose_name = _("evaluation")
        verbose_name_plural = _("evaluations")
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"#{self.pk}"


class EvalCase(models.Model):
    """One play of one task with one toolset. `detail` has the talk, what was seen in the rows, and every fault."""

    run = models.ForeignKey(EvalRun, on_delete=models.CASCADE, related_name="cases", verbose_name=_("evaluation"))
    task = models.CharField(_("task"), max_length=80)
    toolset = models.CharField(_("toolset"), max_length=20)
    repetition = models.PositiveIntegerField(_("repetition"))
    language = models.CharField(_("language"), max_length=8)
    tags = models.JSONField(_("situations"))
    held_out = models.BooleanField(_("held out"))
    model = models.CharField(_("model"), max_length=60)
    outcome = models.CharField(_("outcome"), max_length=12, choices=EvalOutcome.choices)
    wrong_money = models.BooleanField(_("wrong money moved"), default=False)
    stuck = models.BooleanField(_("stuck half-way"), default=False)
    never = models.BooleanField(_("what must never happen"), default=False)
    told_wrong = models.BooleanField(_("told what is not so"), default=False)
    handed_off = models.BooleanField(_("handed to a person"), default=False)
    tool_calls = models.PositiveIntegerField(_("tool calls"), default=0)
    requests = models.PositiveIntegerField(_("requests to the model"), default=0)
    errors = models.JSONField(_("refused calls by code"), default=dict)
    input_tokens = models.PositiveIntegerField(_("tokens read afresh"), default=0)
    cached_tokens = models.PositiveIntegerField(_("cached tokens"), default=0)
    output_tokens = models.PositiveIntegerField(_("output tokens"), default=0)
    cost_micro = models.PositiveBigIntegerField(
        _("cost"), default=0, help_text=_("In millionths of a US dollar, by the price table in the settings.")
    )
    milliseconds = models.PositiveIntegerField(_("duration in milliseconds"), default=0)
    detail = models.JSONField(_("details"))

    class Meta:
        app_label = "agent"
        verbose_name = _("play of an evaluation")
        verbose_name_plural = _("plays of evaluations")
        ordering = ["run_id", "task", "toolset", "repetition"]
        constraints = [
            models.UniqueConstraint(fields=["run", "task", "toolset", "repetition"], name="eval_case_once"),
        ]

    def __str__(self) -> str:
        return f"{self.task} {self.toolset} {self.repetition}"

    @property
    def is_right(self) -> bool:
        return self.outcome == EvalOutcome.RIGHT
