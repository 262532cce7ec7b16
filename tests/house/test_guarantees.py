"""Every line of the page of guarantees, before its limits, names its test, and the test exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def _rows(root: Path) -> list[str]:
    page, _ = (root / "docs" / "guarantees.md").read_text(encoding="utf-8").split("\n## Limits\n")
    return [
        line
        for line in page.splitlines()
        if line.startswith("| ") and not re.match(r"\| (cannot|---)[,\s|].*\| (test|---)", line)
    ]


def test_every_line_names_a_test(root: Path) -> None:
    rows = _rows(root)
    assert len(rows) > 30
    assert [row for row in rows if not NAMED.search(row)] == []


def test_every_test_that_is_named_exists(root: Path) -> None:
    named = {match for row in _rows(root) for match in NAMED.findall(row)}
    missing = [f"{path}::{name}" for path, name in sorted(named) if name not in _tests(root / path)]
    assert missing == []


@pytest.mark.parametrize("page", ["docs/guarantees.md", "SECURITY.md"])
def test_every_link_of_the_page_leads_somewhere(root: Path, page: str) -> None:
    text = (root / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
    assert [link for link in links if not ((root / page).parent / link).exists()] == []


def _tests(path: Path) -> set[str]:
    if not path.exists():
        return set()
    return {
        node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)
    }
