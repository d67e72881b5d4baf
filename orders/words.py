"""Words for codes that are kept as text and have no list of choices: what happened, and how goods are sent.

The history is written by every app, so each app names its own actions and actors here (from its `admin.py`). A code
without words is shown as it is.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from orders.states import ActorKinds

if TYPE_CHECKING:  # words are registered before there are models
    from orders.models import AuditEvent

Words = str | Promise

_actions: dict[str, Words] = {
    "order.taken_in": _("order taken in"),
    "shipment.packed": _("goods packed"),
    "shipment.shipped": _("shipment handed to the carrier"),
    "shipment.delivered": _("shipment delivered"),
    "shipment.lost": _("shipment lost"),
    "shipment.corrected": _("shipment corrected"),
    "order.address_changed": _("shipping address changed"),
    "product.added": _("product added"),
    "product.changed": _("product changed"),
    "store_credit.granted": _("store credit granted"),
    "store_credit.spent": _("store credit spent"),
    "store_credit.refunded": _("refunded to store credit"),
    "store_credit.corrected": _("store credit corrected"),
    "customer_link.issued": _("customer link made"),
    "customer_link.revoked": _("customer link revoked"),
}
_machines: dict[str, Words] = {}
_SHIPPING: Final[Mapping[str, Words]] = {
    "store_pickup": _("store pick-up"),
    "home_delivery": _("home delivery"),
    "convenience_store": _("pick-up at a convenience store"),
}


def register_actions(words: Mapping[str, Words]) -> None:
    """Name actions of the history: `{"refund.succeeded": _("refund succeeded")}`."""
    _actions.update(words)


def action_name(action: str) -> str:
    """What happened, in the active language; the code itself where nobody has named it."""
    return str(_actions.get(action, action))


def told_as(event: "AuditEvent") -> str:
    """The name by which words for the event are found: with why it happened ("quote.declined:closed"), where that makes
    it something else."""
    with_why = f"{event.action}:{event.outcome.get('because')}"
    return with_why if with_why in _actions else event.action


def known_actions() -> frozenset[str]:
    """All actions that have a name, without those that also say why (`told_as`)."""
    return frozenset(action for action in _actions if ":" not in action)


def register_machines(words: Mapping[str, Words]) -> None:
    """Name the parts of the system that act by themselves, as `system_actor` and `agent_actor` call them."""
    _machines.update(words)


def actor_name(event: "AuditEvent") -> str:
    """Who did it: a person by name, a part of the system in the active language."""
    by_machine = event.actor_kind in {ActorKinds.AGENT, ActorKinds.SYSTEM}
    return str(_machines.get(event.actor_name, event.actor_name)) if by_machine else event.actor_name


def shipping_name(method: str) -> str:
    """The shop's own code in words, where it is one of the usual ones."""
    return str(_SHIPPING.get(method, method))
