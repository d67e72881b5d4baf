"""A return or a cancellation that has come to nothing can leave money due: a fee, a discount, shipping.

An earlier settlement counted it, and kept back what is not due any more. The order's next settlement gives that back
(docs/money.md, Carry-over and floor). Where none may follow, staff are told: nothing is paid by itself.
"""

from orders.errors import Refusal
from orders.models import Order
from refunds import alerts, policy
from refunds.history import history_of, open_promises
from refunds.models import StaffAlert
from refunds.snapshot import terms_of
from refunds.states import AlertKind


def owed_for_nothing(order: Order) -> int:
    """What a settlement of no further goods would come to, in smallest units. Raises the refusal needs_assignment."""
    history = history_of(order)
    carried = policy.carried_over(policy.price(terms_of(order), history.gone), history.ledger)
    return min(max(carried, 0), history.ledger.payments_left)


def tell_if_owed(order: Order, *, number: str) -> None:
    """Raise an alert where money is due now that `number`, a return or a refund, has ended. With the order locked.

    Not while another return is open: it is worked out anew when its goods have come, and takes it up. Nor what staff
    were told and have not settled yet, nor where nobody has said what a refund made elsewhere was for.
    """
    if open_promises(order):
        return
    try:
        owed = owed_for_nothing(order)
    except Refusal:
        return
    told = StaffAlert.objects.filter(kind=AlertKind.OWED_MONEY, order=order, settled_at=None, facts__amount=owed)
    if not owed or told.exists():
        return
    facts = {"number": number, "amount": owed, "currency": order.currency}
    alerts.raise_alert(kind=AlertKind.OWED_MONEY, subject=number, order=order, facts=facts)
