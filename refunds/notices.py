"""Telling the rest of the product, always after commit. What a lost notice leaves is found by the sweepers."""

from django.db import transaction
from django.dispatch import Signal


def tell_on_commit(signal: Signal, **ids: str) -> None:
    """Send `signal` once the transaction is committed. A receiver that fails is logged and changes nothing."""
    transaction.on_commit(lambda: signal.send_robust(sender=None, **ids))
