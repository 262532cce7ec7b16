"""From what is known to what is shown, within a hard limit of tokens. Pure.

What changes least stands first. Each part fills its own share; what it leaves goes to the next. Of each is said what
was left out of it, and why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from core import guard
from core.context import lines
from core.context.conversation import Written, background, recent
from core.context.desk import Desk, Found, room
from core.context.gather import Material, Talk
from core.context.held import Held
from core.context.parts import Part, Piece, Section
from core.retrievers import Found as Outside
from core.search.query import Found as Result
from core.tokens import cut
from core.types import Json

KEPT_HERE: Final = frozenset({"memory", "document"})
"""What a session's next contexts find again by its id."""

KNOWLEDGE: Final = frozenset({"document", "outside"})
"""What stands under knowledge, and not under memories."""

QUOTE_TOKENS: Final = 80
"""Of a message from another conversation the beginning is quoted."""


@dataclass(frozen=True, slots=True)
class Read:
    """Everything a context could show.

    `held` with `standing` and `passages`: what was chosen before, as it is now. `disputes`: which memories deny each
    other; `others`: those of them that the question did not bring up; `outside`: what other packages have found.
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


@dataclass(frozen=True, slots=True)
class Sheet:
    """The sections that hold something or could have; `chosen`: what a session's next contexts go on showing."""

    sections: Sequence[Section]
    chosen: Held | None

    def section(self, part: Part) -> Section | None:
        return next((one for one in self.sections if one.part == part), None)


def sheet(desk: Desk, read: Read) -> Sheet:
    """The whole context: what always holds, what is remembered, how the conversation stands, what was asked."""
    talk = read.material.talk
    always, about = always_shown(desk, read.material.instructions, read.profile)
    space = room(desk.allowance, always.tokens + about.tokens, session=talk is not None)
    told, plan = background(desk, talk, space.short_term)
    used = told.tokens + plan.tokens
    seen = {piece.key for piece in (*always.pieces, *about.pieces)} | _stated(about)

    memories, knowledge = _held(desk, space.memories, read, seen)
    since = read.held.from_position if read.held else 0
    written, found = Written(desk, talk) if talk else None, _found(desk, read)
    now = recent(written, space.recent(memories.tokens + knowledge.tokens + used), since)
    if read.held is None or read.held.from_position != _start(now, talk):
        # What was said or found elsewhere is shown for one question; only what is kept here can be held on to.
        others = _beside(found, seen | {piece.key for piece in now.pieces})
        held = [one for one in others if talk is None or one.piece.source["type"] in KEPT_HERE]
        memories, knowledge = _chosen(desk, space.memories, held)
        since = _start(now, talk) if now.pieces else 0
        now = recent(written, space.recent(memories.tokens + knowledge.tokens + used), since)
    seen |= {piece.key for section in (memories, knowledge, now) for piece in section.pieces}
    focus = desk.best(Part.FOCUS, space.focus, _beside(found, seen)) if talk is not None else None

    sections = [always, about, memories, knowledge, told, plan, now, *([focus] if focus else [])]
    chosen = None if talk is None else _as_held(memories, knowledge, _start(now, talk))
    return Sheet([one for one in sections if one.pieces or one.left_out], chosen)


def always_shown(desk: Desk, instructions: Sequence[Any], profile: Json) -> tuple[Section, Section]:
    """What always holds: pinned memories and instructions, which may take all but what is said now, and the profile."""
    most = desk.allowance.system + desk.allowance.long_term
    always = desk.first(Part.INSTRUCTIONS, most, map(lines.of_instruction, instructions))
    left = max(0, desk.allowance.system - always.tokens)
    known = {piece.key for piece in always.pieces}
    about = [piece for piece in lines.of_profile(profile) if not _told(piece, known)]
    return always, desk.first(Part.PROFILE, left, about)


def _held(desk: Desk, allowed: int, read: Read, seen: AbstractSet[str]) -> tuple[Section, Section]:
    """What was chosen before, in the same order, less what does not hold any longer or stands above."""
    ids = read.held.memory_ids if read.held else ()
    refs = read.held.passages if read.held else ()
    rows = [read.standing[one] for one in ids if one in read.standing and f"memory:{one}" not in seen]
    memories = desk.first(Part.MEMORIES, allowed, map(lines.of_memory, rows))
    # Sent anew, a document may have other words in the same place.
    places = [(one.split("@")[0], one) for one in refs]
    known = [(read.passages[place], one) for place, one in places if place in read.passages]
    passages = [piece for row, one in known if _reference(piece := lines.of_passage(row)) == one]
    return memories, desk.first(Part.KNOWLEDGE, max(0, allowed - memories.tokens), passages)


def _chosen(desk: Desk, allowed: int, found: Sequence[Found]) -> tuple[Section, Section]:
    """What the question brings up: passages may take what memories leave, half of the room at the least."""
    passages = [one for one in found if one.piece.source["type"] in KNOWLEDGE]
    others = [one for one in found if one.piece.source["type"] not in KNOWLEDGE]
    half = desk.best(Part.KNOWLEDGE, allowed // 2, passages) if passages else None
    memories = desk.best(Part.MEMORIES, allowed - (half.tokens if half else 0), others)
    return memories, desk.best(Part.KNOWLEDGE, allowed - memories.tokens, passages)


def _as_held(memories: Section, knowledge: Section, start: int) -> Held:
    """By id alone: the words are read anew each time."""
    ids = [UUID(piece.source["id"]) for piece in memories.pieces]
    kept = [piece for piece in knowledge.pieces if piece.source["type"] == "document"]
    return Held(start, ids, [_reference(piece) for piece in kept])


def _reference(passage: Piece) -> str:
    return f"{passage.key.removeprefix('document:')}@{passage.source['version']}"


def _start(now: Section, talk: Talk | None) -> int:
    """The first message that is shown as it was said; behind the last, where none is."""
    if now.pieces:
        return int(now.pieces[0].source["position"])
    return talk.messages[-1].position + 1 if talk and talk.messages else 0


def _beside(found: Sequence[Found], seen: AbstractSet[str]) -> list[Found]:
    """What does not stand elsewhere in the context."""
    return [one for one in found if one.piece.key not in seen]


def _found(desk: Desk, read: Read) -> list[Found]:
    """What the question brought up; with a disputed memory comes what denies it."""
    found = {one.piece.key: one for result in read.results if (one := _as_found(desk, read, result)) is not None}
    for row in read.others.values():
        key = f"memory:{row.id}"
        denied = [one for one in found.values() if key in one.conflicts]
        if key not in found and denied:
            best, conflicts = max(one.score for one in denied), frozenset(one.piece.key for one in denied)
            found[key] = Found(lines.of_memory(row), best, row.occurred_at, conflicts)
    for name, answer in read.outside:
        piece = lines.of_outside(name, answer.source, answer.text)
        found.setdefault(piece.key, Found(piece, answer.score))
    hidden = read.material.talk.hidden if read.material.talk else frozenset()
    mine = read.material.talk.session_id if read.material.talk else None
    out = {f"message:{mine}/{one}" for one in hidden}
    return [one for key, one in found.items() if key not in out]


def _as_found(desk: Desk, read: Read, result: Result) -> Found | None:
    score = max(0.0, result.ranked.score)
    if result.memory is not None:
        row = result.memory
        return Found(lines.of_memory(row), score, row.occurred_at, _denied(read, row.id))
    if result.message is not None:
        quote = lines.of_quote(result.message)
        short = cut(quote.text, QUOTE_TOKENS, desk.counter)
        if guard.screen(short).hostile:
            return None  # It would stand where the system speaks.
        return Found(replace(quote, text=short), score, result.message.occurred_at)
    return Found(lines.of_passage(result.passage), score)


def _denied(read: Read, memory_id: UUID) -> frozenset[str]:
    return frozenset(f"memory:{one}" for one in read.disputes.get(memory_id, ()))


def _stated(about: Section) -> set[str]:
    """Memories that stand word for word in the profile; what fills a slot of it says more than the slot does."""
    listed = [piece for piece in about.pieces if piece.key.split(":")[1].split(".")[0] in lines.LISTED]
    return {f"memory:{one}" for piece in listed for one in piece.source["memories"]}


def _told(piece: Piece, known: set[str]) -> bool:
    """Whether a line of the profile rests on nothing but what stands among the instructions already."""
    return all(f"memory:{one}" in known for one in piece.source["memories"])
