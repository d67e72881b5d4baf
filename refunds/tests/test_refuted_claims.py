"""Goods of an excluded category are exchanged for a fault alone: where the warehouse finds none, they are not."""

import pytest
from django.utils import translation

from orders.errors import Refusal
from refunds import returns
from refunds.acceptance import accept
from refunds.models import Return
from refunds.states import ReturnState
from refunds.tests.ask import Asked
from refunds.tests.going_back import earphones, exchange, states_of, stock_of, warehouse
from refunds.tests.old_rules import published_long_ago

pytestmark = pytest.mark.django_db


class TestGoodsThatOnlyAFaultLetsComeBack:
    """Earphones, when the policy takes none back unless the shop is at fault."""

    def came_back(self, *asked: Asked, found: dict[str, dict[str, int]] | None = None) -> Return:
        published_long_ago(excluded_categories=["audio"])
        request = exchange(earphones(), *(asked or ((1, 1, "defective"),)))
        return returns.receive(return_id=request.pk, actor=warehouse(), found=found)

    @pytest.mark.parametrize("shown", ["changed_mind", "other"])
    def test_are_not_exchanged_if_they_show_none_and_can_be_rejected(self, shown: str) -> None:
        request = self.came_back()
        with translation.override("en"), pytest.raises(Refusal) as caught:
            accept(return_id=request.pk, actor=warehouse(), found={"li_1": shown})
        assert (caught.value.code, caught.value.field) == ("claim_refuted", "reasons.li_1")
        assert "Reject the exchange" in caught.value.hint
        request.refresh_from_db()
        assert (request.state, states_of(request.order)) == (ReturnState.RECEIVED, {"delivered": 2, "exchanging": 1})
        returns.reject(return_id=request.pk, actor=warehouse(), note="功能正常")
        assert (states_of(request.order), stock_of()) == ({"delivered": 3}, (None, 0))

    @pytest.mark.parametrize("shown", [None, {"li_1": "wrong_item"}])
    def test_are_exchanged_if_they_show_it_or_another_fault_of_the_shops(self, shown: dict[str, str] | None) -> None:
        request = self.came_back()
        assert accept(return_id=request.pk, actor=warehouse(), found=shown).state == ReturnState.ACCEPTED

    def test_are_exchanged_as_far_as_they_show_it(self) -> None:
        """Of two pieces one is sound: the customer's claim stands for the accepted one only."""
        request = self.came_back((1, 2, "defective"), found={"li_1": {"accepted": 1, "damaged": 1}})
        accept(return_id=request.pk, actor=warehouse())
        assert states_of(request.order) == {"delivered": 2, "exchanging": 1}


def test_of_other_goods_the_claim_does_not_matter() -> None:
    request = exchange(earphones())
    returns.receive(return_id=request.pk, actor=warehouse())
    accepted = accept(return_id=request.pk, actor=warehouse(), found={"li_1": "changed_mind"})
    assert accepted.state == ReturnState.ACCEPTED
