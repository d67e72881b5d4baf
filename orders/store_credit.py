"""Store credit: entries in a ledger, one per reference. The balance follows by a trigger and is never negative.

The account's row is locked while an entry is written: what it holds is read and spent in one go.
"""

from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from orders import audit
from orders.actors import Actor, NotAllowed
from orders.errors import InvalidInput, Refusal
from orders.models import Customer, Order, StoreCreditAccount, StoreCreditEntry
from orders.moments import moment
from orders.money import DECIMALS, format_money
from orders.states import CreditKind

PERMISSION: Final = "orders.add_storecreditentry"
VIEW: Final = "orders.view_storecreditentry"
MAX_REFERENCE: Final = 80
MAX_NOTE: Final = 240
# Who gives store credit. A customer spends theirs at the shop's checkout, and the agent never.
_MAY_POST: Final = frozenset({"staff", "system"})
# Whether an entry of this kind adds or takes; a correction does either.
_SIGNS: Final = {CreditKind.GRANTED: 1, CreditKind.REFUNDED: 1, CreditKind.SPENT: -1}


def post(
    *,
    customer: Customer,
    currency: str,
    amount: int,
    kind: str,
    reference: str,
    order: Order | None = None,
    note: str = "",
    actor: Actor,
) -> StoreCreditEntry:
    """Add `amount` (smallest units, negative where credit is spent) to the customer's ledger of this currency.

    The same reference again gives the entry it made. Raises NotAllowed, InvalidInput, and Refusal `reference_reused`
    (it stands for another entry) or `not_enough_credit` (the balance would fall below zero).
    """
    return post_once(
        customer=customer,
        currency=currency,
        amount=amount,
        kind=kind,
        reference=reference,
        order=order,
        note=note,
        actor=actor,
    )[0]


def post_once(
    *,
    customer: Customer,
    currency: str,
    amount: int,
    kind: str,
    reference: str,
    order: Order | None = None,
    note: str = "",
    actor: Actor,
) -> tuple[StoreCreditEntry, bool]:
    """`post`, and True if the entry is new."""
    actor.require(PERMISSION)
    if actor.kind not in _MAY_POST:
        raise NotAllowed(PERMISSION)
    _check(currency=currency, amount=amount, kind=CreditKind(kind), reference=reference, note=note)
    wanted = {"amount": amount, "kind": kind}
    written = {"reference": reference, "order": order, "note": note, "created_by": actor.user}
    try:
        with transaction.atomic():
            account = _locked_account(customer, currency)
            known = _known(reference, customer, currency, wanted)
            if known is not None:
                return known, False
            return _write(account, {**wanted, **written}, actor), True
    except IntegrityError:
        # Another ledger's entry took the reference meanwhile: that account is not the one locked here.
        known = _known(reference, customer, currency, wanted)
        if known is None:
            raise
        return known, False


def balance(customer: Customer, currency: str) -> int:
    """What the customer has left, in smallest units; 0 where nothing was ever granted."""
    account = StoreCreditAccount.objects.filter(customer=customer, currency=currency).first()
    return account.balance if account else 0


def entries_of(customer: Customer) -> QuerySet[StoreCreditEntry]:
    """All entries of the customer, newest first."""
    entries = StoreCreditEntry.objects.filter(account__customer=customer)
    return entries.select_related("account", "order").order_by("-id")


def entry_as_dict(entry: StoreCreditEntry) -> dict[str, Any]:
    return {
        "reference": entry.reference,
        "kind": entry.kind,
        "amount": entry.amount,
        "display": format_money(entry.amount, entry.account.currency),
        "currency": entry.account.currency,
        "order_number": entry.order.number if entry.order else None,
        "note": entry.note,
        "created_at": moment(entry.created_at),
    }


def balances_as_list(customer: Customer) -> list[dict[str, Any]]:
    accounts = StoreCreditAccount.objects.filter(customer=customer).order_by("currency")
    return [
        {
            "currency": account.currency,
            "balance": account.balance,
            "display": format_money(account.balance, account.currency),
        }
        for account in accounts
    ]


def _check(*, currency: str, amount: int, kind: CreditKind, reference: str, note: str) -> None:
    if currency not in DECIMALS:
        raise InvalidInput("currency", _("It must be one of: %(codes)s.") % {"codes": ", ".join(DECIMALS)})
    sign = _SIGNS.get(kind)
    if type(amount) is not int or amount == 0:
        raise InvalidInput("amount", _("It must be a whole number other than 0."))
    if sign is not None and amount * sign < 0:
        more = _("Credit of this kind is added: the amount must be above 0.")
        less = _("Credit that is spent is taken away: the amount must be below 0.")
        raise InvalidInput("amount", more if sign > 0 else less)
    if not 1 <= len(reference) <= MAX_REFERENCE:
        raise InvalidInput("reference", _("It must have 1 to %(most)s characters.") % {"most": MAX_REFERENCE})
    if len(note) > MAX_NOTE:
        raise InvalidInput("note", _("It may have at most %(most)s characters.") % {"most": MAX_NOTE})


def _locked_account(customer: Customer, currency: str) -> StoreCreditAccount:
    """The account, locked until the transaction ends; last in the lock order (`docs/money.md`)."""
    StoreCreditAccount.objects.get_or_create(customer=customer, currency=currency)
    return StoreCreditAccount.objects.select_for_update(no_key=True).get(customer=customer, currency=currency)


def _known(reference: str, customer: Customer, currency: str, wanted: dict[str, Any]) -> StoreCreditEntry | None:
    entry = StoreCreditEntry.objects.select_related("account").filter(reference=reference).first()
    if entry is None:
        return None
    same = (entry.account.customer_id, entry.account.currency) == (customer.pk, currency)
    if not same or any(getattr(entry, name) != value for name, value in wanted.items()):
        raise Refusal(
            "reference_reused",
            _("The reference %(reference)s stands for another entry already.") % {"reference": reference},
            hint=_("Send the entry again as it was, or under a reference of its own."),
            field="reference",
        )
    return entry


def _write(account: StoreCreditAccount, fields: dict[str, Any], actor: Actor) -> StoreCreditEntry:
    if account.balance + fields["amount"] < 0:
        raise _not_enough(account, -fields["amount"])
    entry = StoreCreditEntry.objects.create(account=account, **fields)
    account.refresh_from_db(fields=["balance"])
    audit.record(
        action=f"store_credit.{entry.kind}",
        actor=actor,
        order=entry.order,
        subject_type="store_credit_entry",
        subject_id=str(entry.pk),
        chosen={"customer": account.customer.external_id, "reference": entry.reference, "note": entry.note},
        computed={"amount": entry.amount, "currency": account.currency},
        outcome={"balance": account.balance},
    )
    return entry


def _not_enough(account: StoreCreditAccount, wanted: int) -> Refusal:
    sums = {
        "left": format_money(account.balance, account.currency),
        "wanted": format_money(wanted, account.currency),
    }
    return Refusal(
        "not_enough_credit",
        _("There are %(left)s of store credit left; %(wanted)s cannot be taken.") % sums,
        hint=_("Take at most what is left."),
        field="amount",
        details={"balance": account.balance, "asked": wanted, "currency": account.currency},
    )
