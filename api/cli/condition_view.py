"""A condition tree as text: each node with its outcome and actual value."""

from __future__ import annotations

import json
from typing import Any

from rich.tree import Tree

from api.cli.client import short
from api.terminal import escape
from core.types import Json


def add(tree: Tree, node: Json) -> None:
    """Add a condition and its children as branches of `tree`."""
    mark = "[green]✓[/]" if node["result"] else "[red]✗[/]"
    if "nodes" in node:
        branch = tree.add(f"{mark} {node['op']}")
        for child in node["nodes"]:
            add(branch, child)
        return
    expected = f" {_value(node['expected'])}" if "expected" in node and "items" not in node else ""
    branch = tree.add(f"{mark} {escape(node['field'])} {escape(node['op'])}{expected} [dim]is {_actual(node)}[/]")
    for item in node.get("items", ()):
        add(branch, item)


def _actual(node: Json) -> str:
    if node.get("reason") == "missing":
        return "missing"
    value = _value(node["actual"])
    if node.get("similarity") is not None:
        return f"{value} [dim](similarity {node['similarity']:.2f}, wanted {node['threshold']:.2f})[/]"
    return f"{value}, which does not fit" if node.get("reason") == "mismatch" else value


def _value(value: Any) -> str:
    return escape(short(json.dumps(value, ensure_ascii=False).replace("\\\\", "\\"), 80))
