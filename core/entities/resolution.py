"""Joins the forms by which people are called to entities, in the order in which they were introduced. Pure.

Nothing is stored of it: what a user's messages and memories say of names (`core.language.introductions`) and what
somebody has decided by hand gives the same entities each time, and nothing of what was erased.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, NamedTuple

from core.language import introductions, roles
from core.language.introductions import is_role

SELF: Final = frozenset({"user", "the user", "用户"})
"""Names of the user in statements that name nobody."""


NEVER: Final = datetime.max.replace(tzinfo=UTC)
"""When somebody was introduced who never was."""


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


@dataclass(slots=True, eq=False)
class Entity:
    """Somebody under all forms by which they are known, each with when it was told first and last.

    `name`: the fullest, or the one chosen by hand.
    """

    told: dict[str, tuple[datetime, datetime]] = field(default_factory=dict)
    chosen: str | None = None

    @classmethod
    def known_as(cls, form: str) -> Entity:
        """Return somebody who was never introduced."""
        return cls({form: (NEVER, NEVER)})

    @property
    def names(self) -> list[str]:
        return [form for form in self.told if not is_role(form)]

    @property
    def roles(self) -> list[str]:
        return [form for form in self.told if is_role(form)]

    @property
    def name(self) -> str:
        # "my work wife" is less of a name than "Shreya".
        fullest = max(self.names, key=lambda name: (not name[0].islower(), len(name.split()), len(name)), default="")
        return self.chosen or fullest or next(iter(self.told))

    @property
    def last(self) -> datetime:
        return max(last for _, last in self.told.values())

    def add(self, forms: Iterable[str], at: datetime) -> None:
        for form in forms:
            same = next((known for known in self.told if folded(known) == folded(form)), form)
            first, last = self.told.get(same, (at, at))
            self.told[same] = (min(first, at), max(last, at))

    def has(self, form: str) -> bool:
        return any(folded(known) == folded(form) for known in self.told)

    def goes_by(self, name: str) -> bool:
        """Return whether a name is one of theirs, or a part of one, or one of theirs a part of it."""
        return self.has(name) or any(_is_short(name, known) or _is_short(known, name) for known in self.names)


class Directory:
    """The entities of a user."""

    def __init__(
        self, entities: Sequence[Entity], own: frozenset[str] = frozenset(), decisions: Sequence[Decision] = ()
    ) -> None:
        self.entities = entities
        self._own = own
        self._apart = [{folded(d.form), folded(d.other)} for d in decisions if not d.same]

    def find(self, form: str, at: datetime | None = None) -> Entity | None:
        """Return whom a form means, at a moment or now; None: nobody, or several.

        Of several with one name it is the one introduced last. So it is of roles that one person has at a time.
        """
        form = _owned(form, self._own)
        holders = [
            entity
            for entity in self.entities
            if self._is_called(entity, form) and (entity.has(form) or not self.apart(entity.told, form))
        ]
        if is_role(form) and len(holders) > 1 and roles.kind(role_of(form)) not in roles.LASTING | roles.CURRENT:
            return None
        until = [entity for entity in holders if at is None or min(first for first, _ in entity.told.values()) <= at]
        return max(until or holders, key=lambda entity: _last_told(entity, form, at), default=None)

    def bearer_of(self, written: str) -> Entity | None:
        """Return whom a name or role means, as people write it."""
        return self.find(introductions.form_of(written))

    def of(self, forms: Sequence[str]) -> Entity | None:
        """Return the entity that has the most of these forms."""
        counted = [(sum(self._is_called(entity, form) for form in forms), entity) for entity in self.entities]
        most, entity = max(counted, key=lambda pair: (pair[0], pair[1].last), default=(0, None))
        return entity if most else None

    def apart(self, forms: Iterable[str], other: str) -> bool:
        """Return whether somebody has decided that a form is not of who has one of these."""
        return bool(self._apart) and any({folded(form), folded(other)} in self._apart for form in forms)

    def _is_called(self, entity: Entity, form: str) -> bool:
        if not is_role(form):
            return entity.goes_by(form)
        return any(
            roles.is_called(role_of(known), role_of(form)) and self._same_possessor(known, form)
            for known in entity.roles
        )

    def _same_possessor(self, form: str, other: str) -> bool:
        of, of_other = (possessor_of(some) for some in (form, other))
        if of == of_other or not of or not of_other:
            return of == of_other
        one, another = (self.find(f"/{name[1:]}" if name.startswith("~") else name) for name in (of, of_other))
        return one is not None and one is another


def resolve(
    told: Iterable[Introduction], decisions: Sequence[Decision] = (), own: frozenset[str] = frozenset()
) -> Directory:
    """Return the entities of introductions. `own`: names of the user, whose roles are those of the speaker."""
    own = frozenset(map(folded, own)) | SELF
    entities: list[Entity] = []
    directory = Directory(entities, own, decisions)
    for introduction in sorted(told, key=lambda introduction: introduction.at):
        forms = [_owned(form, own) for form in introduction.forms if folded(form) not in own]
        for group in _undivided(directory, forms):
            entity = _match(directory, group)
            if entity is None:
                entity = Entity()
                entities.append(entity)
            entity.add(group, introduction.at)
    for decision in decisions:
        if decision.same:
            _join(entities, decision)
    return directory


def folded(form: str) -> str:
    """Return a form in which case and width do not count."""
    return unicodedata.normalize("NFKC", form).casefold()


def role_of(form: str) -> str:
    return form.rpartition("/")[2]


def possessor_of(form: str) -> str:
    return form.rpartition("/")[0]


def _owned(form: str, own: frozenset[str]) -> str:
    """Return a role of the user by name as one of the speaker."""
    return f"/{role_of(form)}" if is_role(form) and folded(possessor_of(form)) in own else form


def _undivided(directory: Directory, forms: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield forms that were told together, without any that somebody has parted from the first."""
    if forms:
        first, *others = forms
        yield [first, *(form for form in others if not directory.apart([first], form))]


def _match(directory: Directory, forms: Sequence[str]) -> Entity | None:
    """Return the entity that an introduction speaks of; None: a new one."""
    names = [form for form in forms if not is_role(form)]
    roles_told = [form for form in forms if is_role(form)]
    possible = [
        entity
        for entity in directory.entities
        if not any(directory.apart(entity.told, form) for form in forms) and not _excludes(entity, roles_told)
    ]
    exact = [entity for entity in possible if any(entity.has(name) for name in names)]
    partly = [entity for entity in possible if any(entity.goes_by(name) for name in names)]
    lasting = [
        entity for entity in possible if any(entity.has(role) for role in roles_told if role_of(role) in roles.LASTING)
    ]
    return max(exact or partly or lasting, key=lambda entity: entity.last, default=None)


def _excludes(entity: Entity, told: Sequence[str]) -> bool:
    """Return whether somebody who has the roles of an entity cannot have these, too."""
    return any(
        possessor_of(one) == possessor_of(other) and not roles.may_be_one(role_of(one), role_of(other))
        for one in told
        for other in entity.roles
    )


def _join(entities: list[Entity], decision: Decision) -> None:
    """Make one entity of whom two forms mean, or choose the name that is shown.

    A part of the other name, and a role beside a name, are added to its bearer: others may have them, too.
    """
    forms = [form for form in (decision.form, decision.other) if form]
    names = [form for form in forms if not is_role(form)] or forms
    telling = [name for name in names if not any(_is_short(name, other) for other in names)]
    kept, *absorbed = [entity for entity in entities if any(entity.has(form) for form in telling)] or [Entity()]
    for entity in absorbed:
        for form, span in entity.told.items():
            for moment in span:
                kept.add([form], moment)
        kept.chosen = kept.chosen or entity.chosen
        entities.remove(entity)
    if kept not in entities:
        entities.append(kept)
    kept.add(forms, decision.at)
    if not decision.other:
        kept.chosen = decision.form


def _last_told(entity: Entity, form: str, at: datetime | None) -> datetime:
    """Return when an entity was introduced last under a form, by a moment."""
    times = [
        min(last, at) if at is not None and first <= at else last
        for known, (first, last) in entity.told.items()
        if folded(known) == folded(form)
    ]
    return max(times, default=entity.last)


def _is_short(name: str, full: str) -> bool:
    """Return whether a name is a part of a full one, by which its bearer is called."""
    return any(folded(name) == folded(part) for part in introductions.short_forms(full))
