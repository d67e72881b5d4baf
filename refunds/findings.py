"""What the warehouse finds of the units that were announced: accepted, damaged, not in the parcel, other goods.

Only accepted units are settled or replaced; the others are the customer's again (docs/money.md, states). Findings are
told per line of the order; a return may hold several lines of its own for it, and they are filled in their order,
accepted units first.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.utils.translation import gettext as _

from orders.errors import InvalidInput
from orders.goods import GoodsMoved
from refunds.models import Return, ReturnFinding, ReturnLine
from refunds.states import FoundState

# What was found of each line of the order, by its public id: {"li_1": {"accepted": 2, "damaged": 1}}.
Found = Mapping[str, Mapping[str, int]]
_ORDER: Final = tuple(FoundState)


def checked(request: Return, found: Found | None) -> dict[str, Counter[str]]:
    """The findings of every line of the return; what is not named was accepted, all of it.

    Raises InvalidInput (`found.li_1`) unless the findings of a line come to what was announced of it.
    """
    announced = announced_of(request)
    for line_item_id in found or {}:
        if line_item_id not in announced:
            raise InvalidInput(_field(line_item_id), _("This return has no such line."))
    findings = {}
    for line_item_id, quantity in announced.items():
        told = (found or {}).get(line_item_id, {FoundState.ACCEPTED: quantity})
        findings[line_item_id] = _counted(line_item_id, told, quantity)
    return findings


def _counted(line_item_id: str, told: Mapping[str, int], announced: int) -> Counter[str]:
    if not isinstance(told, Mapping) or any(kind not in FoundState.values for kind in told):
        kinds = ", ".join(FoundState.values)
        raise InvalidInput(_field(line_item_id), _("Say how many pieces are: %(kinds)s.") % {"kinds": kinds})
    if any(type(count) is not int or count < 0 for count in told.values()):
        raise InvalidInput(_field(line_item_id), _("This must be a whole number."))
    if sum(told.values()) != announced:
        values = {"found": sum(told.values()), "announced": announced}
        raise InvalidInput(
            _field(line_item_id),
            _("These findings come to %(found)s pieces, and %(announced)s were announced.") % values,
            hint=_("Say of every piece what was found, also of those that are not there."),
        )
    return Counter({str(FoundState(kind).value): count for kind, count in told.items() if count})


def _field(line_item_id: str) -> str:
    return f"found.{line_item_id}"[:64]


def announced_of(request: Return) -> dict[str, int]:
    """How many units of each line of the order were announced, by its public id."""
    quantities: Counter[str] = Counter()
    for line in request.lines.select_related("line_item"):
        quantities[line.line_item.line_item_id] += line.quantity
    return dict(quantities)


def known(request: Return) -> dict[str, Counter[str]]:
    """The findings that are written down; nothing before the goods were received."""
    found: dict[str, Counter[str]] = {}
    rows = ReturnFinding.objects.filter(return_line__return_request=request)
    for row in rows.select_related("return_line__line_item"):
        found.setdefault(row.return_line.line_item.line_item_id, Counter())[row.found] += row.quantity
    return found


def write(request: Return, findings: Mapping[str, Counter[str]]) -> None:
    """Put `findings` in the place of those that are there. Call it with the order locked."""
    ReturnFinding.objects.filter(return_line__return_request=request).delete()
    left = {line_item_id: Counter(counts) for line_item_id, counts in findings.items()}
    for line in request.lines.select_related("line_item").order_by("pk"):
        _write_line(line, left[line.line_item.line_item_id])


def _write_line(line: ReturnLine, left: Counter[str]) -> None:
    wanted = line.quantity
    for kind in _ORDER:
        taken = min(left[kind], wanted)
        if taken:
            ReturnFinding.objects.create(return_line=line, found=kind, quantity=taken)
            left[kind] -= taken
            wanted -= taken
    if wanted:
        raise GoodsMoved(line.line_item.line_item_id)


def accepted_lines(request: Return) -> list[tuple[ReturnLine, int]]:
    """The lines of which units were accepted, and how many. One that nobody has looked at apart counts as a whole."""
    rows = request.lines.select_related(
        "line_item", "shipment_line__line_item", "shipment_line__product", "product"
    ).prefetch_related("findings")
    counted = ((line, _accepted(line, list(line.findings.all()))) for line in rows.order_by("pk"))
    return [(line, quantity) for line, quantity in counted if quantity]


def _accepted(line: ReturnLine, findings: Sequence[ReturnFinding]) -> int:
    if not findings:
        return line.quantity
    return sum(finding.quantity for finding in findings if finding.found == FoundState.ACCEPTED)


def as_json(findings: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """The findings as the history and the shop are told of them."""
    return {line_item_id: dict(counts) for line_item_id, counts in sorted(findings.items())}
