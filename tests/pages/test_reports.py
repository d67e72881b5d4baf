"""The reports' page: what is asked for stands in the address, each number says what it means, each table is a file."""

import csv
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

from agent.models import Conversation, Message, Turn
from backoffice.screens import report_charts, report_period
from backoffice.screens.report_words import change, points, span
from orders.models import AuditEvent
from orders.tests import cast
from refunds import compensation
from refunds.models import Refund
from refunds.tests.paying import pending_refund
from tests.pages.visiting import said, signed_in, text_of

pytestmark = pytest.mark.django_db


def money_back(number: str, *, days_ago: int = 0) -> Refund:
    refund = pending_refund(cast.place(number, lines=[("襪子", 100, 2)]), (1, 1, "changed_mind"))
    when = timezone.now() - timedelta(days=days_ago)
    Refund.objects.filter(pk=refund.pk).update(
        state="succeeded", created_at=when - timedelta(minutes=90), finished_at=when
    )
    return refund


def answered(number: str) -> None:
    conversation = said(cast.place(number))
    Message.objects.create(conversation=conversation, author="agent", content=[{"type": "text", "text": "好的"}])
    Turn.objects.filter(conversation=conversation).update(state="done", first_text_at=timezone.now())


def page(query: str = "", name: str = "auditor", **more: Any) -> str:
    return text_of(signed_in(name, **more).get(f"/staff/reports/{query}"))


def rows_of(answer: Any) -> list[list[str]]:
    text = answer.content.decode()
    assert text.startswith("\ufeff")
    return list(csv.reader(StringIO(text[1:])))


def test_the_page_tells_refunds_conversations_and_times_of_the_last_thirty_days() -> None:
    money_back("1")
    money_back("2", days_ago=29)
    money_back("3", days_ago=31)
    answered("4")
    shown = page()
    for text in ("NT$200", "1.5 小時", "+100%", "改變心意", ">100%<", "共 1 則對話中的 1 則"):
        assert text in shown, text


def test_seven_days_leave_out_what_is_older() -> None:
    money_back("1")
    money_back("2", days_ago=8)
    assert "NT$200" not in page("?days=7")
    assert "NT$200" in page("?days=90")


def test_two_days_of_ones_own_choice_stand_in_the_address() -> None:
    money_back("1", days_ago=5)
    day = (timezone.localdate() - timedelta(days=5)).isoformat()
    shown = page(f"?from={day}&to={day}")
    assert "NT$100" in shown
    assert f'value="{day}"' in shown


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("?from=2026-02-31&to=2026-03-01", "請輸入像"),
        ("?from=2026-03-02&to=2026-03-01", "起始日晚於"),
        ("?from=2020-01-01&to=2026-03-01", "最多 366 天"),
    ],
)
def test_days_that_cannot_be_used_are_told_and_the_usual_ones_shown(query: str, says: str) -> None:
    money_back("1", days_ago=29)
    money_back("2", days_ago=30)
    shown = page(query)
    assert says in shown
    assert "NT$100" in shown
    assert "NT$200" not in shown
    assert report_period.read(QueryDict(query.removeprefix("?"))).days == 30


def test_without_anything_each_part_says_so_instead_of_showing_an_empty_chart() -> None:
    shown = page()
    for text in ("這段期間沒有退款入帳", "這段期間沒有新的對話", "目前沒有等待第二人核准的項目"):
        assert text in shown
    assert "<rect" not in shown.split("report-tables")[1]


def test_a_chart_has_a_title_a_description_and_its_numbers_as_a_table() -> None:
    money_back("1")
    shown = page()
    assert 'aria-labelledby="refunds-chart-title refunds-chart-text"' in shown
    assert '<title id="refunds-chart-title">' in shown
    assert "style=" not in shown
    assert shown.count('<details class="fold"><summary>') >= 1


def test_a_table_is_a_file_that_a_spreadsheet_reads_and_taking_it_is_in_the_history() -> None:
    money_back("1")
    browser = signed_in("auditor", language="en")
    answer = browser.get("/staff/reports/refunds-by-day.csv?days=7")
    assert answer["Content-Disposition"].startswith('attachment; filename="refunds-by-day-')
    rows = rows_of(answer)
    assert rows[0] == ["Day", "Refunds", "Given back", "Currency"]
    assert rows[-1] == [timezone.localdate().isoformat(), "1", "100", "TWD"]
    assert len(rows) == 8
    event = AuditEvent.objects.get(action="export.made")
    assert (event.chosen["kind"], event.outcome, event.actor_name) == ("report:refunds-by-day", {"rows": 7}, "auditor")


def test_every_table_is_a_file_of_its_numbers() -> None:
    money_back("1")
    answered("2")
    Conversation.objects.update(hand_off_reason="complaint")
    compensation.propose(order=cast.place("3"), amount=10, reason="致歉", actor=cast.staff(), request_ref="t")
    browser = signed_in("supervisor", language="en")
    told = {
        key: rows_of(browser.get(f"/staff/reports/{key}.csv"))
        for key in ("refunds-by-reason", "conversations-by-day", "hand-offs", "approvals-by-age")
    }
    assert [row[1:] for row in told["refunds-by-reason"]] == [
        ["Refunds", "Given back", "Currency"],
        ["1", "100", "TWD"],
    ]
    assert told["conversations-by-day"][-1] == [timezone.localdate().isoformat(), "0", "1", "0"]
    assert [row[1] for row in told["hand-offs"]] == ["Conversations", "1"]
    assert [row[1] for row in told["approvals-by-age"]] == ["Approvals", "1", "0", "0", "0"]


def test_there_is_no_file_of_a_table_that_does_not_exist() -> None:
    assert signed_in("auditor").get("/staff/reports/salaries.csv").status_code == 404


def test_the_page_asks_as_often_for_many_refunds_and_conversations_as_for_few() -> None:
    browser = signed_in("auditor")

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert browser.get("/staff/reports/").status_code == 200
        return len(captured)

    money_back("1")
    answered("a1")
    browser.get("/staff/reports/")
    few = queries()
    for index in range(2, 6):
        money_back(str(index), days_ago=index)
        answered(f"a{index}")
    Conversation.objects.filter(order__number="a3").update(hand_off_reason="complaint")
    assert queries() == few


@pytest.mark.parametrize(
    ("highest", "top"), [(0, 1), (1, 1), (3, 4), (7, 10), (10, 10), (11, 20), (130, 200), (4100, 5000)]
)
def test_a_scale_ends_at_a_round_number_above_what_it_shows(highest: int, top: int) -> None:
    assert report_charts.top_of_scale(highest) == top


def test_bars_of_a_day_stand_on_each_other_and_fill_the_scale() -> None:
    days = [timezone.localdate()]
    series = [report_charts.Series("a", "bar-1", [6]), report_charts.Series("b", "bar-2", [4])]
    chart = report_charts.columns(key="k", title="t", days=days, series=series, show=str, description="d")
    first, second = chart.bars
    assert (first.y, first.height) == ("40", "60")
    assert (second.y, second.height) == ("0", "40")
    assert chart.scale == ["10", "5", "0"]


def test_numbers_are_told_in_the_unit_in_which_they_are_easy_to_read() -> None:
    with translation.override("en"):
        told = [span(timedelta(seconds=each)) for each in (0.84, 12, 90, 3600 * 5.25, 3600 * 80)]
        assert told == ["0.8 s", "12 s", "1.5 min", "5.2 h", "3.3 days"]
        assert span(None) == "–"
        assert change(112, 100) == "+12% to the period before"
        assert change(50, 100) == "−50% to the period before"
        assert change(5, 0) == "nothing in the period before"
        assert change(0, 0) == change(None, 3) == ""
        assert points((3, 4), (1, 2)) == "+25 points to the period before"
        assert points((0, 0), (1, 2)) == ""
