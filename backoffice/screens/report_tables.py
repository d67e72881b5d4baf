"""The reports: which numbers stand on the page, what each means, and the tables that charts and files are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Final

from django.utils import formats, timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agent import report_selectors as talk
from agent.usage import OFFLINE_SCRIPT, cost_words, dollars
from agent.words import HAND_OFF_REASONS
from backoffice.screens.report_charts import Chart, Series, columns, share
from backoffice.screens.report_period import Asked
from backoffice.screens.report_words import NOTHING, Headline, change, percent, points, seconds, span
from orders.csv_text import Cell, plain_amount
from orders.money import format_money
from orders.periods import Period, Spread
from refunds import report_selectors as money
from refunds.report_selectors import Total
from refunds.states import Reason, RefundKind

USUAL_CURRENCY: Final = "TWD"
OUTCOMES: Final[Mapping[str, str | Promise]] = {
    talk.ALONE: gettext_lazy("answered by the assistant alone"),
    talk.PERSON: gettext_lazy("with a person"),
    talk.OPEN: gettext_lazy("not answered yet"),
}
# Hours from, and hours before.
AGES: Final[Mapping[str, tuple[float, float]]] = {
    "hours": (0, 4),
    "day": (4, 24),
    "days": (24, 72),
    "long": (72, float("inf")),
}
AGE_WORDS: Final[Mapping[str, str | Promise]] = {
    "hours": gettext_lazy("less than 4 hours"),
    "day": gettext_lazy("4 hours to a day"),
    "days": gettext_lazy("1 to 3 days"),
    "long": gettext_lazy("more than 3 days"),
}


def _all_of(cost: talk.Cost) -> str:
    return cost_words(cost.micro, [OFFLINE_SCRIPT] if cost.is_script else []) or dollars(0)


@dataclass(frozen=True, slots=True)
class Row:
    """`cells` as people read them; `file` as a spreadsheet does; `bar` is the length of its bar in hundredths."""

    cells: Sequence[str]
    file: Sequence[Cell]
    bar: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """`columns` stand above the cells, `file_columns` above those of the file."""

    key: str
    title: str
    definition: str
    columns: Sequence[str]
    file_columns: Sequence[str]
    rows: Sequence[Row]
    empty: str
    charts: Sequence[Chart] = ()


class Report:
    """One report: every number is asked for once, however many parts of the page show it."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.period = asked.period
        self.before = asked.period.before()

    @cached_property
    def money_by_day(self) -> dict[str, dict[date, Total]]:
        """By currency and day, of both periods."""
        return money.by_day(Period(self.before.first, self.period.last))

    @cached_property
    def currencies(self) -> list[str]:
        return sorted(self.money_by_day)

    @cached_property
    def currency(self) -> str:
        """The one asked for, the usual one, or the one there is."""
        for wanted in (self.asked.currency, USUAL_CURRENCY, *self.currencies):
            if wanted in self.money_by_day:
                return wanted
        return USUAL_CURRENCY

    @cached_property
    def outcomes(self) -> dict[date, dict[str, int]]:
        """By day and outcome, of both periods."""
        return talk.outcomes_by_day(Period(self.before.first, self.period.last))

    @cached_property
    def waiting(self) -> money.Waiting:
        return money.approvals_waiting()

    def money_in(self, period: Period) -> Total:
        days = self.money_by_day.get(self.currency, {})
        return sum((total for day, total in days.items() if period.first <= day <= period.last), Total())

    def outcome_in(self, period: Period, *outcomes: str) -> int:
        days = [found for day, found in self.outcomes.items() if period.first <= day <= period.last]
        return sum(found.get(outcome, 0) for found in days for outcome in outcomes)

    def amount(self, amount: int) -> str:
        return format_money(amount, self.currency)

    # --- the numbers above ---------------------------------------------------------------------------------------
    def headlines(self) -> list[Headline]:
        return [*self._money(), *self._conversations(), *self._approvals()]

    def _money(self) -> list[Headline]:
        now, before = self.money_in(self.period), self.money_in(self.before)
        took, took_before = money.time_to_money_back(self.period), money.time_to_money_back(self.before)
        return [
            Headline(
                _("Refunds"),
                f"{now.count:,}",
                "",
                change(now.count, before.count),
                _("Refunds whose money was back in these days, compensation and those made elsewhere among them."),
            ),
            Headline(
                _("Given back"),
                self.amount(now.amount),
                "",
                change(now.amount, before.amount),
                _("What these refunds come to."),
            ),
            Headline(
                _("Until the money is back"),
                span(took.middle),
                _nine_of_ten(took),
                change(seconds(took.middle), seconds(took_before.middle)),
                _(
                    "From the confirmation (of a return: from the acceptance of its goods) until the provider has "
                    "paid: half of the refunds in at most this time."
                ),
            ),
        ]

    def _conversations(self) -> list[Headline]:
        alone, alone_before = (self.outcome_in(each, talk.ALONE) for each in (self.period, self.before))
        person, person_before = (self.outcome_in(each, talk.PERSON) for each in (self.period, self.before))
        agent, agent_before = talk.first_answer_of_assistant(self.period), talk.first_answer_of_assistant(self.before)
        people, people_before = talk.first_answer_of_people(self.period), talk.first_answer_of_people(self.before)
        cost, cost_before = talk.cost(self.period), talk.cost(self.before)
        return [
            Headline(
                _("Answered by the assistant alone"),
                percent(alone, alone + person),
                _("%(part)s of %(all)s conversations") % {"part": f"{alone:,}", "all": f"{alone + person:,}"},
                points((alone, alone + person), (alone_before, alone_before + person_before)),
                _(
                    "Of the conversations that began in these days and have an answer: those in which nobody asked "
                    "for a person and none wrote."
                ),
            ),
            Headline(
                _("First answer of the assistant"),
                span(agent.middle),
                _nine_of_ten(agent),
                change(seconds(agent.middle), seconds(agent_before.middle)),
                _(
                    "From the customer's first message until the first words of the answer: half of them in at most "
                    "this time."
                ),
            ),
            Headline(
                _("Answer of a person"),
                span(people.middle),
                _nine_of_ten(people),
                change(seconds(people.middle), seconds(people_before.middle)),
                _("How long customers had waited for a person when one answered: half of them at most this time."),
            ),
            Headline(
                _("Cost of a conversation"),
                NOTHING if cost.each is None else dollars(cost.each),
                _("%(sum)s in all") % {"sum": _all_of(cost)} if cost.conversations else "",
                change(cost.each, cost_before.each),
                _(
                    "What the model has cost, by the price table, for each conversation that began in these days and "
                    "asked it."
                ),
            ),
        ]

    def _approvals(self) -> list[Headline]:
        took, took_before = money.time_to_decide(self.period), money.time_to_decide(self.before)
        oldest = self.waiting.oldest
        age = _("the oldest for %(time)s") % {"time": span(timezone.now() - oldest)} if oldest else ""
        return [
            Headline(
                _("Wait for a second person"),
                f"{self.waiting.count:,}",
                age,
                "",
                _("Questions that nobody has answered yet, now."),
            ),
            Headline(
                _("Until a second person decides"),
                span(took.middle),
                _nine_of_ten(took),
                change(seconds(took.middle), seconds(took_before.middle)),
                _("Of what was asked in these days and answered since: half in at most this time."),
            ),
        ]

    # --- the tables and charts beneath ---------------------------------------------------------------------------
    def tables(self) -> list[Table]:
        return [getattr(self, name)() for name in TABLES.values()]

    def refunds_by_day(self) -> Table:
        days = self.period.days
        found = self.money_by_day.get(self.currency, {})
        totals = [found.get(day, Total()) for day in days]
        counted = Series(_("Refunds"), "bar-1", [total.count for total in totals])
        given = Series(_("Given back"), "bar-1", [total.amount for total in totals])
        both = self.money_in(self.period)
        charts = [
            columns(
                key="refunds",
                title=_("Refunds per day"),
                days=days,
                series=[counted],
                show=lambda value: f"{value:,}",
                description=_("%(count)s refunds in %(days)s days.") % {"count": f"{both.count:,}", "days": len(days)},
            ),
            columns(
                key="given",
                title=_("Given back per day"),
                days=days,
                series=[given],
                show=self.amount,
                description=_("%(amount)s in %(days)s days.") % {"amount": self.amount(both.amount), "days": len(days)},
            ),
        ]
        return Table(
            key="refunds-by-day",
            title=_("Refunds per day"),
            definition=_("By the day on which the money was back, in the shop's time."),
            columns=(_("Day"), _("Refunds"), _("Given back")),
            file_columns=(_("Day"), _("Refunds"), _("Given back"), _("Currency")),
            rows=[
                Row(
                    (_day(day), f"{total.count:,}", self.amount(total.amount)),
                    (day, total.count, plain_amount(total.amount, self.currency), self.currency),
                )
                for day, total in zip(days, totals, strict=True)
            ],
            empty="" if both.count else _("No money went back in these days."),
            charts=charts,
        )

    def refunds_by_reason(self) -> Table:
        found = money.by_reason(self.period, self.currency)
        whole = sum(total.amount for total in found.values())
        longest = max((total.amount for total in found.values()), default=0)
        return Table(
            key="refunds-by-reason",
            title=_("Refunds by reason"),
            definition=_("The reason given for the goods; a refund of goods with different reasons stands by itself."),
            columns=(_("Reason"), _("Refunds"), _("Given back"), _("Share")),
            file_columns=(_("Reason"), _("Refunds"), _("Given back"), _("Currency")),
            rows=[
                Row(
                    (reason_name(code), f"{total.count:,}", self.amount(total.amount), percent(total.amount, whole)),
                    (reason_name(code), total.count, plain_amount(total.amount, self.currency), self.currency),
                    share(total.amount, longest),
                )
                for code, total in found.items()
            ],
            empty=_("No money went back in these days."),
        )

    def conversations_by_day(self) -> Table:
        days = self.period.days
        series = [
            Series(str(words), f"bar-{place}", [self.outcomes.get(day, {}).get(outcome, 0) for day in days])
            for place, (outcome, words) in enumerate(OUTCOMES.items(), start=1)
        ]
        begun = self.outcome_in(self.period, *talk.OUTCOMES)
        chart = columns(
            key="conversations",
            title=_("Conversations per day"),
            days=days,
            series=series,
            show=lambda value: f"{value:,}",
            description=_("%(count)s conversations in %(days)s days.") % {"count": f"{begun:,}", "days": len(days)},
        )
        rows = list(zip(days, *(each.values for each in series), strict=True))
        names = [str(words) for words in OUTCOMES.values()]
        return Table(
            key="conversations-by-day",
            title=_("Conversations per day"),
            definition=_("By the day on which they began, and by who has answered."),
            columns=(_("Day"), *names),
            file_columns=(_("Day"), *names),
            rows=[Row((_day(day), *(f"{value:,}" for value in values)), (day, *values)) for day, *values in rows],
            empty="" if begun else _("No conversation began in these days."),
            charts=[chart],
        )

    def hand_offs(self) -> Table:
        found = talk.hand_offs(self.period)
        whole = sum(found.values())
        longest = max(found.values(), default=0)
        return Table(
            key="hand-offs",
            title=_("Hand-offs by reason"),
            definition=_("Conversations that began in these days and met a person, by why one was last asked for."),
            columns=(_("Reason"), _("Conversations"), _("Share")),
            file_columns=(_("Reason"), _("Conversations")),
            rows=[
                Row(
                    (hand_off_name(code), f"{count:,}", percent(count, whole)),
                    (hand_off_name(code), count),
                    share(count, longest),
                )
                for code, count in found.items()
            ],
            empty=_("No conversation of these days has met a person."),
        )

    def approvals_by_age(self) -> Table:
        found = money.approvals_of_age(AGES)
        longest = max(found.values(), default=0)
        return Table(
            key="approvals-by-age",
            title=_("How long approvals have waited"),
            definition=_("Questions to a second person that nobody has answered yet, now, whatever days are chosen."),
            columns=(_("Waiting for"), _("Approvals")),
            file_columns=(_("Waiting for"), _("Approvals")),
            rows=[
                Row((str(AGE_WORDS[key]), f"{count:,}"), (str(AGE_WORDS[key]), count), share(count, longest))
                for key, count in found.items()
            ]
            if longest
            else [],
            empty=_("Nothing waits for a second person."),
        )


# What a table is called in its address, and how it is made.
TABLES: Final[Mapping[str, str]] = {
    "refunds-by-day": "refunds_by_day",
    "conversations-by-day": "conversations_by_day",
    "refunds-by-reason": "refunds_by_reason",
    "hand-offs": "hand_offs",
    "approvals-by-age": "approvals_by_age",
}


def table_of(report: Report, key: str) -> Table | None:
    """One of `TABLES` alone: only its own numbers are asked for."""
    name = TABLES.get(key)
    table: Table | None = getattr(report, name)() if name else None
    return table


def reason_name(code: str) -> str:
    if code == money.SEVERAL_REASONS:
        return _("different reasons")
    names = dict(Reason.choices) | dict(RefundKind.choices)
    return str(names.get(code, code))


def hand_off_name(code: str) -> str:
    if code == talk.STEPPED_IN:
        return _("A colleague took over unasked.")
    return str(HAND_OFF_REASONS.get(code) or HAND_OFF_REASONS["other"])


def _nine_of_ten(took: Spread) -> str:
    if not took.count:
        return ""
    return _("nine of ten: %(time)s, of %(count)s") % {"time": span(took.slow), "count": f"{took.count:,}"}


def _day(day: date) -> str:
    return formats.date_format(day, "Y-m-d (D)")
