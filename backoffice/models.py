"""What the desk itself keeps: lists that people take away as files, and what numbers come to."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class ExportState(models.TextChoices):
    QUEUED = "queued", _("waiting to be written")
    RUNNING = "running", _("being written")
    DONE = "done", _("ready")
    FAILED = "failed", _("not written")
    CANCELLED = "cancelled", _("cancelled")


# Exports that a worker still has to do something about.
UNFINISHED = frozenset({ExportState.QUEUED, ExportState.RUNNING})


class Export(models.Model):
    """One list as a file, written batch by batch in the background (`backoffice/exporting.py`).

    `filters` are those of the list's address. `cursor` is the last row written, so that another worker goes on behind
    it. The text lies in `parts` until `expires_at`; the row goes with it, the history (`export.made`) stays.
    """

    kind = models.CharField(_("list"), max_length=20)
    filters = models.JSONField(_("filters"), default=dict, blank=True)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("asked for by")
    )
    language = models.CharField(_("language"), max_length=8)
    state = models.CharField(_("state"), max_length=10, choices=ExportState.choices, default=ExportState.QUEUED)
    rows_expected = models.PositiveIntegerField(_("rows expected"), default=0)
    rows_done = models.PositiveIntegerField(_("rows written"), default=0)
    cursor = models.JSONField(_("last row written"), null=True, blank=True)
    error = models.CharField(_("error"), max_length=240, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    # When a worker last wrote to it: one that has not for a while is dead, and another goes on.
    touched_at = models.DateTimeField(_("touched at"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)
    expires_at = models.DateTimeField(_("expires at"))

    class Meta:
        verbose_name = _("export")
        verbose_name_plural = _("exports")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["id"], condition=Q(state__in=sorted(UNFINISHED)), name="export_unfinished"),
            models.Index(fields=["expires_at"], name="export_expires"),
        ]
        permissions = [
            ("view_reports", "Can see the reports"),
            ("search_history", "Can search the history of all orders"),
            ("view_evals", "Can see the evaluations"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED


class ExportPart(models.Model):
    """A batch of rows of an export, as the file has them."""

    export = models.ForeignKey(Export, on_delete=models.CASCADE, related_name="parts", verbose_name=_("export"))
    number = models.PositiveIntegerField(_("number"))
    text = models.TextField(_("text"))

    class Meta:
        verbose_name = _("part of an export")
        verbose_name_plural = _("parts of exports")
        ordering = ["export_id", "number"]
        constraints = [models.UniqueConstraint(fields=["export", "number"], name="export_part_once")]

    def __str__(self) -> str:
        return f"{self.export_id}/{self.number}"


class KeptCount(models.Model):
    """What the rows of one table up to one number come to for `/metrics`, so that nobody counts them again.

    `backoffice/tallies.py` writes and reads it. Without it everything is counted anew: it is no record of anything.
    """

    table = models.CharField(primary_key=True, max_length=60)
    counted_to = models.PositiveBigIntegerField()
    sums = models.JSONField()

    def __str__(self) -> str:
        return f"{self.table} {self.counted_to}"
