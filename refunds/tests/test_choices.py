"""Reading what somebody asks for: a wrong value is refused with the field named, and no field is an amount."""

from typing import Any

import pytest

from orders.errors import InvalidInput
from refunds.choices import MAX_LINES, MAX_NOTE, LineChoice, clean_note, parse_choices


def line(**changes: Any) -> dict[str, Any]:
    return {"line_item_id": "li_2", "quantity": 1, "reason": "changed_mind", **changes}


def test_a_line_is_a_choice() -> None:
    assert parse_choices({"lines": [line(action=None)]}) == [LineChoice("li_2", 1, "changed_mind", None)]


def test_a_reason_beside_the_lines_holds_for_those_that_name_none() -> None:
    body = {"reason": "other", "lines": [{"line_item_id": "li_1", "quantity": 2}, line()]}
    assert [choice.reason for choice in parse_choices(body)] == ["other", "changed_mind"]


@pytest.mark.parametrize("quantity", [1.5, 1.0, "1", True, False, None, 0, -1, 10**9, [1], {}])
def test_what_is_no_whole_number_of_pieces_is_refused_with_its_field(quantity: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_choices({"lines": [line(), line(quantity=quantity)]})
    assert caught.value.field == "lines[1].quantity"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "lines"),
        ({"lines": []}, "lines"),
        ({"lines": "li_2"}, "lines"),
        ({"lines": [line()] * (MAX_LINES + 1)}, "lines"),
        ({"lines": [{"line_item_id": "li_2", "reason": "other"}]}, "lines[0].quantity"),
        ({"lines": [{"line_item_id": "li_2", "quantity": 1}]}, "lines[0].reason"),
        ({"lines": [line(reason="because")]}, "lines[0].reason"),
        ({"lines": [line(action="exchange")]}, "lines[0].action"),
        ({"lines": [line(line_item_id=2)]}, "lines[0].line_item_id"),
        ({"lines": [line(line_item_id="li_\x00")]}, "lines[0].line_item_id"),
        ({"lines": [line(amount=230)]}, "lines[0].amount"),
        ({"lines": [line()], "amount": 230}, "amount"),
        ([], ""),
        (None, ""),
        ("lines", ""),
    ],
)
def test_every_other_mistake_names_its_field_too(body: object, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_choices(body)
    assert caught.value.field == field
    assert caught.value.status == 400


def test_a_note_is_plain_text_of_some_lines() -> None:
    assert clean_note(" 客人來電\n說左耳沒聲音 ") == "客人來電\n說左耳沒聲音"
    assert clean_note("") == ""


@pytest.mark.parametrize("note", ["x" * (MAX_NOTE + 1), "a\x00b", "a\u202eb", 5, ["x"], True])
def test_a_note_that_is_no_plain_text_is_refused(note: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        clean_note(note)
    assert caught.value.field == "note"
