"""Endings and corrections by a later message, through the real pipeline: PostgreSQL, the rules, no model.

    python -m bench.endings [--file PAIRS.jsonl] [--corrections CHAINS.jsonl] [--show]

Pairs (`kind`, `earlier`, `later`, `ends`): two sessions of one user, a month apart. A pair is ended if, after the
second session, no memory of the first one is in force or a memory of it is not. Reported by kind: endings that are
right, endings that are wrong, and pairs of which nothing was learnt in the first session.

Chains (`messages`, `stale`, `current`): one session, a message a minute, the user's or an object with `role` and
`content`. A chain is stale if an active memory states a value of `stale` as current, and lacking if no active memory
holds a value of `current`, where a list stands for any of its values. A chain without `stale` only looks like a
correction.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from bench import arguments
from bench.stand import database
from core.config import Settings
from core.consolidation import dedup_sweep, pipeline
from core.consolidation.pipeline import Consolidation
from core.events import parsing
from core.events.publishing import Author
from core.extraction import configured_extractor
from core.extraction import session as extraction
from core.extraction.session import SessionReader
from core.inference.client import Call
from core.inference.configured_embedder import embedder
from core.sessions import ingest
from core.storage import db
from core.storage.db import Database
from core.tenancy import tenants

TENANT: Final = "bench"
AUTHOR: Final = Author("key:bench")
START: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
APART: Final = timedelta(days=30)
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Player:
    """Publishes sessions, and extracts and deduplicates them as the default rules do."""

    db: Database
    consolidation: Consolidation
    reader: SessionReader

    def play(self, user: str, session: str, messages: Sequence[str | Json], at: datetime) -> None:
        events = [_message(user, session, content, at + timedelta(minutes=n)) for n, content in enumerate(messages)]
        ingest.accept(self.db, TENANT, parsing.check(events))
        more = True
        while more:
            extracted = extraction.extract_new(self.consolidation, TENANT, session, self.reader, limit=500, link=True)
            with self.db.tenant(TENANT) as tx:
                extracted.write(tx, AUTHOR)
            more = extracted.more
        swept = dedup_sweep.sweep(self.db, TENANT, user, self.consolidation.thresholds)
        with self.db.tenant(TENANT) as tx:
            swept.write(tx, AUTHOR)

    def memories(self, user: str) -> dict[UUID, Json]:
        with self.db.tenant(TENANT) as tx:
            rows = tx.execute(_MEMORIES, {"user": user}).mappings().all()
        return {row["id"]: dict(row) for row in rows}


def player(settings: Settings) -> Player:
    app = db.connect(db.app_url(settings), 2)
    with app.tenant(TENANT) as tx:
        tenants.ensure(tx, TENANT)
    consolidation = pipeline.from_settings(app, embedder(Settings()), settings)
    return Player(app, consolidation, SessionReader(configured_extractor.by_rules(settings), _no_model))


def _no_model(call: Call) -> None:
    raise AssertionError(call)


def _message(user: str, session: str, content: str | Json, at: datetime) -> Json:
    turn = {"role": "user", "content": content} if isinstance(content, str) else content
    payload = {"session_id": session, "user_id": user, **turn}
    return {"event_type": "message.added", "source": "bench", "time": at.isoformat(), "payload": payload}


def play_pairs(play: Player, pairs: Sequence[Json]) -> Iterator[tuple[Json, str, dict[UUID, Json], dict[UUID, Json]]]:
    """Yield each pair with its outcome and the memories after either session."""
    for n, pair in enumerate(pairs):
        user = f"u{n}x"
        play.play(user, f"{user}-1", [pair["earlier"]], START)
        before = play.memories(user)
        play.play(user, f"{user}-2", [pair["later"]], START + APART)
        after = play.memories(user)
        yield pair, outcome(pair, before, after), before, after


def outcome(pair: Json, before: dict[UUID, Json], after: dict[UUID, Json]) -> str:
    """Return "right" or "wrong" for an ending, "left" for none, "unlearnt" if there was nothing to end."""
    active = [key for key, row in before.items() if row["status"] == "active"]
    if not active:
        return "unlearnt"
    if all(after[key]["status"] == "active" and not after[key]["replaced"] for key in active):
        return "left"
    return "right" if pair["ends"] else "wrong"


def faults(chain: Json, rows: Sequence[Json]) -> list[str]:
    """Return the stale values that active memories state as current, and the current values that none holds."""
    active = [row for row in rows if row["status"] == "active"]
    stale = [value for value in chain["stale"] if any(states(row, value) for row in active)]
    held = [" ".join([row["content"], row["value"] or ""]) for row in active]
    lacking = [value for value in chain["current"] if not any(_holds(content, value) for content in held)]
    return [*(f"stale {value}" for value in stale), *(f"lacking {value}" for value in lacking)]


def _holds(content: str, value: str | list[str]) -> bool:
    """Return whether a text holds a value, or one of several."""
    values = [value] if isinstance(value, str) else value
    return any(_value(alternative).search(content) for alternative in values)


def states(row: Json, value: str) -> bool:
    """Return whether a memory states a value as current: not after "not", and not as what was."""
    if row["value"] and _value(value).search(row["value"]):
        return True
    clauses = _CLAUSE.split(row["content"])
    return any(
        not _DENIES.search(clause[: match.start()]) and not _BYGONE.match(clause[match.end() :])
        for clause in clauses
        for match in _value(value).finditer(clause)
    )


def _value(value: str) -> re.Pattern[str]:
    """Return a pattern of a value: whole words, and "16th" is "16"."""
    bare = re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", value)
    suffix = r"(?:st|nd|rd|th)?" if bare[-1:].isdigit() else ""
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(bare)}{suffix}(?![A-Za-z0-9])", re.IGNORECASE)


def report_pairs(play: Player, pairs: Sequence[Json], *, show: bool) -> None:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair, result, before, after in play_pairs(play, pairs):
        counts[pair["kind"]][result] += 1
        counts["all"][result] += 1
        if show and (result == "wrong" or (result == "left" and pair["ends"])):
            print(f"{result}: {pair['earlier']} | {pair['later']}")
            for key, row in after.items():
                mark = "old" if key in before else "new"
                print(f"    {mark} {row['status']}: {row['content']} {row['reasons']}")
    print(
        "| kind | pairs | ended rightly | ended wrongly | left | nothing learnt |\n"
        "| --- | --- | --- | --- | --- | --- |"
    )
    for kind, tally in counts.items():
        cells = (sum(tally.values()), tally["right"], tally["wrong"], tally["left"], tally["unlearnt"])
        print(f"| {kind} | {' | '.join(map(str, cells))} |")


def report_chains(play: Player, chains: Sequence[Json], *, show: bool) -> None:
    counts: Counter[str] = Counter()
    for n, chain in enumerate(chains):
        user = f"c{n}x"
        play.play(user, f"{user}-1", chain["messages"], START)
        rows = list(play.memories(user).values())
        wrong = faults(chain, rows)
        sort = "corrections" if chain["stale"] else "controls"
        counts[sort] += 1
        counts[f"{sort} right"] += not wrong
        counts[f"{sort} stale"] += any(mistake.startswith("stale") for mistake in wrong)
        counts[f"{sort} lacking"] += any(mistake.startswith("lacking") for mistake in wrong)
        if show and wrong:
            print(f"{', '.join(wrong)}: {chain['messages']}")
            for row in rows:
                print(f"    {row['status']}: {row['content']} [{row['attribute']}={row['value']}]")
    print("| chains | number | right | stale | lacking |\n| --- | --- | --- | --- | --- |")
    for sort in ("corrections", "controls"):
        cells = (counts[sort], *(counts[f"{sort} {name}"] for name in ("right", "stale", "lacking")))
        print(f"| {sort} | {' | '.join(map(str, cells))} |")


def lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--file", type=Path, help="pairs, one a line")
    parser.add_argument("--corrections", type=Path, help="chains, one a line")
    parser.add_argument("--show", action="store_true", help="print what went wrong, with its memories")
    options = parser.parse_args()
    with database() as (settings, _):
        play = player(settings)
        if options.file:
            report_pairs(play, lines(options.file), show=options.show)
        if options.corrections:
            report_chains(play, lines(options.corrections), show=options.show)
        play.db.close()


_CLAUSE: Final = re.compile(r"[,;.!?，；。！？](?!\d)")
_DENIES: Final = re.compile(
    r"(?:\b(?:not|never|no longer|rather than|instead of)\b|n['’]t\b|不是|不叫|不在)[^,;，；]*$"
)
_BYGONE: Final = re.compile(r"^ (?:was|were)\b|^是?(?:以前|原来)|^(?: was)? wrong\b")
_MEMORIES: Final = text("""
    SELECT m.id, m.content, m.status, m.attribute, m.value,
           EXISTS (SELECT FROM memory_versions v WHERE v.memory_id = m.id AND v.change = 'replace') AS replaced,
           (SELECT array_agg(v.reason ORDER BY v.version) FROM memory_versions v WHERE v.memory_id = m.id) AS reasons
    FROM memories m WHERE m.user_id = :user ORDER BY m.recorded_at, m.id
""")


if __name__ == "__main__":
    main()
