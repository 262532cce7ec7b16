"""Incremental extraction of a session: read, extract, consolidate."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from core.consolidation import pipeline
from core.consolidation.pipeline import Consolidation
from core.errors import Conflict, Later, Never
from core.events.publishing import Author
from core.extraction import known_memories, message_tags, union, unkept, window_filter
from core.extraction import windows as extraction_windows
from core.extraction.configured_extractor import RuleExtractor
from core.extraction.message_tags import TagsByMessage
from core.extraction.protocol import ExtractedUnit, Extractor, Reading, Window
from core.extraction.window_filter import SkipReason
from core.extraction.windows import USUAL, Sizes
from core.inference.client import OnCall
from core.memory import writer
from core.memory.changes import Change, Confirm, Owner
from core.memory.identity import KnownMemory
from core.sessions import hidden_messages, sessions, speaker_clocks
from core.statements import redaction
from core.storage.db import Tx
from core.types import Candidate, Json, Message

CandidateReader = Callable[[Sequence[Message]], list[Candidate]]
"""Returns all candidates in messages of one conversation."""

Show = Callable[[Window], Sequence[KnownMemory] | None]
"""Returns the known memories that a window may touch; None: none may be shown."""

ChangesByOwner = Sequence[tuple[Owner, Sequence[Change]]]
"""Changes by owner."""

RULES: Final = RuleExtractor()

OUT_OF_TIME: Final = "The model took so long for earlier windows of this run that no time is left for this one."


@dataclass(frozen=True, slots=True)
class SessionReader:
    """An extractor with the sizes of its windows and the filter that decides which windows it gets.

    A paid one is shown the known memories that a window may touch, and says itself what is repeated and ended.

    `beside`: a free extractor that reads all new messages at once, whatever becomes of the windows; a window that
    `extractor` cannot read now is then postponed alone. `seconds`: time of a run beyond which no further window is then
    begun, judged by its slowest one; None: no limit. `least_characters`, `least_novelty`: minimum of a window that a
    paid extractor is called for.
    """

    extractor: Extractor
    on_call: OnCall
    beside: Extractor | None = None
    seconds: float | None = None
    sizes: Sizes = USUAL
    least_characters: int = 20
    least_novelty: float = 0.35

    @property
    def is_paid(self) -> bool:
        """True if each window costs a call of a model."""
        return self.extractor.prompt is not None

    @property
    def by_rules(self) -> Extractor | None:
        """Return the extractor that reads everything at once, if there is one."""
        return self.beside if self.is_paid else self.extractor

    def at_once(self, fresh: Sequence[Message]) -> Sequence[Message]:
        """Return the messages to read before the results are written: of a paid extractor one window.

        The next one is then shown what this one has added.
        """
        return extraction_windows.first(fresh, self.sizes) if self.is_paid else fresh

    def windows(self, before: Sequence[Message], fresh: Sequence[Message]) -> list[Window]:
        """Cut messages into windows. Messages of different groups never share one.

        Rules cost nothing per window and find more in one piece, so for them a group is one window.
        """
        whole = whole_windows(before, fresh)
        if not self.is_paid:
            return whole
        return [window for group in whole for window in extraction_windows.cut(group.before, group.fresh, self.sizes)]


def whole_windows(before: Sequence[Message], fresh: Sequence[Message]) -> list[Window]:
    """Return one window with all messages of each audience: a group, and the labels that its readers must hold."""
    return [
        Window(_to(audience, before), _to(audience, fresh))
        for audience in dict.fromkeys(_audience(message) for message in fresh)
    ]


@dataclass(frozen=True, slots=True)
class MessageRange:
    """Range of positions in a session, restricted to the messages to one audience: a group, or none, and labels."""

    first: int
    last: int
    group_id: str | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FailedWindow:
    """A window that could not be read: the range of its fresh messages, and the reason."""

    where: MessageRange
    reason: str


@dataclass(frozen=True, slots=True)
class PostponedWindow:
    """A window that can be read later: the range of its fresh messages, and what keeps it waiting."""

    where: MessageRange
    cause: Later


@dataclass(slots=True)
class WindowResults:
    """Results of reading windows one after the other."""

    candidates: list[Candidate] = field(default_factory=list)
    retold: list[ExtractedUnit] = field(default_factory=list)
    failed: list[FailedWindow] = field(default_factory=list)
    postponed: list[PostponedWindow] = field(default_factory=list)
    known_windows: list[Window] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    windows: int = 0
    read: set[str] = field(default_factory=set)
    """Ids of the messages that were read."""

    def take(self, window: Window, reading: Reading) -> None:
        """Add an extractor's reading of a window, without whatever does not rest on the window's fresh messages."""
        fresh = {message.id for message in window.fresh}
        self.read |= fresh
        grounded = [c for c in reading.candidates if c.evidence and fresh.issuperset(e.message_id for e in c.evidence)]
        self.candidates += grounded
        self.retold += [unit for unit in reading.units if unit.message_ids and fresh.issuperset(unit.message_ids)]
        self.refused += reading.refused + len(reading.candidates) - len(grounded)

    def join(self, by_rules: WindowResults) -> None:
        """Add what rules have read in the same messages."""
        self.candidates, contradicted = union.unite(by_rules.candidates, self.candidates, self.read)
        self.refused += by_rules.refused + contradicted

    def as_json(self) -> Json:
        """Return counts of windows for the result of the dispatch."""
        counts: Json = {"windows": self.windows, "skipped": dict(self.skipped)}
        more = {"refused": self.refused, "failed": len(self.failed), "postponed": len(self.postponed)}
        return counts | {name: number for name, number in more.items() if number}


@dataclass(frozen=True, slots=True)
class SessionExtraction:
    """Result of one reading of a session; it may be written if the session's cursor has not moved.

    `retold`: units in the words of the extractor, in order; empty where it writes none. `failed`: windows that could
    not be read. `postponed`: windows to be read later.
    """

    tenant_id: str
    session_id: str
    read_from: int
    read_to: int
    more: bool
    changes: ChangesByOwner
    messages: Sequence[Message] = ()
    retold: Sequence[ExtractedUnit] = ()
    failed: Sequence[FailedWindow] = ()
    postponed: Sequence[PostponedWindow] = ()
    seen: Mapping[str, object] = field(default_factory=dict)

    def write(self, tx: Tx, author: Author) -> Json:
        """Move the cursor and apply the changes. Conflict: another worker has read or written in the meantime."""
        if self.read_to > self.read_from and not sessions.move_extraction_cursor(
            tx, self.session_id, old=self.read_from, new=self.read_to
        ):
            raise Conflict("Another worker has extracted this session in the meantime.")
        counts: Json = {"messages": self.read_to - self.read_from, **self.seen}
        # Each owner is locked while written: without one order, sessions shared by the same people would deadlock.
        for owner, changes in sorted(self.changes, key=lambda change: change[0].user_id):
            for name, n in writer.apply(tx, self.tenant_id, owner, changes, author).items():
                counts[name] = counts.get(name, 0) + n
        return counts


def extract_new(
    consolidation: Consolidation,
    tenant_id: str,
    session_id: str,
    reader: SessionReader,
    *,
    limit: int,
    link: bool = False,
) -> SessionExtraction:
    """Read the new messages of a session, at most `limit`, and decide what they change.

    A window that cannot be read is returned as failed, and the cursor moves past it; with rules beside the extractor,
    one that cannot be read now as postponed. `link`: relate new statements to those they refine. Later: read all of it
    again. No transaction is open while the extractor and the embedder run.
    """
    with consolidation.db.tenant(tenant_id) as tx:
        row = sessions.get(tx, session_id)
        start = row.extracted_to
        before, visible, hidden = _transcript(tx, session_id, start, limit, reader.sizes.before)
        fresh = reader.at_once(visible)
        if len(fresh) < len(visible):
            hidden = [message for message in hidden if message.position < visible[len(fresh)].position]
        tags = message_tags.of_messages(tx, session_id, [m.id for m in fresh])
    read_to = max((m.position for m in [*fresh, *hidden]), default=start)
    read, changes = _decide(consolidation, tenant_id, reader, _Batch(before, fresh, tags), link=link)
    return SessionExtraction(
        tenant_id,
        session_id,
        start,
        read_to,
        read_to < row.message_count,
        changes,
        fresh,
        read.retold,
        read.failed,
        read.postponed,
        read.as_json() | ({"hidden": len(hidden)} if hidden else {}),
    )


def preview(
    consolidation: Consolidation, tenant_id: str, reader: SessionReader, messages: Sequence[Message]
) -> tuple[WindowResults, ChangesByOwner]:
    """Decide what messages of a new session would change, as `extract_new` does; nothing is written.

    Only what was not kept of earlier messages does not end: these messages have no vectors to find it by.

    Later: the extractor cannot answer now.
    """
    with consolidation.db.tenant(tenant_id) as tx:
        messages = speaker_clocks.of_messages(tx, messages)
        fresh = [replace(m, content=redaction.without_marks(m.content)) for m in messages]
    return _decide(consolidation, tenant_id, reader, _Batch((), fresh, {}), link=False)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Messages that are read at once, those before them, and their tags."""

    before: Sequence[Message]
    fresh: Sequence[Message]
    tags: TagsByMessage


def _decide(
    consolidation: Consolidation, tenant_id: str, reader: SessionReader, batch: _Batch, *, link: bool
) -> tuple[WindowResults, ChangesByOwner]:
    """Read messages and decide what they change, by owner."""
    windows = reader.windows(batch.before, batch.fresh)
    show = partial(known_memories.of_window, consolidation, tenant_id)
    read = _read(reader, windows, _skippable(consolidation, tenant_id, reader, windows), show)
    if reader.beside:
        read.join(_read_whole(reader.beside, whole_windows(batch.before, batch.fresh)))
    assistant, changes = generated_ids(batch.fresh), []
    for owner, stated in by_owner(batch.fresh, message_tags.tagged(read.candidates, batch.tags)):
        earlier = unkept.near(consolidation, tenant_id, owner, stated, batch.fresh)
        decided = pipeline.consolidate(
            consolidation, tenant_id, owner, stated, assistant=assistant, link=link, unkept=earlier
        )
        changes.append((owner, decided))
    if not reader.beside:
        changes += _confirmations(consolidation, tenant_id, batch.fresh, read.known_windows, batch.tags)
    return read, _merge_by_owner(changes)


def extract_range(
    consolidation: Consolidation,
    tenant_id: str,
    session_id: str,
    reader: SessionReader,
    where: MessageRange,
    *,
    link: bool = False,
) -> SessionExtraction:
    """Read a range of a session once more, as one window, even if its statements are known by now.

    The cursor stays where it is. An extractor beside the reader's has read the range before. Later, Never: the range
    cannot be read this time either.
    """
    reader = replace(reader, beside=None)
    with consolidation.db.tenant(tenant_id) as tx:
        start = sessions.get(tx, session_id).extracted_to
        length = where.last - where.first + 1
        before, fresh, _ = _transcript(tx, session_id, where.first - 1, length, reader.sizes.before)
        tags = message_tags.of_messages(tx, session_id, [m.id for m in fresh])
    audience = where.group_id, where.labels
    fresh = [message for message in _to(audience, fresh) if message.position <= where.last]
    window = Window(_to(audience, before), fresh)
    show = partial(known_memories.of_window, consolidation, tenant_id)
    read = _read(reader, [window] if fresh else [], [], show)
    for failed in read.failed:
        raise Never(failed.reason)
    changes = [
        (
            owner,
            pipeline.consolidate(
                consolidation, tenant_id, owner, candidates, assistant=generated_ids(fresh), link=link
            ),
        )
        for owner, candidates in by_owner(fresh, message_tags.tagged(read.candidates, tags))
    ]
    return SessionExtraction(
        tenant_id, session_id, start, start, False, changes, fresh, read.retold, seen=read.as_json()
    )  # fmt: skip


def candidate_reader(reader: SessionReader) -> CandidateReader:
    """Return a function that extracts all candidates from messages, for reading a conversation from its beginning.

    It skips windows without information, but not those that repeat known statements. Later, Never: a window cannot be
    read, and a conversation read in part would be compared with a whole one.
    """

    def candidates(messages: Sequence[Message]) -> list[Candidate]:
        cut = reader.windows((), messages)
        read = _read(
            replace(reader, seconds=None),
            cut,
            window_filter.sift_by_words(cut, reader.least_characters) if reader.is_paid else [],
        )
        for failed in read.failed:
            raise Never(failed.reason)
        for postponed in read.postponed:
            raise postponed.cause
        if reader.beside:
            read.join(_read_whole(reader.beside, whole_windows((), messages)))
        return read.candidates

    return candidates


def by_owner(messages: Sequence[Message], candidates: Sequence[Candidate]) -> list[tuple[Owner, list[Candidate]]]:
    """Group candidates by the user, and group, in whose message they were said.

    Each gets the time and the audience labels of its evidence.

    The order in which two statements about one thing were said decides between them.
    """
    by_id = {m.id: m for m in messages}
    candidates = message_tags.labelled(candidates, messages)
    grouped: defaultdict[Owner, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        message = by_id[candidate.evidence[0].message_id]
        times = [by_id[e.message_id].occurred_at for e in candidate.evidence if e.message_id in by_id]
        grouped[Owner(message.user_id, message.group_id)].append(replace(candidate, said_at=max(times)))
    return list(grouped.items())


def generated_ids(messages: Sequence[Message]) -> frozenset[str]:
    """Return the ids of messages that no person wrote.

    A tool's result or a prompt may repeat what was handed out, like an assistant; a person's words are their own.
    """
    return frozenset(m.id for m in messages if m.role != "user")


def _transcript(
    tx: Tx, session_id: str, after: int, limit: int, overlap: int
) -> tuple[list[Message], list[Message], list[Message]]:
    """Return the messages up to a position, the visible ones after it, and the hidden ones, which are not read."""
    earlier = max(after - overlap, 0)
    stored = sessions.transcript(tx, session_id, after=earlier, limit=limit + after - earlier)
    transcript = speaker_clocks.of_messages(tx, stored)
    messages = [replace(m, content=redaction.without_marks(m.content)) for m in transcript]
    fresh = [message for message in messages if message.position > after][:limit]
    away = hidden_messages.hidden_ids(tx, session_id)
    return (
        [m for m in messages if m.position <= after and m.id not in away],
        [m for m in fresh if m.id not in away],
        [m for m in fresh if m.id in away],
    )


def _skippable(
    consolidation: Consolidation, tenant_id: str, reader: SessionReader, cut: Sequence[Window]
) -> Sequence[SkipReason | None]:
    """Return the reason to skip each window; empty for an extractor that costs nothing."""
    if not reader.is_paid:
        return []
    return window_filter.sift(
        consolidation, tenant_id, cut, least_characters=reader.least_characters, least_novelty=reader.least_novelty
    )


def _confirmations(
    consolidation: Consolidation,
    tenant_id: str,
    messages: Sequence[Message],
    known_windows: Sequence[Window],
    tags: TagsByMessage,
) -> list[tuple[Owner, Sequence[Change]]]:
    """Return the confirmations from windows skipped as known, found by rules without a model.

    Only confirmations: a statement worded differently from the model's would be stored twice.
    """
    rule_candidates = [
        candidate for window in known_windows for candidate in RULES.read(window, lambda _: None).candidates
    ]
    rule_candidates = message_tags.tagged(rule_candidates, tags)
    silent = replace(consolidation, opinion=None)
    confirmed: list[tuple[Owner, Sequence[Change]]] = []
    for owner, candidates in by_owner(messages, rule_candidates):
        decided = pipeline.consolidate(silent, tenant_id, owner, candidates, assistant=generated_ids(messages))
        if confirms := [change for change in decided if isinstance(change, Confirm)]:
            confirmed.append((owner, confirms))
    return confirmed


def _merge_by_owner(changes: ChangesByOwner) -> ChangesByOwner:
    """Join the changes of each owner: each is locked and written once."""
    merged: defaultdict[Owner, list[Change]] = defaultdict(list)
    for owner, owned in changes:
        merged[owner] += owned
    return list(merged.items())


def _read(
    reader: SessionReader, cut: Sequence[Window], skipped: Sequence[SkipReason | None], show: Show | None = None
) -> WindowResults:
    """Run the extractor on every window not skipped. A refused one (`Never`) is recorded; the others go on.

    `show`: looks for the known memories of a window, for an extractor that is paid; None: it is shown none. With rules
    beside it, a window that it cannot read now (`Later`) is postponed, and those after it unasked.
    """
    read, pace = WindowResults(windows=len(cut)), _Pace(reader.seconds if reader.beside else None)
    cause: Later | None = None
    for window, why in zip(cut, skipped or [None] * len(cut), strict=True):
        if why is not None:
            read.skipped[why.value] += 1
            read.known_windows += [window] if why is SkipReason.KNOWN else []
            continue
        if cause is None and not pace.has_time():
            cause = Later(OUT_OF_TIME)
        try:
            if cause is None:
                shown = replace(window, memories=show(window)) if show and reader.is_paid else window
                read.take(window, reader.extractor.read(shown, reader.on_call))
        except Never as refusal:
            read.failed.append(FailedWindow(_range_of(window), refusal.detail))
        except Later as refusal:
            if reader.beside is None:
                raise
            cause = refusal
        if cause is not None:
            read.postponed.append(PostponedWindow(_range_of(window), cause))
    return read


@dataclass(slots=True)
class _Pace:
    """Time that a run has taken, and the slowest of its windows."""

    seconds: float | None
    began: float = field(default_factory=time.monotonic)
    slowest: float = 0.0
    last: float | None = None

    def has_time(self) -> bool:
        """Return whether another window can be begun; called before each, the first of which always can."""
        now = time.monotonic()
        if self.last is not None:
            self.slowest = max(self.slowest, now - self.last)
        is_first, self.last = self.last is None, now
        return is_first or self.seconds is None or now - self.began + self.slowest <= self.seconds


def _read_whole(extractor: Extractor, windows: Sequence[Window]) -> WindowResults:
    """Run an extractor that asks no model."""
    read = WindowResults()
    for window in windows:
        read.take(window, extractor.read(window, lambda _: None))
    return read


def _range_of(window: Window) -> MessageRange:
    first, last = window.fresh[0], window.fresh[-1]
    return MessageRange(first.position, last.position, *_audience(first))


def _audience(message: Message) -> tuple[str | None, tuple[str, ...]]:
    return message.group_id, tuple(sorted(message.audience_labels))


def _to(audience: tuple[str | None, tuple[str, ...]], messages: Sequence[Message]) -> list[Message]:
    """Return the messages to an audience."""
    return [message for message in messages if _audience(message) == audience]
