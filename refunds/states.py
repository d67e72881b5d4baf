"""States of quotes, refunds, returns and policies: one list each, the moves between them, and the named sets."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class QuoteAction(models.TextChoices):
    CANCEL = "cancel", _("cancel and refund now")
    RETURN = "return", _("return, refund after receipt")
    LOST = "lost", _("refund of lost goods")


class QuoteState(models.TextChoices):
    OPEN = "open", _("open")
    REDEEMED = "redeemed", _("redeemed")
    EXPIRED = "expired", _("expired")
    SUPERSEDED = "superseded", _("superseded")
    DECLINED = "declined", _("declined")


# An open quote ends once.
QUOTE_MOVES: dict[str, frozenset[str]] = {
    state: frozenset(QuoteState) - {state} if state == QuoteState.OPEN else frozenset() for state in QuoteState
}


class EndedBecause(models.TextChoices):
    """Why a quote is over where its state does not say it: superseded by what, or declined although nobody said no.

    The refusal is worded anew from it whenever somebody asks.
    """

    NEWER_QUOTE = "newer_quote", _("a newer quote took its place")
    ORDER_CHANGED = "order_changed", _("the order had changed")
    WROTE_INSTEAD = "wrote_instead", _("the customer wrote something else")
    CLOSED = "closed", _("the conversation ended")


class Asker(models.TextChoices):
    CUSTOMER = "customer", _("customer")
    STAFF = "staff", _("staff")
    AGENT = "agent", _("agent")
    SYSTEM = "system", _("system")


class RefundKind(models.TextChoices):
    """What money goes back for. Only *goods* is worked out from a quote; *elsewhere* was paid without us."""

    GOODS = "goods", _("refund of goods")
    COMPENSATION = "compensation", _("compensation")
    ELSEWHERE = "elsewhere", _("refunded elsewhere")


class RefundState(models.TextChoices):
    PENDING_APPROVAL = "pending_approval", _("waiting for approval")
    PENDING = "pending", _("being sent")
    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("failed")
    UNKNOWN = "unknown", _("being checked")
    REJECTED = "rejected", _("rejected")
    EXPIRED = "expired", _("expired")


# Refunds that let go of goods and money again. All others count as spent.
RELEASED = frozenset({RefundState.REJECTED, RefundState.EXPIRED})
FINISHED = RELEASED | {RefundState.SUCCEEDED}
# Refunds of which nothing may be sent: they wait for a second person, or never will be.
NOT_TO_BE_SENT = RELEASED | {RefundState.PENDING_APPROVAL}
REFUND_MOVES: dict[str, frozenset[str]] = {
    RefundState.PENDING_APPROVAL: frozenset({RefundState.PENDING, RefundState.REJECTED, RefundState.EXPIRED}),
    RefundState.PENDING: frozenset({RefundState.SUCCEEDED, RefundState.FAILED, RefundState.UNKNOWN}),
    # Pending: a person sends a refused part once more while the gateway is still asked about another.
    RefundState.UNKNOWN: frozenset({RefundState.PENDING, RefundState.SUCCEEDED, RefundState.FAILED}),
    # By a person's retry; or because the gateway reports that it has paid after all, or that it is still at it.
    RefundState.FAILED: frozenset({RefundState.PENDING, RefundState.SUCCEEDED, RefundState.UNKNOWN}),
    # Only where the provider reports that what it had paid has failed after all.
    RefundState.SUCCEEDED: frozenset({RefundState.UNKNOWN}),
    RefundState.REJECTED: frozenset(),
    RefundState.EXPIRED: frozenset(),
}


# Refunds made elsewhere are facts from the first; a person may say that one did not take place.
ELSEWHERE_MOVES: dict[str, frozenset[str]] = {
    RefundState.SUCCEEDED: frozenset({RefundState.REJECTED}),
    RefundState.REJECTED: frozenset(),
}


class AllocationState(models.TextChoices):
    PENDING = "pending", _("to be sent")
    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("refused")
    UNKNOWN = "unknown", _("being checked")


class AttemptKind(models.TextChoices):
    """Before closing an acquirer may only take a charge back as a whole."""

    REFUND = "refund", _("refund")
    VOID = "void", _("void")


class AttemptOutcome(models.TextChoices):
    SENDING = "sending", _("sent, no answer yet")
    SUCCEEDED = "succeeded", _("succeeded")
    REFUSED = "refused", _("refused")
    UNKNOWN = "unknown", _("unknown")


ATTEMPT_MOVES: dict[str, frozenset[str]] = {
    AttemptOutcome.SENDING: frozenset({AttemptOutcome.SUCCEEDED, AttemptOutcome.REFUSED, AttemptOutcome.UNKNOWN}),
    AttemptOutcome.UNKNOWN: frozenset({AttemptOutcome.SUCCEEDED, AttemptOutcome.REFUSED}),
    # A payment that is reported late is a fact; and what is reported to be under way after all may still be paid.
    AttemptOutcome.REFUSED: frozenset({AttemptOutcome.SUCCEEDED, AttemptOutcome.UNKNOWN}),
    # Only by a person, after the gateway has reported that it failed after all.
    AttemptOutcome.SUCCEEDED: frozenset({AttemptOutcome.REFUSED}),
}
# Attempts whose fate is not known yet: the gateway has the last word.
UNDECIDED = frozenset({AttemptOutcome.SENDING, AttemptOutcome.UNKNOWN})


class Trouble(models.TextChoices):
    """What a gateway has reported of an attempt and no machine may settle: a person looks into it."""

    PAID_AFTER_REFUSAL = "paid_after_refusal", _("paid after a refusal")
    AMOUNT_DIFFERS = "amount_differs", _("paid something else than was asked")
    FAILED_AFTER_PAYMENT = "failed_after_paid", _("reported as failed after it was paid")
    PENDING_AFTER_REFUSAL = "pending_after_no", _("under way after a refusal")


# Trouble that may turn out to have ended without a payment: a person can say so (`attention.admit_failure`).
MAY_HAVE_FAILED = frozenset({Trouble.FAILED_AFTER_PAYMENT, Trouble.PENDING_AFTER_REFUSAL})


class Stands(models.TextChoices):
    """Which payment of a part counts, where a person has paid it by hand and its provider reports to have paid it."""

    HAND = "hand", _("what was paid by hand")
    PROVIDER = "provider", _("what the provider has paid")


class ReturnKind(models.TextChoices):
    REFUND = "refund", _("return for a refund")
    EXCHANGE = "exchange", _("exchange")


class ReturnState(models.TextChoices):
    REQUESTED = "requested", _("requested")
    RECEIVED = "received", _("received")
    ACCEPTED = "accepted", _("accepted")
    REFUNDED = "refunded", _("refund arranged")
    EXCHANGED = "exchanged", _("exchanged")
    REJECTED = "rejected", _("rejected")
    WITHDRAWN = "withdrawn", _("withdrawn")


RETURN_MOVES: dict[str, frozenset[str]] = {
    ReturnState.REQUESTED: frozenset({ReturnState.RECEIVED, ReturnState.WITHDRAWN, ReturnState.REJECTED}),
    ReturnState.RECEIVED: frozenset({ReturnState.ACCEPTED, ReturnState.REJECTED}),
    ReturnState.ACCEPTED: frozenset({ReturnState.REFUNDED, ReturnState.EXCHANGED, ReturnState.REJECTED}),
    ReturnState.REFUNDED: frozenset(),
    ReturnState.EXCHANGED: frozenset(),
    ReturnState.REJECTED: frozenset(),
    ReturnState.WITHDRAWN: frozenset(),
}
# Returns whose goods still count as gone and whose promised amount counts as given back.
OPEN_RETURNS = frozenset({ReturnState.REQUESTED, ReturnState.RECEIVED, ReturnState.ACCEPTED})


class FoundState(models.TextChoices):
    """What the warehouse finds of each unit that was announced. Only accepted units are refunded or replaced."""

    ACCEPTED = "accepted", pgettext_lazy("found in a parcel", "accepted")
    DAMAGED = "damaged", _("damaged by the customer")
    SHORT = "short", _("not in the parcel")
    WRONG_ITEM = "wrong_item", _("other goods in the parcel")


class ReplacementKind(models.TextChoices):
    EXCHANGE = "exchange", _("exchange")
    LOST = "lost", _("lost goods sent again")


class ReplacementState(models.TextChoices):
    RESERVED = "reserved", _("to be sent")
    SENT = "sent", _("sent")
    RELEASED = "released", _("not sent")


REPLACEMENT_MOVES: dict[str, frozenset[str]] = {
    ReplacementState.RESERVED: frozenset({ReplacementState.SENT, ReplacementState.RELEASED}),
    ReplacementState.SENT: frozenset(),
    ReplacementState.RELEASED: frozenset(),
}


class ApprovalKind(models.TextChoices):
    """Why a second person is asked."""

    AMOUNT = "amount", _("above the policy's amount")
    LESS_THAN_PROMISED = "less_than_promised", _("less than a return was promised")
    COMPENSATION = "compensation", _("compensation")
    OVERRIDE = "override", _("exception to a rule")


class ApprovalState(models.TextChoices):
    WAITING = "waiting", _("waiting")
    APPROVED = "approved", _("approved")
    REJECTED = "rejected", _("rejected")
    EXPIRED = "expired", _("expired")


# Compensations that count towards the policy's cap: what may still be paid, and what was granted.
COUNTED_APPROVALS = frozenset({ApprovalState.WAITING, ApprovalState.APPROVED})
APPROVAL_MOVES: dict[str, frozenset[str]] = {
    ApprovalState.WAITING: frozenset({ApprovalState.APPROVED, ApprovalState.REJECTED, ApprovalState.EXPIRED}),
    ApprovalState.APPROVED: frozenset(),
    ApprovalState.REJECTED: frozenset(),
    ApprovalState.EXPIRED: frozenset(),
}


class AlertKind(models.TextChoices):
    """What staff must hear of although nobody asked."""

    OVERDUE = "overdue", _("a customer has waited too long for money")
    OWED_MONEY = "owed_money", _("money is due again that an earlier refund kept back")
    OWED_GOODS = "owed_goods", _("a customer has waited too long for goods")
    DIFFERENCE = "difference", _("our books and the provider's differ")
    NOT_ANNOUNCED = "not_announced", _("the provider reports a refund that we did not ask for")
    ARRIVED_AFTER_ALL = "arrived_after_all", _("goods that were settled as lost have arrived after all")
    NOT_SENT_BACK = "not_sent_back", _("goods of a return have not come for a long time")


class PolicyState(models.TextChoices):
    DRAFT = "draft", _("draft")
    PUBLISHED = "published", _("published")
    SUPERSEDED = "superseded", _("superseded")
    WITHDRAWN = "withdrawn", pgettext_lazy("version of the rules", "withdrawn")


POLICY_MOVES: dict[str, frozenset[str]] = {
    PolicyState.DRAFT: frozenset({PolicyState.PUBLISHED}),
    # Withdrawn only while it is not in force yet.
    PolicyState.PUBLISHED: frozenset({PolicyState.SUPERSEDED, PolicyState.WITHDRAWN}),
    # Because the version that followed was withdrawn.
    PolicyState.SUPERSEDED: frozenset({PolicyState.PUBLISHED}),
    PolicyState.WITHDRAWN: frozenset(),
}
# Policies that settle orders. A superseded one goes on settling the orders that were placed while it was in force.
SETTLING = frozenset({PolicyState.PUBLISHED, PolicyState.SUPERSEDED})


class Reason(models.TextChoices):
    """Why goods leave, per line. Which of them are the shop's fault is the policy's to say."""

    CHANGED_MIND = "changed_mind", _("changed mind")
    LATE_DELIVERY = "late_delivery", _("does not want to wait")
    DEFECTIVE = "defective", _("defective")
    WRONG_ITEM = "wrong_item", _("wrong item")
    LOST = "lost", _("lost on the way")
    SHOP_CANCELLED = "shop_cancelled", _("cancelled by the shop")
    OTHER = "other", _("other")


# Reasons that a customer cannot give. A quote with one of them is the staff's until one of them confirms it.
ONLY_STAFF_SAY = frozenset({Reason.SHOP_CANCELLED})


class ChargeOutcome(models.TextChoices):
    """Whether the money of a charge has come, by its provider."""

    SUCCEEDED = "succeeded", _("succeeded")
    PENDING = "pending", _("pending")
    FAILED = "failed", _("failed")


class FaultKind(models.TextChoices):
    """What the simulated gateway can be told to do to the next calls."""

    REFUSE = "refuse", _("refuse")
    SLOW = "slow", _("answer slowly")
    TIMEOUT_AFTER = "timeout_after", _("act, then time out")
    TIMEOUT_BEFORE = "timeout_before", _("time out without acting")
    # Questions too, which the others leave alone.
    DOWN = "down", _("not answer at all")
