"""From a session's new messages to changes: read, think, judge. What is decided here `core.changes` carries out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core import changes, consolidate, judge, memories, sessions
from core.changes import Author, Change, Owner
from core.db import Database, Tx
from core.embed import Embedder
from core.errors import Conflict
from core.types import Candidate, Json, Message

Extract = Callable[[Sequence[Message]], list[Candidate]]


@dataclass(frozen=True, slots=True)
class Extracted:
    """What one reading of a session comes to, ready to be written if the session's cursor has not moved."""

    tenant_id: str
    session_id: str
    read_from: int
    read_to: int
    more: bool
    changes: Sequence[tuple[Owner, Sequence[Change]]]

    def write(self, tx: Tx, author: Author) -> Json:
        """Move the cursor and apply everything. Conflict: someone else has read or written meanwhile."""
        if self.read_to > self.read_from and not sessions.extracted(
            tx, self.session_id, old=self.read_from, new=self.read_to
        ):
            raise Conflict("Another worker has extracted this session meanwhile.")
        counts: Json = {"messages": self.read_to - self.read_from}
        # Each owner is locked while written, so in one order: sessions shared by the same people must not deadlock.
        for owner, wanted in sorted(self.changes, key=lambda change: change[0].user_id):
            for name, n in changes.apply(tx, self.tenant_id, owner, wanted, author).items():
                counts[name] = counts.get(name, 0) + n
        return counts


def session(
    db: Database,
    tenant_id: str,
    session_id: str,
    *,
    extract: Extract,
    embedder: Embedder,
    limit: int,
    thresholds: judge.Thresholds = judge.USUAL,
    link: bool = False,
) -> Extracted:
    """Read what is new in a session, `limit` messages at the most, and decide what it changes; `link` what is related.

    No transaction is open while the extractor and the embedder think.
    """
    with db.tenant(tenant_id) as tx:
        stands = sessions.get(tx, session_id)
        messages = sessions.transcript(tx, session_id, after=stands.extracted_to, limit=limit)
    read_to = messages[-1].position if messages else stands.extracted_to
    by_owner = _by_owner(messages, extract(messages) if messages else [])
    decided = [
        (owner, _decide(db, tenant_id, owner, mine, embedder, thresholds, link=link))
        for owner, mine in by_owner.items()
    ]
    more = read_to < stands.message_count
    return Extracted(tenant_id, session_id, stands.extracted_to, read_to, more, decided)


def _by_owner(messages: Sequence[Message], candidates: Sequence[Candidate]) -> dict[Owner, list[Candidate]]:
    """Each candidate belongs to the user in whose message it was said."""
    owners = {m.id: Owner(m.user_id, m.group_id) for m in messages}
    found: defaultdict[Owner, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        found[owners[candidate.evidence[0].message_id]].append(candidate)
    return found


def _decide(
    db: Database,
    tenant_id: str,
    owner: Owner,
    candidates: Sequence[Candidate],
    embedder: Embedder,
    thresholds: judge.Thresholds,
    *,
    link: bool,
) -> Sequence[Change]:
    merged = consolidate.merged(candidates)
    vectors = embedder.embed([c.content for c in merged])
    with db.tenant(tenant_id) as tx:
        known = memories.neighbours(tx, owner.user_id, merged, vectors)
    decided = consolidate.decide(merged, vectors, known, thresholds)
    return [*decided, *consolidate.links(decided, merged, known)] if link else decided
