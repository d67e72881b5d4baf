"""Quotes, refunds and what became of them. Amounts are integers of the order's currency in its smallest unit in use.

What a row means and how it may change stands in `refunds/states.py`; the lock order stands in `docs/money.md`.
"""

from refunds.models.deciding import Approval
from refunds.models.paying import GatewayAttempt, Refund, RefundAllocation
from refunds.models.policies import RefundPolicy
from refunds.models.quotes import QuoteLine, RefundQuote
from refunds.models.returns import Replacement, ReplacementLine, Return, ReturnFinding, ReturnLine
from refunds.models.simulated import SimulatedAcquirer, SimulatedCharge, SimulatedFault, SimulatedRefund
from refunds.models.watching import BooksCompared, ProviderEvent, StaffAlert

__all__ = [
    "Approval",
    "BooksCompared",
    "GatewayAttempt",
    "ProviderEvent",
    "QuoteLine",
    "Refund",
    "RefundAllocation",
    "RefundPolicy",
    "RefundQuote",
    "Replacement",
    "ReplacementLine",
    "Return",
    "ReturnFinding",
    "ReturnLine",
    "SimulatedAcquirer",
    "SimulatedCharge",
    "SimulatedFault",
    "SimulatedRefund",
    "StaffAlert",
]
