"""The shop's rules, version by version: read, compared, drafted, tried, published by a second person, withdrawn."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from backoffice.screens import decided, policy_form
from backoffice.screens.forms import form_screen
from backoffice.screens.gate import EDIT_POLICIES, POLICIES, PUBLISH_POLICIES, staff_screen
from orders.actors import staff_actor
from orders.errors import Refusal
from orders.models import Product
from orders.prose import sentences
from orders.strict import validated
from refunds import policies
from refunds.models import RefundPolicy
from refunds.policy_bodies import PublishBody
from refunds.policy_examples import as_if, examples
from refunds.policy_present import differences, in_words
from refunds.policy_selectors import (
    authors_of,
    find,
    newest_settling,
    seen_of,
    standings,
    versions,
    withdrawal_of,
)
from refunds.states import PolicyState

PER_PAGE = 25
HERE = {"here": "policies"}
KNOWN_CATEGORIES = 30


@never_cache
@require_safe
@staff_screen(POLICIES)
def policy_list(request: HttpRequest) -> HttpResponse:
    """The versions of one currency, the newest first; `?currency=` chooses it."""
    currencies = list(RefundPolicy.objects.order_by("currency").values_list("currency", flat=True).distinct())
    wanted = request.GET.get("currency", "TWD")
    currency = wanted if wanted in currencies else next(iter(currencies), "")
    known = standings(versions(currency=currency), now=timezone.now()) if currency else []
    page = Paginator(known, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        **HERE,
        "currencies": currencies,
        "currency": currency,
        "page": page,
        "draft": next((each.policy for each in known if each.phase == "draft"), None),
        "query": f"currency={currency}&",
    }
    return render(request, "staff/policies.html", context)


@never_cache
@require_safe
@staff_screen(POLICIES)
def policy_page(request: HttpRequest, currency: str, version: int) -> HttpResponse:
    """One version in plain words, with what it does to a few orders."""
    policy = _policy_or_404(currency, version)
    return render(request, "staff/policy.html", _page_context(request, policy, QueryDict()))


def _page_context(request: HttpRequest, policy: RefundPolicy, typed: QueryDict) -> dict[str, Any]:
    known = standings(versions(currency=policy.currency), now=timezone.now())
    standing = next(each for each in known if each.policy == policy)
    before = _before(policy, [each.policy for each in known])
    return {
        **HERE,
        "policy": policy,
        "standing": standing,
        "rules": in_words(policy),
        "before": before,
        "others": [each.policy for each in known if each.policy != policy],
        "examples": examples(policy, before),
        "is_draft": policy.state == PolicyState.DRAFT,
        "withdrawable": standing.phase == "coming" and policies.can_be_withdrawn(policy),
        "withdrawal": withdrawal_of(policy),
        "own": request.user.pk in authors_of(policy),
        "seen": seen_of(policy),
        "moment": policy_form.proposed_moment(newest_settling(policy.currency), typed.dict()),
    }


def _before(policy: RefundPolicy, known: list[RefundPolicy]) -> RefundPolicy | None:
    """The version that this one follows."""
    earlier = [other for other in known if other.version < policy.version and other.state != PolicyState.WITHDRAWN]
    return max(earlier, key=lambda other: other.version, default=None)


@never_cache
@require_safe
@staff_screen(POLICIES)
def compare(request: HttpRequest, currency: str, version: int) -> HttpResponse:
    """Two versions side by side; `?with=` names the other one, else it is the one before."""
    policy = _policy_or_404(currency, version)
    known = list(versions(currency=currency))
    wanted = request.GET.get("with", "")
    other = next((each for each in known if str(each.version) == wanted), None) or _before(policy, known)
    if other is None or other == policy:
        return redirect("staff-policy", currency, version)
    older, newer = sorted((policy, other), key=lambda each: each.version)
    context = {
        **HERE,
        "policy": policy,
        "older": older,
        "newer": newer,
        "other": other,
        "others": [each for each in known if each != policy],
        "rows": differences(older, newer),
        "examples": examples(newer, older),
    }
    return render(request, "staff/policy_compare.html", context)


@require_POST
@staff_screen(EDIT_POLICIES)
def draft(request: HttpRequest) -> HttpResponse:
    """Begin a new version, or go on with the one that is begun."""
    try:
        policy, created = policies.draft(currency=request.POST.get("currency", ""), actor=staff_actor(request.user))
    except Refusal as refusal:
        messages.error(request, sentences(refusal.message, refusal.hint))
        return redirect("staff-policies")
    said = _("Version %(version)s begins as a copy of the newest.") if created else _("Version %(version)s is begun.")
    messages.success(request, said % {"version": policy.version})
    return redirect("staff-policy-edit", policy.currency, policy.version)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(EDIT_POLICIES)
def edit(request: HttpRequest, currency: str, version: int) -> HttpResponse:
    """The form of a draft; what is refused comes back as it was typed."""
    policy = _policy_or_404(currency, version)
    if policy.state != PolicyState.DRAFT:
        return redirect("staff-policy", currency, version)

    def work(form: QueryDict) -> str:
        body = policy_form.body_of(form, currency)
        policies.edit(currency=currency, version=version, body=body, actor=staff_actor(request.user))
        return _("The draft is saved. Somebody else publishes it.")

    return form_screen(
        request,
        template="staff/policy_edit.html",
        back=reverse("staff-policy", args=[currency, version]),
        context=lambda typed: {
            **HERE,
            "policy": policy,
            "values": policy_form.shown(policy, typed),
            "seen": seen_of(policy),
            "categories": _known_categories(),
            **_tried(policy, typed),
        },
        work=work,
        only_show="try" in request.POST,
    )


@require_POST
@staff_screen(EDIT_POLICIES)
def try_out(request: HttpRequest, currency: str, version: int) -> HttpResponse:
    """The examples under what is typed so far, for htmx. Nothing is saved."""
    policy = _policy_or_404(currency, version)
    return render(request, "staff/_policy_examples.html", {"policy": policy, **_tried(policy, request.POST)})


def _tried(policy: RefundPolicy, typed: QueryDict) -> dict[str, Any]:
    """`examples`, or what is wrong with what is typed as `not_yet`."""
    before = _before(policy, list(versions(currency=policy.currency)))
    try:
        tried = as_if(policy, policy_form.body_of(typed, policy.currency)) if typed else policy
    except Refusal as refusal:
        return {"not_yet": refusal, "before": before}
    return {"examples": examples(tried, before), "before": before}


@never_cache
@require_POST
@staff_screen(PUBLISH_POLICIES)
def publish(request: HttpRequest, currency: str, version: int) -> HttpResponse:
    policy = _policy_or_404(currency, version)

    def work(form: QueryDict) -> str:
        facts = validated(PublishBody, policy_form.publishing_of(form))
        policies.publish(currency=currency, version=version, actor=staff_actor(request.user), **facts)
        return _("Version %(version)s is published.") % {"version": version}

    return form_screen(
        request,
        template="staff/policy.html",
        back=reverse("staff-policy", args=[currency, version]),
        context=lambda typed: _page_context(request, policy, typed),
        work=work,
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(PUBLISH_POLICIES)
def withdraw(request: HttpRequest, currency: str, version: int) -> HttpResponse:
    """It never comes into force; asked for with how it stands before one's eyes."""
    policy = _policy_or_404(currency, version)

    def work(form: QueryDict) -> str:
        reason = form.get("reason", "")
        policies.withdraw(currency=currency, version=version, reason=reason, actor=staff_actor(request.user))
        return _("Version %(version)s is withdrawn.") % {"version": version}

    return form_screen(
        request,
        template="staff/policy_withdraw.html",
        back=reverse("staff-policy", args=[currency, version]),
        context=lambda typed: _decision_context(request, policy, typed, open_if="withdrawable"),
        work=work,
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(EDIT_POLICIES)
def discard(request: HttpRequest, currency: str, version: int) -> HttpResponse:
    policy = _policy_or_404(currency, version)

    def work(form: QueryDict) -> str:
        seen = form.get("seen", "")
        policies.discard(currency=currency, version=version, actor=staff_actor(request.user), seen=seen)
        return _("The draft of version %(version)s is thrown away.") % {"version": version}

    return form_screen(
        request,
        template="staff/policy_discard.html",
        back=reverse("staff-policy", args=[currency, version]),
        context=lambda typed: _decision_context(request, policy, typed, open_if="is_draft"),
        work=work,
        goes_on_at=f"{reverse('staff-policies')}?currency={currency}",
    )


def _decision_context(request: HttpRequest, policy: RefundPolicy, typed: QueryDict, *, open_if: str) -> dict[str, Any]:
    context = _page_context(request, policy, typed)
    over = partial(decided.of_row, "policy", policy.pk)
    return {**context, **decided.shown(is_open=context[open_if], decided=over)}


def _policy_or_404(currency: str, version: int) -> RefundPolicy:
    policy = find(currency, version)
    if policy is None:
        raise Http404
    return policy


def _known_categories() -> list[str]:
    """What the shop calls its categories, as a help for whoever types them."""
    names = Product.objects.exclude(category="").order_by("category").values_list("category", flat=True).distinct()
    return list(names[:KNOWN_CATEGORIES])
