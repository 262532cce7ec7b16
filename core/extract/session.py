"""From a session's new messages to changes: read, think, judge. What is decided here `core.changes` carries out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core import changes, gateway, sessions
from core.change import Author, Change, Owner
from core.db import Tx
from core.errors import Conflict
from core.gateway import Gateway
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
    gate: Gateway, tenant_id: str, session_id: str, *, extract: Extract, limit: int, link: bool = False
) -> Extracted:
    """Read what is new in a session, `limit` messages at the most, and decide what it changes; `link` what is related.

    No transaction is open while the extractor and the embedder think.
    """
    with gate.db.tenant(tenant_id) as tx:
        stands = sessions.get(tx, session_id)
        messages = sessions.transcript(tx, session_id, after=stands.extracted_to, limit=limit)
    read_to = messages[-1].position if messages else stands.extracted_to
    decided = judged(gate, tenant_id, messages, extract(messages) if messages else [], link=link)
    more = read_to < stands.message_count
    return Extracted(tenant_id, session_id, stands.extracted_to, read_to, more, decided)


def judged(
    gate: Gateway, tenant_id: str, messages: Sequence[Message], candidates: Sequence[Candidate], *, link: bool
) -> list[tuple[Owner, Sequence[Change]]]:
    """What candidates that were found in these messages change, owner by owner."""
    # What a tool or a prompt carries may have been handed out as well; a person's words are their own.
    assistant = frozenset(m.id for m in messages if m.role != "user")
    return [
        (owner, gateway.judged(gate, tenant_id, owner, mine, assistant=assistant, link=link))
        for owner, mine in _by_owner(messages, candidates).items()
    ]


def _by_owner(messages: Sequence[Message], candidates: Sequence[Candidate]) -> dict[Owner, list[Candidate]]:
    """Each candidate belongs to the user in whose message it was said."""
    owners = {m.id: Owner(m.user_id, m.group_id) for m in messages}
    found: defaultdict[Owner, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        found[owners[candidate.evidence[0].message_id]].append(candidate)
    return found
