"""A tenant's rules as a folder of JSON files, and importing such a folder, all or nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlalchemy import text

from core.errors import Conflict, Invalid, Problem
from core.storage.db import Tx
from core.types import Json
from rules.document import formatting, masking
from rules.document.schema import Rule
from rules.problems import escape_step
from rules.registry import store
from rules.registry.limits import Allowed
from rules.registry.store import RuleEdit, StoredRule

Does = Literal["create", "change", "keep", "delete"]


@dataclass(frozen=True, slots=True)
class ImportStep:
    """Effect of an import on one rule: from which version (0: none) to which document (None: deleted).

    `rule`: the parsed document.
    """

    name: str
    does: Does
    version: int
    before: Json | None
    after: Json | None
    rule: Rule | None = None

    @property
    def diff(self) -> str:
        """Return the unified diff of the canonical texts."""
        return formatting.diff(self.before, self.after, f"{self.name} v{self.version}", self.name)


def export(rules: Iterable[StoredRule]) -> dict[str, str]:
    """Return the canonical text of each rule by file name; credentials of older rules are masked."""
    return {f"{stored.name}.json": formatting.canonical_text(masking.document(stored.document)) for stored in rules}


def plan(tx: Tx, files: Mapping[str, str], allowed: Allowed, *, prune: bool = False) -> list[ImportStep]:
    """Plan the import of these files, by rule name; a file contains a rule or a list of rules.

    With `prune`, rules that no file contains are deleted. Invalid names every fault with its file; Conflict: there
    would be more rules than a tenant may have.
    """
    documents, problems = _read(files, allowed)
    problems += _twice(documents)
    if problems:
        raise Invalid(problems)
    there = {stored.name: stored for stored in store.in_force(tx)}
    steps = [_step(document, rule, there.pop(rule.name, None)) for _, document, rule in documents]
    if prune:
        steps += [ImportStep(s.name, "delete", s.version, s.document, None) for s in there.values()]
    _require_room(len(documents) + (0 if prune else len(there)), steps, allowed)
    return sorted(steps, key=lambda step: step.name)


def apply(tx: Tx, steps: Sequence[ImportStep], edit: RuleEdit, allowed: Allowed) -> list[StoredRule]:
    """Apply a plan in the transaction in which it was made; return the rules it has put in force.

    Conflict: somebody has edited one of them in the meantime.
    """
    tx.execute(_LOCK, {"names": [step.name for step in steps]})
    applied = []
    for step in sorted(steps, key=lambda step: step.does != "delete"):  # First, for they make room for others.
        author, comment, version = edit.author, edit.comment, step.version
        if step.after is None:
            store.delete(tx, edit.tenant_id, step.name, author=author, comment=comment, if_version=version)
        elif step.does != "keep":
            saved = store.save(
                tx, edit.tenant_id, step.after, author=author, comment=comment, if_version=version, allowed=allowed
            )
            applied.append(saved)
    return applied


def require_as_shown(steps: Sequence[ImportStep], expected: Mapping[str, int]) -> None:
    """Refuse a plan whose rules or versions differ from those shown; 0 is a rule that did not exist."""
    moved = [step for step in steps if expected.get(step.name, 0) != step.version]
    if moved:
        differences = ", ".join(f"{s.name} (version {s.version}, not {expected.get(s.name, 0)})" for s in moved[:5])
        raise Conflict(f"The rules in force have changed since the plan was shown: {differences}. Make the plan again.")


def _read(files: Mapping[str, str], allowed: Allowed) -> tuple[list[tuple[str, Json, Rule]], list[Problem]]:
    documents, problems = list[tuple[str, Json, Rule]](), list[Problem]()
    for name, written in sorted(files.items()):
        for origin, document in _documents(f"/files/{escape_step(name)}", written, problems):
            try:
                documents.append((origin, document, store.check(document, allowed)))
            except Invalid as error:
                problems += [replace(problem, pointer=origin + problem.pointer) for problem in error.problems]
    return documents, problems


def _documents(origin: str, written: str, problems: list[Problem]) -> Iterator[tuple[str, Any]]:
    try:
        parsed = json.loads(written)
    except ValueError as error:
        problems.append(Problem(origin, f"not JSON: {error}"))
    except RecursionError:
        problems.append(Problem(origin, "nested too deeply for a rule"))
    else:
        many = parsed if isinstance(parsed, list) else None
        yield from [(origin, parsed)] if many is None else ((f"{origin}/{n}", item) for n, item in enumerate(many))


def _twice(documents: Sequence[tuple[str, Json, Rule]]) -> list[Problem]:
    counted = Counter(rule.name for _, _, rule in documents)
    return [
        Problem(f"{origin}/name", f"the rule `{rule.name}` is in more than one place; keep one of them")
        for origin, _, rule in documents
        if counted[rule.name] > 1
    ]


def _step(document: Json, rule: Rule, stored: StoredRule | None) -> ImportStep:
    if stored is None:
        return ImportStep(rule.name, "create", 0, None, document, rule)
    does: Does = "keep" if formatting.same(stored.document, document) else "change"
    return ImportStep(rule.name, does, stored.version, stored.document, document, rule)


def _require_room(count: int, steps: Sequence[ImportStep], allowed: Allowed) -> None:
    if count > allowed.rules and any(step.does == "create" for step in steps):
        raise Conflict(
            f"There would be {count} rules in force, and {allowed.rules} are allowed. Leave some out, or raise "
            f"IMPRINT_RULES_PER_TENANT."
        )


_LOCK = text("SELECT FROM rules WHERE name = ANY (cast(:names AS text[])) ORDER BY name FOR UPDATE")
"""Locked in one order, so that two concurrent imports cannot deadlock."""
