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
from core.context.pinned_texts import pinned_sections
from core.context.reader import OwnerMaterial, SessionView
from core.context.retrievers import RetrievedText as Outside
from core.context.sections import Section, SectionName, SectionPiece
from core.context.stable_selection import StableSelection
from core.inference.token_counting import Counter, cut
from core.screening import output
from core.search.question import SearchResult as Result
from core.types import Json

KEPT_HERE: Final = frozenset({"memory", "document"})
"""Types that the next contexts of a session find again by id."""

KNOWLEDGE: Final = frozenset({"document", "outside"})
"""Types shown under knowledge, not under memories."""

PAID: Final = 20
"""Number of questions after which reading the news section each time costs as much as a new layout."""

QUOTE_TOKENS: Final = 80
"""Tokens quoted from the beginning of a message of another conversation."""


@dataclass(frozen=True, slots=True)
class ContextMaterial:
    """Everything a context could show.

    `earlier` with `standing` and `passages`: the earlier selection, as it is now. `disputes`: contradictions among
    memories; `others`: those of them that the query did not find; `outside`: results of third-party retrievers;
    `inactive`: memories of the profile that are no longer valid; `doubted`: those of the earlier selection that may be
    outdated.
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
    doubted: Collection[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class Assembled:
    """Sections with content or omissions; `chosen`: the selection that the next contexts keep showing."""

    sections: Sequence[Section]
    chosen: StableSelection | None

    def section(self, part: SectionName) -> Section | None:
        return next((section for section in self.sections if section.part == part), None)


@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs of the layout: the conversation and the results of the query."""

    packer: Packer
    sources: ContextMaterial
    results: Sequence[ScoredPiece]
    rendered: RenderedMessages | None
    background: Sequence[Section]


@dataclass(frozen=True, slots=True)
class Layout:
    """Sections other than the background; `begun`: some of it differs from what was shown before."""

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


def assemble(packer: Packer, sources: ContextMaterial) -> Assembled:
    """Assemble the context: instructions, profile, memories, the conversation and what the query found."""
    conversation = sources.material.conversation
    rendered = RenderedMessages(packer, conversation) if conversation else None
    summary_and_plan = background(packer, rendered, packer.allowance.short_term)
    inputs = Inputs(packer, sources, _as_results(packer, sources), rendered, summary_and_plan)
    layout = _layout(inputs)

    focus = []
    if conversation is not None:
        seen = layout.base.seen.union(*map(_keys, (layout.memories, layout.knowledge, layout.now)))
        space = room(packer.allowance, layout.base.tokens, session=True)
        focus = [packer.best(SectionName.FOCUS, space.focus, _beside(inputs.results, seen))]
    pinned = pinned_sections(packer, sources.material)
    before = (*pinned, layout.base.always, layout.base.profile, layout.memories, layout.knowledge, *summary_and_plan)
    sections = [*before, layout.now, layout.base.since, *focus]
    return Assembled(
        [section for section in sections if section.pieces or section.left_out],
        _stable_selection(layout, conversation) if conversation else None,
    )


def _layout(inputs: Inputs) -> Layout:
    """Keep the earlier layout; make a new one once something of it is invalid or news should move into it."""
    sources = inputs.sources
    facts = list(profile_lines.lines(sources.profile, sources.inactive))
    fresh = instructions.lay_out(inputs.packer, sources.material.instructions, facts)
    if sources.earlier is not None:
        earlier = (sources.earlier, sources.standing)
        earlier_layout = instructions.keep_layout(inputs.packer, sources.material.instructions, facts, *earlier, fresh)
        layout = _lay_out(inputs, earlier_layout) if earlier_layout else None
        if layout and layout.lasting:
            return layout
    return _lay_out(inputs, fresh)


def _lay_out(inputs: Inputs, base: FixedSections) -> Layout:
    """Lay out memories and messages; they are chosen for this query once the window of messages moves."""
    packer, sources, conversation = inputs.packer, inputs.sources, inputs.sources.material.conversation
    space = room(packer.allowance, base.tokens, session=conversation is not None)
    used = sum(section.tokens for section in inputs.background)
    memories, knowledge = _keep_selection(packer, space.memories, sources, base.stable)
    count = len(memories.pieces) + len(knowledge.pieces)
    since = sources.earlier.from_position if sources.earlier else 0
    now = recent(inputs.rendered, space.recent(memories.tokens + knowledge.tokens + used), since)
    if count and sources.earlier and sources.earlier.from_position == _start(now, conversation):
        begun = count < len(sources.earlier.memory_ids) + len(sources.earlier.passages)
        return Layout(base, memories, knowledge, now, begun)
    # What was said or found elsewhere is shown for one question; only what is kept here can be held on to.
    others = _beside(inputs.results, base.seen | _keys(now))
    memories, knowledge = _choose(
        packer,
        space.memories,
        [result for result in others if conversation is None or result.piece.source["type"] in KEPT_HERE],
    )
    since = _start(now, conversation) if now.pieces else 0
    now = recent(inputs.rendered, space.recent(memories.tokens + knowledge.tokens + used), since)
    begun = (
        bool(memories.pieces or knowledge.pieces) or sources.earlier is None or sources.earlier.from_position != since
    )
    return Layout(base, memories, knowledge, now, begun)


def _keep_selection(
    packer: Packer, allowed: int, sources: ContextMaterial, seen: AbstractSet[str]
) -> tuple[Section, Section]:
    """Return the earlier selection in order, without what is invalid or shown above."""
    ids = sources.earlier.memory_ids if sources.earlier else ()
    refs = sources.earlier.passages if sources.earlier else ()
    rows = [
        sources.standing[memory_id]
        for memory_id in ids
        if memory_id in sources.standing and f"memory:{memory_id}" not in seen
    ]
    pieces = [rendering.of_memory(row, packer.listener, doubted=row.id in sources.doubted) for row in rows]
    memories = packer.first(SectionName.MEMORIES, allowed, pieces)
    # Sent anew, a document may have other words in the same place.
    places = [(reference.split("@")[0], reference) for reference in refs]
    passage_rows = [
        (sources.passages[passage_id], reference) for passage_id, reference in places if passage_id in sources.passages
    ]
    passages = [piece for row, reference in passage_rows if _reference(piece := rendering.of_passage(row)) == reference]
    return memories, packer.first(SectionName.KNOWLEDGE, max(0, allowed - memories.tokens), passages)


def _choose(packer: Packer, allowed: int, results: Sequence[ScoredPiece]) -> tuple[Section, Section]:
    """Choose from the results: passages may take what memories leave, at least half of the room."""
    passages = [result for result in results if result.piece.source["type"] in KNOWLEDGE]
    others = [result for result in results if result.piece.source["type"] not in KNOWLEDGE]
    half = packer.best(SectionName.KNOWLEDGE, allowed // 2, passages) if passages else None
    memories = packer.best(SectionName.MEMORIES, allowed - (half.tokens if half else 0), others)
    return memories, packer.best(SectionName.KNOWLEDGE, allowed - memories.tokens, passages)


def _stable_selection(layout: Layout, conversation: SessionView) -> StableSelection:
    """Return the selection by id alone: texts are read again each time."""
    ids = [UUID(piece.source["id"]) for piece in layout.memories.pieces]
    passage_keys = [_reference(piece) for piece in layout.knowledge.pieces if piece.source["type"] == "document"]
    return StableSelection(
        _start(layout.now, conversation), ids, passage_keys, layout.base.instructions, layout.base.order
    )


def _reference(passage: SectionPiece) -> str:
    return f"{passage.key.removeprefix('document:')}@{passage.source['version']}"


def _start(now: Section, conversation: SessionView | None) -> int:
    """Return the position of the first message shown in full; one past the last if there is none."""
    if now.pieces:
        return int(now.pieces[0].source["position"])
    return conversation.messages[-1].position + 1 if conversation and conversation.messages else 0


def _keys(section: Section) -> set[str]:
    return {piece.key for piece in section.pieces}


def _beside(results: Sequence[ScoredPiece], seen: AbstractSet[str]) -> list[ScoredPiece]:
    """Return the results not shown elsewhere in the context."""
    return [result for result in results if result.piece.key not in seen]


def _as_results(packer: Packer, sources: ContextMaterial) -> list[ScoredPiece]:
    """Return the results of the query; with a disputed memory those that contradict it."""
    results = {
        scored.piece.key: scored
        for result in sources.results
        if (scored := _as_result(packer, sources, result)) is not None
    }
    for row in sources.others.values():
        key = f"memory:{row.id}"
        denied = [result for result in results.values() if key in result.conflicts]
        if key not in results and denied:
            best, conflicts = max(result.score for result in denied), frozenset(result.piece.key for result in denied)
            results[key] = ScoredPiece(rendering.of_memory(row, packer.listener), best, row.occurred_at, conflicts)
    for name, answer in sources.outside:
        piece = rendering.of_outside(name, answer.source, answer.text)
        results.setdefault(piece.key, ScoredPiece(piece, answer.score))
    hidden_ids = sources.material.conversation.hidden if sources.material.conversation else frozenset()
    session_id = sources.material.conversation.session_id if sources.material.conversation else None
    out = {f"message:{session_id}/{message_id}" for message_id in hidden_ids}
    return [result for key, result in results.items() if key not in out]


def _as_result(packer: Packer, sources: ContextMaterial, result: Result) -> ScoredPiece | None:
    score = max(0.0, result.ranked.score)
    if result.memory is not None:
        row = result.memory
        conflicts = frozenset(f"memory:{other_id}" for other_id in sources.disputes.get(row.id, ()))
        piece = rendering.of_memory(row, packer.listener, doubted=result.doubted)
        return ScoredPiece(piece, score, row.occurred_at, conflicts)
    if result.message is not None:
        quote = rendering.of_quote(result.message, _mark(result))
        short = _quotable(quote.text, packer.counter)
        return ScoredPiece(replace(quote, text=short), score, result.message.occurred_at) if short else None
    if result.unit is not None:
        return ScoredPiece(rendering.of_unit(result.unit), score, result.unit.started_at)
    return ScoredPiece(rendering.of_passage(result.passage), score)


def _mark(result: Result) -> str:
    if result.superseded:
        return rendering.SUPERSEDED
    if result.partly_superseded:
        return rendering.PARTLY
    return rendering.DOUBTED if result.doubted else ""


def _quotable(text: str, counter: Counter) -> str:
    """Return the beginning to quote; empty for hostile text, which would speak with the voice of the system."""
    short = cut(text, QUOTE_TOKENS, counter)
    return "" if output.screened_output(short).hostile else short
