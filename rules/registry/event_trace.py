"""The decision of the rules on one event: each rule considered, its verdict, its conditions with their values.

In two steps, because no transaction may be open while texts are embedded: `read` queries the database, `explain`
embeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field
from sqlalchemy import text

from core.errors import Invalid
from core.events.type_patterns import matches
from core.storage.db import Tx
from core.types import Event, Json
from rules.document.schema import Rule, parse
from rules.engine import dry_run
from rules.engine.similarity import Meanings
from rules.expressions.facts import Facts, Lookup
from rules.registry import store


@dataclass(frozen=True, slots=True)
class TracedRule:
    """A rule with its verdict on the event."""

    rule: str
    version: int
    verdict: Annotated[str, Field(description="`fired`, `gathered`, `held`, `unmatched`, …")]
    reason: Annotated[str | None, Field(description="What held it back")]
    tree: Annotated[Json | None, Field(description="The conditions with their results and the actual values")]


@dataclass(frozen=True, slots=True)
class _Considered:
    """A rule that was in force for the event: the decision recorded, if any, and the version that decided."""

    name: str
    version: int
    decision: Any
    rule: Rule | Invalid | None


@dataclass(frozen=True, slots=True)
class Consideration:
    """Everything stored about the rules and an event, with the looked-up values of their conditions."""

    event: Event
    is_routed: bool
    considered: Sequence[_Considered]
    lookup: Lookup

    @property
    def readable(self) -> list[Rule]:
        return [entry.rule for entry in self.considered if isinstance(entry.rule, Rule)]


def read(tx: Tx, event: Event) -> Consideration:
    """Read every rule for this type of event as the router knew it that decided, and the decisions recorded."""
    routed_at, rules_as_of = tx.execute(_ROUTED, {"seq": event.seq}).one()
    decided = {row.rule: row for row in tx.execute(_DECISIONS, {"seq": event.seq})}
    in_force = {row.name: row for row in tx.execute(_IN_FORCE, {"at": rules_as_of})}
    rules = [
        _as_decided(tx, event, name, in_force.get(name), decided.get(name)) for name in sorted({*in_force, *decided})
    ]
    considered = [entry for entry in rules if entry.decision is not None or _may_apply(entry.rule, event)]
    lookup = dry_run.look_up(tx, event, [entry.rule for entry in considered if isinstance(entry.rule, Rule)])
    return Consideration(event, routed_at is not None, considered, lookup)


def explain(consideration: Consideration, meanings: Meanings) -> list[TracedRule]:
    """Return the verdict of each rule considered, by name. Embeds the texts that the conditions compare."""
    facts = dry_run.facts(consideration.event, consideration.lookup, consideration.readable, meanings)
    undecided = "no match" if consideration.is_routed else "not decided yet"
    return [_trace(entry, facts, undecided) for entry in consideration.considered]


def _trace(entry: _Considered, facts: Facts, undecided: str) -> TracedRule:
    verdict, reason, tree = undecided, None, None
    if isinstance(entry.rule, Rule):
        tree = dry_run.tree(entry.rule, facts)
    elif entry.rule is not None:
        verdict, reason = "unreadable", entry.rule.detail
    if entry.decision is not None:
        verdict, reason = entry.decision.verdict, entry.decision.reason
    return TracedRule(entry.name, entry.version, verdict, reason, tree)


def _as_decided(tx: Tx, event: Event, name: str, row: Any, decision: Any) -> _Considered:
    """Return the version that decided: the one recorded, else the one that the router knew."""
    version = row.version if decision is None else decision.version
    if row is not None and row.version == version:
        return _Considered(name, version, decision, _parse(row.document))
    return _Considered(name, version, decision, _parse(store.document_of(tx, event.tenant_id, name, version)))


def _parse(document: Json | None) -> Rule | Invalid | None:
    try:
        return None if document is None else parse(document)
    except Invalid as error:  # Saved by another version of the service; it decides on nothing here either.
        return error


def _may_apply(rule: Rule | Invalid | None, event: Event) -> bool:
    """Return whether the rule looks at events of this type; one that cannot be read might."""
    if not isinstance(rule, Rule):
        return rule is not None
    if rule.schedule is not None and event.payload.get("rule") != rule.name:
        return False
    return any(matches(pattern, event.event_type) for pattern in rule.event_types)


_ROUTED = text("SELECT routed_at, coalesce(rules_as_of, routed_at) FROM events WHERE seq = :seq")
"""A router looks for edits once a second, and decides by what it read then."""

_IN_FORCE = text("""
    SELECT name, version, document FROM (
        SELECT DISTINCT ON (name) name, version, document FROM rule_versions
        WHERE cast(:at AS timestamptz) IS NULL OR at <= :at ORDER BY name, version DESC) AS latest
    WHERE document IS NOT NULL
""")
"""The rules as they were at a moment; by default the current ones."""

_DECISIONS = text("SELECT * FROM decisions WHERE event_seq = :seq ORDER BY rule")
