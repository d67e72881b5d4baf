"""What a run of generated lives must have gone through, and how often at least: what was not tried proves nothing.

Counted in the rows that each life has left, so no story can claim more than has happened.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from tests.generated import books
from tests.generated.rows import Rows, by_id

Count = Callable[[Rows], int]


def told(*actions: str) -> Count:
    """So often the history says it."""
    return lambda rows: sum(event["action"] in actions for event in rows["orders_auditevent"])


def rows_of(table: str, **which: object) -> Count:
    return lambda rows: len(_rows(rows, table, which))


def _rows(rows: Rows, table: str, which: dict[str, object]) -> list[dict[str, object]]:
    return [row for row in rows[table] if all(row[name] == value for name, value in which.items())]


def exchanged_for_another(rows: Rows) -> int:
    sent = {row["id"] for row in rows["refunds_return"] if row["state"] == "exchanged"}
    return len({row["return_request_id"] for row in rows["refunds_returnline"] if row["product_id"]} & sent)


def replacements_that_moved_on(rows: Rows) -> int:
    """Units of a replacement that were asked for in their turn: returned, exchanged, sent again or refunded as lost."""
    parcels = {row["id"] for row in rows["orders_shipment"] if row["is_replacement"]}
    return sum(
        line["shipment_id"] in parcels and any(line[f"{hold}_quantity"] for hold in books.HELD)
        for line in rows["orders_shipmentline"]
    )


def gone_to_the_last_piece(rows: Rows) -> list[int]:
    """Orders of which nothing is left, and whose sum `books.py` has therefore checked."""
    elsewhere = {refund["order_id"] for refund in rows["refunds_refund"] if refund["kind"] == "elsewhere"}
    ordered: Counter[int] = Counter()
    for line in rows["orders_lineitem"]:
        ordered[line["order_id"]] += line["quantity"]
    return [
        order_id
        for order_id, quantity in ordered.items()
        if order_id not in elsewhere and books.gone(rows, order_id).total() == quantity
    ]


def gone_in_several_settlements(rows: Rows) -> int:
    return sum(len(books.spent_quotes(rows, order_id)) > 1 for order_id in gone_to_the_last_piece(rows))


def gone_with_a_fee(rows: Rows) -> int:
    return sum(
        any(quote["fee"] for quote in books.spent_quotes(rows, order_id)) for order_id in gone_to_the_last_piece(rows)
    )


def one_of_several_refused_and_paid_in_the_end(rows: Rows) -> int:
    """One payment had given its part back, another one refused; all is paid now."""
    parts: dict[str, list[str]] = {}
    for part in rows["refunds_refundallocation"]:
        parts.setdefault(part["refund_id"], []).append(part["id"])
    refused = {row["allocation_id"] for row in rows["refunds_gatewayattempt"] if row["outcome"] == "refused"}
    paid = {row["id"] for row in rows["refunds_refund"] if row["state"] == "succeeded"}
    return sum(0 < len(refused & set(of_it)) < len(of_it) for refund, of_it in parts.items() if refund in paid)


def exceptions(state: str) -> Count:
    return rows_of("refunds_approval", kind="override", state=state)


def quotes_with_step(code: str) -> Count:
    return lambda rows: sum(
        any(step["code"] == code for step in quote["steps"])
        for quote in rows["refunds_refundquote"]
        if quote["state"] == "redeemed"
    )


def found_to_have_paid(rows: Rows) -> int:
    """By asking about it."""
    return sum(row["times_asked"] > 0 and row["outcome"] == "succeeded" for row in rows["refunds_gatewayattempt"])


def limits_met(rows: Rows) -> int:
    codes = {"cannot_partial", "window_over"}
    return sum(attempt["code"] in codes for attempt in rows["refunds_gatewayattempt"])


def failed_after_all_and_paid_again(rows: Rows) -> int:
    """Attempts that had succeeded and were admitted to have failed, beside a newer one of the same part that paid."""
    attempts = by_id(rows["refunds_gatewayattempt"])
    paid = {row["allocation_id"]: row["number"] for row in attempts.values() if row["outcome"] == "succeeded"}
    failed = [row for row in attempts.values() if row["outcome"] == "refused" and row["settled_at"]]
    return sum(paid.get(row["allocation_id"], 0) > row["number"] for row in failed)


# How often at least in a run of the usual length: about a third of what it is, so that other code may deal other lives.
AT_LEAST: Final[dict[str, tuple[Count, int]]] = {
    "an exchange was asked for": (rows_of("refunds_return", kind="exchange"), 8),
    "an exchange was sent": (rows_of("refunds_return", state="exchanged"), 8),
    "… another product of the price": (exchanged_for_another, 2),
    "lost goods were sent again": (rows_of("refunds_replacement", kind="lost", state="sent"), 6),
    "a replacement was not sent after all": (rows_of("refunds_replacement", state="released"), 1),
    "a replacement was asked for in its turn": (replacements_that_moved_on, 8),
    "a return was refunded": (rows_of("refunds_return", state="refunded"), 8),
    "a return was rejected": (rows_of("refunds_return", state="rejected"), 1),
    "a return was withdrawn": (rows_of("refunds_return", state="withdrawn"), 1),
    "a quote was declined": (told("quote.declined"), 5),
    "a quote ran out": (told("quote.expired"), 4),
    "an exception was approved": (exceptions("approved"), 3),
    "an exception was rejected": (exceptions("rejected"), 1),
    "a question was answered by nobody": (told("approval.expired"), 5),
    "a second person said yes": (told("approval.approved"), 8),
    "compensation was paid": (rows_of("refunds_refund", kind="compensation", state="succeeded"), 2),
    "a gateway fell silent": (told("attempt.unknown"), 8),
    "… and was found to have paid": (found_to_have_paid, 3),
    "… and was found to have paid nothing": (rows_of("refunds_gatewayattempt", code="no_record"), 2),
    "a refusal": (told("attempt.refused"), 10),
    "one of several payments refused, and all was paid": (one_of_several_refused_and_paid_in_the_end, 4),
    "a part was sent once more": (told("allocation.retried"), 8),
    "a part was paid by hand": (told("allocation.paid_by_hand"), 2),
    "a charge was voided": (rows_of("refunds_gatewayattempt", kind="void", outcome="succeeded"), 1),
    "a part waited for its acquirer": (told("allocation.waits"), 2),
    "a part was beyond its acquirer": (limits_met, 1),
    "a provider called": (rows_of("refunds_providerevent"), 8),
    "what was paid failed after all, and was paid again": (failed_after_all_and_paid_again, 4),
    "money was given back elsewhere": (rows_of("refunds_refund", kind="elsewhere"), 4),
    "store credit was given back": (told("store_credit.refunded"), 8),
    "store credit was spent": (told("store_credit.spent"), 3),
    "nothing is left of an order": (lambda rows: len(gone_to_the_last_piece(rows)), 20),
    "… in several settlements": (gone_in_several_settlements, 5),
    "… with a fee": (gone_with_a_fee, 1),
    **{f"step {code}": (quotes_with_step(code), 1) for code in ("carried_over", "coupon_lost", "coupon_reduced")},
}


def count(lives: Iterable[Rows]) -> dict[str, int]:
    """So often each of it has happened in these lives together."""
    seen = list(lives)
    return {name: sum(counted(rows) for rows in seen) for name, (counted, _) in AT_LEAST.items()}


def as_table(counts: dict[str, int]) -> str:
    wanted = {name: least for name, (_, least) in AT_LEAST.items()}
    return "\n".join(
        f"{counts[name]:6} of {least:3}  {name}{'' if counts[name] >= least else '   <-- too few'}"
        for name, least in wanted.items()
    )
