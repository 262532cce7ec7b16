"""The modules of the service as syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

PACKAGES = ("core", "rules", "workers", "api", "imprint")


FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def sources(root: Path) -> Sequence[tuple[str, str, ast.Module]]:
    """Every module of the service: its path, its text, its tree. They are kept for the tests of a file (`conftest`)."""
    paths = [path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]
    texts = {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in paths}
    return [(path, written, ast.parse(written)) for path, written in texts.items()]


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))
