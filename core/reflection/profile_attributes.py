"""Profile attributes from memories, pure.

Nothing is worded here: every value and every sentence is one of the memories that stand beside it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from core.memory import retention
from core.statements import succession
from core.types import Category, Json, Topic, Trust

Key = TypeVar("Key")

STATEMENTS: Final = 5
"""Statements shown of a topic: the strongest."""

LINES: Final = 20
"""Statements shown of a section that is not divided by topic."""

VALUES: Final = 50
"""Values shown of a list, and other people of whom something is shown."""

SUPPORT: Final = 10
"""Memories named for one entry; those that support it beyond are as many words for the same."""

NAMES: Final = 100
"""Attributes that an event names as changed."""

SECTIONS: Final = {
    Category.PREFERENCE: "preferences",
    Category.INSTRUCTION: "instructions",
    Category.PATTERN: "habits",
    Category.PLAN: "goals",
}
"""Where statements of a category stand, whatever they are about."""

ABOUT: Final = {Topic.HABIT: "habits", Topic.GOAL: "goals"}
"""Where statements of a topic stand, whatever their category."""

LEFT_OUT: Final = frozenset({Category.EPISODE, Category.SKILL})
"""What tells of one conversation, or of how something is done, and nothing of a person."""


@dataclass(frozen=True, slots=True)
class Trait:
    """A memory as a profile sees it. `gathered`: the attribute of a list and the values it adds, or denies."""

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
    """A row of `memories` at a moment."""
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


def of_user(traits: Sequence[Trait], own: Collection[str]) -> Json:
    """Build the attributes of a user; `own`: the names by which they speak of themselves."""
    shown = [one for one in traits if one.category not in LEFT_OUT]
    own_traits = [one for one in shown if one.subject in own]
    others = _by(lambda one: one.subject, (one for one in shown if one.subject not in own))
    ranked = sorted(others.items(), key=lambda item: (-max(one.strength for one in item[1]), item[0]))
    people = {subject: _person(traits_of_person) for subject, traits_of_person in ranked[:VALUES]}
    return _without_empty({**_attributes(own_traits), **_sections(own_traits), "people": people})


def of_group(traits: Sequence[Trait]) -> Json:
    """Build the attributes of a group from what was said in it: speakers, shared traits, decisions, events."""
    shown = [one for one in traits if one.category not in LEFT_OUT]
    agreed = {Category.PLAN, Category.PROJECT, Category.INSTRUCTION}
    decided = [one for one in shown if one.category in agreed]
    happened = [one for one in shown if one.category is Category.EVENT]
    statements = [one for one in shown if one.category not in {*agreed, Category.EVENT}]
    return _without_empty(
        {
            "members": _members(traits),
            "shared_topics": _shared_topics(shown),
            "decisions": _lines_by_user(decided, LINES),
            "events": _lines_by_user(happened, LINES),
            "facts": {topic: _lines_by_user(ones, STATEMENTS) for topic, ones in _topics(statements)},
        }
    )


def lapses(traits: Iterable[Trait]) -> datetime | None:
    """Return when the first of the memories stops being valid."""
    return min((one.until for one in traits if one.until), default=None)


def changed_names(before: Json, after: Json) -> list[str]:
    """The names of the attributes that differ, in their order; at most NAMES."""
    one, other = dict(_flatten(before)), dict(_flatten(after))
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))[:NAMES]


def confident(attributes: Json, least: float) -> Json:
    """The attributes without the entries that are less sure than that."""
    sure: Json = _sure(attributes, least) or {}
    return sure


def memory_ids_in(attributes: object) -> set[str]:
    """The ids of all memories that attributes name."""
    if isinstance(attributes, list):
        return set().union(*map(memory_ids_in, attributes))
    if not isinstance(attributes, dict):
        return set()
    own_ids: list[str] = attributes["memories"] if _is_entry(attributes) else []
    return {*own_ids, *(one for part in attributes.values() for one in memory_ids_in(part))}


def _attributes(traits: Sequence[Trait]) -> Json:
    slots = _by(lambda one: one.attribute, (one for one in traits if one.attribute))
    lists = _by(lambda one: one.gathered[0] if one.gathered else "", (one for one in traits if one.gathered))
    return {
        "slots": {str(name): _slot(ones) for name, ones in sorted(slots.items())},
        "lists": {name: _list(ones) for name, ones in sorted(lists.items())},
    }


def _sections(traits: Sequence[Trait]) -> Json:
    """Statements that fill neither a slot nor a list, each in one place."""
    statements = [one for one in traits if not one.attribute and not one.gathered]
    places = _by(lambda one: SECTIONS.get(one.category) or ABOUT.get(one.topic) or "topics", statements)
    topics = {topic: _lines(ones, STATEMENTS) for topic, ones in _topics(places.pop("topics", []))}
    return {"topics": topics, **{name: _lines(ones, LINES) for name, ones in sorted(places.items())}}


def _person(traits: Sequence[Trait]) -> Json:
    statements = [one for one in traits if not one.attribute and not one.gathered]
    return _without_empty({**_attributes(traits), "statements": _lines(statements, STATEMENTS)})


def _slot(traits: Sequence[Trait]) -> Json:
    """The value that stands, and those that are said against it: undisputed before disputed, then the latest."""
    values = _by(lambda one: succession.normal_value(one.value), traits)
    ranked = sorted(values.values(), key=_slot_rank, reverse=True)
    first, *others = [_entry("value", str(ones[0].value), ones) for ones in map(_strongest, ranked)]
    against = [{**other, "disputed": True} for other in others[:VALUES]]
    return {**first, "alternatives": against} if against else first


def _slot_rank(traits: Sequence[Trait]) -> tuple[Any, ...]:
    undisputed = any(not one.disputed for one in traits)
    return undisputed, max(one.since for one in traits), max((one.confidence, one.id) for one in traits)


def _list(traits: Sequence[Trait]) -> list[Json]:
    """The values gathered, the best supported first. What one memory says and another denies is disputed."""
    values: defaultdict[tuple[str, bool], list[tuple[str, Trait]]] = defaultdict(list)
    for one in _strongest(traits):
        for value in one.gathered[1] if one.gathered else ():
            values[succession.normal_value(value), one.negated].append((value, one))
    entries = []
    for (folded, negated), ones in values.items():
        entry = _entry("value", ones[0][0], [one for _, one in ones])
        denied = {"disputed": True} if (folded, not negated) in values else {}
        entries.append({**entry, **({"negated": True} if negated else {}), **denied})
    return entries[:VALUES]


def _lines(traits: Sequence[Trait], most: int) -> list[Json]:
    return [_line(one) for one in _strongest(traits)[:most]]


def _line(one: Trait) -> Json:
    return {**_entry("content", one.content, [one]), "category": one.category.value}


def _lines_by_user(traits: Sequence[Trait], most: int) -> list[Json]:
    return [{**_line(one), "by": one.user_id} for one in _strongest(traits)[:most]]


def _members(traits: Sequence[Trait]) -> list[Json]:
    """Return the speakers of the memories, the most frequent first."""
    spoken = _by(lambda one: one.user_id, (one for one in traits if one.user_id))
    ranked = sorted(spoken.items(), key=lambda item: (-len(item[1]), str(item[0])))
    return [
        {"user_id": user, "memories": [one.id for one in _strongest(ones)[:SUPPORT]], "confidence": 1.0}
        for user, ones in ranked[:VALUES]
    ]


def _shared_topics(traits: Sequence[Trait]) -> dict[str, Json]:
    """Topics on which more than one member has spoken."""
    found: dict[str, Json] = {}
    for topic, ones in _topics(traits):
        by = Counter(one.user_id for one in _strongest(ones) if one.user_id)
        if len(by) > 1:
            found[topic] = {"members": sorted(by), **_support(ones)}
    return found


def _entry(name: str, word: str, traits: Sequence[Trait]) -> Json:
    since = min(one.since for one in traits).isoformat()
    disputed = {"disputed": True} if all(one.disputed for one in traits) else {}
    return {name: word, **_support(traits), "since": since, **disputed}


def _support(traits: Sequence[Trait]) -> Json:
    best = _strongest(traits)[:SUPPORT]
    return {"memories": [one.id for one in best], "confidence": max(one.confidence for one in traits)}


def _strongest(traits: Iterable[Trait]) -> list[Trait]:
    return sorted(traits, key=lambda one: (-one.strength, one.id))


def _topics(traits: Iterable[Trait]) -> list[tuple[str, list[Trait]]]:
    return sorted(_by(lambda one: one.topic.value, traits).items())


def _by(key: Callable[[Trait], Key], traits: Iterable[Trait]) -> dict[Key, list[Trait]]:
    found: defaultdict[Key, list[Trait]] = defaultdict(list)
    for one in traits:
        found[key(one)].append(one)
    return dict(found)


def _without_empty(sections: Json) -> Json:
    return {name: part for name, part in sections.items() if part}


def _flatten(attributes: Json) -> Iterator[tuple[str, object]]:
    """Attributes by name: slots and lists by their own, all others by their section and their place in it."""
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
    """A part without what is not sure enough; None where nothing is left of it."""
    if isinstance(part, list):
        return [sure for one in part if (sure := _sure(one, least)) is not None] or None
    if not isinstance(part, dict):
        return part
    if not _is_entry(part):
        return {name: sure for name, one in part.items() if (sure := _sure(one, least)) is not None} or None
    if part["confidence"] < least:
        return None
    against = _sure(part.get("alternatives"), least)
    return {**{n: v for n, v in part.items() if n != "alternatives"}, **({"alternatives": against} if against else {})}
