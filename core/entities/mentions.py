"""Mentions of entities in a text, and the text with another of their names. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final, NamedTuple

from core.entities import resolution
from core.entities.resolution import Directory, Entity
from core.language import introductions, languages
from core.language.introductions import is_role
from core.language.scripts import has_han
from core.language.terms import STOPWORDS

SHORTEST: Final = 2
"""Characters of a name that is looked for."""

WORDINGS: Final = 3
"""Other wordings of a text, at most: each is compared with everything."""


class Mention(NamedTuple):
    """A place where a text mentions somebody, by a form."""

    entity: Entity
    form: str
    start: int
    end: int


def of(directory: Directory, text: str, at: datetime | None = None) -> list[Mention]:
    """Return the mentions in a text, said at a moment or now, in order; a longer name before those within it."""
    mentions: list[Mention] = []
    for form, start, end in sorted(_places(directory, text), key=lambda place: (place[1] - place[2], place[1])):
        if all(end <= other.start or start >= other.end for other in mentions):
            entity = _bearer(directory, form, text, at)
            if entity is not None:
                mentions.append(Mention(entity, form, start, end))
    return sorted(mentions, key=lambda mention: mention.start)


def _bearer(directory: Directory, form: str, text: str, at: datetime | None) -> Entity | None:
    """Return whom a form means; of several the text itself may tell which: "my brother Tom"."""
    if len(directory.holders(form)) > 1:
        link = next((link for link in introductions.links(text) if form in link and len(link) > 1), None)
        if link is not None:
            return directory.of(link)
    return directory.find(form, at)


def may_be_in(text: str, forms: Iterable[str]) -> bool:
    """Return whether a text may mention who has one of these forms: quickly, and rather yes than no."""
    if introductions.role_mentions(text):
        return True
    lowered = text.casefold()
    names = {form for form in forms if not is_role(form)}
    return any(
        part in lowered for name in names for part in (name if has_han(name) else name.casefold().split()) if part
    )


def wordings(directory: Directory, text: str) -> list[str]:
    """Return a text with another name or role in place of each mention, one at a time, the names told last first."""
    result: dict[str, None] = {}
    for mention in of(directory, text):
        for form in _others(mention):
            result[f"{text[: mention.start]}{written(form, text)}{text[mention.end :]}"] = None
    return list(result)[:WORDINGS]


def written(form: str, beside: str = "") -> str:
    """Return a form as people write it in the language of another text: `/mother` is "my mother"."""
    people = languages.of(beside).people
    if not is_role(form) or people is None:
        return form
    of, role = resolution.possessor_of(form), resolution.role_of(form)
    noun = next((noun for noun, name in people.roles.items() if name == role), role)
    whose = written(f"/{of[1:]}", beside) if of.startswith("~") else of
    return people.phrase(whose, noun)


def _others(mention: Mention) -> list[str]:
    """Return the other forms of who is mentioned: names first, those told last before others."""
    spans = mention.entity.spans
    forms = [form for form in spans if resolution.folded(form) != resolution.folded(mention.form)]
    return sorted(sorted(forms, key=lambda form: spans[form].last, reverse=True), key=is_role)


def _places(directory: Directory, text: str) -> Iterator[tuple[str, int, int]]:
    yield from introductions.role_mentions(text)
    careless = text.islower()
    for name in directory.written_names:
        if len(name) < SHORTEST:
            continue
        sought = name.lower() if careless and name.lower() not in STOPWORDS else name
        start = text.find(sought)
        while start >= 0:
            end = start + len(sought)
            if has_han(sought) or not (_LETTER.match(text[start - 1 : start]) or _LETTER.match(text, end)):
                yield name, start, end
            start = text.find(sought, start + 1)


_LETTER: Final = re.compile(r"[^\W\d_]")
