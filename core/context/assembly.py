"""Chooses and orders the sections. Pure.

What changes least comes first. Each part fills its own share; what it leaves goes to the next. Each section reports
what was left out of it, and why.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from core.context import instructions, profile_lines, rendering
from core.context.conversation import RenderedMessages, background, recent
from core.context.instructions import FixedSections
from core.context.packing import Packer, ScoredPiece, room
from core.context.reader import OwnerMaterial, SessionSlice
from core.context.retrievers import RetrievedText as Outside
from core.context.sections import Section, SectionName, SectionPiece
from core.context.stable_selection import StableSelection
from core.inference.token_counting import Counter, cut
from core.screening import output
from core.search.query import SearchResult as Result
from core.types import Json

KEPT_HERE: Final = frozenset({"memory", "document"})
"""Types that the next contexts of a session find again by id."""

KNOWLEDGE: Final = frozenset({"document", "outside"})
"""Types shown under knowledge, not under memories."""

PAID: Final = 20
"""Questions after which reading the news section with each has cost as much as laying out everything anew."""

QUOTE_TOKENS: Final = 80
"""Tokens quoted from the beginning of a message of another conversation."""


@dataclass(frozen=True, slots=True)
class ContextMaterial:
    """Everything a context could show.

    `earlier` with `standing` and `passages`: the earlier selection, as it is now. `disputes`: contradictions among
    memories; `others`: those of them that the query did not find; `outside`: results of third-party retrievers;
    `inactive`: memories of the profile that are no longer valid.
    """

    query: str
    material: OwnerMaterial
    profile: Json
    results: Sequence[Result]
    earlier: StableSelection | None
    standing: Mapping[UUID, Any]
    passages: Mapping[str, Any]
    disputes: Mapping[UUID, frozenset[UUID]]
    others: Mapping[UUID, Any]
    outside: Sequence[tuple[str, Outside]] = ()
    inactive: Collection[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Assembled:
    """Sections with content or omissions; `chosen`: the selection that the next contexts keep showing."""

    sections: Sequence[Section]
    chosen: StableSelection | None

    def section(self, part: SectionName) -> Section | None:
        return next((one for one in self.sections if one.part == part), None)


@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs of the layout: the conversation and the results of the query."""

    packer: Packer
    read: ContextMaterial
    found: Sequence[ScoredPiece]
    written: RenderedMessages | None
    background: Sequence[Section]


@dataclass(frozen=True, slots=True)
class Layout:
    """Sections beside the background; `begun`: not all of it is as it was shown before."""

    base: FixedSections
    memories: Section
    knowledge: Section
    now: Section
    begun: bool

    @property
    def lasting(self) -> bool:
        """True if keeping the layout pays: not with news once something else has changed, or little would change."""
        news = self.base.since.tokens
        behind = self.base.profile.tokens + self.memories.tokens + self.knowledge.tokens + self.now.tokens
        return not news or (not self.begun and news * PAID <= behind)


def assemble(packer: Packer, read: ContextMaterial) -> Assembled:
    """Assemble the context: instructions, profile, memories, the conversation and what the query found."""
    conversation = read.material.conversation
    summary_and_plan = background(packer, conversation, packer.allowance.short_term if conversation else 0)
    table = Inputs(
        packer,
        read,
        _as_results(packer, read),
        RenderedMessages(packer, conversation) if conversation else None,
        summary_and_plan,
    )
    choice = _layout(table)

    focus = []
    if conversation is not None:
        seen = choice.base.seen.union(*map(_keys, (choice.memories, choice.knowledge, choice.now)))
        space = room(packer.allowance, choice.base.tokens, session=True)
        focus = [packer.best(SectionName.FOCUS, space.focus, _beside(table.found, seen))]
    before = (choice.base.always, choice.base.profile, choice.memories, choice.knowledge, *summary_and_plan)
    sections = [*before, choice.now, choice.base.since, *focus]
    return Assembled(
        [one for one in sections if one.pieces or one.left_out],
        _stable_selection(choice, conversation) if conversation else None,
    )


def _layout(table: Inputs) -> Layout:
    """Keep the earlier layout; make a new one once something of it is invalid or news should move into it."""
    read = table.read
    facts = list(profile_lines.lines(read.profile, read.inactive))
    fresh = instructions.lay_out(table.packer, read.material.instructions, facts)
    if read.earlier is not None:
        earlier = (read.earlier, read.standing)
        earlier_layout = instructions.keep_layout(table.packer, read.material.instructions, facts, *earlier, fresh)
        choice = _lay_out(table, earlier_layout) if earlier_layout else None
        if choice and choice.lasting:
            return choice
    return _lay_out(table, fresh)


def _lay_out(table: Inputs, base: FixedSections) -> Layout:
    """Lay out memories and messages; they are chosen for this query once the window of messages moves."""
    packer, read, conversation = table.packer, table.read, table.read.material.conversation
    space = room(packer.allowance, base.tokens, session=conversation is not None)
    used = sum(one.tokens for one in table.background)
    memories, knowledge = _keep_selection(packer, space.memories, read, base.stable)
    count = len(memories.pieces) + len(knowledge.pieces)
    since = read.earlier.from_position if read.earlier else 0
    now = recent(table.written, space.recent(memories.tokens + knowledge.tokens + used), since)
    if count and read.earlier and read.earlier.from_position == _start(now, conversation):
        begun = count < len(read.earlier.memory_ids) + len(read.earlier.passages)
        return Layout(base, memories, knowledge, now, begun)
    # What was said or found elsewhere is shown for one question; only what is kept here can be held on to.
    others = _beside(table.found, base.seen | _keys(now))
    memories, knowledge = _choose(
        packer, space.memories, [one for one in others if conversation is None or one.piece.source["type"] in KEPT_HERE]
    )
    since = _start(now, conversation) if now.pieces else 0
    now = recent(table.written, space.recent(memories.tokens + knowledge.tokens + used), since)
    begun = bool(memories.pieces or knowledge.pieces) or read.earlier is None or read.earlier.from_position != since
    return Layout(base, memories, knowledge, now, begun)


def _keep_selection(
    packer: Packer, allowed: int, read: ContextMaterial, seen: AbstractSet[str]
) -> tuple[Section, Section]:
    """Return the earlier selection in order, without what is invalid or shown above."""
    ids = read.earlier.memory_ids if read.earlier else ()
    refs = read.earlier.passages if read.earlier else ()
    rows = [read.standing[one] for one in ids if one in read.standing and f"memory:{one}" not in seen]
    memories = packer.first(SectionName.MEMORIES, allowed, map(rendering.of_memory, rows))
    # Sent anew, a document may have other words in the same place.
    places = [(one.split("@")[0], one) for one in refs]
    passage_rows = [(read.passages[passage_id], one) for passage_id, one in places if passage_id in read.passages]
    passages = [piece for row, one in passage_rows if _reference(piece := rendering.of_passage(row)) == one]
    return memories, packer.first(SectionName.KNOWLEDGE, max(0, allowed - memories.tokens), passages)


def _choose(packer: Packer, allowed: int, found: Sequence[ScoredPiece]) -> tuple[Section, Section]:
    """Choose from the results: passages may take what memories leave, at least half of the room."""
    passages = [one for one in found if one.piece.source["type"] in KNOWLEDGE]
    others = [one for one in found if one.piece.source["type"] not in KNOWLEDGE]
    half = packer.best(SectionName.KNOWLEDGE, allowed // 2, passages) if passages else None
    memories = packer.best(SectionName.MEMORIES, allowed - (half.tokens if half else 0), others)
    return memories, packer.best(SectionName.KNOWLEDGE, allowed - memories.tokens, passages)


def _stable_selection(choice: Layout, conversation: SessionSlice) -> StableSelection:
    """Return the selection by id alone: texts are read again each time."""
    ids = [UUID(piece.source["id"]) for piece in choice.memories.pieces]
    passage_keys = [_reference(piece) for piece in choice.knowledge.pieces if piece.source["type"] == "document"]
    return StableSelection(
        _start(choice.now, conversation), ids, passage_keys, choice.base.instructions, choice.base.order
    )


def _reference(passage: SectionPiece) -> str:
    return f"{passage.key.removeprefix('document:')}@{passage.source['version']}"


def _start(now: Section, conversation: SessionSlice | None) -> int:
    """Return the position of the first message shown in full; one past the last if there is none."""
    if now.pieces:
        return int(now.pieces[0].source["position"])
    return conversation.messages[-1].position + 1 if conversation and conversation.messages else 0


def _keys(section: Section) -> set[str]:
    return {piece.key for piece in section.pieces}


def _beside(found: Sequence[ScoredPiece], seen: AbstractSet[str]) -> list[ScoredPiece]:
    """Return the results not shown elsewhere in the context."""
    return [one for one in found if one.piece.key not in seen]


def _as_results(packer: Packer, read: ContextMaterial) -> list[ScoredPiece]:
    """Return the results of the query; with a disputed memory those that contradict it."""
    found = {one.piece.key: one for result in read.results if (one := _as_result(packer, read, result)) is not None}
    for row in read.others.values():
        key = f"memory:{row.id}"
        denied = [one for one in found.values() if key in one.conflicts]
        if key not in found and denied:
            best, conflicts = max(one.score for one in denied), frozenset(one.piece.key for one in denied)
            found[key] = ScoredPiece(rendering.of_memory(row), best, row.occurred_at, conflicts)
    for name, answer in read.outside:
        piece = rendering.of_outside(name, answer.source, answer.text)
        found.setdefault(piece.key, ScoredPiece(piece, answer.score))
    hidden_ids = read.material.conversation.hidden if read.material.conversation else frozenset()
    session_id = read.material.conversation.session_id if read.material.conversation else None
    out = {f"message:{session_id}/{one}" for one in hidden_ids}
    return [one for key, one in found.items() if key not in out]


def _as_result(packer: Packer, read: ContextMaterial, result: Result) -> ScoredPiece | None:
    score = max(0.0, result.ranked.score)
    if result.memory is not None:
        row = result.memory
        return ScoredPiece(rendering.of_memory(row), score, row.occurred_at, _contradictions(read, row.id))
    if result.message is not None:
        quote = rendering.of_quote(result.message, superseded=result.superseded)
        short = _quotable(quote.text, packer.counter)
        return ScoredPiece(replace(quote, text=short), score, result.message.occurred_at) if short else None
    return ScoredPiece(rendering.of_passage(result.passage), score)


def _quotable(text: str, counter: Counter) -> str:
    """Return the beginning to quote; empty for hostile text, which would speak with the voice of the system."""
    short = cut(text, QUOTE_TOKENS, counter)
    return "" if output.screened_output(short).hostile else short


def _contradictions(read: ContextMaterial, memory_id: UUID) -> frozenset[str]:
    return frozenset(f"memory:{one}" for one in read.disputes.get(memory_id, ()))
