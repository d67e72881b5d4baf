"""The warehouse's buttons: pack, hand to the carrier, arrived."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from backoffice.screens.acting import act
from backoffice.screens.gate import SHIPMENTS, staff_screen
from orders import shipments
from orders.access import order_for_staff
from orders.actors import staff_actor
from orders.models import Shipment


@require_POST
@staff_screen(SHIPMENTS)
def pack(request: HttpRequest, number: str) -> HttpResponse:
    order = order_for_staff(request.user, number)

    def work() -> str:
        parcel = shipments.pack_order(order=order, actor=staff_actor(request.user))
        return _("Packed as %(parcel)s. It can no longer be cancelled.") % {"parcel": parcel.pk}

    return act(request, work, back=reverse("staff-order", args=[number]))


@require_POST
@staff_screen(SHIPMENTS)
def ship(request: HttpRequest, shipment_id: str) -> HttpResponse:
    parcel = _parcel(shipment_id)

    def work() -> str:
        shipments.ship(
            shipment=parcel,
            actor=staff_actor(request.user),
            carrier=request.POST.get("carrier", "").strip(),
            tracking_number=request.POST.get("tracking_number", "").strip(),
        )
        return _("%(parcel)s has been handed to the carrier.") % {"parcel": parcel.pk}

    return act(request, work, back=reverse("staff-order", args=[parcel.order.number]))


@require_POST
@staff_screen(SHIPMENTS)
def deliver(request: HttpRequest, shipment_id: str) -> HttpResponse:
    parcel = _parcel(shipment_id)

    def work() -> str:
        shipments.deliver(shipment=parcel, actor=staff_actor(request.user))
        return _("%(parcel)s has arrived. The time for returns runs from today.") % {"parcel": parcel.pk}

    return act(request, work, back=reverse("staff-order", args=[parcel.order.number]))


def _parcel(shipment_id: str) -> Shipment:
    return get_object_or_404(Shipment.objects.select_related("order"), pk=shipment_id)
