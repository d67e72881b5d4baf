"""Quotes, refunds and what became of them. Amounts are integers of the order's currency in its smallest unit in use.

What a row means and how it may change stands in `refunds/states.py`; the lock order stands in `docs/money.md`.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from orders import ids
from orders.models import Customer, LineItem, Order, Payment, ShipmentLine
from refunds.states import (
    AllocationState,
    Asker,
    AttemptOutcome,
    EndedBecause,
    FaultKind,
    PolicyState,
    QuoteAction,
    QuoteState,
    Reason,
    RefundState,
    ReturnKind,
    ReturnState,
    Trouble,
)


class RefundPolicy(models.Model):
    """One version of the shop's rules for a currency. The version in force when an order was placed settles it."""

    version = models.PositiveIntegerField(_("version"))
    currency = models.CharField(_("currency"), max_length=3)
    state = models.CharField(_("state"), max_length=12, choices=PolicyState.choices, default=PolicyState.DRAFT)
    in_force_from = models.DateTimeField(_("in force from"))
    return_fee = models.PositiveBigIntegerField(_("return fee"))
    return_fee_enabled = models.BooleanField(_("return fee is taken"), default=True)
    return_window_days = models.PositiveIntegerField(_("days for returns"), default=7)
    lost_after_days = models.PositiveIntegerField(_("days until lost"), default=14)
    excluded_categories = models.JSONField(_("categories not returned"), default=list, blank=True)
    shop_fault_reasons = models.JSONField(_("reasons at the shop's fault"), default=list)
    tender_order = models.JSONField(_("order of payments"), default=list)
    approval_above = models.PositiveBigIntegerField(_("approval needed above"))
    quote_minutes = models.PositiveIntegerField(_("minutes a quote holds"), default=15)

    class Meta:
        verbose_name = _("refund policy")
        verbose_name_plural = _("refund policies")
        ordering = ["currency", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["currency", "version"], name="policy_version_once_per_currency"),
            models.CheckConstraint(condition=Q(quote_minutes__gt=0), name="policy_quote_life_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.currency} v{self.version}"


class RefundQuote(models.Model):
    """An amount worked out for chosen goods, with its steps, good until `expires_at` while the order stays as it is.

    `steps` are `[{code, params, amount}]` and sum to `amount`. `fingerprint` covers what the amount depends on.
    `asker_ref` is who may supersede it: the conversation, the member of staff or the customer.
    """

    id = models.CharField(_("quote number"), primary_key=True, max_length=32, default=ids.quote_id, editable=False)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="refund_quotes", verbose_name=_("order"))
    action = models.CharField(_("kind of refund"), max_length=8, choices=QuoteAction.choices)
    state = models.CharField(_("state"), max_length=12, choices=QuoteState.choices, default=QuoteState.OPEN)
    amount = models.PositiveBigIntegerField(_("amount"))
    fee = models.PositiveBigIntegerField(_("return fee"), default=0)
    counts_as_return = models.BooleanField(_("counts as a return"), default=False)
    currency = models.CharField(_("currency"), max_length=3)
    steps = models.JSONField(_("steps"))
    policy = models.ForeignKey(
        RefundPolicy, on_delete=models.PROTECT, related_name="quotes", verbose_name=_("refund policy")
    )
    fingerprint = models.CharField(_("fingerprint"), max_length=64)
    asker = models.CharField(_("asker"), max_length=12, choices=Asker.choices)
    asker_ref = models.CharField(_("asker's reference"), max_length=80)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("asker's account"),
    )
    customer = models.ForeignKey(
        Customer, on_delete=models.PROTECT, related_name="refund_quotes", verbose_name=_("customer")
    )
    conversation_ref = models.CharField(_("conversation"), max_length=40, blank=True)
    tool_call_ref = models.CharField(_("tool call"), max_length=80, null=True, blank=True, unique=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires at"))
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    ended_because = models.CharField(_("why it ended"), max_length=16, choices=EndedBecause.choices, blank=True)

    class Meta:
        verbose_name = _("refund quote")
        verbose_name_plural = _("refund quotes")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["state", "expires_at"]), models.Index(fields=["order", "-created_at"])]
        permissions = [
            ("ask_quote", "Can ask what a refund comes to"),
            ("redeem_quote", "Can confirm a refund for a customer"),
        ]

    def __str__(self) -> str:
        return self.id


class QuoteLine(models.Model):
    """Units a quote is about. `shipment_line` says which parcel they came in; null for units not yet fulfilled."""

    quote = models.ForeignKey(RefundQuote, on_delete=models.PROTECT, related_name="lines", verbose_name=_("quote"))
    line_item = models.ForeignKey(LineItem, on_delete=models.PROTECT, related_name="+", verbose_name=_("line item"))
    shipment_line = models.ForeignKey(
        ShipmentLine, null=True, blank=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("shipment line")
    )
    quantity = models.PositiveIntegerField(_("quantity"))
    reason = models.CharField(_("reason"), max_length=20, choices=Reason.choices)
    shop_fault = models.BooleanField(_("shop's fault"))

    class Meta:
        verbose_name = _("quote line")
        verbose_name_plural = _("quote lines")
        ordering = ["quote_id", "id"]
        constraints = [models.CheckConstraint(condition=Q(quantity__gt=0), name="quote_line_quantity_positive")]

    def __str__(self) -> str:
        return f"{self.line_item} × {self.quantity}"


class Refund(models.Model):
    """Money on its way back. One per quote; its state derives from its allocations (`refunds/outcome.py`)."""

    id = models.CharField(_("refund number"), primary_key=True, max_length=32, default=ids.refund_id, editable=False)
    quote = models.OneToOneField(RefundQuote, on_delete=models.PROTECT, related_name="refund", verbose_name=_("quote"))
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
        indexes = [models.Index(fields=["state", "created_at"]), models.Index(fields=["order", "-created_at"])]
        permissions = [
            ("retry_refund", "Can send a refused refund again"),
            ("approve_refund", "Can approve or reject a refund"),
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

    class Meta:
        verbose_name = _("refund allocation")
        verbose_name_plural = _("refund allocations")
        ordering = ["refund_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["refund", "payment"], name="one_allocation_per_payment"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="allocation_amount_positive"),
        ]

    def __str__(self) -> str:
        return self.id


class GatewayAttempt(models.Model):
    """One call to a gateway, written before it is made. `idempotency_key` is the allocation and the attempt."""

    allocation = models.ForeignKey(
        RefundAllocation, on_delete=models.PROTECT, related_name="attempts", verbose_name=_("refund allocation")
    )
    number = models.PositiveIntegerField(_("attempt number"))
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
    times_asked = models.PositiveIntegerField(_("times asked about"), default=0)
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
            )
        ]

    def __str__(self) -> str:
        return self.idempotency_key


class Return(models.Model):
    """A return authorisation (RMA). With a quote it promises that amount after receipt; an exchange has no quote."""

    id = models.CharField(_("return number"), primary_key=True, max_length=32, default=ids.return_id, editable=False)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="returns", verbose_name=_("order"))
    kind = models.CharField(_("kind of return"), max_length=10, choices=ReturnKind.choices)
    state = models.CharField(_("state"), max_length=12, choices=ReturnState.choices, default=ReturnState.REQUESTED)
    quote = models.OneToOneField(
        RefundQuote,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="return_request",
        verbose_name=_("quote"),
    )
    confirmed_by_kind = models.CharField(_("confirmer"), max_length=12, choices=Asker.choices)
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("confirming account"),
    )
    note = models.TextField(_("note"), blank=True)
    # Set when the goods were accepted: from then on the refund counts, and no longer the promise.
    refund = models.OneToOneField(
        Refund, null=True, blank=True, on_delete=models.PROTECT, related_name="return_request", verbose_name=_("refund")
    )
    # Who asked for it, so that asking twice (a job delivered again) makes one return.
    request_ref = models.CharField(_("request reference"), max_length=80, unique=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("return")
        verbose_name_plural = _("returns")
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind=ReturnKind.EXCHANGE, quote__isnull=True)
                | Q(kind=ReturnKind.REFUND, quote__isnull=False),
                name="return_for_refund_has_its_quote",
            )
        ]

    def __str__(self) -> str:
        return self.id


class ReturnLine(models.Model):
    return_request = models.ForeignKey(Return, on_delete=models.PROTECT, related_name="lines", verbose_name=_("return"))
    line_item = models.ForeignKey(LineItem, on_delete=models.PROTECT, related_name="+", verbose_name=_("line item"))
    shipment_line = models.ForeignKey(
        ShipmentLine, on_delete=models.PROTECT, related_name="+", verbose_name=_("shipment line")
    )
    quantity = models.PositiveIntegerField(_("quantity"))
    reason = models.CharField(_("reason"), max_length=20, choices=Reason.choices)

    class Meta:
        verbose_name = _("return line")
        verbose_name_plural = _("return lines")
        ordering = ["return_request_id", "id"]
        constraints = [models.CheckConstraint(condition=Q(quantity__gt=0), name="return_line_quantity_positive")]

    def __str__(self) -> str:
        return f"{self.line_item} × {self.quantity}"


class SimulatedRefund(models.Model):
    """The simulated gateway's own ledger: what it has really paid out. Only the gateway reads it."""

    provider_refund_id = models.CharField(_("provider's refund number"), max_length=80, unique=True)
    idempotency_key = models.CharField(_("idempotency key"), max_length=64, unique=True)
    charge_ref = models.CharField(_("charge reference"), max_length=64)
    amount = models.PositiveBigIntegerField(_("amount"))
    currency = models.CharField(_("currency"), max_length=3)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("simulated gateway: refund")
        verbose_name_plural = _("simulated gateway: refunds")
        indexes = [models.Index(fields=["charge_ref"])]

    def __str__(self) -> str:
        return self.provider_refund_id


class SimulatedFault(models.Model):
    """A switch on the simulated gateway: its next `remaining` refund calls go wrong in this way."""

    kind = models.CharField(_("kind of fault"), max_length=16, choices=FaultKind.choices)
    remaining = models.PositiveIntegerField(_("calls remaining"), default=1)
    seconds = models.FloatField(_("seconds"), default=3.0, help_text=_("For a slow answer: how long it takes."))
    charge_ref = models.CharField(
        _("charge reference"), max_length=64, blank=True, help_text=_("Only for this payment; empty: for any.")
    )

    class Meta:
        verbose_name = _("simulated gateway: fault")
        verbose_name_plural = _("simulated gateway: faults")

    def __str__(self) -> str:
        return f"{self.kind} × {self.remaining}"
