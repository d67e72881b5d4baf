"""Django's test client, signed in as one of the cast."""

from typing import Any

from django.test import Client

from orders.tests import cast


def signed_in(who: str, **options: Any) -> Client:
    client = Client(**options)
    client.force_login(cast.customer_user(who) if who in cast.WITH_ACCOUNT else cast.staff_user(who))
    return client


def post_json(client: Client, address: str, body: Any = None) -> Any:
    return client.post(address, {} if body is None else body, content_type="application/json")
