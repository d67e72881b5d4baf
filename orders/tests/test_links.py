"""A signed link lets one browser in to one order, until it ends or is revoked."""

from datetime import timedelta
from http.cookies import Morsel
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.backends.db import SessionStore
from django.core.signing import Signer
from django.http import Http404
from django.test import Client, RequestFactory
from django.utils import timezone

from orders.access import Shopper, order_for_shopper, orders_of, shopper_of
from orders.actors import NotAllowed, system_actor
from orders.links import issue_link, revoke_link
from orders.models import AuditEvent, CustomerLink, Order
from orders.tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    return cast.place("A-#1", who="mei")


@pytest.fixture
def link(order: Order) -> tuple[str, CustomerLink]:
    return issue_link(order=order, actor=cast.staff())


def shopper_in(client: Client) -> Shopper | None:
    """Who the pages would see behind this browser."""
    request = RequestFactory().get("/")
    session: SessionBase = client.session
    request.session = session
    user_id = session.get("_auth_user_id")
    request.user = User.objects.get(pk=user_id) if user_id else AnonymousUser()
    return shopper_of(request)


def test_a_link_leads_to_the_order_and_to_no_other(client: Client, link: tuple[str, CustomerLink]) -> None:
    other = cast.place("7002", who="mei")
    response = client.get(link[0])
    assert (response.status_code, response["Location"]) == (302, "/orders/A-%231/")
    shopper = shopper_in(client)
    assert shopper is not None
    assert [order.number for order in orders_of(shopper)] == ["A-#1"]
    assert order_for_shopper(shopper, "A-#1") == link[1].order
    with pytest.raises(Http404):
        order_for_shopper(shopper, other.number)


def test_the_session_gets_a_new_key_when_somebody_comes_in(client: Client, link: tuple[str, CustomerLink]) -> None:
    planted = SessionStore()
    planted["planted"] = True
    planted.save()
    client.cookies["sessionid"] = str(planted.session_key)
    client.get(link[0])
    morsel: Morsel[str] = client.cookies["sessionid"]
    assert morsel.value != planted.session_key
    assert not SessionStore().exists(str(planted.session_key))


def test_nobody_is_signed_in_by_a_link(client: Client, link: tuple[str, CustomerLink]) -> None:
    client.get(link[0])
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("change", ["forged", "cut", "other purpose", "empty"])
def test_a_forged_link_is_answered_kindly_and_opens_nothing(
    client: Client, link: tuple[str, CustomerLink], change: str
) -> None:
    address = {
        "forged": link[0].replace(f"/{link[1].pk}.", f"/{link[1].pk + 1}."),
        "cut": link[0][:-5] + "/",
        "other purpose": f"/l/{Signer(salt='other', sep='.').sign(str(link[1].pk))}/",
        "empty": "/l/x/",
    }[change]
    response = client.get(address)
    assert response.status_code == 410
    assert shopper_in(client) is None


def test_a_link_ends(client: Client, link: tuple[str, CustomerLink]) -> None:
    client.get(link[0])
    CustomerLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert shopper_in(client) is None
    assert client.get(link[0]).status_code == 410


def test_a_revoked_link_opens_nothing_even_for_who_is_in_already(
    client: Client, link: tuple[str, CustomerLink]
) -> None:
    client.get(link[0])
    revoke_link(link=link[1], actor=cast.staff())
    assert shopper_in(client) is None
    assert client.get(link[0]).status_code == 410


def test_revoking_twice_is_written_down_once(link: tuple[str, CustomerLink]) -> None:
    for _ in range(2):
        revoke_link(link=link[1], actor=cast.staff())
    actions = AuditEvent.objects.filter(subject_type="customer_link").order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["customer_link.issued", "customer_link.revoked"]


def test_several_links_of_one_customer_open_several_orders(client: Client, link: tuple[str, CustomerLink]) -> None:
    second, _ = issue_link(order=cast.place("7002", who="mei"), actor=cast.staff())
    client.get(link[0])
    client.get(second)
    shopper = shopper_in(client)
    assert shopper is not None
    assert shopper.order_numbers == frozenset({"A-#1", "7002"})


def test_a_browser_is_one_customer_at_a_time(client: Client, link: tuple[str, CustomerLink]) -> None:
    client.get(link[0])
    client.get(issue_link(order=cast.place("7002", who="ming"), actor=cast.staff())[0])
    shopper = shopper_in(client)
    assert shopper == Shopper(cast.customer("ming"), frozenset({"7002"}))


@pytest.mark.parametrize("who", ["staff", "ming2"])
def test_somebody_else_who_is_signed_in_is_signed_out_first(
    client: Client, link: tuple[str, CustomerLink], who: str
) -> None:
    client.force_login(cast.staff_user() if who == "staff" else cast.customer_user(who))
    client.get(link[0])
    assert "_auth_user_id" not in client.session
    assert shopper_in(client) == Shopper(cast.customer("mei"), frozenset({"A-#1"}))


def test_the_customer_who_is_signed_in_stays_so_and_sees_all_their_orders(client: Client) -> None:
    first, second = cast.place("7001", who="ming"), cast.place("7002", who="ming")
    cast.place("7003", who="ming2")
    client.force_login(cast.customer_user("ming"))
    client.get(issue_link(order=first, actor=cast.staff())[0])
    shopper = shopper_in(client)
    assert shopper == Shopper(cast.customer("ming"), None)
    assert set(orders_of(shopper)) == {first, second}


def test_staff_are_no_shoppers(client: Client) -> None:
    client.force_login(cast.staff_user())
    assert shopper_in(client) is None


@pytest.mark.parametrize("actor", ["warehouse", "auditor", "customer", "system"])
def test_only_staff_who_may_make_links(order: Order, actor: str) -> None:
    actors: dict[str, Any] = {"customer": lambda: cast.shopper("mei"), "system": lambda: system_actor("job")}
    with pytest.raises(NotAllowed):
        issue_link(order=order, actor=actors.get(actor, lambda: cast.staff(actor))())
