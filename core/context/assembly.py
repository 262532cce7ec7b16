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
from core.context.conversation import Written, background, recent
from core.context.instructions import Standing
from core.context.packing import Desk, Found, room
from core.context.reader import Material, Talk
from core.context.retrievers import Found as Outside
from core.context.sections import Part, Piece, Section
from core.context.stable_selection import Held
from core.inference.token_counting import Counter, cut
from core.screening import output
from core.search.query import Found as Result
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
class Read:
    """Everything a context could show.

    `held` with `standing` and `passages`: the earlier selection, as it is now. `disputes`: contradictions among
    memories; `others`: those of them that the query did not find; `outside`: results of third-party retrievers;
    `gone`: memories of the profile that are no longer valid.
    """

    query: str
    material: Material
    profile: Json
    results: Sequence[Result]
    held: Held | None
    standing: Mapping[UUID, Any]
    passages: Mapping[str, Any]
    disputes: Mapping[UUID, frozenset[UUID]]
    others: Mapping[UUID, Any]
    outside: Sequence[tuple[str, Outside]] = ()
    gone: Collection[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Sheet:
    """Sections with content or omissions; `chosen`: the selection that the next contexts keep showing."""

    sections: Sequence[Section]
    chosen: Held | None

    def section(self, part: Part) -> Section | None:
        return next((one for one in self.sections if one.part == part), None)


@dataclass(frozen=True, slots=True)
class Table:
    """Inputs of the layout: the conversation and the results of the query."""

    desk: Desk
    read: Read
    found: Sequence[Found]
    written: Written | None
    background: Sequence[Section]


@dataclass(frozen=True, slots=True)
class Choice:
    """Sections beside the background; `begun`: not all of it is as it was shown before."""

    base: Standing
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


def sheet(desk: Desk, read: Read) -> Sheet:
    """Assemble the context: instructions, profile, memories, the conversation and what the query found."""
    talk = read.material.talk
    told = background(desk, talk, desk.allowance.short_term if talk else 0)
    table = Table(desk, read, _found(desk, read), Written(desk, talk) if talk else None, told)
    choice = _choice(table)

    focus = []
    if talk is not None:
        seen = choice.base.seen.union(*map(_keys, (choice.memories, choice.knowledge, choice.now)))
        space = room(desk.allowance, choice.base.tokens, session=True)
        focus = [desk.best(Part.FOCUS, space.focus, _beside(table.found, seen))]
    before = (choice.base.always, choice.base.profile, choice.memories, choice.knowledge, *told)
    sections = [*before, choice.now, choice.base.since, *focus]
    return Sheet([one for one in sections if one.pieces or one.left_out], _as_held(choice, talk) if talk else None)


def _choice(table: Table) -> Choice:
    """Keep the earlier layout; make a new one once something of it is invalid or news should move into it."""
    read = table.read
    known = list(profile_lines.lines(read.profile, read.gone))
    fresh = instructions.anew(table.desk, read.material.instructions, known)
    if read.held is not None:
        held = (read.held, read.standing)
        kept = instructions.as_before(table.desk, read.material.instructions, known, *held, fresh)
        choice = _laid(table, kept) if kept else None
        if choice and choice.lasting:
            return choice
    return _laid(table, fresh)


def _laid(table: Table, base: Standing) -> Choice:
    """Lay out memories and messages; they are chosen for this query once the window of messages moves."""
    desk, read, talk = table.desk, table.read, table.read.material.talk
    space = room(desk.allowance, base.tokens, session=talk is not None)
    used = sum(one.tokens for one in table.background)
    memories, knowledge = _held(desk, space.memories, read, base.stable)
    count = len(memories.pieces) + len(knowledge.pieces)
    since = read.held.from_position if read.held else 0
    now = recent(table.written, space.recent(memories.tokens + knowledge.tokens + used), since)
    if count and read.held and read.held.from_position == _start(now, talk):
        begun = count < len(read.held.memory_ids) + len(read.held.passages)
        return Choice(base, memories, knowledge, now, begun)
    # What was said or found elsewhere is shown for one question; only what is kept here can be held on to.
    others = _beside(table.found, base.seen | _keys(now))
    memories, knowledge = _chosen(
        desk, space.memories, [one for one in others if talk is None or one.piece.source["type"] in KEPT_HERE]
    )
    since = _start(now, talk) if now.pieces else 0
    now = recent(table.written, space.recent(memories.tokens + knowledge.tokens + used), since)
    begun = bool(memories.pieces or knowledge.pieces) or read.held is None or read.held.from_position != since
    return Choice(base, memories, knowledge, now, begun)


def _held(desk: Desk, allowed: int, read: Read, seen: AbstractSet[str]) -> tuple[Section, Section]:
    """Return the earlier selection in order, without what is invalid or shown above."""
    ids = read.held.memory_ids if read.held else ()
    refs = read.held.passages if read.held else ()
    rows = [read.standing[one] for one in ids if one in read.standing and f"memory:{one}" not in seen]
    memories = desk.first(Part.MEMORIES, allowed, map(rendering.of_memory, rows))
    # Sent anew, a document may have other words in the same place.
    places = [(one.split("@")[0], one) for one in refs]
    known = [(read.passages[place], one) for place, one in places if place in read.passages]
    passages = [piece for row, one in known if _reference(piece := rendering.of_passage(row)) == one]
    return memories, desk.first(Part.KNOWLEDGE, max(0, allowed - memories.tokens), passages)


def _chosen(desk: Desk, allowed: int, found: Sequence[Found]) -> tuple[Section, Section]:
    """Choose from the results: passages may take what memories leave, at least half of the room."""
    passages = [one for one in found if one.piece.source["type"] in KNOWLEDGE]
    others = [one for one in found if one.piece.source["type"] not in KNOWLEDGE]
    half = desk.best(Part.KNOWLEDGE, allowed // 2, passages) if passages else None
    memories = desk.best(Part.MEMORIES, allowed - (half.tokens if half else 0), others)
    return memories, desk.best(Part.KNOWLEDGE, allowed - memories.tokens, passages)


def _as_held(choice: Choice, talk: Talk) -> Held:
    """Return the selection by id alone: texts are read again each time."""
    ids = [UUID(piece.source["id"]) for piece in choice.memories.pieces]
    kept = [_reference(piece) for piece in choice.knowledge.pieces if piece.source["type"] == "document"]
    return Held(_start(choice.now, talk), ids, kept, choice.base.instructions, choice.base.order)


def _reference(passage: Piece) -> str:
    return f"{passage.key.removeprefix('document:')}@{passage.source['version']}"


def _start(now: Section, talk: Talk | None) -> int:
    """Return the position of the first message shown in full; one past the last if there is none."""
    if now.pieces:
        return int(now.pieces[0].source["position"])
    return talk.messages[-1].position + 1 if talk and talk.messages else 0


def _keys(section: Section) -> set[str]:
    return {piece.key for piece in section.pieces}


def _beside(found: Sequence[Found], seen: AbstractSet[str]) -> list[Found]:
    """Return the results not shown elsewhere in the context."""
    return [one for one in found if one.piece.key not in seen]


def _found(desk: Desk, read: Read) -> list[Found]:
    """Return the results of the query; with a disputed memory those that contradict it."""
    found = {one.piece.key: one for result in read.results if (one := _as_found(desk, read, result)) is not None}
    for row in read.others.values():
        key = f"memory:{row.id}"
        denied = [one for one in found.values() if key in one.conflicts]
        if key not in found and denied:
            best, conflicts = max(one.score for one in denied), frozenset(one.piece.key for one in denied)
            found[key] = Found(rendering.of_memory(row), best, row.occurred_at, conflicts)
    for name, answer in read.outside:
        piece = rendering.of_outside(name, answer.source, answer.text)
        found.setdefault(piece.key, Found(piece, answer.score))
    hidden = read.material.talk.hidden if read.material.talk else frozenset()
    mine = read.material.talk.session_id if read.material.talk else None
    out = {f"message:{mine}/{one}" for one in hidden}
    return [one for key, one in found.items() if key not in out]


def _as_found(desk: Desk, read: Read, result: Result) -> Found | None:
    score = max(0.0, result.ranked.score)
    if result.memory is not None:
        row = result.memory
        return Found(rendering.of_memory(row), score, row.occurred_at, _denied(read, row.id))
    if result.message is not None:
        quote = rendering.of_quote(result.message, superseded=result.superseded)
        short = _quotable(quote.text, desk.counter)
        return Found(replace(quote, text=short), score, result.message.occurred_at) if short else None
    return Found(rendering.of_passage(result.passage), score)


def _quotable(said: str, counter: Counter) -> str:
    """Return the beginning to quote; empty for hostile text, which would speak with the voice of the system."""
    short = cut(said, QUOTE_TOKENS, counter)
    return "" if output.shown(short).hostile else short


def _denied(read: Read, memory_id: UUID) -> frozenset[str]:
    return frozenset(f"memory:{one}" for one in read.disputes.get(memory_id, ()))
