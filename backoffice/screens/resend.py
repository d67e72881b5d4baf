"""Staff send lost goods once more instead of refunding them."""

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from backoffice.screens.choices import is_lost, line_of, picked, rows_for
from backoffice.screens.forms import form_screen, request_ref
from backoffice.screens.gate import REDEEM, staff_screen
from orders.access import order_for_staff
from orders.actors import staff_actor
from refunds.choices import clean_note, parse_choices
from refunds.goods import unit_groups
from refunds.resend import resend as send_again
from refunds.states import Reason


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(REDEEM)
def resend(request: HttpRequest, number: str) -> HttpResponse:
    order = order_for_staff(request.user, number)

    def work(typed: QueryDict) -> str:
        lines = [{**line_of(key, typed), "reason": Reason.LOST} for key in picked(typed)]
        made = send_again(
            order=order,
            lines=parse_choices({"lines": lines}),
            actor=staff_actor(request.user),
            request_ref=request_ref("resend", request.user, typed),
            note=clean_note(typed.get("note", ""), required=True),
        )
        return _("Replacement %(number)s is set aside: the warehouse sends it next.") % {"number": made.pk}

    return form_screen(
        request,
        template="staff/resend.html",
        back=reverse("staff-order", args=[number]),
        context=lambda typed: {
            "here": "orders",
            "order": order,
            "rows": rows_for("resend", unit_groups(order, now=timezone.now()), typed, fits=is_lost),
        },
        work=work,
    )
