"""Warnings about rules being saved, given the rules in force and the payloads of recent events."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import Problem
from core.storage.db import Tx
from rules.document.schema import Rule
from rules.registry import lint, payload_fields, store
from rules.registry.folder import ImportStep
from rules.registry.lint import Neighbours


def of_rule(tx: Tx, rule: Rule) -> list[Problem]:
    """Return the warnings about one rule."""
    seen = payload_fields.payloads_of(tx, lint.patterns_of(rule))
    return lint.of(rule, Neighbours([other for other, _ in store.readable(tx)]), seen)


def of_plan(tx: Tx, steps: Sequence[ImportStep]) -> dict[str, list[Problem]]:
    """Return the warnings about each rule that a plan creates or changes, given everything then in force."""
    touched = {step.name for step in steps}
    changed = [step.rule for step in steps if step.rule is not None]
    kept = [rule for rule, _ in store.readable(tx) if rule.name not in touched]
    seen = payload_fields.payloads_of(tx, {pattern for rule in changed for pattern in lint.patterns_of(rule)})
    neighbours = Neighbours([*kept, *changed])
    return {rule.name: lint.of(rule, neighbours, seen) for rule in changed}
