"""What members of staff keep beside a conversation. None of it is a message or an event: no page of a customer and no
request to the model is built from these rows.
"""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from agent.models import Conversation


class StaffNote(models.Model):
    """Words for colleagues. They stay as they were written."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="notes", verbose_name=_("conversation")
    )
    staff = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("member of staff")
    )
    text = models.TextField(_("text"))
    # Given by the form, so that one that is sent twice is kept once.
    client_ref = models.CharField(_("page's reference"), max_length=64, null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        app_label = "agent"
        verbose_name = _("note for colleagues")
        verbose_name_plural = _("notes for colleagues")
        ordering = ["conversation_id", "id"]
        constraints = [models.UniqueConstraint(fields=["conversation", "client_ref"], name="note_once_per_client_ref")]

    def __str__(self) -> str:
        return self.text[:60]


class ReadMark(models.Model):
    """How far a member of staff has read: `read_to` is the number of the newest message that stood before them."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="read_marks", verbose_name=_("conversation")
    )
    staff = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("member of staff")
    )
    read_to = models.PositiveBigIntegerField(_("read up to message"), default=0)
    read_at = models.DateTimeField(_("read at"))

    class Meta:
        app_label = "agent"
        verbose_name = _("read mark")
        verbose_name_plural = _("read marks")
        ordering = ["conversation_id", "-read_at"]
        constraints = [models.UniqueConstraint(fields=["conversation", "staff"], name="one_read_mark_each")]

    def __str__(self) -> str:
        return f"{self.staff}: {self.read_to}"


class CannedReply(models.Model):
    """An answer that is written once and put into the field from then on. `agent/canned.py` has its fields.

    One that is not used any more stays, because what was sent came from it.
    """

    title = models.CharField(_("title"), max_length=60)
    language = models.CharField(_("language"), max_length=8, choices=settings.LANGUAGES)
    text = models.TextField(_("text"))
    is_used = models.BooleanField(_("in use"), default=True)
    written_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("last changed by")
    )
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)

    class Meta:
        app_label = "agent"
        verbose_name = _("ready-made answer")
        verbose_name_plural = _("ready-made answers")
        ordering = ["title", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["title", "language"], condition=models.Q(is_used=True), name="one_canned_reply_per_title"
            )
        ]
        permissions = [("edit_canned_replies", "Can write and retire ready-made answers")]

    def __str__(self) -> str:
        return self.title
