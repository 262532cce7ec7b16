"""JSON forms of events, memories, messages and dispatches, as the contract names their fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from core.events.parsing import EXTENSIONS
from core.memory import retention
from core.screening import output
from core.types import Event, Evidence, Json, Message, Trust
from rules.document import masking

MEMORY_FIELDS = (
    "id user_id group_id session_id subject kind category topic content structured attribute value importance "
    "confidence trust status occurred_at valid_from valid_to recorded_at updated_at expires_at half_life_days "
    "last_used_at uses fade_at pinned tags audience_labels level version"
).split()


def event_json(event: Event, *, raw: bool = False) -> Json:
    """Return an event with its place in the log and in its chain; without secrets, unless it is read `raw`."""
    return {
        "seq": event.seq,
        "id": event.id,
        "event_type": event.event_type,
        "source": event.source,
        "subject": event.subject,
        "time": event.local_time,
        "payload": event.payload if raw else output.value(event.payload),
        "correlation_id": event.correlation_id,
        "causation_id": event.causation_id,
        "hop": event.hop,
        **_extensions(event, raw=raw),
    }


def _extensions(event: Event, *, raw: bool) -> Json:
    """Return trace context and partition key of an event, null where it has none; no other extension is shown."""
    sent = event.extensions or {}
    shown = {name: sent.get(name) for name in EXTENSIONS}
    masked: Json = shown if raw else output.value(shown)
    return masked


def memory_json(row: Any, evidence: Sequence[Evidence], now: datetime | None = None) -> Json:
    """Return a memory with its evidence and its strength now."""
    return {
        **{name: getattr(row, name) for name in MEMORY_FIELDS},
        "strength": strength(row, now or datetime.now(UTC)),
        "source_type": source_type(row, evidence),
        "sources": [source_json(e) for e in evidence],
    }


def source_type(row: Any, evidence: Sequence[Evidence]) -> str | None:
    """Return where a memory comes from: other memories, messages, or an event such as a request or a report.

    None: its evidence was erased.
    """
    if row.level:
        return "derived"
    if any(cited.session_id for cited in evidence):
        return "conversation"
    return "event" if evidence else None


def strength(row: Any, now: datetime) -> float:
    """Return the strength of a memory at a moment."""
    return round(retention.strength(row, now), 4)


def curve_json(row: Any) -> Json:
    """Return the curve by which a memory fades."""
    return {
        "since": retention.since(row),
        "height": row.fade_height,
        "floor": row.fade_floor,
        "half_life_days": row.fade_half_life,
    }


def source_json(evidence: Evidence, *, raw: bool = False) -> Json:
    """Return what a memory cites; without secrets, unless it is read `raw`."""
    shown = evidence if raw else output.evidence(evidence)
    # Not `asdict`, which copies what it holds in depth: a search shows dozens of these.
    return {name: getattr(shown, name) for name in Evidence.__slots__}


def message_json(message: Message, *, raw: bool = False) -> Json:
    """Return a message without its secrets, and whether it would command its reader; `raw`: as it was sent."""
    seen = output.screened_output(message.content)
    content = message.content if raw else seen.text
    return asdict(message) | {"content": content, "trust": Trust.QUARANTINED if seen.hostile else None}


def dispatch_json(row: Any) -> Json:
    """Return a dispatch without the credentials that its rule may hold."""
    names = (
        "id rule rule_version action_type target params status hold expires_at approval after lane attempt sends "
        "error wake_at result created_at started_at ended_at correlation_id hop replay_id failures edit_of edited_by "
        "fingerprint"
    ).split()
    told: Json = {name: getattr(row, name) for name in names} | {"params": masking.action(row.params)}
    masked: Json = output.value({name: told[name] for name in ("params", "error", "result")})
    return told | masked


def sent_to(params: Json) -> str | None:
    """Return where an action sends something; an address without its query, which may hold a secret."""
    found = params.get("url") or params.get("channel") or params.get("task")
    return str(found).partition("?")[0] if found else None
