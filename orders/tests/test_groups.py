"""What each role may do, as the groups' migration made it."""

from typing import Final

import pytest
from django.contrib.auth.models import Permission

from orders.tests import cast

pytestmark = pytest.mark.django_db

SUPPORT: Final = {
    "orders.issue_customer_link",
    "refunds.ask_quote",
    "refunds.redeem_quote",
    "refunds.retry_refund",
    "agent.answer_conversation",
    "orders.change_address",
    "refunds.propose_compensation",
    "refunds.ask_override",
    "agent.use_copilot",
}
# Numbers of the whole shop, and what everybody has done in it.
OVERSIGHT: Final = {
    "backoffice.view_reports",
    "backoffice.view_evals",
    "backoffice.search_history",
    "backoffice.view_export",
}
SUPERVISOR: Final = (
    SUPPORT
    | OVERSIGHT
    | {
        "orders.add_order",
        "orders.handle_shipments",
        "refunds.approve_refund",
        "orders.change_product",
        "refunds.record_elsewhere",
        "refunds.edit_policy",
        "refunds.publish_policy",
        "agent.edit_canned_replies",
    }
)


def views() -> set[str]:
    permissions = Permission.objects.filter(
        codename__startswith="view_", content_type__app_label__in=("orders", "refunds", "agent")
    ).values_list("content_type__app_label", "codename")
    return {f"{app}.{name}" for app, name in permissions}


@pytest.mark.parametrize(
    ("role", "more"),
    [
        ("staff", SUPPORT),
        ("supervisor", SUPERVISOR),
        ("auditor", OVERSIGHT),
    ],
)
def test_support_supervisors_and_auditors_see_everything_and_do_only_this(role: str, more: set[str]) -> None:
    assert "orders.view_auditevent" in views()
    assert cast.staff_user(role).get_all_permissions() == views() | more


def test_marketing_writes_the_rules_and_looks_at_products() -> None:
    assert cast.staff_user("marketing").get_all_permissions() == {
        "refunds.view_refundpolicy",
        "orders.view_product",
        "refunds.edit_policy",
        "refunds.publish_policy",
    }


def test_the_shops_own_system_sends_orders_goods_and_credit_and_decides_nothing() -> None:
    assert cast.staff_user("shop").get_all_permissions() == {
        "orders.add_order",
        "orders.view_order",
        "orders.change_product",
        "orders.view_product",
        "orders.handle_shipments",
        "orders.issue_customer_link",
        "orders.add_storecreditentry",
        "orders.view_storecreditentry",
    }


def test_nobody_at_this_desk_grants_credit() -> None:
    for role in ("staff", "supervisor", "auditor", "marketing", "warehouse"):
        assert not cast.staff_user(role).has_perm("orders.add_storecreditentry")


def test_the_warehouse_sees_orders_and_handles_shipments() -> None:
    assert cast.staff_user("warehouse").get_all_permissions() == {
        "orders.view_order",
        "orders.view_shipment",
        "orders.view_lineitem",
        "orders.handle_shipments",
    }
