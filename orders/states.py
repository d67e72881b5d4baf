"""The states of facts. A set of states has one name, here, and is restated nowhere."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ActorKinds(models.TextChoices):
    """Who acts, as the history names them: the values of `orders.actors.ActorKind`."""

    CUSTOMER = "customer", _("customer")
    STAFF = "staff", _("staff")
    AGENT = "agent", _("agent")
    SYSTEM = "system", _("system")


class ShipmentState(models.TextChoices):
    PACKED = "packed", _("packed")
    SHIPPED = "shipped", _("shipped")
    DELIVERED = "delivered", _("delivered")
    LOST = "lost", _("lost")


# What a shipment may become, from where. Anything else is refused.
SHIPMENT_MOVES: dict[str, frozenset[str]] = {
    ShipmentState.PACKED: frozenset({ShipmentState.SHIPPED, ShipmentState.DELIVERED}),
    ShipmentState.SHIPPED: frozenset({ShipmentState.DELIVERED, ShipmentState.LOST}),
    ShipmentState.LOST: frozenset({ShipmentState.DELIVERED}),
    ShipmentState.DELIVERED: frozenset(),
}


# Ways of shipping in which the customer comes for the goods: such an order has no address to be sent to.
PICKUP_METHODS: frozenset[str] = frozenset({"store_pickup", "convenience_store"})


class CreditKind(models.TextChoices):
    """Why a customer's store credit changed."""

    GRANTED = "granted", _("granted")
    SPENT = "spent", _("spent")
    REFUNDED = "refunded", _("refunded to store credit")
    CORRECTED = "corrected", _("corrected")


class CarrierFaultKind(models.TextChoices):
    """What the simulated carrier can be told to do to the next questions."""

    SLOW = "slow", _("answer slowly")
    DOWN = "down", _("not answer at all")


class PaymentMethod(models.TextChoices):
    CARD = "card", _("card")
    STORE_CREDIT = "store_credit", _("store credit")
    BANK_TRANSFER = "bank_transfer", _("bank transfer")
    WALLET = "wallet", _("wallet")
    CASH_ON_DELIVERY = "cash_on_delivery", _("cash on delivery")


class DiscountKind(models.TextChoices):
    FIXED = "fixed", _("fixed amount")
    PERCENT = "percent", _("percentage")
    BUNDLE = "bundle", _("bundle")


class Settlement(models.TextChoices):
    REPRICE = "reprice", _("earned again by what is kept")
    PRORATE = "prorate", _("shared out over the goods")


class Waiver(models.TextChoices):
    THRESHOLD = "threshold", _("free above a threshold")
    PICKUP = "pickup", _("free at pick-up")
    PROMOTION = "promotion", _("free by promotion")


class AnnouncementState(models.TextChoices):
    WAITING = "waiting", _("waiting")
    ACCEPTED = "accepted", _("accepted by the shop")
