"""One number entered for several orders in the same moment, on real connections: it is of one of them."""

from functools import partial

import pytest

from orders.errors import Refusal
from orders.tests import cast
from orders.tests.race import at_once
from refunds.models import Refund
from refunds.tests.test_elsewhere import book

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_number_entered_for_several_orders_at_once_is_of_one_of_them() -> None:
    supervisor = cast.staff("supervisor")
    orders = [cast.place(f"772{index}") for index in range(6)]
    answers = at_once([partial(book, order, 100, actor=supervisor) for order in orders])
    refused = [answer for answer in answers if isinstance(answer, Refusal)]
    assert ({answer.code for answer in refused}, len(refused)) == ({"reference_reused"}, 5)
    assert Refund.objects.count() == 1
