"""`imprint rules defaults`: the rules that a new tenant has."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli import tables
from api.cli.client import AsJson, finish_if_json
from api.cli.commands.rules import rule_lines
from api.terminal import escape, out
from core.errors import NotFound
from rules.registry import defaults


def list_defaults(
    name: Annotated[str | None, typer.Argument(help="One rule, with its description.")] = None, as_json: AsJson = False
) -> None:
    """Show the rules that a new tenant has, or describe one; what is in force here says `imprint rules list`.

    Example: imprint rules defaults forget_nightly
    """
    documents = sorted(defaults.load(), key=lambda rule: str(rule["name"]))
    rules = [rule for rule in documents if name in {None, rule["name"]}]
    if not rules:
        raise NotFound(f"There is no default rule {name!r}; `imprint rules defaults` lists them.")
    finish_if_json(as_json, {"items": rules, "next": None})
    if name is None:
        tables.rows(rule_lines.PURPOSES, map(rule_lines.of_default, rules))
    else:
        out.print(f"[bold]{escape(name)}[/] {escape(rule_lines.when_and_what(rules[0]))}", highlight=False)
        out.print(escape(rule_lines.description(rules[0])), highlight=False)
