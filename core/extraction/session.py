"""Incremental extraction of a session: read, extract, consolidate."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from core.consolidation import pipeline
from core.consolidation.pipeline import Gateway
from core.errors import Conflict, Never
from core.events.publishing import Author
from core.extraction import recalled_people, window_filter
from core.extraction import windows as extraction_windows
from core.extraction.configured_extractor import RuleExtractor
from core.extraction.known_people import NOBODY, Known
from core.extraction.protocol import Extractor, Reading, Retold, Window
from core.extraction.window_filter import Skipped
from core.extraction.windows import USUAL, Sizes
from core.inference.client import OnCall
from core.memory import writer
from core.memory.changes import Change, Confirm, Owner
from core.sessions import hidden_messages, sessions
from core.storage.db import Tx
from core.types import Candidate, Json, Message

Extract = Callable[[Sequence[Message]], list[Candidate]]
"""All candidates of some messages of one conversation, however they are read."""


Decided = Sequence[tuple[Owner, Sequence[Change]]]
"""What is to be done, owner by owner."""

RULES: Final = RuleExtractor()


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads, and what is put before it: in windows of which size, and which of them at all.

    `least_characters`, `least_novelty`: what a window must have for somebody to be paid for reading it.
    """

    extractor: Extractor
    on_call: OnCall
    sizes: Sizes = USUAL
    least_characters: int = 20
    least_novelty: float = 0.35

    @property
    def is_paid(self) -> bool:
        """Whether every window costs a call of a model."""
        return self.extractor.prompt is not None

    def most(self, limit: int) -> int:
        """Messages that are read before what was found is written, of `limit` at the most."""
        return min(limit, self.sizes.at_once) if self.is_paid else limit

    def windows(
        self, before: Sequence[Message], fresh: Sequence[Message], known: Mapping[str | None, Known] | None = None
    ) -> list[Window]:
        """What is read at once, of one group or of none: what was said in one tells nothing in another.

        Rules cost nothing by the window, and see more in one piece. `known`: by group, who was spoken of before.
        """
        return [
            window
            for group in dict.fromkeys(message.group_id for message in fresh)
            for window in self._cut(_in(group, before), _in(group, fresh), (known or {}).get(group, NOBODY))
        ]

    def _cut(self, before: Sequence[Message], fresh: Sequence[Message], known: Known) -> list[Window]:
        return (
            list(extraction_windows.cut(before, fresh, self.sizes)) if self.is_paid else [Window(before, fresh, known)]
        )


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages of a session from one position to another, in one group or in none."""

    first: int
    last: int
    group_id: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A window that could not be read: where its fresh messages are, and why."""

    where: Stretch
    reason: str


@dataclass(slots=True)
class Read:
    """What windows come to, one after the other."""

    candidates: list[Candidate] = field(default_factory=list)
    retold: list[Retold] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    known: list[Window] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    windows: int = 0

    def take(self, window: Window, reading: Reading) -> None:
        """What an extractor says of a window, but for what does not rest on its fresh messages, whoever made it."""
        fresh = {message.id for message in window.fresh}
        kept = [c for c in reading.candidates if c.evidence and fresh.issuperset(e.message_id for e in c.evidence)]
        self.candidates += kept
        self.retold += [unit for unit in reading.units if unit.message_ids and fresh.issuperset(unit.message_ids)]
        self.refused += reading.refused + len(reading.candidates) - len(kept)

    def as_json(self) -> Json:
        """What became of the windows, for the result of the dispatch."""
        counts: Json = {"windows": self.windows, "skipped": dict(self.skipped)}
        more = {"refused": self.refused, "failed": len(self.failed)}
        return counts | {name: number for name, number in more.items() if number}


@dataclass(frozen=True, slots=True)
class Extracted:
    """What one reading of a session comes to, ready to be written if the session's cursor has not moved.

    `retold`: the units that the extractor told, in order; empty where it tells none. `failed`: windows that are to be
    set aside, each for itself.
    """

    tenant_id: str
    session_id: str
    read_from: int
    read_to: int
    more: bool
    changes: Decided
    messages: Sequence[Message] = ()
    retold: Sequence[Retold] = ()
    failed: Sequence[Failed] = ()
    seen: Mapping[str, object] = field(default_factory=dict)

    def write(self, tx: Tx, author: Author) -> Json:
        """Move the cursor and apply everything. Conflict: someone else has read or written meanwhile."""
        if self.read_to > self.read_from and not sessions.extracted(
            tx, self.session_id, old=self.read_from, new=self.read_to
        ):
            raise Conflict("Another worker has extracted this session meanwhile.")
        counts: Json = {"messages": self.read_to - self.read_from, **self.seen}
        # Each owner is locked while written, so in one order: sessions shared by the same people must not deadlock.
        for owner, wanted in sorted(self.changes, key=lambda change: change[0].user_id):
            for name, n in writer.apply(tx, self.tenant_id, owner, wanted, author).items():
                counts[name] = counts.get(name, 0) + n
        return counts


def session(
    gate: Gateway, tenant_id: str, session_id: str, reader: Reader, *, limit: int, link: bool = False
) -> Extracted:
    """Read what is new in a session, `limit` messages at the most, and decide what it changes; `link` what is related.

    A window that cannot be read is told as failed, and the cursor moves past it. Later: all of it is to be read again.
    No transaction is open while the extractor and the embedder think.
    """
    with gate.db.tenant(tenant_id) as tx:
        stands = sessions.get(tx, session_id)
        start = stands.extracted_to
        before, fresh, hidden = _shown(tx, session_id, start, reader.most(limit), reader.sizes.overlap)
        known = {} if reader.is_paid else recalled_people.acquaintances(tx, fresh)
    read_to = max((m.position for m in [*fresh, *hidden]), default=start)
    read = _read(reader, cut := reader.windows(before, fresh, known), _sifted(gate, tenant_id, reader, cut))
    decided = judged(gate, tenant_id, fresh, read.candidates, link=link)
    decided = _confirmed(gate, tenant_id, fresh, read.known, decided)
    more = read_to < stands.message_count
    seen = read.as_json() | ({"hidden": len(hidden)} if hidden else {})
    return Extracted(
        tenant_id, session_id, start, read_to, more, decided, fresh, read.retold, read.failed, seen
    )  # fmt: skip


def again(
    gate: Gateway, tenant_id: str, session_id: str, reader: Reader, where: Stretch, *, link: bool = False
) -> Extracted:
    """Read a stretch of a session once more, as one window, whatever is known by now.

    The cursor stays where it is. Never: it cannot be read this time either.
    """
    with gate.db.tenant(tenant_id) as tx:
        start = sessions.get(tx, session_id).extracted_to
        length = where.last - where.first + 1
        before, fresh, _ = _shown(tx, session_id, where.first - 1, length, reader.sizes.overlap)
        known = {} if reader.is_paid else recalled_people.acquaintances(tx, fresh)
    fresh = [message for message in _in(where.group_id, fresh) if message.position <= where.last]
    read = _read(
        reader, [Window(_in(where.group_id, before), fresh, known.get(where.group_id, NOBODY))] if fresh else [], []
    )
    for failed in read.failed:
        raise Never(failed.reason)
    decided = judged(gate, tenant_id, fresh, read.candidates, link=link)
    return Extracted(
        tenant_id, session_id, start, start, False, decided, fresh, read.retold, seen=read.as_json()
    )  # fmt: skip


def extract(reader: Reader) -> Extract:
    """All candidates of messages, for whoever reads a conversation from its beginning. Never: a window cannot be read.

    What says nothing is left out as ever; what is new to nobody is not, for it is read to be known.
    """

    def candidates(messages: Sequence[Message]) -> list[Candidate]:
        cut = reader.windows((), messages)
        read = _read(reader, cut, window_filter.spoken(cut, reader.least_characters) if reader.is_paid else [])
        for failed in read.failed:
            raise Never(failed.reason)
        return read.candidates

    return candidates


def judged(
    gate: Gateway, tenant_id: str, messages: Sequence[Message], candidates: Sequence[Candidate], *, link: bool
) -> Decided:
    """What candidates that were found in these messages change, owner by owner."""
    # What a tool or a prompt carries may have been handed out as well; a person's words are their own.
    assistant = frozenset(m.id for m in messages if m.role != "user")
    candidates = _dated(messages, candidates)
    return [
        (owner, pipeline.judged(gate, tenant_id, owner, mine, assistant=assistant, link=link))
        for owner, mine in _by_owner(messages, candidates).items()
    ]


def _shown(
    tx: Tx, session_id: str, after: int, limit: int, overlap: int
) -> tuple[list[Message], list[Message], list[Message]]:
    """What was said up to a position, what behind it, and what of that was hidden and is not read."""
    earlier = max(after - overlap, 0)
    said = sessions.transcript(tx, session_id, after=earlier, limit=limit + after - earlier)
    fresh = [message for message in said if message.position > after][:limit]
    away = hidden_messages.hidden(tx, session_id)
    return (
        [m for m in said if m.position <= after and m.id not in away],
        [m for m in fresh if m.id not in away],
        [m for m in fresh if m.id in away],
    )


def _sifted(gate: Gateway, tenant_id: str, reader: Reader, cut: Sequence[Window]) -> Sequence[Skipped | None]:
    """Why each window need not be read; rules tell that for themselves."""
    if not reader.is_paid:
        return []
    return window_filter.sift(
        gate, tenant_id, cut, least_characters=reader.least_characters, least_novelty=reader.least_novelty
    )


def _confirmed(
    gate: Gateway, tenant_id: str, messages: Sequence[Message], known: Sequence[Window], decided: Decided
) -> Decided:
    """What is decided, and what is confirmed by the windows that only say what is known: by rules, and nobody is asked.

    Nothing else follows from what rules find there: in other words than the model's it would be known twice.
    """
    found = [one for window in known for one in RULES.read(window, lambda _: None).candidates]
    if not found:
        return decided
    both = {owner: list(wanted) for owner, wanted in decided}
    for owner, again in judged(replace(gate, opinion=None), tenant_id, messages, found, link=False):
        confirms = [change for change in again if isinstance(change, Confirm)]
        if confirms:
            both[owner] = [*both.get(owner, []), *confirms]
    return list(both.items())


def _read(reader: Reader, cut: Sequence[Window], skipped: Sequence[Skipped | None]) -> Read:
    """Every window that is not skipped, read; one that will not be is told, and stops no other one."""
    read = Read(windows=len(cut))
    for window, why in zip(cut, skipped or [None] * len(cut), strict=True):
        if why is not None:
            read.skipped[why.value] += 1
            read.known += [window] if why is Skipped.KNOWN else []
            continue
        try:
            read.take(window, reader.extractor.read(window, reader.on_call))
        except Never as refusal:
            first, last = window.fresh[0], window.fresh[-1]
            read.failed.append(Failed(Stretch(first.position, last.position, first.group_id), refusal.detail))
    return read


def _in(group_id: str | None, messages: Sequence[Message]) -> list[Message]:
    """Those that were said in a group, or in none."""
    return [message for message in messages if message.group_id == group_id]


def _dated(messages: Sequence[Message], candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates with when they were said, in the order in which they were: by that two of one thing are judged."""
    at = {m.id: m.occurred_at for m in messages}
    return [
        replace(c, said_at=max(told)) if (told := [at[e.message_id] for e in c.evidence if e.message_id in at]) else c
        for c in candidates
    ]


def _by_owner(messages: Sequence[Message], candidates: Sequence[Candidate]) -> dict[Owner, list[Candidate]]:
    """Each candidate belongs to the user in whose message it was said."""
    owners = {m.id: Owner(m.user_id, m.group_id) for m in messages}
    found: defaultdict[Owner, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        found[owners[candidate.evidence[0].message_id]].append(candidate)
    return found
