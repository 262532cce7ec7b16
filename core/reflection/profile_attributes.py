"""Profile attributes from memories. Pure.

No text is generated: every value and every sentence comes from a memory listed with it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from core.memory import retention
from core.statements import succession
from core.types import Category, Json, Topic, Trust

Key = TypeVar("Key")

STATEMENTS: Final = 5
"""Maximum statements shown per topic, strongest first."""

LINES: Final = 20
"""Maximum statements shown in a section without topics."""

VALUES: Final = 50
"""Maximum values shown per list, and maximum other people shown."""

SUPPORT: Final = 10
"""Maximum memories named per entry; further ones only repeat it."""

NAMES: Final = 100
"""Maximum changed attributes named in an event."""

SECTIONS: Final = {
    Category.PREFERENCE: "preferences",
    Category.INSTRUCTION: "instructions",
    Category.PATTERN: "habits",
    Category.PLAN: "goals",
}
"""Sections of statements by category, independent of topic."""

ABOUT: Final = {Topic.HABIT: "habits", Topic.GOAL: "goals"}
"""Sections of statements by topic, independent of category."""

EPISODES: Final = 5
"""Episodes shown, the latest."""

APART: Final = frozenset({Category.EPISODE, Category.SKILL})
"""Categories that describe a conversation or a procedure, not a person: sections of their own."""


@dataclass(frozen=True, slots=True)
class Trait:
    """A memory as used in a profile. `gathered`: the attribute of a list and the values it adds or denies."""

    id: str
    user_id: str | None
    subject: str
    category: Category
    topic: Topic
    content: str
    attribute: str | None
    value: str | None
    gathered: tuple[str, tuple[str, ...]] | None
    negated: bool
    confidence: float
    disputed: bool
    since: datetime
    until: datetime | None
    strength: float


def trait(row: Any, now: datetime) -> Trait:
    """Return a row of `memories` as a trait at a moment."""
    slotted = row.attribute is not None and row.value is not None and row.category != Category.INSTRUCTION
    listed = None if slotted else succession.gathered_list(row.structured)
    return Trait(
        id=str(row.id),
        user_id=row.user_id,
        subject=row.subject,
        category=Category(row.category),
        topic=Topic(row.topic),
        content=row.content,
        attribute=row.attribute if slotted else None,
        value=row.value if slotted else None,
        gathered=(listed.attribute, listed.values) if listed else None,
        negated=bool(row.structured.get("negated")),
        confidence=round(row.confidence, 4),
        disputed=row.trust == Trust.DISPUTED,
        since=row.valid_from or row.occurred_at,
        until=min((end for end in (row.expires_at, row.valid_to) if end), default=None),
        strength=retention.strength(row, now),
    )


def of_user(
    traits: Sequence[Trait], own: Collection[str], bearer: Callable[[str], Hashable] = lambda subject: subject
) -> Json:
    """Build the attributes of a user; `own`: the names by which they speak of themselves.

    `bearer`: whom the subject of a statement means; others appear under the subject of most statements about them.
    """
    displayed = [trait for trait in traits if trait.category not in APART]
    own_traits = [trait for trait in displayed if trait.subject in own]
    others = _by(lambda trait: bearer(trait.subject), (trait for trait in displayed if trait.subject not in own))
    named = {_usual_subject(of_person): of_person for of_person in others.values()}
    ranked = sorted(named.items(), key=lambda item: (-max(trait.strength for trait in item[1]), item[0]))
    people = {subject: _person(of_person) for subject, of_person in ranked[:VALUES]}
    done = [trait for trait in traits if trait.category is Category.SKILL]
    lived = [trait for trait in traits if trait.category is Category.EPISODE]
    lived.sort(key=lambda trait: (trait.since, trait.id), reverse=True)
    apart = {"skills": _lines(done, LINES), "episodes": [_line(trait) for trait in lived[:EPISODES]]}
    return _without_empty({**_attributes(own_traits), **_sections(own_traits), "people": people, **apart})


def _usual_subject(traits: Sequence[Trait]) -> str:
    counts = Counter(trait.subject for trait in traits)
    return min(counts, key=lambda subject: (-counts[subject], subject))


def of_group(traits: Sequence[Trait]) -> Json:
    """Build the attributes of a group from what was said in it: speakers, shared traits, decisions, events."""
    displayed = [trait for trait in traits if trait.category not in APART]
    agreed = {Category.PLAN, Category.PROJECT, Category.INSTRUCTION}
    decided = [trait for trait in displayed if trait.category in agreed]
    happened = [trait for trait in displayed if trait.category is Category.EVENT]
    statements = [trait for trait in displayed if trait.category not in {*agreed, Category.EVENT}]
    return _without_empty(
        {
            "members": _members(traits),
            "shared_topics": _shared_topics(displayed),
            "decisions": _lines_by_user(decided, LINES),
            "events": _lines_by_user(happened, LINES),
            "facts": {topic: _lines_by_user(group, STATEMENTS) for topic, group in _topics(statements)},
        }
    )


def lapses(traits: Iterable[Trait]) -> datetime | None:
    """Return when the first of the memories stops being valid."""
    return min((trait.until for trait in traits if trait.until), default=None)


def changed_names(before: Json, after: Json) -> list[str]:
    """Return the names of the attributes that differ, in order; at most NAMES."""
    old, new = dict(_flatten(before)), dict(_flatten(after))
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))[:NAMES]


def confident(attributes: Json, least: float) -> Json:
    """Return the attributes without entries below that confidence."""
    sure: Json = _sure(attributes, least) or {}
    return sure


def memory_ids_in(attributes: object) -> set[str]:
    """Return the ids of all memories in the attributes."""
    if isinstance(attributes, list):
        return set().union(*map(memory_ids_in, attributes))
    if not isinstance(attributes, dict):
        return set()
    own_ids: list[str] = attributes["memories"] if _is_entry(attributes) else []
    return {*own_ids, *(memory_id for part in attributes.values() for memory_id in memory_ids_in(part))}


def _attributes(traits: Sequence[Trait]) -> Json:
    slots = _by(lambda trait: trait.attribute, (trait for trait in traits if trait.attribute))
    lists = _by(
        lambda trait: trait.gathered[0] if trait.gathered else "", (trait for trait in traits if trait.gathered)
    )
    return {
        "slots": {str(name): _slot(group) for name, group in sorted(slots.items())},
        "lists": {name: _list(group) for name, group in sorted(lists.items())},
    }


def _sections(traits: Sequence[Trait]) -> Json:
    """Group statements that fill neither a slot nor a list, each into one section."""
    statements = [trait for trait in traits if not trait.attribute and not trait.gathered]
    sections = _by(lambda trait: SECTIONS.get(trait.category) or ABOUT.get(trait.topic) or "topics", statements)
    topics = {topic: _lines(group, STATEMENTS) for topic, group in _topics(sections.pop("topics", []))}
    return {"topics": topics, **{name: _lines(group, LINES) for name, group in sorted(sections.items())}}


def _person(traits: Sequence[Trait]) -> Json:
    statements = [trait for trait in traits if not trait.attribute and not trait.gathered]
    return _without_empty({**_attributes(traits), "statements": _lines(statements, STATEMENTS)})


def _slot(traits: Sequence[Trait]) -> Json:
    """Return the current value and contradicting ones: undisputed before disputed, then the latest."""
    values = _by(lambda trait: succession.normal_value(trait.value), traits)
    ranked = sorted(values.values(), key=_slot_rank, reverse=True)
    first, *others = [_entry("value", str(group[0].value), group) for group in map(_strongest, ranked)]
    against = [{**other, "disputed": True} for other in others[:VALUES]]
    return {**first, "alternatives": against} if against else first


def _slot_rank(traits: Sequence[Trait]) -> tuple[Any, ...]:
    undisputed = any(not trait.disputed for trait in traits)
    return undisputed, max(trait.since for trait in traits), max((trait.confidence, trait.id) for trait in traits)


def _list(traits: Sequence[Trait]) -> list[Json]:
    """Return the gathered values, best supported first; one that another memory denies is disputed."""
    values: defaultdict[tuple[str, bool], list[tuple[str, Trait]]] = defaultdict(list)
    for trait in _strongest(traits):
        for value in trait.gathered[1] if trait.gathered else ():
            values[succession.normal_value(value), trait.negated].append((value, trait))
    entries = []
    for (folded, negated), group in values.items():
        entry = _entry("value", group[0][0], [trait for _, trait in group])
        denied = {"disputed": True} if (folded, not negated) in values else {}
        entries.append({**entry, **({"negated": True} if negated else {}), **denied})
    return entries[:VALUES]


def _lines(traits: Sequence[Trait], most: int) -> list[Json]:
    return [_line(trait) for trait in _strongest(traits)[:most]]


def _line(trait: Trait) -> Json:
    return {**_entry("content", trait.content, [trait]), "category": trait.category.value}


def _lines_by_user(traits: Sequence[Trait], most: int) -> list[Json]:
    return [{**_line(trait), "by": trait.user_id} for trait in _strongest(traits)[:most]]


def _members(traits: Sequence[Trait]) -> list[Json]:
    """Return the speakers of the memories, the most frequent first."""
    spoken = _by(lambda trait: trait.user_id, (trait for trait in traits if trait.user_id))
    ranked = sorted(spoken.items(), key=lambda item: (-len(item[1]), str(item[0])))
    return [
        {"user_id": user, "memories": [trait.id for trait in _strongest(group)[:SUPPORT]], "confidence": 1.0}
        for user, group in ranked[:VALUES]
    ]


def _shared_topics(traits: Sequence[Trait]) -> dict[str, Json]:
    """Return topics on which several members have spoken."""
    shared: dict[str, Json] = {}
    for topic, group in _topics(traits):
        by = Counter(trait.user_id for trait in _strongest(group) if trait.user_id)
        if len(by) > 1:
            shared[topic] = {"members": sorted(by), **_support(group)}
    return shared


def _entry(name: str, value: str, traits: Sequence[Trait]) -> Json:
    since = min(trait.since for trait in traits).isoformat()
    disputed = {"disputed": True} if all(trait.disputed for trait in traits) else {}
    return {name: value, **_support(traits), "since": since, **disputed}


def _support(traits: Sequence[Trait]) -> Json:
    best = _strongest(traits)[:SUPPORT]
    return {"memories": [trait.id for trait in best], "confidence": max(trait.confidence for trait in traits)}


def _strongest(traits: Iterable[Trait]) -> list[Trait]:
    return sorted(traits, key=lambda trait: (-trait.strength, trait.id))


def _topics(traits: Iterable[Trait]) -> list[tuple[str, list[Trait]]]:
    return sorted(_by(lambda trait: trait.topic.value, traits).items())


def _by(key: Callable[[Trait], Key], traits: Iterable[Trait]) -> dict[Key, list[Trait]]:
    groups: defaultdict[Key, list[Trait]] = defaultdict(list)
    for trait in traits:
        groups[key(trait)].append(trait)
    return dict(groups)


def _without_empty(sections: Json) -> Json:
    return {name: part for name, part in sections.items() if part}


def _flatten(attributes: Json) -> Iterator[tuple[str, object]]:
    """Return attributes by name: slots and lists by their own, others by section and position."""
    for section, part in attributes.items():
        if not isinstance(part, dict):
            yield section, part
            continue
        prefix = "" if section == "slots" else f"{section}."
        for name, value in part.items():
            yield f"{prefix}{name}", value


def _is_entry(part: Json) -> bool:
    """Return whether a part itself lists memory ids; an attribute may be called `memories`, too, but holds no ids."""
    ids = part.get("memories")
    return isinstance(ids, list) and bool(ids) and isinstance(ids[0], str)


def _sure(part: Any, least: float) -> Any:
    """Return a part without entries below the confidence; None if nothing is left."""
    if isinstance(part, list):
        return [sure for entry in part if (sure := _sure(entry, least)) is not None] or None
    if not isinstance(part, dict):
        return part
    if not _is_entry(part):
        return {name: sure for name, value in part.items() if (sure := _sure(value, least)) is not None} or None
    if part["confidence"] < least:
        return None
    against = _sure(part.get("alternatives"), least)
    return {**{n: v for n, v in part.items() if n != "alternatives"}, **({"alternatives": against} if against else {})}
