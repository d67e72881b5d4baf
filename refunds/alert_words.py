"""An alert as a person reads it in an e-mail: what has happened as a sentence, the rest in words, where to see to it.

Nothing about the customer: a mailbox is no place for that.
"""

from collections.abc import Mapping
from typing import Final

from django.conf import settings
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from refunds.fact_words import LABELS, in_words
from refunds.models import StaffAlert
from refunds.states import AlertKind

Words = str | Promise

# A sentence of each kind, by the names of facts; `order` is the order's number.
_SENTENCES: Final[Mapping[str, Words]] = {
    AlertKind.OVERDUE: gettext_lazy(
        "The customer of order %(order)s has been waiting for %(amount)s since %(since)s, for %(days)s days: "
        "that is %(level)s. It is about %(number)s (%(state)s)."
    ),
    AlertKind.OWED_MONEY: gettext_lazy(
        "%(number)s of order %(order)s has come to nothing, so %(amount)s that an earlier refund kept back is due "
        "again. The order's next refund gives it back; if there will be none, propose it as a compensation."
    ),
    AlertKind.OWED_GOODS: gettext_lazy(
        "The customer of order %(order)s has been waiting for goods since %(since)s, for %(days)s days: "
        "that is %(level)s. It is about replacement %(number)s (%(state)s)."
    ),
    AlertKind.DIFFERENCE: gettext_lazy("Our books and those of the payment provider differ: %(difference)s."),
    AlertKind.NOT_ANNOUNCED: gettext_lazy(
        "The payment provider reports a refund of %(amount)s on order %(order)s, %(provider_refund_id)s of %(at)s, "
        "that nobody has asked for here."
    ),
    AlertKind.ARRIVED_AFTER_ALL: gettext_lazy(
        "Parcel %(parcel)s of order %(order)s arrived on %(at)s, although its goods had been settled as lost."
    ),
    AlertKind.NOT_SENT_BACK: gettext_lazy(
        "Return %(number)s of order %(order)s was asked for on %(since)s, %(days)s days ago, and its goods have not "
        "come. If they will not come any more, reject it."
    ),
}
UNKNOWN: Final = "–"


def in_mail(alert: StaffAlert) -> tuple[str, str]:
    """Subject and body in the active language."""
    subject = _("[%(shop)s] %(what)s") % {"shop": settings.SHOP_NAME, "what": alert.get_kind_display()}
    return subject, "\n\n".join(filter(None, [_sentence(alert), _rest(alert), _where(alert)])) + "\n"


def _sentence(alert: StaffAlert) -> str:
    facts = {name: in_words(name, alert.facts) or UNKNOWN for name in LABELS}
    return str(_SENTENCES[alert.kind]) % {**facts, "order": _number(alert) or UNKNOWN}


def _rest(alert: StaffAlert) -> str:
    """What the sentence does not tell: a line for each, as “Parcel: TN-1”."""
    told = str(_SENTENCES[alert.kind])
    lines = [(_("Order"), _number(alert))] if "%(order)s" not in told else []
    lines += [(str(label), in_words(name, alert.facts)) for name, label in LABELS.items() if f"%({name})s" not in told]
    return "\n".join(_pair(label, said) for label, said in lines if said)


def _pair(what: str, said: str) -> str:
    return _("%(what)s: %(said)s") % {"what": what, "said": said}


def _where(alert: StaffAlert) -> str:
    links = [(_("See to it here"), f"{reverse('staff-refunds')}#alert-{alert.pk}")]
    if alert.order:
        links.append((_("The order"), reverse("staff-order", args=[alert.order.number])))
    return "\n".join(_pair(what, f"{settings.SITE_URL}{path}") for what, path in links)


def _number(alert: StaffAlert) -> str:
    return alert.order.number if alert.order else ""
