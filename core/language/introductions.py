"""Reads which names and roles a text gives to one person: "my sister Nora", "Graham, my boss". Pure.

A form is a name ("Nora"), or a role of somebody in relation to somebody else, written `of/role`: `/sister` is the
speaker's sister, `Graham/mother` the mother of Graham, `~partner/sister` a sister of the speaker's partner.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from core.language import languages
from core.language.parts import NameParts, People
from core.language.terms import STOPWORDS
from core.memoize import memoized_in_scope

READ: Final = 2_000
"""Characters of a text that are read; nobody introduces people in what is longer."""

MOST: Final = 8
"""Introductions of a text, at most."""

NAME_CHARACTERS: Final = 60
"""Characters of a name; what is longer is none."""

Link = tuple[str, ...]
"""Forms of one person, two or more."""


_PEOPLE: Final = [language.people for language in languages.ALL if language.people]
_ROLES: Final = frozenset(role for people in _PEOPLE for role in people.roles.values())


class RoleMention(NamedTuple):
    """A mention of somebody by a role, and its place in the text."""

    form: str
    start: int
    end: int


def links(text: str, speaker: str | None = None) -> list[Link]:
    """Return what a text says about which forms mean the same person; roles are those of its speaker, if given."""
    text = text[:READ]
    people = languages.of(text).people
    if people is None:
        return []
    result: dict[Link, None] = {}
    for forms in _introduced(people, text):
        result[tuple(_of_speaker(form, speaker) for form in forms)] = None
        if len(result) == MOST:
            break
    return list(result)


def _introduced(people: People, text: str) -> Iterator[Link]:
    """Yield the forms of each introduction, then full names that none of them has."""
    mentions = list(people.role.finditer(text))
    introduced: set[str] = set()
    for pattern in people.introductions:
        for match in pattern.finditer(text):
            forms = _forms(people, match, mentions)
            if len(forms) > 1:
                introduced.update(forms)
                yield forms
    for match in people.full.finditer(text) if people.full else ():
        named = _name(people, match.groupdict().get("whole") or match["name"])
        if named and named not in introduced and STOPWORDS.isdisjoint(named.casefold().split()):
            yield (named,)


def role_mentions(text: str) -> list[RoleMention]:
    """Return the people whom a text mentions by a role."""
    people = languages.of(text[:READ]).people
    if people is None:
        return []
    mentions = (
        RoleMention(form, match.start(), match.end())
        for match in people.role.finditer(text[:READ])
        if (form := _role(people, match))
    )
    return list(mentions)


def form_of(written: str) -> str:
    """Return the form of a name or role as somebody writes it: "my mother" is `/mother`; names and forms stay."""
    stripped = " ".join(written.split())[:NAME_CHARACTERS]
    if stripped.rpartition("/")[2] in _ROLES and stripped.count("/") == 1:
        return stripped
    plain = " ".join(stripped.replace("/", " ").split())
    # So short a text shows its language rarely.
    for people in _PEOPLE:
        match = people.role.fullmatch(plain)
        if match and (form := _role(people, match)):
            return form
    return plain


def told_of(subject: str, structured: Mapping[str, Any]) -> list[Link]:
    """Return what a memory says beside its words: other names of its subject in `also`, which may hold anything."""
    also = structured.get("also")
    written = [name for name in also if isinstance(name, str)] if isinstance(also, list) else []
    forms = tuple(dict.fromkeys(form for name in [subject, *written[:MOST]] if (form := form_of(name))))
    return [forms] if len(forms) > 1 else []


def nouns(roles: Container[str]) -> list[str]:
    """Return the words of all languages for some roles."""
    return [noun for people in _PEOPLE for noun, role in people.roles.items() if role in roles]


def is_role(form: str) -> bool:
    return "/" in form


@memoized_in_scope
def short_forms(name: str) -> Sequence[str]:
    """Return the parts of a full name by which its bearer is called."""
    people = languages.of(name).people
    return people.short(name) if people else ()


def contradict(name: str, other: str) -> bool:
    """Return whether two names are of different people by their form: Tom Asher and Mr Ridley; Tom may be Mr Ridley."""
    parts, others = parts_of(name), parts_of(other)
    if parts.family and others.family and parts.family != others.family:
        return True
    return bool(parts.given and others.given and parts.given != others.given)


@memoized_in_scope
def parts_of(name: str) -> NameParts:
    people = languages.of(name).people
    return people.parts(name) if people else NameParts()


def _forms(people: People, match: re.Match[str], mentions: Sequence[re.Match[str]]) -> Link:
    groups = match.groupdict()
    named = [name for group in ("name", "also") if (name := _name(people, groups.get(group)))]
    if groups.get("nick") and (nick := _name(people, groups["nick"])):
        named += [nick, *_last_mentioned(people, mentions, match.start())]
    role = _role(people, match) if groups.get("role") else ""
    return tuple(dict.fromkeys([*named, *([role] if role else [])])) if named else ()


def _of_speaker(form: str, speaker: str | None) -> str:
    """Return a role of whoever speaks as one of theirs by name."""
    return f"{speaker_of(speaker)}{form}" if speaker and form.startswith("/") else form


def speaker_of(name: str) -> str:
    """Return the name of a speaker as roles have it."""
    return name.replace("/", " ").lstrip("~").strip()


def _name(people: People, captured: str | None) -> str | None:
    if not captured or len(captured) > NAME_CHARACTERS or "/" in captured:
        return None
    return people.name(captured)


def _role(people: People, match: re.Match[str]) -> str:
    """Return the role of a match in the form of `of/role`; empty: it is nobody's."""
    groups = match.groupdict()
    role = people.roles.get((groups.get("role") or groups.get("bare") or "").casefold())
    of = _possessor(people, groups.get("of"))
    return f"{of}/{role}" if role is not None and of is not None else ""


def _possessor(people: People, of: str | None) -> str | None:
    """Return whose a role is: empty for the speaker, a name, `~role` for somebody named by a role of the speaker."""
    if of is None or of.casefold() in people.own:
        return ""
    inner = people.role.search(of)
    if inner and (form := _role(people, inner)):
        return f"~{form.removeprefix('/')}" if form.startswith("/") else None
    return _name(people, re.sub(r"(?:['’]s?|的)$", "", of))


def _last_mentioned(people: People, mentions: Sequence[re.Match[str]], before: int) -> Iterator[str]:
    """Yield the role by which somebody was mentioned last before a nickname is told."""
    last = next((mention for mention in reversed(mentions) if mention.end() <= before), None)
    if last and (form := _role(people, last)):
        yield form
