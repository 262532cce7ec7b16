"""Joins the forms by which people are called to entities, in the order in which they were introduced. Pure.

Nothing is stored of it: what a user's messages and memories say of names (`core.language.introductions`) and what
somebody has decided by hand gives the same entities each time, and nothing of what was erased.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Final, NamedTuple

from core.language import introductions, roles
from core.language.introductions import is_role
from core.memoize import memoized_in_scope

SELF: Final = frozenset({"user", "the user"})
"""Names of the user in statements that name nobody."""

NEVER: Final = datetime.max.replace(tzinfo=UTC)
"""Stands for the time of an introduction that never took place."""

MOST: Final = 500
"""Different introductions that are joined, those told last: each is compared with the entities that share a name."""

CANDIDATES: Final = 30
"""Entities with a name in common, those told last, among which its bearer is looked for."""


class Introduction(NamedTuple):
    """Forms of one person, and when they were told."""

    forms: Sequence[str]
    at: datetime


class Decision(NamedTuple):
    """What somebody has decided about two forms: whether they mean the same person.

    `other` empty: `form` is the name under which its bearer is shown.
    """

    form: str
    other: str
    same: bool
    at: datetime


class Span(NamedTuple):
    """When a form was told first and last."""

    first: datetime
    last: datetime


@dataclass(slots=True, eq=False)
class Entity:
    """Somebody under all forms by which they are called. `chosen`: the name by hand, under which they are shown."""

    spans: dict[str, Span] = field(default_factory=dict)
    chosen: str | None = None
    _written: dict[str, str] = field(default_factory=dict)
    """Each form as it was written first, by the form in which case does not count."""

    @classmethod
    def known_as(cls, form: str) -> Entity:
        """Return somebody who was never introduced."""
        entity = cls()
        entity.add([form], NEVER)
        return entity

    @property
    def names(self) -> list[str]:
        return [form for form in self.spans if not is_role(form)]

    @property
    def roles(self) -> list[str]:
        return [form for form in self.spans if is_role(form)]

    @property
    def name(self) -> str:
        """The name chosen by hand, or the fullest; "my work wife" is less of a name than "Shreya"."""
        fullest = max(self.names, key=lambda name: (not name[0].islower(), len(name.split()), len(name)), default="")
        return self.chosen or fullest or next(iter(self.spans))

    @property
    def last(self) -> datetime:
        return max(span.last for span in self.spans.values())

    def add(self, forms: Iterable[str], at: datetime) -> None:
        for form in forms:
            written = self._written.setdefault(folded(form), form)
            span = self.spans.get(written, Span(at, at))
            self.spans[written] = Span(min(span.first, at), max(span.last, at))

    def has(self, form: str) -> bool:
        return folded(form) in self._written

    def span_of(self, form: str) -> Span | None:
        written = self._written.get(folded(form))
        return self.spans[written] if written is not None else None

    def goes_by(self, name: str) -> bool:
        """Return whether a name is one of theirs, or a part of one, or has one of theirs as a part."""
        return self.has(name) or any(_is_short(name, own) or _is_short(own, name) for own in self.names)


class Directory:
    """The entities of a user, found by their names, parts of these, and kinds of roles."""

    def __init__(self, own: frozenset[str] = frozenset(), decisions: Sequence[Decision] = ()) -> None:
        self._own = own
        self._apart = [{folded(d.form), folded(d.other)} for d in decisions if not d.same]
        self._entities: dict[Entity, None] = {}
        self._by_key: defaultdict[str, dict[Entity, None]] = defaultdict(dict)

    @property
    def entities(self) -> list[Entity]:
        return list(self._entities)

    @cached_property
    def written_names(self) -> list[str]:
        """All names, and what their bearers may be called; once nothing is added any more."""
        every = (
            name for entity in self._entities for own in entity.names for name in (own, *introductions.short_forms(own))
        )
        return list(dict.fromkeys(every))

    def add(self, entity: Entity, forms: Iterable[str], at: datetime) -> None:
        """Add forms to an entity, which becomes one of the directory's."""
        self._entities[entity] = None
        entity.add(forms, at)
        for form in forms:
            for key in _keys(form):
                self._by_key[key][entity] = None

    def absorb(self, entity: Entity, other: Entity) -> None:
        """Make one entity of two."""
        for form, span in other.spans.items():
            for moment in span:
                self.add(entity, [form], moment)
        entity.chosen = entity.chosen or other.chosen
        del self._entities[other]

    def candidates(self, form: str) -> list[Entity]:
        """Return entities that may be meant by a form, those told last first."""
        several = {entity: None for key in _keys(form) for entity in self._by_key.get(key, ())}
        return sorted(
            (entity for entity in several if entity in self._entities), key=lambda entity: entity.last, reverse=True
        )[:CANDIDATES]

    def holders(self, form: str) -> list[Entity]:
        """Return the entities that go by a form."""
        form = _owned(form, self._own)
        return [
            entity
            for entity in self.candidates(form)
            if self._is_called(entity, form) and (entity.has(form) or not self.apart(entity.spans, form))
        ]

    def find(self, form: str, at: datetime | None = None) -> Entity | None:
        """Return whom a form means, at a moment or now; None: nobody, or several.

        Of several with one name it is the one introduced last. So it is of roles that one person has at a time.
        """
        holders = self.holders(form)
        if is_role(form) and len(holders) > 1 and roles.kind(role_of(form)) not in roles.LASTING | roles.CURRENT:
            return None
        until = [entity for entity in holders if at is None or min(span.first for span in entity.spans.values()) <= at]
        owned = _owned(form, self._own)
        return max(until or holders, key=lambda entity: _last_told(entity, owned, at), default=None)

    def bearer_of(self, written: str) -> Entity | None:
        """Return whom a name or role means, as people write it."""
        return self.find(introductions.form_of(written))

    def of(self, forms: Sequence[str]) -> Entity | None:
        """Return the entity that has the most of these forms."""
        possible = {entity: None for form in forms for entity in self.candidates(_owned(form, self._own))}
        counted = [(sum(self._is_called(entity, form) for form in forms), entity) for entity in possible]
        most, entity = max(counted, key=lambda pair: (pair[0], pair[1].last), default=(0, None))
        return entity if most else None

    def apart(self, forms: Iterable[str], other: str) -> bool:
        """Return whether somebody has decided that a form is not of who has any of these."""
        return bool(self._apart) and any({folded(form), folded(other)} in self._apart for form in forms)

    def _is_called(self, entity: Entity, form: str) -> bool:
        if not is_role(form):
            return entity.goes_by(form)
        return any(
            roles.is_called(role_of(own), role_of(form)) and self._same_possessor(own, form) for own in entity.roles
        )

    def _same_possessor(self, form: str, other: str) -> bool:
        of, of_other = (possessor_of(role) for role in (form, other))
        if of == of_other or not of or not of_other:
            return of == of_other
        first, second = (self.find(f"/{name[1:]}" if name.startswith("~") else name) for name in (of, of_other))
        return first is not None and first is second


def resolve(
    introduced: Iterable[Introduction], decisions: Sequence[Decision] = (), own: frozenset[str] = frozenset()
) -> Directory:
    """Return the entities of introductions. `own`: names of the user, whose roles are those of the speaker."""
    own = frozenset(folded(introductions.speaker_of(name)) for name in own) | SELF
    directory = Directory(own, decisions)
    for introduction, span in _together(introduced):
        forms = [_owned(form, own) for form in introduction if folded(form) not in own]
        for group in _undivided(directory, forms):
            bearer, *same = _match(directory, group) or [Entity()]
            for entity in same:
                directory.absorb(bearer, entity)
            for moment in span:
                directory.add(bearer, group, moment)
    for decision in decisions:
        if decision.same:
            _join(directory, decision)
    return directory


@memoized_in_scope
def folded(form: str) -> str:
    """Return a form in which case and width do not count."""
    return unicodedata.normalize("NFKC", form).casefold()


def _together(introduced: Iterable[Introduction]) -> list[tuple[Sequence[str], Span]]:
    """Return what was told, each once, with when it was told first and last, in the order in which it was first."""
    spans: dict[tuple[str, ...], Span] = {}
    for introduction in introduced:
        forms, at = tuple(introduction.forms), introduction.at
        span = spans.get(forms, Span(at, at))
        spans[forms] = Span(min(span.first, at), max(span.last, at))
    latest = sorted(spans.items(), key=lambda item: item[1].last, reverse=True)[:MOST]
    return sorted(latest, key=lambda item: item[1].first)


def role_of(form: str) -> str:
    return form.rpartition("/")[2]


def possessor_of(form: str) -> str:
    return form.rpartition("/")[0]


def _owned(form: str, own: frozenset[str]) -> str:
    """Return a role of the user by name as one of the speaker."""
    return f"/{role_of(form)}" if is_role(form) and folded(possessor_of(form)) in own else form


def _keys(form: str) -> list[str]:
    """Return the keys under which an entity with a form is found, and by which it is looked for."""
    if is_role(form):
        return [f"/{roles.kind(role_of(form))}"]
    return [folded(form), *_short_forms(form)]


def _undivided(directory: Directory, forms: Sequence[str]) -> list[list[str]]:
    """Return groups of forms that were told together, of which nobody has parted any two."""
    groups: list[list[str]] = []
    for form in forms:
        group = next((group for group in groups if not directory.apart(group, form)), None)
        if group is None:
            groups.append([form])
        else:
            group.append(form)
    return groups


def _match(directory: Directory, forms: Sequence[str]) -> list[Entity]:
    """Return the entities that an introduction speaks of, which are one; none: it is a new one.

    An entity with one of the names comes before those that have a part of one, and these before a mother or father
    under another name. Others that have a further name of the introduction are the same one.
    """
    names = [form for form in forms if not is_role(form)]
    introduced_as = [form for form in forms if is_role(form)]
    sought = [*names, *(form for form in introduced_as if role_of(form) in roles.LASTING)]
    possible = [
        entity
        for entity in dict.fromkeys(entity for form in sought for entity in directory.candidates(form))
        if not any(directory.apart(entity.spans, form) for form in forms) and not _excludes(entity, introduced_as)
    ]
    full = [name for name in names if any(introductions.parts_of(name))]
    exact = sorted(
        (
            entity
            for entity in possible
            if any(map(entity.has, full)) or (any(map(entity.has, names)) and not _contradict(entity.names, names))
        ),
        key=lambda entity: (sum(entity.has(name) for name in names), entity.last),
        reverse=True,
    )
    if exact:
        first, *others = exact
        further = [name for name in names if not first.has(name)]
        same = [other for other in others if any(map(other.has, further)) and not _contradict(first.names, other.names)]
        return [first, *same]
    partly = [
        entity
        for entity in possible
        if any(entity.goes_by(name) for name in names) and not _contradict(entity.names, names)
    ]
    lasting = [
        entity
        for entity in possible
        if any(entity.has(role) for role in introduced_as if role_of(role) in roles.LASTING)
    ]
    return sorted(partly or lasting, key=lambda entity: entity.last, reverse=True)[:1]


def _contradict(names: Iterable[str], others: Sequence[str]) -> bool:
    return any(introductions.contradict(name, other) for name in names for other in others)


def _excludes(entity: Entity, introduced_as: Sequence[str]) -> bool:
    """Return whether somebody who has the roles of an entity cannot have these, too."""
    return any(
        possessor_of(role) == possessor_of(own) and not roles.may_be_one(role_of(role), role_of(own))
        for role in introduced_as
        for own in entity.roles
    )


def _join(directory: Directory, decision: Decision) -> None:
    """Make one entity of whom two forms mean, or choose the name that is shown.

    A part of the other name, and a role beside a name, are added to its bearer: others may have them, too.
    """
    forms = [form for form in (decision.form, decision.other) if form]
    names = [form for form in forms if not is_role(form)] or forms
    telling = [name for name in names if not any(_is_short(name, other) for other in names)]
    possible = dict.fromkeys(entity for form in telling for entity in directory.candidates(form))
    kept, *absorbed = [entity for entity in possible if any(map(entity.has, telling))] or [Entity()]
    for entity in absorbed:
        directory.absorb(kept, entity)
    directory.add(kept, forms, decision.at)
    if not decision.other:
        kept.chosen = decision.form


def _last_told(entity: Entity, form: str, at: datetime | None) -> datetime:
    """Return when an entity was introduced last under a form, by a moment."""
    span = entity.span_of(form)
    if span is None:
        return entity.last
    return min(span.last, at) if at is not None and span.first <= at else span.last


def _is_short(name: str, full: str) -> bool:
    """Return whether a name is a part of a full one, by which its bearer is called."""
    return folded(name) in _short_forms(full)


@memoized_in_scope
def _short_forms(full: str) -> frozenset[str]:
    return frozenset(map(folded, introductions.short_forms(full)))
