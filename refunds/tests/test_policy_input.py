"""What the money rule refuses to work with: the field is named, and nothing is guessed."""

from decimal import Decimal
from typing import Any

import pytest

from refunds.policy import Departure, Discount, Ledger, Line, PolicyError, Rules, Shipping, Terms
from refunds.tests.settled_order import NO_SHIPPING, SettledOrder, leaves, terms


class TestWhatIsRefused:
    @pytest.mark.parametrize("quantity", [0, -1, 1.0, 1.5, "1", True, None, Decimal(1)])
    def test_a_quantity_is_a_positive_whole_number(self, quantity: Any) -> None:
        with pytest.raises(PolicyError) as caught:
            SettledOrder(terms((100, 3))).quote("cancel", [Departure("li_1", quantity, False)])
        assert caught.value.field == "quantity"

    def test_more_than_is_left(self) -> None:
        order = SettledOrder(terms((100, 3)))
        order.give_back("li_1")
        with pytest.raises(PolicyError, match="the 2 that are left") as caught:
            order.quote("return", leaves(("li_1", 3)))
        assert (caught.value.field, caught.value.code, caught.value.params["left"]) == ("quantity", "more_than_left", 2)

    def test_more_than_is_left_in_two_entries(self) -> None:
        with pytest.raises(PolicyError, match="quantity"):
            SettledOrder(terms((100, 3))).quote("return", leaves(("li_1", 2), ("li_1", 2)))

    def test_a_line_that_the_order_does_not_have(self) -> None:
        with pytest.raises(PolicyError) as caught:
            SettledOrder(terms(100)).quote("cancel", leaves("li_9"))
        assert caught.value.field == "line_item_id"

    def test_no_goods_at_all(self) -> None:
        with pytest.raises(PolicyError, match="lines"):
            SettledOrder(terms(100)).quote("cancel", [])

    def test_an_action_that_is_not_one(self) -> None:
        exchange: Any = "exchange"
        with pytest.raises(PolicyError, match="action"):
            SettledOrder(terms(100)).quote(exchange, leaves("li_1"))

    def test_a_fault_that_is_not_a_verdict(self) -> None:
        fault: Any = "false"
        with pytest.raises(PolicyError, match="shop_fault"):
            SettledOrder(terms(100)).quote("cancel", [Departure("li_1", 1, fault)])

    @pytest.mark.parametrize(
        ("field", "value"),
        [("paid", 10.29), ("refunded", True), ("fees_taken", "80"), ("returns_counted", -1), ("payments_left", None)],
    )
    def test_a_ledger_that_does_not_hold_whole_units(self, field: str, value: Any) -> None:
        good = {"paid": 0, "refunded": 0, "fees_taken": 0, "returns_counted": 0, "payments_left": 0}
        with pytest.raises(PolicyError, match=field):
            Ledger(**(good | {field: value}))

    def test_a_fee_that_is_not_a_whole_unit(self) -> None:
        fee: Any = 79.5
        with pytest.raises(PolicyError, match="return_fee"):
            Rules(return_fee=fee, return_fee_enabled=True)


class TestTermsThatCannotBe:
    @pytest.mark.parametrize(
        ("line", "field"),
        [
            (Line("li_1", -1, 1), r"lines\[0\]\.unit_price"),
            (Line("li_1", 100, 0), r"lines\[0\]\.quantity"),
            (Line("li_2", 100, 1), r"lines\[1\]\.line_item_id"),
        ],
    )
    def test_lines(self, line: Line, field: str) -> None:
        with pytest.raises(PolicyError, match=field):
            Terms("TWD", (line, Line("li_2", 100, 1)), (), NO_SHIPPING)

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"kind": "gift"}, "kind"),
            ({"settlement": "guess"}, "settlement"),
            ({"amount": 1.5}, "amount"),
            ({"min_spend": -1}, "min_spend"),
            ({"percent": 10.0}, "percent"),
            ({"percent": Decimal("NaN")}, "percent"),
            ({"percent": Decimal("100.01")}, "percent"),
            ({"percent": Decimal(-1)}, "percent"),
            ({"lines": frozenset({"li_9"})}, "lines"),
        ],
    )
    def test_discounts(self, change: dict[str, Any], field: str) -> None:
        good: dict[str, Any] = {"kind": "fixed", "settlement": "reprice", "lines": None}
        discount = Discount("CODE", "label", **(good | change))
        with pytest.raises(PolicyError, match=rf"discounts\[0\]\.{field}"):
            terms(100, discounts=[discount])

    @pytest.mark.parametrize(
        ("shipping", "field"),
        [
            (Shipping(-1, 80, None, None), "charged"),
            (Shipping(0, -80, None, None), "standard_fee"),
            (Shipping(0, 80, -1, None), "free_from"),
            (Shipping(0, 80, None, "threshold"), "free_from"),
        ],
    )
    def test_shipping(self, shipping: Shipping, field: str) -> None:
        with pytest.raises(PolicyError, match=rf"shipping\.{field}"):
            terms(100, shipping=shipping)

    def test_a_waiver_that_is_none_of_ours(self) -> None:
        waiver: Any = "friend"
        with pytest.raises(PolicyError, match="waiver"):
            terms(100, shipping=Shipping(0, 80, None, waiver))

    def test_a_currency_without_a_number_of_decimals(self) -> None:
        with pytest.raises(PolicyError, match="currency"):
            Terms("XYZ", (), (), NO_SHIPPING)
