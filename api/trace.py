"""The whole chain of an event: what each rule made of it, what was done, what came of that."""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from api.shapes import dispatch_json, event_json
from core import events, memories
from core.db import Tx
from core.errors import Invalid
from core.types import Event, Json
from rules import store
from rules.conditions import explain
from rules.facts import Facts
from rules.ruleset import matches_type
from rules.schema import Rule, parse
from rules.store import Stored


def of(tx: Tx, event: Event) -> Json:
    """Event → rules considered → dispatches → changes and memories → the events that followed."""
    dispatches = tx.execute(_DISPATCHES, {"seq": event.seq, "until": event.seq + GATHER_EVENTS, "id": event.id}).all()
    made = memories.made_by(tx, [d.id for d in dispatches])
    return {
        "event": event_json(event),
        "rules": _rules(tx, event),
        "dispatches": [dispatch_json(d) for d in dispatches],
        "changes": [_change_json(version) for version in made],
        "followed_by": [event_json(e) for e in events.followers(tx, event)],
    }


def _rules(tx: Tx, event: Event) -> list[Json]:
    """Every rule for this type of event: its verdict as recorded, and its tree recomputed from the stored event."""
    decided = {row.rule: row for row in tx.execute(_DECISIONS, {"seq": event.seq})}
    silent = "no match" if tx.execute(_ROUTED, {"seq": event.seq}).scalar_one() else "not decided yet"
    considered = []
    for stored in store.in_force(tx):
        decision = decided.pop(stored.name, None)
        try:
            rule = parse(stored.document)
        except Invalid as error:  # Saved by another version of the service; it decides on nothing here either.
            considered.append(_unreadable(stored, error) if decision is None else _decision_json(decision))
            continue
        if decision is not None or any(matches_type(pattern, event.event_type) for pattern in rule.event_types):
            considered.append(_rule_json(tx, event, rule, stored.version, decision, silent))
    considered += [_decision_json(row) for row in decided.values()]  # Rules that are no longer in force.
    return considered


def _rule_json(tx: Tx, event: Event, rule: Rule, version: int, decision: Any, silent: str) -> Json:
    if decision is not None and decision.version != version:
        document = store.document_of(tx, event.tenant_id, rule.name, decision.version)
        rule = parse(document) if document else rule
    tree = None if rule.conditions is None else explain(rule.conditions, Facts(event))
    unmet = {"rule": rule.name, "version": version, "verdict": silent, "reason": None}
    return {**(_decision_json(decision) if decision else unmet), "tree": tree}


def _unreadable(stored: Stored, error: Invalid) -> Json:
    return {
        "rule": stored.name,
        "version": stored.version,
        "verdict": "unreadable",
        "reason": error.detail,
        "tree": None,
    }


def _decision_json(row: Any) -> Json:
    return {"rule": row.rule, "version": row.version, "verdict": row.verdict, "reason": row.reason}


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

_ROUTED = text("SELECT routed_at IS NOT NULL FROM events WHERE seq = :seq")

_DECISIONS = text("SELECT * FROM decisions WHERE event_seq = :seq ORDER BY rule")
