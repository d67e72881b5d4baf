"""A form with a page of its own: shown, sent, and shown again with what was typed and what was wrong with it."""

import re
import secrets
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.utils import formats
from django.utils.translation import gettext as _

from orders.access import is_staff_reader
from orders.errors import InvalidInput, Refusal
from orders.money import currency_decimals

LONGEST_NUMBER: Final = 12
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{16,40}")
# Digits and marks as a Chinese keyboard writes them; nothing else that only looks like a number.
_FULL_WIDTH: Final = str.maketrans("０１２３４５６７８９，．", "0123456789,.")


def form_screen(
    request: HttpRequest,
    *,
    template: str,
    back: str,
    context: Callable[[QueryDict], Mapping[str, Any]],
    work: Callable[[QueryDict], str],
    only_show: bool = False,
    goes_on_at: str = "",
) -> HttpResponse:
    """`work` does what the form says and returns the sentence of success; then the browser goes to `back`,
    or to `goes_on_at` where the page that it came from is gone by it.

    `context` gets what is typed so far. `only_show`: nothing is done yet, the page comes again with what is typed.
    """
    refusal = None
    if request.method == "POST" and not only_show:
        try:
            said = work(request.POST)
        except Refusal as refused:
            refusal = refused.told_to(staff=is_staff_reader(request))
        else:
            messages.success(request, said)
            return HttpResponseRedirect(goes_on_at or back)
    typed = request.POST if request.method == "POST" else QueryDict()
    shown = {"typed": typed, "token": token_of(typed), "back": back, **context(typed), "refusal": refusal}
    return render(request, template, shown, status=refusal.status if refusal else 200)


def token_of(typed: QueryDict) -> str:
    """What makes the second press of a form the same request as the first: the form's own, or a new one."""
    sent = typed.get("token", "")
    return sent if _TOKEN.fullmatch(sent) else secrets.token_urlsafe(16)


def request_ref(what: str, user: User | AbstractBaseUser | AnonymousUser, typed: QueryDict) -> str:
    """The reference under which a service keeps what a form has asked for, so that a double press asks once."""
    return f"{what}:{user.pk}:{token_of(typed)}"


def whole_number(text: str) -> int | str:
    """A whole number as typed; anything else stays text, and the service refuses it by the field's name."""
    text = text.strip().translate(_FULL_WIDTH)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER else text


def money_of(text: str, currency: str, *, field: str = "amount") -> int:
    """An amount as people type it, `1,200`, `１００` or `12.50`, in the currency's smallest unit. Raises InvalidInput.

    A comma stands only between thousands: `1,00` may mean one, or a hundred.
    """
    decimals = currency_decimals(currency)
    fraction = rf"(?:\.(\d{{{decimals}}}))?" if decimals else "()"
    whole = rf"(\d{{1,{LONGEST_NUMBER}}}|\d{{1,3}}(?:,\d{{3}}){{1,3}})"
    found = re.fullmatch(whole + fraction, text.strip().translate(_FULL_WIDTH), flags=re.ASCII)
    if found is None:
        example = "12.50" if decimals else "120"
        raise InvalidInput(field, _("Write an amount like %(example)s.") % {"example": example})
    scale: int = 10**decimals
    return int(found[1].replace(",", "")) * scale + int(found[2] or 0)


def day_of(text: str, *, field: str, earliest: date, latest: date) -> date:
    """A day as a date field sends it, `2026-11-30`, in the shop's zone. Raises InvalidInput."""
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(field, _("Write a date like %(example)s.") % {"example": latest.isoformat()}) from None
    if not earliest <= day <= latest:
        between = {"earliest": formats.date_format(earliest), "latest": formats.date_format(latest)}
        raise InvalidInput(field, _("Choose a day from %(earliest)s to %(latest)s.") % between)
    return day
