"""The whole chain of an event: what each rule made of it, what was done, what came of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import text

from api.serializers import dispatch_json, event_json
from core.errors import Invalid
from core.events import log
from core.memory import memories
from core.storage.db import Database, Tx
from core.types import Event, Json
from rules.document.schema import Rule, parse
from rules.engine import dry_run
from rules.engine.ruleset import matches_type
from rules.engine.similarity import Meanings
from rules.expressions.facts import Facts
from rules.registry import store


@dataclass(frozen=True, slots=True)
class _Considered:
    """A rule that the event was decided by: what was recorded of it, and the version that decided."""

    name: str
    version: int
    decision: Any
    rule: Rule | Invalid | None


def of(db: Database, tenant_id: str, event_id: str, meanings: Meanings) -> Json:
    """Event → rules considered → dispatches → changes and memories → the events that followed."""
    with db.tenant(tenant_id) as tx:
        event = log.get(tx, event_id)
        considered, is_routed = _considered(tx, event)
        rules = [one.rule for one in considered if isinstance(one.rule, Rule)]
        lookup = dry_run.look_up(tx, event, rules)
        what_came = _what_came(tx, event)
    known = dry_run.facts(event, lookup, rules, meanings)
    silent = "no match" if is_routed else "not decided yet"
    return {"event": event_json(event), "rules": [_rule_json(one, known, silent) for one in considered], **what_came}


def _what_came(tx: Tx, event: Event) -> Json:
    dispatches = tx.execute(_DISPATCHES, {"seq": event.seq, "until": event.seq + GATHER_EVENTS, "id": event.id}).all()
    made = memories.made_by(tx, [d.id for d in dispatches])
    return {
        "dispatches": [dispatch_json(d) for d in dispatches],
        "changes": [_change_json(version) for version in made],
        "followed_by": [event_json(e) for e in log.followers(tx, event)],
    }


def _considered(tx: Tx, event: Event) -> tuple[list[_Considered], bool]:
    """Every rule for this type of event, as it was when the event was decided, and whether it has been."""
    routed_at = tx.execute(_ROUTED, {"seq": event.seq}).scalar_one()
    decided = {row.rule: row for row in tx.execute(_DECISIONS, {"seq": event.seq})}
    in_force = {row.name: row for row in tx.execute(_IN_FORCE, {"at": routed_at})}
    found = [
        _as_decided(tx, event, name, in_force.get(name), decided.get(name)) for name in sorted({*in_force, *decided})
    ]
    return [one for one in found if one.decision is not None or _is_meant(one.rule, event)], routed_at is not None


def _as_decided(tx: Tx, event: Event, name: str, row: Any, decision: Any) -> _Considered:
    """The version that decided, which is for moments not yet the newest one after an edit."""
    version = row.version if decision is None else decision.version
    if row is not None and row.version == version:
        return _Considered(name, version, decision, _parsed(row.document))
    return _Considered(name, version, decision, _parsed(store.document_of(tx, event.tenant_id, name, version)))


def _parsed(document: Json | None) -> Rule | Invalid | None:
    try:
        return None if document is None else parse(document)
    except Invalid as error:  # Saved by another version of the service; it decides on nothing here either.
        return error


def _is_meant(rule: Rule | Invalid | None, event: Event) -> bool:
    """Return whether the rule looks at events of this type; one that cannot be read might."""
    if not isinstance(rule, Rule):
        return rule is not None
    if rule.schedule is not None and event.payload.get("rule") != rule.name:
        return False
    return any(matches_type(pattern, event.event_type) for pattern in rule.event_types)


def _rule_json(one: _Considered, known: Facts, silent: str) -> Json:
    told: Json = {"rule": one.name, "version": one.version, "verdict": silent, "reason": None, "tree": None}
    if isinstance(one.rule, Rule):
        told["tree"] = dry_run.tree(one.rule, known)
    elif one.rule is not None:
        told |= {"verdict": "unreadable", "reason": one.rule.detail}
    return told if one.decision is None else told | {"verdict": one.decision.verdict, "reason": one.decision.reason}


def _change_json(version: Any) -> Json:
    return {
        "memory_id": version.memory_id,
        "version": version.version,
        "change": version.change,
        "reason": version.reason,
        "content": version.content,
        "dispatch_id": version.dispatch_id,
    }


GATHER_EVENTS = 100_000
"""How many events later a flow that gathered this one is still looked for."""

_DISPATCHES = text("""
    SELECT * FROM dispatches
    WHERE event_seq = :seq OR (event_seq > :seq AND event_seq <= :until AND jsonb_exists(params -> 'gathered', :id))
    ORDER BY id
""")
"""What the event set off itself, or as one of those that a debounce or a count had gathered."""

_ROUTED = text("SELECT routed_at FROM events WHERE seq = :seq")

_IN_FORCE = text("""
    SELECT name, version, document FROM (
        SELECT DISTINCT ON (name) name, version, document FROM rule_versions
        WHERE cast(:at AS timestamptz) IS NULL OR at <= :at ORDER BY name, version DESC) AS latest
    WHERE document IS NOT NULL
""")
"""The rules as they were at a moment; without one, as they are."""

_DECISIONS = text("SELECT * FROM decisions WHERE event_seq = :seq ORDER BY rule")
