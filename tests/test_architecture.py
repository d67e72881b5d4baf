"""Who imports whom, and how long things may be. The reasons stand in docs/architecture.md."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APPS = ("orders", "refunds", "agent", "backoffice")
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 50

# What the agent may know of refunds: what reads, what quotes and what is told. Nothing that moves money or goods.
OPEN_TO_AGENT = {
    "refunds",
    "refunds.choices",
    "refunds.compensation",
    "refunds.eligibility",
    "refunds.eligibility_report",
    "refunds.exchange_check",
    "refunds.goods",
    "refunds.models",
    "refunds.payment_context",
    "refunds.present",
    "refunds.quotes",
    "refunds.refund_words",
    "refunds.resend_check",
    "refunds.selectors",
    "refunds.signals",
    "refunds.states",
}
MAY_REDEEM = {"refunds.views", "refunds.api.quotes", "refunds.management.commands.refund_goods"}
MAY_MAKE_REFUNDS = {"refunds.acceptance", "refunds.approvals", "refunds.redeem"}
# `books` only asks.
MAY_PAY = {"refunds.send", "refunds.reconcile", "refunds.books"}
# What may be known of gateways without getting hold of one: the shape of an answer, and what to do when.
KNOWLEDGE = ("refunds.gateways.base", "refunds.gateways.plan")
# What moves money or goods, and must not be reached through anything that the agent knows.
ACTS = {
    "refunds.acceptance",
    "refunds.approvals",
    "refunds.books",
    "refunds.by_hand",
    "refunds.elsewhere_undone",
    "refunds.elsewhere",
    "refunds.overrides",
    "refunds.payout",
    "refunds.policies",
    "refunds.provider_events",
    "refunds.reconcile",
    "refunds.redeem",
    "refunds.replacements",
    "refunds.resend",
    "refunds.retry",
    "refunds.returns",
    "refunds.send",
    "refunds.tasks",
}
# What changes orders, goods and credit: no module of the agent imports it.
CHANGES_ORDERS = {"orders.goods", "orders.ingest", "orders.shipments", "orders.stock", "orders.store_credit"}
# Modules that read and change: the agent takes by name what only reads.
READS_ONLY = {
    "orders.address": {"check_change"},
    "orders.products": {"product_as_dict", "product_by_id", "search_products"},
}


def modules() -> Iterator[tuple[str, Path]]:
    """The product's modules; tests and migrations apart."""
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if not {"tests", "migrations"} & set(parts):
                yield ".".join(parts).removesuffix(".__init__"), path


def imported(path: Path) -> set[str]:
    """Every module that is imported anywhere in the file, functions included. `from a import b` counts as a and a.b."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


IMPORTS = {name: imported(path) for name, path in modules()}


def importers(target: str) -> set[str]:
    return {
        name
        for name, used in IMPORTS.items()
        if any(module == target or module.startswith(f"{target}.") for module in used)
    }


def test_apps_depend_downwards_only() -> None:
    for name, used in IMPORTS.items():
        level = APPS.index(name.split(".")[0])
        above = {module for module in used if module.split(".")[0] in APPS[level + 1 :]}
        assert not above, f"{name} imports {above}"


def test_only_the_client_module_knows_the_sdk() -> None:
    assert importers("anthropic") == {"agent.client"}


def test_the_mcp_sdk_is_known_at_its_door_only() -> None:
    modules = {"agent.doors.mcp_http", "agent.doors.mcp_server", "agent.doors.mcp_errors"}
    at_the_door = {*modules, "agent.management.commands.mcp_server"}
    assert importers("mcp") | importers("mcp_types") == at_the_door


def test_the_agent_reads_quotes_and_proposes_but_cannot_pay() -> None:
    known = {module for name in importers("refunds") if name.startswith("agent") for module in IMPORTS[name]}
    real = {name for name in IMPORTS if name.startswith("refunds")}
    assert known & real <= OPEN_TO_AGENT


def reached_from(names: set[str]) -> set[str]:
    """The modules of refunds that these import, and those that they import in turn."""
    found: set[str] = set()
    waiting = {name for name in names if name in IMPORTS}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= {used for used in IMPORTS[name] if used.startswith("refunds") and used in IMPORTS} - found
    return found


def test_nothing_that_the_agent_may_import_leads_to_money_or_goods() -> None:
    reached = reached_from(OPEN_TO_AGENT)
    assert not reached & ACTS
    assert not {name for name in reached if name.startswith("refunds.gateways") and not name.startswith(KNOWLEDGE)}


def test_the_agent_changes_no_order_no_stock_and_no_credit() -> None:
    for name, used in IMPORTS.items():
        if not name.startswith("agent"):
            continue
        assert not used & CHANGES_ORDERS, name
        for module, allowed in READS_ONLY.items():
            taken = {each.removeprefix(f"{module}.") for each in used if each.startswith(f"{module}.")}
            assert taken <= allowed, f"{name} takes {taken} of {module}"
            # Without names it would hold the whole module, and everything in it.
            assert taken or module not in used, f"{name} imports all of {module}"


def test_quotes_are_redeemed_and_refunds_made_by_few() -> None:
    assert importers("refunds.redeem") == MAY_REDEEM
    assert importers("refunds.payout") == MAY_MAKE_REFUNDS


def test_gateways_are_called_by_sending_and_asking_alone() -> None:
    """Others may know the shape of an answer and what to do when, not get hold of a gateway."""
    for name, used in IMPORTS.items():
        reached = {module for module in used if f"{module}.".startswith("refunds.gateways.")}
        reached = {module for module in reached if not module.startswith(KNOWLEDGE)}
        assert not reached or name in MAY_PAY or name.startswith("refunds.gateways"), f"{name} imports {reached}"


def test_comparing_books_only_asks() -> None:
    """Of what it does with a gateway, nothing pays."""
    tree = ast.parse((ROOT / "refunds" / "books.py").read_text(encoding="utf-8"))
    called = {node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) and hasattr(node.func, "attr")}
    assert {"list_refunds", "refunds_of"} <= called
    assert not called & {"refund", "void", "deliver", "send"}


def test_stripes_library_is_known_by_its_gateway_and_by_the_address_that_stripe_calls() -> None:
    assert importers("stripe") == {"refunds.gateways.stripe", "refunds.webhooks"}


def test_the_rules_are_pure() -> None:
    for name in ("policy", "pricing", "terms", "allocation", "eligibility", "gateways.plan", "gateways.base"):
        name = f"refunds.{name}"
        assert not {module for module in IMPORTS[name] if module.split(".")[0] == "django"}, name


@pytest.mark.parametrize(("name", "path"), sorted(modules()), ids=str)
def test_no_module_and_no_function_needs_scrolling(name: str, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_MODULE_LINES, name
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            assert node.end_lineno - node.lineno < MAX_FUNCTION_LINES, f"{name}.{node.name}"
