"""Money on its way back: refunds, their parts per payment, and every call to a gateway."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from orders import ids
from orders.models import Order, Payment
from refunds.models.quotes import RefundQuote
from refunds.states import AllocationState, Asker, AttemptKind, AttemptOutcome, RefundKind, RefundState, Trouble


class Refund(models.Model):
    """Money on its way back. One per quote; its state derives from its allocations (`refunds/outcome.py`).

    Compensation has no quote and stands outside the settlement of goods. What was refunded elsewhere gets its quote,
    redeemed from the first, when a person says for which goods it was (`refunds/elsewhere.py`).
    """

    id = models.CharField(_("refund number"), primary_key=True, max_length=32, default=ids.refund_id, editable=False)
    kind = models.CharField(_("kind"), max_length=12, choices=RefundKind.choices, default=RefundKind.GOODS)
    quote = models.OneToOneField(
        RefundQuote,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="refund",
        verbose_name=_("quote"),
    )
    # Of what was refunded elsewhere: the provider's or the shop's number, and a report that comes twice is kept once.
    # Of any other: the first number under which a part was paid by hand.
    external_ref = models.CharField(_("number elsewhere"), max_length=120, null=True, blank=True)
    # Elsewhere only: until a person says for which goods it was, nothing can be worked out for the order.
    needs_assignment = models.BooleanField(_("goods not entered yet"), default=False)
    # Elsewhere only, and taken back: the refund that it has turned out to be, and that counts instead.
    same_as = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("turned out to be")
    )
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="refunds", verbose_name=_("order"))
    amount = models.PositiveBigIntegerField(_("amount"))
    currency = models.CharField(_("currency"), max_length=3)
    state = models.CharField(_("state"), max_length=20, choices=RefundState.choices)
    confirmed_by_kind = models.CharField(_("confirmer"), max_length=12, choices=Asker.choices)
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("confirming account"),
    )
    note = models.TextField(_("note"), blank=True, help_text=_("Why, in the words of whoever confirmed it."))
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("decided by"),
    )
    decision_reason = models.TextField(_("reason of the decision"), blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)

    class Meta:
        verbose_name = _("refund")
        verbose_name_plural = _("refunds")
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["state", "created_at"]),
            models.Index(fields=["order", "-created_at"]),
            models.Index(fields=["-created_at", "-id"], name="refund_newest"),
            models.Index(fields=["created_at"], condition=Q(needs_assignment=True), name="refund_of_unknown_goods"),
            models.Index(fields=["finished_at"], condition=Q(state=RefundState.SUCCEEDED), name="refund_money_back_at"),
        ]
        permissions = [
            ("retry_refund", "Can send a refused refund again"),
            ("approve_refund", "Can approve or reject a refund"),
            ("propose_compensation", "Can propose a compensation"),
            ("record_elsewhere", "Can record refunds that were made elsewhere"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind=RefundKind.GOODS, quote__isnull=False)
                | Q(kind=RefundKind.COMPENSATION, quote__isnull=True)
                | Q(kind=RefundKind.ELSEWHERE, external_ref__isnull=False),
                name="refund_has_what_its_kind_needs",
            ),
            models.UniqueConstraint(fields=["order", "external_ref"], name="elsewhere_once_per_order"),
            models.CheckConstraint(
                condition=Q(needs_assignment=False) | Q(kind=RefundKind.ELSEWHERE, quote__isnull=True),
                name="only_elsewhere_waits_for_its_goods",
            ),
            models.CheckConstraint(
                condition=Q(same_as=None) | Q(kind=RefundKind.ELSEWHERE, state=RefundState.REJECTED),
                name="only_elsewhere_turns_out_to_be_another",
            ),
        ]

    def __str__(self) -> str:
        return self.id


class RefundAllocation(models.Model):
    """The part of a refund that goes back to one payment. A new attempt is made only after a definite refusal."""

    id = models.CharField(
        _("allocation number"), primary_key=True, max_length=32, default=ids.allocation_id, editable=False
    )
    refund = models.ForeignKey(Refund, on_delete=models.PROTECT, related_name="allocations", verbose_name=_("refund"))
    payment = models.ForeignKey(
        Payment, on_delete=models.PROTECT, related_name="allocations", verbose_name=_("payment")
    )
    position = models.PositiveIntegerField(_("position"))
    amount = models.PositiveBigIntegerField(_("amount"))
    state = models.CharField(
        _("state"), max_length=12, choices=AllocationState.choices, default=AllocationState.PENDING
    )
    attempt = models.PositiveIntegerField(
        _("current attempt"), default=1, help_text=_("The attempt that counts now; the first is 1.")
    )
    # The gateway can take it only later (`gateways/plan.py`); until then no attempt is made.
    not_before = models.DateTimeField(_("not before"), null=True, blank=True)
    # Paid by hand: the number of the transfer or of the receipt (`refunds/by_hand.py`).
    external_ref = models.CharField(_("number elsewhere"), max_length=120, blank=True)

    class Meta:
        verbose_name = _("refund allocation")
        verbose_name_plural = _("refund allocations")
        ordering = ["refund_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["refund", "payment"], name="one_allocation_per_payment"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="allocation_amount_positive"),
        ]
        indexes = [
            models.Index(fields=["refund"], condition=Q(state=AllocationState.FAILED), name="allocation_refused"),
        ]

    def __str__(self) -> str:
        return self.id


class GatewayAttempt(models.Model):
    """One call to a gateway, written before it is made. `idempotency_key` is the allocation and the attempt."""

    allocation = models.ForeignKey(
        RefundAllocation, on_delete=models.PROTECT, related_name="attempts", verbose_name=_("refund allocation")
    )
    # The allocation's own at that time: a person may have sent it to another one since (`refunds/retry.py`).
    payment = models.ForeignKey(Payment, on_delete=models.PROTECT, related_name="attempts", verbose_name=_("payment"))
    number = models.PositiveIntegerField(_("attempt number"))
    kind = models.CharField(_("kind of call"), max_length=8, choices=AttemptKind.choices, default=AttemptKind.REFUND)
    idempotency_key = models.CharField(_("idempotency key"), max_length=64, unique=True)
    provider = models.CharField(_("payment provider"), max_length=40)
    outcome = models.CharField(
        _("outcome"), max_length=12, choices=AttemptOutcome.choices, default=AttemptOutcome.SENDING
    )
    provider_refund_id = models.CharField(_("provider's refund number"), max_length=80, null=True, blank=True)
    code = models.CharField(_("error code"), max_length=64, blank=True)
    message = models.CharField(_("provider's message"), max_length=240, blank=True)
    started_at = models.DateTimeField(_("started at"))
    answered_at = models.DateTimeField(_("answered at"), null=True, blank=True)
    asked_at = models.DateTimeField(
        _("asked about at"), null=True, blank=True, help_text=_("When the gateway was last asked about it.")
    )
    times_tried = models.PositiveIntegerField(
        _("times tried to ask"), default=0, help_text=_("Answered or not: the pauses grow with it.")
    )
    times_asked = models.PositiveIntegerField(
        _("times asked about"), default=0, help_text=_("How often the gateway answered.")
    )
    trouble = models.CharField(_("for a person to look into"), max_length=20, choices=Trouble.choices, blank=True)
    settled_at = models.DateTimeField(
        _("settled at"), null=True, blank=True, help_text=_("When a person had settled it with the provider.")
    )

    class Meta:
        verbose_name = _("gateway attempt")
        verbose_name_plural = _("gateway attempts")
        ordering = ["allocation_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["allocation", "number"], name="attempt_number_once"),
            models.UniqueConstraint(fields=["provider", "provider_refund_id"], name="provider_refund_once"),
            # A new attempt, and with it a new key, needs a definite refusal of the one before.
            models.UniqueConstraint(
                fields=["allocation"], condition=~Q(outcome=AttemptOutcome.REFUSED), name="one_attempt_not_refused"
            ),
            models.CheckConstraint(
                condition=~Q(outcome=AttemptOutcome.SUCCEEDED) | Q(provider_refund_id__isnull=False),
                name="paid_attempt_has_its_provider_number",
            ),
        ]
        indexes = [
            models.Index(
                fields=["allocation"], condition=~Q(trouble="") & Q(settled_at=None), name="attempt_unsettled_trouble"
            ),
            models.Index(fields=["started_at"], condition=Q(outcome=AttemptOutcome.UNKNOWN), name="attempt_in_doubt"),
        ]

    def __str__(self) -> str:
        return self.idempotency_key
