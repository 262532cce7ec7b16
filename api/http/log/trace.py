"""The trace of an event as JSON: rules considered → dispatches → changes and memories → the events that followed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from api.http.log.answers import TracedChange
from api.ingress.answers import shown
from api.serializers import dispatch_json, event_json
from core.dispatches import queries as dispatch_queries
from core.dispatches import replays
from core.events import log
from core.memory import memories
from core.storage.db import Database, Tx
from core.types import Event, Json
from rules.engine.similarity import Meanings
from rules.registry import event_trace


def of(db: Database, tenant_id: str, event_id: str, meanings: Meanings) -> Json:
    """Return the trace of an event. NotFound: the tenant has none with this id."""
    with db.tenant(tenant_id) as tx:
        event = log.get(tx, event_id)
        consideration = event_trace.read(tx, event)
        consequences = _consequences(tx, event)
    rules = event_trace.explain(consideration, meanings)
    return {"event": event_json(event), "rules": [asdict(rule) for rule in rules], **consequences}


def _consequences(tx: Tx, event: Event) -> Json:
    """Return what followed from the event as it came, and apart from it what followed from each replay."""
    dispatches = dispatch_queries.of_event(tx, event)
    changes = memories.versions_by_dispatch(tx, [d.id for d in dispatches])
    causes = log.dispatches_of_followers(tx, event)
    traced = replays.of_event(tx, event)
    told = {replay_id: _Consequences() for replay_id in (None, *(replay.id for replay in traced))}
    of_dispatch = {d.id: told[d.replay_id] for d in dispatches}
    for dispatch in dispatches:
        of_dispatch[dispatch.id].dispatches.append(dispatch_json(dispatch))
    for version in changes:
        of_dispatch[version.dispatch_id].changes.append(shown(TracedChange, version))
    for follower in log.followers(tx, event):
        of_dispatch.get(causes[follower.seq], told[None]).followed_by.append(event_json(follower))
    return {**asdict(told[None]), "replays": [{**asdict(replay), **asdict(told[replay.id])} for replay in traced]}


@dataclass(frozen=True, slots=True)
class _Consequences:
    """Consequences of an event, in the order of their occurrence."""

    dispatches: list[Json] = field(default_factory=list)
    changes: list[Json] = field(default_factory=list)
    followed_by: list[Json] = field(default_factory=list)
