"""The modules of the service as syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("core", "rules", "workers", "api", "imprint")


FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def sources(root: Path) -> Iterator[tuple[str, str, ast.Module]]:
    """Every module of the service: its path, its text, its tree."""
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            written = path.read_text(encoding="utf-8")
            yield str(path.relative_to(root)), written, ast.parse(written)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))
