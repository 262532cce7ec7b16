"""Firings of a rule for display: when, on which events, and what the rule would do."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import text

from core.errors import Invalid
from core.events.log import COLUMNS, event_of
from core.storage.db import Tx
from core.types import Event, Json
from rules.backtest.counters import Act
from rules.document.schema import Rule
from rules.engine.ruleset import RuleVerdict, flow_key
from rules.expressions import templates
from rules.flow.schedules import utc
from rules.flow.stages import STAGES


def firings(tx: Tx, rule: Rule, acts: Sequence[Act], characters: int) -> list[Json]:
    """Return firings for display, with the rendered actions of the rule, up to `characters` in total."""
    rows = tx.execute(_EVENTS, {"seqs": sorted({act.last_seq for act in acts})}).all()
    last = {row[0]: event_of(row) for row in rows}
    actions = [action.model_dump(mode="json", exclude_none=True, by_alias=True) for action in rule.actions]
    displayed = []
    for act in acts:
        event = act.tick or last[act.last_seq]
        filled_in = [_rendered_action(action, event, characters) for action in actions]
        characters -= len(json.dumps(filled_in, ensure_ascii=False))
        sample = {"at": utc(act.at), "events": list(act.events), "key": act.key, "user_id": act.user_id}
        displayed.append({**sample, "actions": filled_in})
    return displayed


def events(tx: Tx, seqs: Sequence[int]) -> list[Json]:
    """Return the events at these positions for display, newest first; due times of a schedule are not in the log."""
    logged = [event_of(row) for row in tx.execute(_EVENTS, {"seqs": list(seqs)})]
    return [
        {"id": event.id, "event_type": event.event_type, "user_id": event.user_id, "time": utc(event.time)}
        for event in sorted(logged, key=lambda event: -event.seq)
    ]


def _rendered_action(action: Json, event: Event, limit: int) -> Json:
    """Return a rendered action; if it would be too long, its type and the reason."""
    try:
        filled_in: Json = templates.render(action, event, limit)
    except Invalid as error:
        return {"action_type": action["action_type"], "omitted": error.problems[0].detail}
    return filled_in


def key_of(verdict: RuleVerdict, event: Event) -> str:
    """Return the key of the rule's first flow, or the key a flow would use by default."""
    return next((verdict.keys[stage] for stage in STAGES if stage in verdict.keys), None) or flow_key(None, event)


_EVENTS = text(f"SELECT {COLUMNS} FROM events e WHERE seq = ANY(:seqs)")
