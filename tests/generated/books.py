"""What must be true of a shop's rows at any moment, whatever has happened. The services are not asked.

Each check takes all rows and says with an assertion what disagrees.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Final

from refunds.states import RELEASED, SETTLING
from tests.generated.rows import Row, Rows, by_id

OPEN: Final = {"requested", "received", "accepted"}
HELD: Final = ("returning", "exchanging", "resending", "replaced", "refunded")


def total(rows: Iterable[Row], field: str = "amount") -> int:
    return sum(row[field] for row in rows)


def spent_refunds(rows: Rows) -> list[Row]:
    """Refunds that hold goods and money, whatever became of their sending."""
    return [refund for refund in rows["refunds_refund"] if refund["state"] not in RELEASED]


def promises(rows: Rows) -> list[Row]:
    """Returns for a refund that is not made yet."""
    return [
        item
        for item in rows["refunds_return"]
        if item["kind"] == "refund" and item["state"] in OPEN and item["refund_id"] is None
    ]


def spent_quotes(rows: Rows, order_id: int) -> list[Row]:
    """The quotes that count as settled on an order: of refunds for goods, and of returns that are still promised."""
    quotes = by_id(rows["refunds_refundquote"])
    keepers = [*spent_refunds(rows), *promises(rows)]
    return [quotes[item["quote_id"]] for item in keepers if item["order_id"] == order_id and item["quote_id"]]


def fees_due(rows: Rows, order_id: int) -> int:
    """What fees have been taken, and promised, without that of a return which is the first that counts by now."""
    quotes, refunds = by_id(rows["refunds_refundquote"]), by_id(spent_refunds(rows))
    settled = {
        item["id"]: quotes[refunds[item["refund_id"]]["quote_id"]]
        for item in rows["refunds_return"]
        if item["refund_id"] in refunds
    }
    promised = {item["id"]: quotes[item["quote_id"]] for item in promises(rows)}
    counting = [
        item
        for item in rows["refunds_return"]
        if item["order_id"] == order_id and (settled | promised).get(item["id"], {}).get("counts_as_return")
    ]
    first = min(counting, key=lambda item: (item["created_at"], item["id"]), default={"id": None})
    taken = total(spent_quotes(rows, order_id), "fee")
    return taken - (settled[first["id"]]["fee"] if first["id"] in settled else 0)


def gone(rows: Rows, order_id: int) -> Counter[tuple[int, bool]]:
    """Units that have left the order for good, or are promised to, by line and by whether the shop is at fault."""
    quotes = {quote["id"] for quote in spent_quotes(rows, order_id)}
    left: Counter[tuple[int, bool]] = Counter()
    for line in rows["refunds_quoteline"]:
        if line["quote_id"] in quotes:
            left[line["line_item_id"], line["shop_fault"]] += line["quantity"]
    return left


def payments_give_back_what_is_held_and_no_more(rows: Rows) -> None:
    spent = {refund["id"] for refund in spent_refunds(rows)}
    held: Counter[str] = Counter()
    for allocation in rows["refunds_refundallocation"]:
        assert allocation["amount"] > 0
        if allocation["refund_id"] in spent:
            held[allocation["payment_id"]] += allocation["amount"]
    for payment in rows["orders_payment"]:
        assert 0 <= payment["refunded_amount"] <= payment["amount"]
        assert payment["refunded_amount"] == held[payment["id"]], f"{payment['id']} holds another sum than its refunds"


def refunds_are_the_sum_of_their_parts(rows: Rows) -> None:
    parts: Counter[str] = Counter()
    for allocation in rows["refunds_refundallocation"]:
        parts[allocation["refund_id"]] += allocation["amount"]
    for refund in rows["refunds_refund"]:
        assert parts[refund["id"]] == refund["amount"]


def steps_sum_to_the_amount(rows: Rows) -> None:
    for quote in rows["refunds_refundquote"]:
        assert quote["amount"] >= 0
        assert quote["fee"] >= 0
        assert total(quote["steps"]) == quote["amount"], f"the steps of {quote['id']} come to something else"


def nobody_gets_back_more_than_they_paid(rows: Rows) -> None:
    """Nor is promised more; but what was paid elsewhere meanwhile is a fact, and the promise turns out less."""
    elsewhere = {refund["order_id"] for refund in rows["refunds_refund"] if refund["kind"] == "elsewhere"}
    open_promises = {item["order_id"] for item in promises(rows)}
    for order in rows["orders_order"]:
        payments = [payment for payment in rows["orders_payment"] if payment["order_id"] == order["id"]]
        quotes = spent_quotes(rows, order["id"])
        back = total(quotes) + fees_due(rows, order["id"])
        assert back <= total(payments) or order["id"] in elsewhere & open_promises
        assert total(payments, "refunded_amount") <= total(payments)


def who_kept_nothing_has_paid_the_fees_and_no_more(rows: Rows) -> None:
    """Compensation apart: what it has used up cannot be given back a second time. Nor can what was paid elsewhere."""
    elsewhere = {refund["order_id"] for refund in rows["refunds_refund"] if refund["kind"] == "elsewhere"}
    for order in rows["orders_order"]:
        lines = [line for line in rows["orders_lineitem"] if line["order_id"] == order["id"]]
        if order["id"] in elsewhere or gone(rows, order["id"]).total() < total(lines, "quantity"):
            continue
        payments = [payment for payment in rows["orders_payment"] if payment["order_id"] == order["id"]]
        quotes = spent_quotes(rows, order["id"])
        owed = total(payments) - total(quotes) - fees_due(rows, order["id"])
        promised = [item for item in promises(rows) if item["order_id"] == order["id"]]
        amounts = by_id(quotes)
        left = total(payments) - total(payments, "refunded_amount")
        left -= sum(amounts[item["quote_id"]]["amount"] for item in promised)
        assert owed == 0 or (owed > 0 and left <= 0), f"{owed} of order {order['number']} was never given back"


def what_is_promised_can_be_kept(rows: Rows) -> None:
    """Nobody has given away the money of an open return; but what was paid elsewhere is a fact."""
    quotes = by_id(rows["refunds_refundquote"])
    elsewhere = {refund["order_id"] for refund in rows["refunds_refund"] if refund["kind"] == "elsewhere"}
    for order in rows["orders_order"]:
        promised = [quotes[item["quote_id"]] for item in promises(rows) if item["order_id"] == order["id"]]
        payments = [payment for payment in rows["orders_payment"] if payment["order_id"] == order["id"]]
        left = total(payments) - total(payments, "refunded_amount")
        assert order["id"] in elsewhere or total(promised) <= left, (
            f"order {order['number']} promises more than is left"
        )


def what_is_promised_is_not_left_to_cash(rows: Rows) -> None:
    """A return is only promised what a machine can pay; others who ask meanwhile leave that to it.

    Except where a person has moved a refused part to another payment, or has paid elsewhere.
    """
    quotes, refunds = by_id(rows["refunds_refundquote"]), by_id(rows["refunds_refund"])
    moved = {refunds[part["refund_id"]]["order_id"] for part in rows["refunds_refundallocation"] if part["attempt"] > 1}
    elsewhere = {refund["order_id"] for refund in rows["refunds_refund"] if refund["kind"] == "elsewhere"}
    for item in promises(rows):
        order_id = item["order_id"]
        together = [quotes[each["quote_id"]] for each in promises(rows) if each["order_id"] == order_id]
        payments = [payment for payment in rows["orders_payment"] if payment["order_id"] == order_id]
        by_machine = [payment for payment in payments if payment["method"] != "cash_on_delivery"]
        left = total(by_machine) - total(by_machine, "refunded_amount")
        assert order_id in moved | elsewhere or total(together) <= left, f"{item['id']} was promised what others got"


def units_are_somewhere_once(rows: Rows) -> None:
    """Goods in are goods out: counters, parcels, quotes and replacements tell the same of every unit."""
    parcels = by_id(rows["orders_shipment"])
    fulfilled: Counter[int] = Counter()
    replaced: Counter[int] = Counter()
    for line in rows["orders_shipmentline"]:
        held = sum(line[f"{hold}_quantity"] for hold in HELD)
        assert all(line[f"{hold}_quantity"] >= 0 for hold in HELD)
        assert held <= line["quantity"]
        if parcels[line["shipment_id"]]["is_replacement"]:
            replaced[line["line_item_id"]] -= line["quantity"]
        else:
            fulfilled[line["line_item_id"]] += line["quantity"]
        replaced[line["line_item_id"]] += line["replaced_quantity"]
    for line in rows["orders_lineitem"]:
        assert fulfilled[line["id"]] == line["fulfilled_quantity"]
        assert 0 <= line["cancelled_quantity"] <= line["quantity"] - line["fulfilled_quantity"]
        assert replaced[line["id"]] == 0, "replacements hold other units than they replace"


def units_are_held_for_what_took_them(rows: Rows) -> None:
    wanted: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for hold, lines in _what_took_them(rows).items():
        for line in lines:
            wanted[hold][line["shipment_line_id"] or line["line_item_id"]] += line["quantity"]
    for line in rows["orders_shipmentline"]:
        told = {hold: line[f"{hold}_quantity"] for hold in HELD}
        assert told == {hold: wanted[hold][line["id"]] for hold in HELD}
    for line in rows["orders_lineitem"]:
        assert line["cancelled_quantity"] == wanted["cancelled"][line["id"]]


def _what_took_them(rows: Rows) -> dict[str, list[Row]]:
    """By the counter that holds them: the lines of quotes, returns and replacements that hold units now."""
    quotes = {refund["quote_id"] for refund in spent_refunds(rows)}
    spent = [line for line in rows["refunds_quoteline"] if line["quote_id"] in quotes]
    promised = {item["id"] for item in promises(rows)}
    return {
        "cancelled": [line for line in spent if not line["shipment_line_id"]],
        "refunded": [line for line in spent if line["shipment_line_id"]],
        "returning": [line for line in rows["refunds_returnline"] if line["return_request_id"] in promised],
        "exchanging": replacement_lines(rows, "reserved", "exchange"),
        "resending": replacement_lines(rows, "reserved", "lost"),
        "replaced": replacement_lines(rows, "sent"),
    }


def replacement_lines(rows: Rows, state: str, kind: str = "") -> list[Row]:
    wanted = {
        item["id"] for item in rows["refunds_replacement"] if item["state"] == state and kind in ("", item["kind"])
    }
    return [line for line in rows["refunds_replacementline"] if line["replacement_id"] in wanted]


def stock_is_never_promised_twice(rows: Rows) -> None:
    lines, parcels = by_id(rows["orders_lineitem"]), by_id(rows["orders_shipmentline"])
    reserved: Counter[int] = Counter()
    for line in replacement_lines(rows, "reserved"):
        there = parcels[line["shipment_line_id"]]["product_id"] or lines[line["line_item_id"]]["product_id"]
        reserved[line["product_id"] or there] += line["quantity"]
    for product in rows["orders_product"]:
        assert product["reserved"] == reserved[product["id"]]
        assert product["stock"] is None or product["reserved"] <= product["stock"], f"{product['sku']} is oversold"


def store_credit_adds_up(rows: Rows) -> None:
    sums: Counter[int] = Counter()
    for entry in rows["orders_storecreditentry"]:
        sums[entry["account_id"]] += entry["amount"]
    for account in rows["orders_storecreditaccount"]:
        assert account["balance"] == sums[account["id"]] >= 0


def second_persons_are_asked_about_what_waits(rows: Rows) -> None:
    waiting = {item["id"] for item in rows["refunds_refund"] if item["state"] == "pending_approval"}
    asked = [item for item in rows["refunds_approval"] if item["refund_id"] and item["kind"] != "compensation"]
    assert waiting == {item["refund_id"] for item in asked if item["state"] == "waiting"}
    for approval in rows["refunds_approval"]:
        assert approval["decided_by_id"] is None or approval["decided_by_id"] != approval["asked_by_id"]


def compensation_stays_below_its_cap(rows: Rows) -> None:
    policies = [policy for policy in rows["refunds_refundpolicy"] if policy["state"] in SETTLING]
    for order in rows["orders_order"]:
        counted = [
            approval
            for approval in rows["refunds_approval"]
            if (approval["order_id"], approval["kind"]) == (order["id"], "compensation")
            and approval["state"] in {"waiting", "approved"}
        ]
        assert total(counted) <= policy_of(order, policies)["compensation_cap"]


def policy_of(order: Row, policies: Iterable[Row]) -> Row:
    """The newest version that was in force when the order was placed."""
    in_force = [
        policy
        for policy in policies
        if policy["currency"] == order["currency"] and policy["in_force_from"] <= order["placed_at"]
    ]
    return max(in_force, key=lambda policy: (policy["in_force_from"], policy["version"]))


def orders_keep_the_policy_they_were_placed_under(rows: Rows) -> None:
    policies = [policy for policy in rows["refunds_refundpolicy"] if policy["state"] in SETTLING]
    orders = by_id(rows["orders_order"])
    for quote in rows["refunds_refundquote"]:
        assert quote["policy_id"] == policy_of(orders[quote["order_id"]], policies)["id"]


def the_gateway_pays_what_was_asked_once(rows: Rows) -> None:
    """By its own ledger: never more than the charge, and for every part of a refund at most one payment."""
    ledger = {payment["idempotency_key"]: payment for payment in rows["refunds_simulatedrefund"]}
    charges = {payment["provider_ref"] or payment["id"]: payment for payment in rows["orders_payment"]}
    charges |= {payment["external_id"]: payment for payment in rows["orders_payment"]} | charges
    paid: Counter[str] = Counter()
    for entry in ledger.values():
        paid[entry["charge_ref"]] += entry["amount"]
    for charge, amount in paid.items():
        assert amount <= charges[charge]["amount"]
    attempts: defaultdict[str, list[Row]] = defaultdict(list)
    for attempt in rows["refunds_gatewayattempt"]:
        attempts[attempt["allocation_id"]].append(attempt)
    for allocation in rows["refunds_refundallocation"]:
        _check_part(allocation, attempts[allocation["id"]], ledger, rows)


def _check_part(allocation: Row, attempts: list[Row], ledger: dict[str, Row], rows: Rows) -> None:
    paid = [attempt for attempt in attempts if _paid(attempt, ledger, rows)]
    assert len(paid) <= 1, f"{allocation['id']} was paid {len(paid)} times"
    for attempt in paid:
        assert _paid(attempt, ledger, rows) == allocation["amount"]
    by_a_person = by_id(rows["refunds_refund"])[allocation["refund_id"]]["external_ref"]
    if allocation["state"] == "succeeded":
        assert paid == [attempt for attempt in attempts if attempt["outcome"] == "succeeded"]
        assert paid or by_a_person, f"{allocation['id']} counts as paid, and nobody has paid it"
    if allocation["state"] == "failed":
        assert not paid or any(attempt["trouble"] for attempt in paid), f"{allocation['id']} was paid and counts as not"


def _paid(attempt: Row, ledger: dict[str, Row], rows: Rows) -> int:
    """What went out under this attempt's key: at the gateway, or as an entry of store credit."""
    key = attempt["idempotency_key"]
    entries = [entry for entry in rows["orders_storecreditentry"] if entry["reference"] == key]
    return total(entries) + (ledger[key]["amount"] if key in ledger else 0)


CHECKS: Final[list[Callable[[Rows], Any]]] = [
    payments_give_back_what_is_held_and_no_more,
    refunds_are_the_sum_of_their_parts,
    steps_sum_to_the_amount,
    nobody_gets_back_more_than_they_paid,
    who_kept_nothing_has_paid_the_fees_and_no_more,
    what_is_promised_can_be_kept,
    what_is_promised_is_not_left_to_cash,
    units_are_somewhere_once,
    units_are_held_for_what_took_them,
    stock_is_never_promised_twice,
    store_credit_adds_up,
    second_persons_are_asked_about_what_waits,
    compensation_stays_below_its_cap,
    orders_keep_the_policy_they_were_placed_under,
    the_gateway_pays_what_was_asked_once,
]
