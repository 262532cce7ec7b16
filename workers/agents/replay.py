"""Agent that replays events: the chosen rules decide stored events again, a page at a time.

Decisions, dispatches, flow control and the place that was reached are written in one transaction, with the end of the
dispatch. So a page is decided once, whatever is killed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, get_args

from sqlalchemy import text

from core import metrics
from core.dispatches import replays
from core.errors import Conflict, Invalid, Never
from core.events import log as event_log
from core.events import publishing
from core.events.log import Emission
from core.events.pending import Reported
from core.events.publishing import Author
from core.storage.db import Tx, recordset
from core.tenancy import tenants
from core.types import Event, Json
from rules.backtest import redecision, selection
from rules.backtest.log_window import Numbered
from rules.backtest.redecision import Decided, Firing, HeldLater, Redecision, Step
from rules.backtest.selection import EventSelector
from rules.document.schema import parse
from rules.document.targets import TARGETS
from rules.engine.ruleset import flow_key
from rules.engine.similarity import Meanings
from rules.registry import store
from workers.dispatch.admission import Wait
from workers.dispatch.model import Job, NewDispatch, Outcome, PostponedPart
from workers.routing import action_dispatches
from workers.routing.action_dispatches import ActionLimits, FiredRule
from workers.tools import Tools, id_of

PAGE: Final = 200
"""Events decided in one transaction."""

MOST_OPEN: Final = 400
"""Unfinished dispatches of a replay from which it waits: what happens meanwhile in the tenant queues behind them."""

PAUSE: Final = timedelta(seconds=1)

for _mode in get_args(replays.Mode):
    metrics.REPLAYED.labels(_mode)  # From zero on: a rate needs a value before the first replay.


def replay_events(tools: Tools, job: Job) -> Outcome:
    """Decide the next page of the replay that the event requests; another dispatch continues."""
    if tools.actions is None:
        raise Never(f"{job.target} needs the limits of actions, which this process has not been given.")
    replay = _open_replay(tools, job)
    if replay is None:
        return Outcome(Reported({"replay": "ended"}))
    with tools.db.tenant(job.tenant_id) as tx:
        waits = tx.execute(_OPEN_DISPATCHES, {"id": replay.id, "most": MOST_OPEN}).scalar_one()
    if waits >= MOST_OPEN:
        reason = f"{waits} dispatches of this replay are still to be carried out."
        wait = Wait(reason, datetime.now(UTC) + PAUSE)
        return Outcome(Reported({"waits": waits}), postponed=[PostponedPart(job.params, wait)])
    page = _decide_page(tools, tools.actions, job, replay)
    then = () if page.is_last else ((job.target, job.params),)
    return Outcome(page, then=then, count=page.count, decided=[made for made, _ in page.dispatches])


@dataclass(slots=True)
class _Tally:
    """Figures of a rule in a replay so far."""

    matched: int = 0
    fired: int = 0
    gathered: int = 0
    dispatches: int = 0
    held: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> Json:
        numbers = {name: getattr(self, name) for name in ("matched", "fired", "gathered", "dispatches")}
        return numbers | {"held": dict(self.held)}


@dataclass(slots=True)
class _Page:
    """A decided page of a replay, not written yet."""

    job: Job
    replay: Any
    cursor: int
    decided: int
    is_last: bool
    flow: Json
    counts: dict[str, _Tally]
    decisions: list[Decided] = field(default_factory=list)
    held_later: list[HeldLater] = field(default_factory=list)
    dispatches: list[tuple[NewDispatch, Event]] = field(default_factory=list)

    def write(self, tx: Tx, author: Author) -> Json:
        """Write the page. Conflict: another attempt has written it, or the replay was cancelled."""
        counts = {rule: tally.as_json() for rule, tally in self.counts.items()}
        values = {
            "id": self.replay.id,
            "before": self.replay.cursor,
            "cursor": self.cursor,
            "decided": self.decided,
            "counts": json.dumps(counts),
            "flow": None if self.is_last else json.dumps(self.flow),
            "ends": self.is_last,
        }
        if tx.execute(_ADVANCE, values).rowcount != 1:
            raise Conflict("The replay was cancelled, or this page of it was decided, in the meantime.")
        self._record(tx)
        action_dispatches.ask_for_approval(tx, self.dispatches)
        if self.is_last:
            self._announce_end(tx, author)
        return {"events": self.decided, "dispatches": len(self.dispatches)}

    def count(self, _result: Json) -> None:
        """Update the metric, after the commit."""
        metrics.REPLAYED.labels(self.replay.mode).inc(self.decided)

    def _record(self, tx: Tx) -> None:
        if self.decisions:
            names = ("seq", "rule", "version", "verdict", "reason")
            rows = [dict(zip(names, decision, strict=True)) for decision in self.decisions]
            tx.execute(_RECORD, {"tenant": self.job.tenant_id, "id": self.replay.id, "rows": recordset(rows)})
        later = [{"seq": seq, "rule": held.rule, "reason": held.stage} for held in self.held_later for seq in held.seqs]
        if later:
            tx.execute(_HELD_LATER, {"id": self.replay.id, "rows": recordset(later)})

    def _announce_end(self, tx: Tx, author: Author) -> None:
        payload = {
            "replay_id": str(self.replay.id),
            "mode": self.replay.mode,
            "events": self.replay.decided + self.decided,
            "fired": sum(tally.fired for tally in self.counts.values()),
            "dispatches": sum(tally.dispatches for tally in self.counts.values()),
        }
        publishing.publish(tx, self.job.tenant_id, author, [Emission("replay.completed", payload)])


def _open_replay(tools: Tools, job: Job) -> Any:
    """Return the replay that the event requests; None: it has ended or was cancelled."""
    with tools.db.tenant(job.tenant_id) as tx:
        return tx.execute(_OPEN, {"id": id_of(job, "replay_id")}).one_or_none()


def _decide_page(tools: Tools, limits: ActionLimits, job: Job, replay: Any) -> _Page:
    """Decide the next events, and make the dispatches of the rules that act on them."""
    criteria = EventSelector.restored(replay.params["filter"])
    with tools.db.tenant(job.tenant_id) as tx:
        rules = _rules(tx, job, replay.params["rules"])
        high_risk = tenants.allows_high_risk(tx, job.tenant_id)
        events = selection.page(tx, criteria, after=replay.cursor, upto=replay.upto, limit=PAGE)
    decider = Redecision.of(rules, tools.settings.max_hops, replay.flow)
    verdicts = redecision.decide(tools.db, job.tenant_id, decider.ruleset, events, Meanings(tools.embedder))
    is_last = len(events) < PAGE
    counts = {rule: _Tally(**{**done, "held": Counter(done["held"])}) for rule, done in replay.counts.items()}
    cursor = events[-1].seq if events else replay.upto
    page = _Page(job, replay, cursor, len(events), is_last, {}, counts)
    acts = _Acts(limits, job, replay, high_risk, {event.seq: event for event in events})
    firings = list[Firing]()
    for event in events:
        met = verdicts[event.seq]
        if isinstance(met, Exception):
            letter = replace(action_dispatches.dead_letter(event, met), replay_id=replay.id)
            page.dispatches.append((letter, event))
        else:
            firings += _note(page, decider.step(event, met))
    if is_last:
        firings += _note(page, decider.close())
    page.flow = decider.flow.saved()
    acts.read(tools, firings)
    for firing in firings:
        made = acts.of(firing)
        page.counts[firing.rule.name].dispatches += len(made)
        page.dispatches += made
    return page


def _note(page: _Page, steps: Iterable[Step]) -> list[Firing]:
    """Add decisions to the page and to the counts of their rules; return the firings."""
    firings = list[Firing]()
    for step in steps:
        match step:
            case Firing():
                page.counts[step.rule.name].fired += 1
                page.counts[step.rule.name].gathered -= step.waited
                firings.append(step)
            case HeldLater():
                page.counts[step.rule].held[step.stage] += len(step.seqs)
                page.counts[step.rule].gathered -= len(step.seqs)
                page.held_later.append(step)
            case Decided():
                tally = page.counts.setdefault(step.rule, _Tally())
                tally.matched += 1
                tally.gathered += step.verdict == "gathered"
                if step.verdict == "held":
                    tally.held[step.reason or ""] += 1
                page.decisions.append(step)
    return firings


@dataclass(slots=True)
class _Acts:
    """Makes the dispatches of firings; `events`: those known, by position."""

    limits: ActionLimits
    job: Job
    replay: Any
    high_risk: bool
    events: dict[int, Event]

    def read(self, tools: Tools, firings: Sequence[Firing]) -> None:
        """Read events of earlier pages that the firings have gathered; only the last of each with its payload."""
        missing = {seq for firing in firings for seq in firing.seqs} - self.events.keys()
        if missing:
            whole = {firing.seqs[-1] for firing in firings}
            with tools.db.tenant(self.job.tenant_id) as tx:
                events = event_log.gathered(tx, {(self.job.tenant_id, seq): seq in whole for seq in missing})
            self.events.update((seq, event) for (_, seq), event in events.items())

    def of(self, firing: Firing) -> list[tuple[NewDispatch, Event]]:
        """Return a dispatch for each action with its event, or a dead letter if an action cannot be made.

        Empty if all that it had gathered was erased from the log meanwhile.
        """
        gathered = [self.events[seq] for seq in firing.seqs if seq in self.events]
        if not gathered:
            return []
        occasion = self._occasion(firing, gathered)
        try:
            made = action_dispatches.dispatches(self.limits, occasion, datetime.now(UTC))
        except Exception as error:  # noqa: BLE001 - one rule must not stop the others
            made = [action_dispatches.dead_letter(occasion.event, error, occasion)]
        return [(dispatch, occasion.event) for dispatch in made]

    def _occasion(self, firing: Firing, gathered: Sequence[Event]) -> FiredRule:
        rule, concurrency = firing.rule, firing.rule.flow.concurrency
        is_shadow = self.replay.mode == "shadow"
        occasion = action_dispatches.gathered_rule(
            rule,
            firing.version,
            "shadow" if is_shadow else action_dispatches.mode_of(rule, allows_high_risk=self.high_risk),
            gathered,
            root_seq=self.job.event.root_seq,
            lane_key=flow_key(concurrency.key, gathered[-1]) if concurrency else None,
        )
        event = replace(occasion.event, correlation_id=self.job.event.correlation_id)
        return replace(occasion, event=event, replay_id=self.replay.id)


def _rules(tx: Tx, job: Job, chosen: Sequence[tuple[str, int]]) -> list[Numbered]:
    """Return the rules in the versions that the request has fixed; one that was switched off since holds all back."""
    in_force = {stored.name: stored for stored in store.in_force(tx)}
    rules = list[Numbered]()
    for name, version in chosen:
        current = in_force.get(name)
        is_current = current is not None and current.version == version
        document = current.document if current and is_current else store.document_of(tx, job.tenant_id, name, version)
        try:
            rule = parse(document or {}, TARGETS)
        except Invalid as error:
            raise Never(f"Version {version} of the rule `{name}` cannot be read: {error}") from error
        is_off = current is None or not current.document.get("enabled", True)
        rules.append((rule.model_copy(update={"enabled": False}) if is_off else rule, version))
    return rules


_OPEN = text("SELECT * FROM replays WHERE id = :id AND status = 'running'")

_OPEN_DISPATCHES = text("""
    SELECT count(*) FROM (
        SELECT FROM dispatches WHERE replay_id = :id AND status IN ('pending', 'running', 'retrying') LIMIT :most
    ) AS open
""")

_ADVANCE = text("""
    UPDATE replays SET cursor = :cursor, decided = decided + :decided, counts = cast(:counts AS jsonb),
                       flow = cast(:flow AS jsonb), status = CASE WHEN :ends THEN 'done' ELSE status END,
                       ended_at = CASE WHEN :ends THEN clock_timestamp() END
    WHERE id = :id AND status = 'running' AND cursor = :before
""")
"""Only one of several attempts at a page finds the cursor where it was."""

_RECORD = text("""
    INSERT INTO replay_decisions (tenant_id, replay_id, event_seq, rule, version, verdict, reason)
    SELECT :tenant, :id, seq, rule, version, verdict, reason FROM json_to_recordset(cast(:rows AS json)) AS r (
        seq bigint, rule text, version int, verdict text, reason text)
""")
"""Without ON CONFLICT: a decision made twice must undo its page, and not pass."""

_HELD_LATER = text("""
    UPDATE replay_decisions d SET verdict = 'held', reason = r.reason
    FROM json_to_recordset(cast(:rows AS json)) AS r (seq bigint, rule text, reason text)
    WHERE d.replay_id = :id AND d.event_seq = r.seq AND d.rule = r.rule
""")
