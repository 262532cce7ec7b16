"""What this version does not carry out yet is refused when a rule is saved, and not silently ignored when it fires."""

from __future__ import annotations

from collections.abc import Iterator

from core.errors import Problem
from core.types import Json
from rules.schema import Rule

UNBUILT_FLOWS = ("cooldown", "throttle", "concurrency")
UNBUILT_ACTIONS = ("webhook", "celery")


def refusals(rule: Rule, document: Json) -> Iterator[Problem]:
    """The parts of a well-formed rule that cannot be put in force, each with what to use instead."""
    flows = rule.flow.parts()
    for name in UNBUILT_FLOWS:
        if name in flows:
            yield Problem(f"/flow/{name}", "is not carried out by this version; use `debounce`, `count` or `sample`")
    if {"debounce", "count"} <= set(flows):
        yield Problem("/flow", "`debounce` and `count` together are not carried out by this version; use one of them")
    if rule.schedule is not None:
        yield Problem("/schedule", "schedules are not carried out by this version; react to an `event_type`")
    if rule.action_mode == "approve":
        yield Problem("/action_mode", "approvals are not carried out by this version; use `auto` or `shadow`")
    if rule.risk_level == "high" and rule.action_mode == "auto":
        yield Problem("/risk_level", "a rule of high risk never runs as `auto`; use `shadow`")
    for place, action in enumerate(rule.actions):
        if action.action_type in UNBUILT_ACTIONS:
            detail = f"`{action.action_type}` is not carried out by this version; use `run_agent`, `emit` or `notify`"
            yield Problem(f"/actions/{place}/action_type", detail)
    yield from _unread(document.get("conditions"), "/conditions")


def _unread(node: object, pointer: str) -> Iterator[Problem]:
    if isinstance(node, list):
        for place, child in enumerate(node):
            yield from _unread(child, f"{pointer}/{place}")
    elif isinstance(node, dict):
        if node.get("op") == "means":
            yield Problem(
                f"{pointer}/op", "`means` is not carried out by this version; use `matches` or `contains_any`"
            )
        if node.get("field") == "budget.cost_today":
            yield Problem(f"{pointer}/field", "costs are not counted by this version; use `budget.tokens_today`")
        for name, child in node.items():
            yield from _unread(child, f"{pointer}/{name}")
