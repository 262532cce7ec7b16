"""Every Python process is started by a command line of `core.interpreter`, which keeps the working folder out."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from tests.house.sources import PACKAGES

PLACE = "core/interpreter.py"
ELSEWHERE = {
    "api/cli/commands/host/checks/machine.py": "tells people which Python it is",
    "api/cli/commands/host/checks/table.py": "names a check by it",
    "core/inference/local_embedder.py": "tells uv, which is no Python, where to install",
}
"""Modules that name the interpreter, and what for; none may start it."""

PYTHON = re.compile(r"(.*/)?python[\d.]*")


def names_python(tree: ast.AST) -> Iterator[str]:
    """Yield the expressions of a module that are, or may be, the path of a Python interpreter."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in {"executable", "_base_executable"}:
            yield ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and node.module == "sys":
            yield from (name.name for name in node.names if name.name == "executable")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and PYTHON.fullmatch(node.value):
            yield node.value


def named(text: str) -> list[str]:
    return sorted(names_python(ast.parse(text)))


def texts(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each module of the service and of its client."""
    for package in (*PACKAGES, "sdk/python/imprint_client"):
        for path in (root / package).rglob("*.py"):
            yield str(path.relative_to(root)), path.read_text(encoding="utf-8")


def test_the_interpreter_is_seen_however_it_is_named() -> None:
    written = """
        import sys, sys as s
        from sys import executable
        run([sys.executable, "-m", "x"]); run([s.executable]); run(["/usr/bin/python3.11"]); run(["python", "-m"])
        """
    found = named(textwrap.dedent(written))
    assert found == ["/usr/bin/python3.11", "executable", "python", "s.executable", "sys.executable"]


def test_one_module_alone_makes_command_lines_of_python(root: Path) -> None:
    found = {name for name, text in texts(root) if ("executable" in text or "python" in text) and named(text)}
    assert found - {PLACE} == ELSEWHERE.keys()


def test_in_the_image_no_python_looks_into_its_working_folder(root: Path) -> None:
    last = (root / "deploy/Dockerfile").read_text(encoding="utf-8").split("\nFROM ")[-1]
    assert re.search(r"^\s*(ENV )?.*\bPYTHONSAFEPATH=1\b", last, re.MULTILINE)
