"""The plan of the house: which way imports run, how long functions are, and that what there is stands in the manual."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.metrics import MetricWrapperBase

from bench import settings as settings_table
from core import intake, metrics
from rules.targets import TARGETS
from workers import agents

PACKAGES = ("core", "rules", "workers", "api")
LONGEST = 60
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def sources(root: Path) -> Iterator[tuple[str, str, ast.Module]]:
    """Every module of the service: its path, its text, its tree."""
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            written = path.read_text(encoding="utf-8")
            yield str(path.relative_to(root)), written, ast.parse(written)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))


def test_imports_run_one_way(root: Path) -> None:
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([command, "--no-cache"], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_no_function_is_long_without_a_reason_beside_it(root: Path) -> None:
    long = []
    for path, written, tree in sources(root):
        lines = written.splitlines()
        for node in functions(tree):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > LONGEST and "#" not in lines[node.lineno - 1]:
                long.append(f"{path}:{node.lineno} {node.name}: {length} lines")
    assert long == []


def test_nothing_is_imported_inside_a_function(root: Path) -> None:
    hidden = [
        f"{path}:{inner.lineno}"
        for path, _, tree in sources(root)
        for node in functions(tree)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    ]
    assert hidden == []


def test_no_module_has_a_name_that_says_nothing(root: Path) -> None:
    empty = {"utils", "util", "helpers", "helper", "manager", "managers", "misc", "common", "base"}
    assert [path for path, _, _ in sources(root) if Path(path).stem in empty] == []


def test_nothing_is_left_to_do(root: Path) -> None:
    marks = re.compile(r"#.*\b(?:TODO|FIXME|XXX|HACK)\b|\bNotImplementedError\b")
    assert [path for path, written, _ in sources(root) if marks.search(written)] == []


def test_every_public_module_says_what_it_is(root: Path) -> None:
    assert [path for path, _, tree in sources(root) if ast.get_docstring(tree) is None] == []


def test_the_table_of_settings_is_the_class(root: Path) -> None:
    written = (root / "docs" / "settings.md").read_text(encoding="utf-8")
    assert written == settings_table.table(), "Run `python -m bench.settings > docs/settings.md`."


def test_no_setting_is_read_around_the_class(root: Path) -> None:
    """Variables of the environment that begin with IMPRINT_ are read by Settings alone."""
    read = re.compile(r"""(?:getenv\(|environ(?:\.get)?[\[(])\s*["']IMPRINT_""")
    assert [path for path, written, _ in sources(root) if read.search(written)] == []


def test_every_setting_is_used(root: Path) -> None:
    written = "\n".join(text for path, text, _ in sources(root) if path != "core/config.py")
    unused = [name for name in settings_table.Settings.model_fields if not re.search(rf"\.{name}\b", written)]
    assert unused == []


def names_of_metrics() -> list[str]:
    found = [value for value in vars(metrics).values() if isinstance(value, MetricWrapperBase)]
    described: list[Metric] = [one for value in found for one in value.describe()]
    return [one.name + ("_total" if one.type == "counter" else "") for one in described]


@pytest.mark.parametrize("name", names_of_metrics())
def test_every_metric_is_in_the_manual(root: Path, name: str) -> None:
    assert f"`{name}`" in (root / "docs" / "operations.md").read_text(encoding="utf-8")


def emitted(root: Path) -> set[str]:
    """The types of event that the code names where it emits one."""
    found = {kind for follows in TARGETS.values() for kind in follows}
    for _, _, tree in sources(root):
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in {"Emission", "_about"}:
                found |= {a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return found


def table_rows(root: Path) -> dict[str, str]:
    """The lines of the tables in docs/events.md by what stands first in them."""
    lines = (root / "docs" / "events.md").read_text(encoding="utf-8").splitlines()
    return {found[1]: line for line in lines if (found := re.match(r"\| `([a-z_.]+)` \|", line))}


def test_every_event_and_agent_is_in_the_manual_and_nothing_else(root: Path) -> None:
    there = {*intake.PAYLOADS, *emitted(root), *agents.AGENTS}
    assert set(table_rows(root)) == there
    assert "dispatch.dead" in emitted(root)


@pytest.mark.parametrize("name", intake.PAYLOADS)
def test_every_checked_field_of_a_payload_is_in_the_manual(root: Path, name: str) -> None:
    row = table_rows(root)[name]
    fields = intake.PAYLOADS[name].model_fields
    assert [field for field in fields if f"`{field}`" not in row] == []
    needed = row.split(" | ")[1]
    assert [field for field, is_ in fields.items() if is_.is_required() and f"`{field}`" not in needed] == []


@pytest.mark.parametrize("name", agents.AGENTS)
def test_what_follows_from_an_agent_is_in_the_manual(root: Path, name: str) -> None:
    row = table_rows(root)[name]
    assert f"| {agents.AGENTS[name].queue}" in row
    assert "the same" in row or [kind for kind in TARGETS.get(name, ()) if f"`{kind}`" not in row] == []
