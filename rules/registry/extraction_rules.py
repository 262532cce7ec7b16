"""Rules that would have a conversation read: those that run an extractor on its last message, or at its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from core.agents import EXTRACTORS
from core.storage.db import Tx
from core.types import Event, Json
from rules.document import schema
from rules.document.schema import Rule
from rules.engine import dry_run
from rules.engine.ruleset import Ruleset
from rules.engine.similarity import Meanings
from rules.expressions.facts import Lookup
from rules.flow.stages import STAGES
from rules.registry import store

SPOKEN: Final = "message.added"
ENDED: Final = "session.ended"


@dataclass(frozen=True, slots=True)
class ReadingRule:
    """A rule that runs an extractor, on an event of the conversation.

    `matched`: it meets the event; `held_by`: what would hold it back; `waits_for`: the stages of flow control that it
    passes first, such as a debounce.
    """

    rule: str
    version: int
    agent: str
    event_type: str
    matched: bool
    held_by: str | None
    waits_for: Sequence[str]


@dataclass(frozen=True, slots=True)
class UnsentTalk:
    """Rules that run extractors, and the last events of a conversation that nobody has sent, with lookups for both."""

    rules: Sequence[tuple[Rule, int]]
    events: Sequence[tuple[Event, Lookup]]


def read(tx: Tx, tenant_id: str, message: Json, count: int, now: datetime) -> UnsentTalk:
    """Read the rules in force for a conversation whose last message has this payload, out of `count`."""
    stored = [(schema.parse(rule_row.document), rule_row.version) for rule_row in store.in_force(tx)]
    rules = [(rule, version) for rule, version in stored if _agent(rule)]
    end = {name: message[name] for name in ("session_id", "user_id")} | {"message_count": count}
    events = [_event(tenant_id, SPOKEN, message, now), _event(tenant_id, ENDED, end, now)]
    return UnsentTalk(rules, [(event, dry_run.look_up(tx, event, [rule for rule, _ in rules])) for event in events])


def explain(conversation: UnsentTalk, meanings: Meanings) -> list[ReadingRule]:
    """Return what each rule makes of the event that it is for. No transaction is open: texts may be embedded."""
    return [
        reading for event, lookup in conversation.events for reading in _on(conversation.rules, event, lookup, meanings)
    ]


def _on(rules: Sequence[tuple[Rule, int]], event: Event, lookup: Lookup, meanings: Meanings) -> Iterator[ReadingRule]:
    dry_run.facts(event, lookup, [rule for rule, _ in rules], meanings)  # Embeds the texts that conditions compare.
    decided = Ruleset(rules).decide(event, lookup, similarity=meanings.similarity)
    verdicts = {verdict.name: verdict for verdict in decided}
    for rule, version in rules:
        met = verdicts.get(rule.name)
        if met is not None or event.event_type in rule.event_types:
            waits = [stage for stage in STAGES if getattr(rule.flow, stage)]
            held_by = met.held_by if met else None
            yield ReadingRule(rule.name, version, _agent(rule), event.event_type, met is not None, held_by, waits)


def _agent(rule: Rule) -> str:
    """Return the extractor that a rule runs; empty: none."""
    targets = (getattr(action, "target", "") for action in rule.actions)
    return next((target for target in targets if target in EXTRACTORS), "")


def _event(tenant_id: str, event_type: str, payload: Json, now: datetime) -> Event:
    return Event(
        seq=0,
        tenant_id=tenant_id,
        id="preview",
        source="preview",
        event_type=event_type,
        subject=None,
        time=now,
        payload=payload,
        session_id=payload["session_id"],
        user_id=payload["user_id"],
    )
