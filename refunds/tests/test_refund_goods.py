"""Goods are refunded from a command line: by the same rules, in somebody's name, with a reason."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from orders.tests import cast
from refunds.models import Refund

pytestmark = pytest.mark.django_db


def refund_goods(*arguments: str, staff: str = "staff", note: str = "顧客來電") -> str:
    said = StringIO()
    options: dict[str, Any] = {"reason": "late_delivery", "staff": staff, "note": note}
    call_command("refund_goods", *arguments, stdout=said, **options)
    return said.getvalue()


def test_the_amount_is_the_one_of_every_other_door() -> None:
    cast.order_5531()
    cast.staff_user("staff")
    said = refund_goods("5531", "li_2")
    refund = Refund.objects.get()
    assert (refund.amount, refund.note) == (230, "顧客來電")
    assert refund.pk in said


@pytest.mark.parametrize(
    ("number", "line", "staff", "note"),
    [
        ("9999", "li_2", "staff", "x"),
        ("5531", "li_9", "staff", "x"),
        ("5531", "li_2", "nobody", "x"),
        ("5531", "li_2", "warehouse", "x"),
        ("5531", "li_2", "staff", " "),
    ],
)
def test_what_cannot_be_is_refused_in_words(number: str, line: str, staff: str, note: str) -> None:
    cast.order_5531()
    for role in ("staff", "warehouse"):
        cast.staff_user(role)
    with pytest.raises(CommandError, match=r"[.。]$"):
        refund_goods(number, line, staff=staff, note=note)
    assert not Refund.objects.exists()
