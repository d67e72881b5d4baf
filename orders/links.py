"""The signed link by which a customer without an account reaches one order: made by the shop, ends, can be revoked."""

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from orders import audit
from orders.access import usable_links
from orders.actors import Actor, NotAllowed
from orders.models import CustomerLink, Order

PERMISSION: Final = "orders.issue_customer_link"
# The signature is bound to this purpose: no other signed value of the product opens an order.
_signer: Final = Signer(salt="orders.customer-link", sep=".")


def issue_link(*, order: Order, actor: Actor) -> tuple[str, CustomerLink]:
    """The address (a path) that opens this order, and its row. Raises NotAllowed for anyone but staff who may."""
    actor.require(PERMISSION)
    if actor.user is None:
        raise NotAllowed(PERMISSION)
    with transaction.atomic():
        link = CustomerLink.objects.create(
            order=order,
            expires_at=timezone.now() + timedelta(days=settings.CUSTOMER_LINK_DAYS),
            created_by=actor.user,
        )
        _record("customer_link.issued", link, actor)
    return _path(link), link


def revoke_link(*, link: CustomerLink, actor: Actor) -> CustomerLink:
    """End the link, and the access of whoever came by it. A second time changes nothing. Raises NotAllowed."""
    actor.require(PERMISSION)
    with transaction.atomic():
        ended = CustomerLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=timezone.now())
        if ended:
            _record("customer_link.revoked", link, actor)
    link.refresh_from_db()
    return link


def link_of(token: str) -> CustomerLink | None:
    """The link that `token` opens; None if it is forged, over or revoked."""
    try:
        key = _signer.unsign(token)
    except BadSignature:
        return None
    return usable_links().filter(pk=key).select_related("order__customer").first()


def newest_address(order: Order) -> str | None:
    """The path of the newest link to the order that still works; None if there is none. It makes no new one."""
    link = usable_links().filter(order=order).order_by("-expires_at").first()
    return _path(link) if link else None


def _path(link: CustomerLink) -> str:
    return reverse("enter-by-link", kwargs={"token": _signer.sign(str(link.pk))})


def _record(action: str, link: CustomerLink, actor: Actor) -> None:
    audit.record(
        action=action,
        actor=actor,
        order=link.order,
        subject_type="customer_link",
        subject_id=str(link.pk),
        outcome={"expires_at": link.expires_at.isoformat()},
    )
