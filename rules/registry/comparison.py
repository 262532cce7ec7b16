"""Two rules side by side: how often both acted, and the events on which only one of them did.

It is made for a rule in shadow mode beside the live one that it may replace. A rule acts on an event if it fires, or
gathers the event to act on it later. Compared are decisions of the versions in force, from the moment since which both
are, and of each rule at most so many of the newest, so that the rows read do not grow with the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import text

from core.storage.db import Tx
from core.types import Json
from rules.registry import store
from rules.registry.store import StoredRule

DECISIONS: Final = 5_000
"""Decisions of each rule that are compared, at most: some 20 ms."""

SETTLED: Final = timedelta(seconds=2)
"""Time until all routers decide by a version that was saved; decisions before are not compared."""

ACTS: Final = frozenset({"fired", "gathered"})


@dataclass(frozen=True, slots=True)
class ComparedDecision:
    """A decision of one rule on one event."""

    seq: int
    at: datetime
    version: int
    verdict: str
    reason: str | None

    @property
    def acts(self) -> bool:
        return self.verdict in ACTS


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """An event on which one of two rules acted; the decision of a rule that did not match it is None."""

    seq: int
    at: datetime
    decision: ComparedDecision | None
    other: ComparedDecision | None


@dataclass(frozen=True, slots=True)
class Overlap:
    """Numbers of events on which both, only one, or none of two rules acted, and those that differ, newest first."""

    both: int
    only_one: int
    only_other: int
    neither: int
    differences: Sequence[RuleDifference]


def of(tx: Tx, name: str, other: str, since: datetime, until: datetime, limit: int) -> Json:
    """Compare two rules in force between two moments (`until` excluded); up to `limit` different events are listed.

    NotFound: one of them is not in force.
    """
    rules = store.get_all(tx, [name, other])
    began = [tx.execute(_BEGAN, {"name": rule.name, "version": rule.version}).scalar_one() + SETTLED for rule in rules]
    since = min(max(since, *began), until)
    pages = [_newest(tx, rule, since, until) for rule in rules]
    cut = [decisions[-1].at for decisions in pages if len(decisions) > DECISIONS]
    if cut:
        pages = [[decision for decision in decisions if decision.at > max(cut)] for decisions in pages]
        since = max(cut)
    overlapping = overlap(*(_current(rule, decisions) for rule, decisions in zip(rules, pages, strict=True)))
    return {
        "rule": _figures(rules[0], pages[0]),
        "beside": _figures(rules[1], pages[1]),
        "from": since,
        "to": until,
        "truncated": bool(cut),
        "both": overlapping.both,
        "only_rule": overlapping.only_one,
        "only_beside": overlapping.only_other,
        "neither": overlapping.neither,
        "differences": _differences_json(tx, overlapping.differences[:limit]),
    }


def overlap(decisions: Mapping[int, ComparedDecision], others: Mapping[int, ComparedDecision]) -> Overlap:
    """Compare the decisions of two rules by the position of their events."""
    counts: Counter[tuple[bool, bool]] = Counter()
    differences = []
    for seq in sorted({*decisions, *others}, reverse=True):
        mine, theirs = decisions.get(seq), others.get(seq)
        acted = mine is not None and mine.acts, theirs is not None and theirs.acts
        counts[acted] += 1
        decision = mine or theirs
        if acted[0] != acted[1] and decision is not None:
            differences.append(RuleDifference(seq, decision.at, mine, theirs))
    return Overlap(counts[True, True], counts[True, False], counts[False, True], counts[False, False], differences)


def _newest(tx: Tx, rule: StoredRule, since: datetime, until: datetime) -> list[ComparedDecision]:
    values = {"rule": rule.name, "since": since, "until": until, "limit": DECISIONS + 1}
    return [ComparedDecision(*row) for row in tx.execute(_DECISIONS, values)]


def _current(rule: StoredRule, decisions: Sequence[ComparedDecision]) -> dict[int, ComparedDecision]:
    return {decision.seq: decision for decision in decisions if decision.version == rule.version}


def _figures(rule: StoredRule, decisions: Sequence[ComparedDecision]) -> Json:
    current = _current(rule, decisions).values()
    verdicts = Counter(decision.verdict for decision in current)
    return {
        "rule": rule.name,
        "version": rule.version,
        "mode": rule.document.get("action_mode", "auto"),
        "fired": verdicts["fired"],
        "gathered": verdicts["gathered"],
        "held": dict(
            Counter(decision.reason or "unknown" for decision in current if decision.verdict == "held").most_common()
        ),
    }


def _differences_json(tx: Tx, differences: Sequence[RuleDifference]) -> list[Json]:
    rows: dict[int, Any] = {
        row.seq: row for row in tx.execute(_EVENTS, {"seqs": [difference.seq for difference in differences]})
    }
    return [
        {
            "event_id": rows[difference.seq].id,
            "event_type": rows[difference.seq].event_type,
            "user_id": rows[difference.seq].user_id,
            "at": difference.at,
            "rule": _verdict(difference.decision),
            "beside": _verdict(difference.other),
        }
        for difference in differences
        if difference.seq in rows
    ]


def _verdict(decision: ComparedDecision | None) -> Json:
    if decision is None:
        return {"verdict": "no match", "reason": None}
    return {"verdict": decision.verdict, "reason": decision.reason}


_BEGAN = text("SELECT at FROM rule_versions WHERE name = :name AND version = :version")

_DECISIONS = text("""
    SELECT event_seq, at, version, verdict, reason FROM decisions
    WHERE rule = :rule AND at >= :since AND at < :until ORDER BY at DESC LIMIT :limit
""")
"""By the index on rule and time. Decisions of one batch of events have one time."""

_EVENTS = text("SELECT seq, id, event_type, user_id FROM events WHERE seq = ANY(:seqs)")
