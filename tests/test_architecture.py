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
    "refunds.eligibility",
    "refunds.exchange_check",
    "refunds.goods",
    "refunds.models",
    "refunds.present",
    "refunds.quotes",
    "refunds.selectors",
    "refunds.signals",
    "refunds.states",
}
MAY_REDEEM = {"refunds.views", "refunds.api", "refunds.returns", "refunds.approvals"}
MAY_PAY = {"refunds.send", "refunds.reconcile"}


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


def test_the_agent_reads_quotes_and_proposes_but_cannot_pay() -> None:
    known = {module for name in importers("refunds") if name.startswith("agent") for module in IMPORTS[name]}
    real = {name for name in IMPORTS if name.startswith("refunds")}
    assert known & real <= OPEN_TO_AGENT


def test_what_the_agent_may_import_does_not_pay_in_turn() -> None:
    """Redeeming and paying must not be reachable through a module that the agent may know."""
    for name in OPEN_TO_AGENT & set(IMPORTS):
        assert not IMPORTS[name] & ({"refunds.redeem", "refunds.send", "refunds.gateways"}), name


def test_quotes_are_redeemed_by_few() -> None:
    assert importers("refunds.redeem") <= MAY_REDEEM


def test_gateways_are_called_by_sending_and_asking_alone() -> None:
    """Others may know the shape of an answer (`gateways.base`), not get hold of a gateway."""
    for name, used in IMPORTS.items():
        reached = {module for module in used if module.startswith("refunds.gateways") and ".base" not in module}
        assert not reached or name in MAY_PAY or name.startswith("refunds.gateways"), f"{name} imports {reached}"


def test_the_rules_are_pure() -> None:
    for name in ("refunds.policy", "refunds.allocation", "refunds.eligibility"):
        assert not {module for module in IMPORTS[name] if module.split(".")[0] == "django"}, name


@pytest.mark.parametrize(("name", "path"), sorted(modules()), ids=str)
def test_no_module_and_no_function_needs_scrolling(name: str, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_MODULE_LINES, name
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            assert node.end_lineno - node.lineno < MAX_FUNCTION_LINES, f"{name}.{node.name}"
