"""Versions of the rules by API: read, draft, change, publish, withdraw, discard."""

from collections.abc import Mapping
from typing import Any, Final

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from orders.actors import Actor, staff_actor
from orders.api import PAGES, refusals
from orders.money import DECIMALS
from orders.strict import validated
from refunds import policies, policy_errors
from refunds.api.common import page
from refunds.bodies import NeededReasonBody
from refunds.models import RefundPolicy
from refunds.policy_bodies import TENDERS, DraftBody, PolicyBody, PublishBody
from refunds.policy_present import policy_as_dict
from refunds.policy_selectors import VIEW, Standing, find, standing_of, standings, versions
from refunds.states import PolicyState, Reason

PATH: Final = [
    OpenApiParameter("currency", str, OpenApiParameter.PATH, enum=list(DECIMALS)),
    OpenApiParameter("version", {"type": "integer", "minimum": 1}, OpenApiParameter.PATH),
]


class ShopFaultAnswer(serializers.Serializer):
    """Per reason, whether goods that leave for it leave through the shop's fault."""

    def get_fields(self) -> dict[str, serializers.Field]:
        return {reason: serializers.BooleanField() for reason in Reason.values}


class PolicyDisplay(serializers.Serializer):
    """The amounts as people read them."""

    return_fee = serializers.CharField()
    approval_above = serializers.CharField()
    compensation_cap = serializers.CharField()


class PolicyAnswer(serializers.Serializer):
    """`in_force_from` is null for a draft; what is withdrawn never comes into force.

    `in_force`: whether an order that is placed now gets it; one that is superseded goes on until the next one's day.
    `seen` stands for the content; send it back with a change of the draft.
    """

    currency = serializers.ChoiceField(choices=tuple(DECIMALS))
    version = serializers.IntegerField()
    state = serializers.ChoiceField(choices=PolicyState.choices)
    state_text = serializers.CharField()
    in_force = serializers.BooleanField()
    in_force_from = serializers.DateTimeField(allow_null=True)
    return_fee = serializers.IntegerField()
    return_fee_enabled = serializers.BooleanField()
    return_window_days = serializers.IntegerField()
    lost_after_days = serializers.IntegerField()
    excluded_categories = serializers.ListField(child=serializers.CharField())
    shop_fault = ShopFaultAnswer()
    tender_order = serializers.ListField(child=serializers.ChoiceField(choices=TENDERS))
    approval_above = serializers.IntegerField()
    compensation_cap = serializers.IntegerField()
    quote_minutes = serializers.IntegerField()
    display = PolicyDisplay()
    note = serializers.CharField(allow_blank=True)
    edited_by = serializers.CharField(allow_null=True)
    published_by = serializers.CharField(allow_null=True)
    published_at = serializers.DateTimeField(allow_null=True)
    seen = serializers.CharField()


class PoliciesView(APIView):
    @extend_schema(
        operation_id="refund_policies_list",
        summary="List the versions of the rules, the newest of each currency first",
        description="Needs the permission `refunds.view_refundpolicy`.",
        parameters=[OpenApiParameter("currency", str, enum=list(DECIMALS)), *PAGES],
        responses={200: PolicyAnswer(many=True), **refusals(400, 403, 404)},
    )
    def get(self, request: Request) -> Response:
        _reader(request)
        rows = versions(currency=_wanted_currency(request.query_params))
        known = {standing.policy.pk: standing for standing in standings(versions(), now=timezone.now())}
        # A draft can be begun between the two reads.
        return page(
            self, request, rows, lambda policy: policy_as_dict(known.get(policy.pk) or Standing(policy, "draft", None))
        )

    @extend_schema(
        operation_id="refund_policies_draft",
        summary="Draft a new version of the rules",
        description=(
            "A copy of the newest version, 201. A currency has one draft at most: while there is one, it is answered "
            "with 200. Needs the permission `refunds.edit_policy`."
        ),
        request=DraftBody,
        responses={201: PolicyAnswer, 200: PolicyAnswer, **refusals(400, 403)},
    )
    def post(self, request: Request) -> Response:
        actor = _actor(request)
        actor.require(policies.EDIT)
        policy, created = policies.draft(currency=validated(DraftBody, request.data)["currency"], actor=actor)
        return Response(_shown(policy), status=status.HTTP_201_CREATED if created else status.HTTP_200_OK)


class PolicyView(APIView):
    @extend_schema(
        operation_id="refund_policies_read",
        summary="Read a version of the rules",
        description="Needs the permission `refunds.view_refundpolicy`.",
        parameters=PATH,
        responses={200: PolicyAnswer, **refusals(403, 404)},
    )
    def get(self, request: Request, currency: str, version: int) -> Response:
        _reader(request)
        return Response(_shown(_policy(currency, version)))

    @extend_schema(
        operation_id="refund_policies_edit",
        summary="Change a draft",
        description=(
            "What is left out stays as it is. 409 for a version that is published, and, where `seen` is sent, for a "
            "draft that somebody has changed since. Needs the permission `refunds.edit_policy`."
        ),
        parameters=PATH,
        request=PolicyBody,
        responses={200: PolicyAnswer, **refusals(400, 403, 404, 409)},
    )
    def patch(self, request: Request, currency: str, version: int) -> Response:
        actor = _actor(request)
        actor.require(policies.EDIT)
        _policy(currency, version)
        policy = policies.edit(currency=currency, version=version, body=request.data, actor=actor)
        return Response(_shown(policy))

    @extend_schema(
        operation_id="refund_policies_discard",
        summary="Throw a draft away",
        description="The history keeps what it said. Needs the permission `refunds.edit_policy`.",
        parameters=PATH,
        responses={204: None, **refusals(403, 404, 409)},
    )
    def delete(self, request: Request, currency: str, version: int) -> Response:
        actor = _actor(request)
        actor.require(policies.EDIT)
        _policy(currency, version)
        policies.discard(currency=currency, version=version, actor=actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


class PublishView(APIView):
    @extend_schema(
        operation_id="refund_policies_publish",
        summary="Publish a draft",
        description=(
            "For orders placed from `in_force_from` on, at least five minutes from now and after the newest published "
            "version; what is published never changes. Needs `refunds.publish_policy`, and somebody who has not "
            "written on the draft (403 `own_draft`)."
        ),
        parameters=PATH,
        request=PublishBody,
        responses={200: PolicyAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, currency: str, version: int) -> Response:
        actor = _actor(request)
        actor.require(policies.PUBLISH)
        _policy(currency, version)
        facts = validated(PublishBody, request.data)
        policy = policies.publish(currency=currency, version=version, actor=actor, **facts)
        return Response(_shown(policy))


class WithdrawView(APIView):
    @extend_schema(
        operation_id="refund_policies_withdraw",
        summary="Withdraw a published version before it is in force",
        description=(
            "The newest published version, up to five minutes before its `in_force_from`; it never settles anything, "
            "and the version before it goes on. Needs the permission `refunds.publish_policy` and a reason."
        ),
        parameters=PATH,
        request=NeededReasonBody,
        responses={200: PolicyAnswer, **refusals(400, 403, 404, 409)},
    )
    def post(self, request: Request, currency: str, version: int) -> Response:
        actor = _actor(request)
        actor.require(policies.PUBLISH)
        _policy(currency, version)
        reason = validated(NeededReasonBody, request.data)["reason"]
        policy = policies.withdraw(currency=currency, version=version, reason=reason, actor=actor)
        return Response(_shown(policy))


def _shown(policy: RefundPolicy) -> dict[str, Any]:
    """As it is in the database now."""
    return policy_as_dict(standing_of(policy, now=timezone.now()))


def _actor(request: Request) -> Actor:
    return staff_actor(request.user, via="api")


def _reader(request: Request) -> None:
    _actor(request).require(VIEW)


def _policy(currency: str, version: int) -> RefundPolicy:
    policy = find(currency, version)
    if policy is None:
        raise policy_errors.no_such_policy()
    return policy


def _wanted_currency(query: Mapping[str, Any]) -> str:
    currency = str(query.get("currency", ""))
    if currency and currency not in DECIMALS:
        raise policy_errors.unknown_currency(", ".join(DECIMALS))
    return currency
