"""Where goods are decides what may be asked for them."""

from datetime import UTC, date, datetime, timedelta
from typing import Any, get_args
from zoneinfo import ZoneInfo

import pytest

from refunds.eligibility import (
    ALLOWED,
    REFUSED,
    Ask,
    Obstacle,
    RefusalCode,
    Selection,
    UnitState,
    allowed_actions,
    choose_action,
    last_return_day,
    lost_on,
    refusal_code,
    shipped_state,
)
from refunds.policy import PolicyError

TAIPEI = ZoneInfo("Asia/Taipei")


def at(day: int, hour: int = 12, minute: int = 0, *, month: int = 9) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=TAIPEI)


def where(
    *, now: datetime, shipped: datetime | None = None, delivered: datetime | None = None, marked_lost: bool = False
) -> UnitState:
    return shipped_state(
        shipped_at=shipped,
        delivered_at=delivered,
        now=now,
        zone=TAIPEI,
        lost_after_days=14,
        return_window_days=7,
        marked_lost=marked_lost,
    )


class TestParcels:
    def test_packed_until_it_is_shipped(self) -> None:
        assert where(now=at(23)) == "packed"

    def test_on_its_way_for_thirteen_days(self) -> None:
        assert where(shipped=at(1), now=at(1)) == "shipped"
        assert where(shipped=at(1, 0, 0), now=at(14, 23, 59)) == "shipped"

    def test_lost_from_the_fourteenth_day(self) -> None:
        assert where(shipped=at(1, 23, 59), now=at(15, 0, 0)) == "lost"
        assert lost_on(at(1, 23, 59), zone=TAIPEI, lost_after_days=14) == date(2026, 9, 15)

    def test_lost_when_the_carrier_says_so(self) -> None:
        assert where(shipped=at(1), now=at(2), marked_lost=True) == "lost"

    def test_what_arrived_after_all_was_not_lost(self) -> None:
        assert where(shipped=at(1), delivered=at(20), now=at(21)) == "delivered"
        assert where(shipped=at(1), delivered=at(20), now=at(21), marked_lost=True) == "delivered"

    def test_returnable_to_the_end_of_the_seventh_day_after_receipt(self) -> None:
        assert where(delivered=at(23, 9), now=at(23, 10)) == "delivered"
        assert where(delivered=at(23, 9), now=at(30, 23, 59)) == "delivered"
        assert last_return_day(at(23, 9), zone=TAIPEI, return_window_days=7) == date(2026, 9, 30)

    def test_and_no_longer_after_it(self) -> None:
        assert where(delivered=at(23, 23, 59), now=at(1, 0, 0, month=10)) == "window_over"

    def test_days_are_those_of_the_shop_whatever_zone_the_moments_come_in(self) -> None:
        received = datetime(2026, 9, 22, 17, 0, tzinfo=UTC)  # 01:00 on the 23rd in Taipei
        assert where(delivered=received, now=datetime(2026, 9, 30, 15, 59, tzinfo=UTC)) == "delivered"
        assert where(delivered=received, now=datetime(2026, 9, 30, 16, 0, tzinfo=UTC)) == "window_over"

    def test_a_day_with_a_clock_change_is_a_day(self) -> None:
        berlin = ZoneInfo("Europe/Berlin")
        received = datetime(2026, 10, 20, 12, tzinfo=berlin)
        last = datetime(2026, 10, 27, 23, 59, tzinfo=berlin)
        states = [
            shipped_state(
                shipped_at=None,
                delivered_at=received,
                now=now.astimezone(UTC),
                zone=berlin,
                lost_after_days=14,
                return_window_days=7,
                marked_lost=False,
            )
            for now in (last, last + timedelta(minutes=1))
        ]
        assert states == ["delivered", "window_over"]

    def test_a_moment_without_a_zone_is_refused(self) -> None:
        naive = datetime(2026, 9, 23, 12)
        with pytest.raises(ValueError, match="time zone"):
            where(delivered=naive, now=at(24))


class TestStates:
    def test_every_state_either_allows_something_or_says_why_not(self) -> None:
        assert set(ALLOWED) | set(REFUSED) == set(get_args(UnitState))
        assert not set(ALLOWED) & set(REFUSED)

    @pytest.mark.parametrize(
        ("state", "actions"),
        [
            ("unfulfilled", ("cancel",)),
            ("delivered", ("return", "exchange")),
            ("lost", ("lost", "resend")),
            ("packed", ()),
            ("shipped", ()),
            ("window_over", ()),
        ],
    )
    def test_what_a_state_allows(self, state: UnitState, actions: tuple[str, ...]) -> None:
        assert allowed_actions(state) == actions

    @pytest.mark.parametrize(
        ("state", "code"),
        [
            ("packed", "line_in_fulfilment"),
            ("shipped", "line_in_transit"),
            ("window_over", "return_window_over"),
            ("cancelled", "already_cancelled"),
            ("refunded", "already_refunded"),
            ("returning", "already_returning"),
            ("exchanging", "already_exchanging"),
            ("delivered", None),
        ],
    )
    def test_why_a_state_allows_nothing(self, state: UnitState, code: RefusalCode | None) -> None:
        assert refusal_code(state) == code


class TestOneLine:
    @pytest.mark.parametrize(
        ("state", "action"), [("unfulfilled", "cancel"), ("delivered", "return"), ("lost", "lost")]
    )
    def test_the_action_follows_from_where_the_goods_are(self, state: UnitState, action: Any) -> None:
        assert choose_action(asked=[Ask("li_1", 1)], units={"li_1": {state: 1}}) == Selection(action, state)

    def test_an_exchange_has_to_be_asked_for(self) -> None:
        asked = [Ask("li_1", 1, action="exchange")]
        assert choose_action(asked=asked, units={"li_1": {"delivered": 1}}) == Selection("exchange", "delivered")

    @pytest.mark.parametrize("state", list(REFUSED))
    def test_goods_that_allow_nothing_are_refused_with_the_reason(self, state: UnitState) -> None:
        refusal = choose_action(asked=[Ask("li_1", 1)], units={"li_1": {state: 2}})
        assert refusal == Obstacle(REFUSED[state], "li_1", {"available": 0, "blocked": {state: 2}})

    def test_what_is_packed_can_no_longer_be_cancelled_even_if_asked_by_name(self) -> None:
        refusal = choose_action(asked=[Ask("li_1", 1, action="cancel")], units={"li_1": {"packed": 1}})
        assert isinstance(refusal, Obstacle)
        assert refusal.code == "line_in_fulfilment"

    def test_goods_that_went_earlier_do_not_make_a_line_ambiguous(self) -> None:
        units: Any = {"li_1": {"refunded": 1, "delivered": 2}}
        assert choose_action(asked=[Ask("li_1", 2)], units=units) == Selection("return", "delivered")

    def test_a_second_return_gets_what_is_left_and_no_more(self) -> None:
        units: Any = {"li_1": {"refunded": 1, "delivered": 2}}
        refusal = choose_action(asked=[Ask("li_1", 3)], units=units)
        assert refusal == Obstacle("already_refunded", "li_1", {"available": 2, "blocked": {"refunded": 1}})

    def test_units_in_several_states_need_an_action(self) -> None:
        units: Any = {"li_1": {"unfulfilled": 1, "delivered": 2}}
        refusal = choose_action(asked=[Ask("li_1", 1)], units=units)
        assert refusal == Obstacle("ambiguous_action", "li_1", {"options": {"cancel": 1, "return": 2}})
        with_action = [Ask("li_1", 1, action="cancel")]
        assert choose_action(asked=with_action, units=units) == Selection("cancel", "unfulfilled")

    def test_all_units_in_several_states_are_split_cancel_first(self) -> None:
        units: Any = {"li_1": {"delivered": 2, "unfulfilled": 1}}
        refusal = choose_action(asked=[Ask("li_1", 3)], units=units)
        assert isinstance(refusal, Obstacle)
        assert refusal.code == "mixed_actions"
        assert refusal.params["split"] == [
            {"action": "cancel", "lines": [{"line_item_id": "li_1", "quantity": 1}]},
            {"action": "return", "lines": [{"line_item_id": "li_1", "quantity": 2}]},
        ]


class TestSeveralLines:
    def test_lines_with_one_action_go_together(self) -> None:
        units: Any = {"li_1": {"delivered": 1}, "li_2": {"delivered": 3}}
        assert choose_action(asked=[Ask("li_1", 1), Ask("li_2", 2)], units=units) == Selection("return", "delivered")

    def test_mixed_actions_are_refused_with_the_split_and_its_order(self) -> None:
        units: Any = {"li_1": {"delivered": 1}, "li_2": {"unfulfilled": 1}, "li_3": {"lost": 1}}
        refusal = choose_action(asked=[Ask("li_1", 1), Ask("li_2", 1), Ask("li_3", 1)], units=units)
        assert isinstance(refusal, Obstacle)
        assert (refusal.code, refusal.line_item_id) == ("mixed_actions", None)
        assert [part["action"] for part in refusal.params["split"]] == ["cancel", "lost", "return"]
        assert refusal.params["split"][0]["lines"] == [{"line_item_id": "li_2", "quantity": 1}]

    def test_one_line_that_cannot_go_stops_the_whole_question(self) -> None:
        units: Any = {"li_1": {"unfulfilled": 1}, "li_2": {"packed": 1}}
        refusal = choose_action(asked=[Ask("li_1", 1), Ask("li_2", 1)], units=units)
        assert isinstance(refusal, Obstacle)
        assert (refusal.code, refusal.line_item_id) == ("line_in_fulfilment", "li_2")

    def test_a_line_asked_for_twice_with_two_reasons_is_counted_once(self) -> None:
        twice = [Ask("li_1", 1), Ask("li_1", 1)]
        assert choose_action(asked=twice, units={"li_1": {"delivered": 2}}) == Selection("return", "delivered")
        with pytest.raises(PolicyError, match="more than the 0 that are left"):
            choose_action(asked=twice, units={"li_1": {"delivered": 1}})


class TestWhatIsNoQuestion:
    @pytest.mark.parametrize("quantity", [0, -1, 1.0, 1.5, "1", True, None])
    def test_a_quantity_is_a_positive_whole_number(self, quantity: Any) -> None:
        with pytest.raises(PolicyError) as caught:
            choose_action(asked=[Ask("li_1", quantity)], units={"li_1": {"delivered": 2}})
        assert caught.value.field == "quantity"

    def test_three_of_one(self) -> None:
        with pytest.raises(PolicyError) as caught:
            choose_action(asked=[Ask("li_1", 3)], units={"li_1": {"delivered": 1}})
        assert (caught.value.field, caught.value.params["left"]) == ("quantity", 1)

    def test_a_line_that_does_not_exist(self) -> None:
        with pytest.raises(PolicyError) as caught:
            choose_action(asked=[Ask("li_9", 1)], units={"li_1": {"delivered": 1}})
        assert caught.value.field == "line_item_id"

    def test_no_line(self) -> None:
        with pytest.raises(PolicyError, match="lines"):
            choose_action(asked=[], units={"li_1": {"delivered": 1}})

    def test_an_action_that_is_not_one(self) -> None:
        action: Any = "refund"
        with pytest.raises(PolicyError, match="must be one of cancel, lost, resend, return, exchange"):
            choose_action(asked=[Ask("li_1", 1, action=action)], units={"li_1": {"delivered": 1}})

    def test_an_action_that_these_goods_never_allow_names_those_they_do(self) -> None:
        with pytest.raises(PolicyError) as caught:
            choose_action(asked=[Ask("li_1", 1, action="cancel")], units={"li_1": {"delivered": 1}})
        assert caught.value.field == "action"
        assert caught.value.params["options"] == ["return", "exchange"]
