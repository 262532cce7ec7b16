"""Statements that other services keep about "User" name the person, as their own memories do. Pure."""

from __future__ import annotations

import re
from typing import Final

from core.language.en.verbs import ADVERBS, BASE_VERBS, LY_VERBS, PRESENT_ED, UNCHANGED

_BEGINNING: Final = r"(?:^|(?<=[.!?;] )|(?<=\n))"

_USER: Final = re.compile(
    rf"{_BEGINNING}(?:the |this )?user(?=(?P<owns>['’]s?\b)|(?P<rest>(?:,? [a-z'’]+){{1,3}}))", re.IGNORECASE
)


_VERB: Final = re.compile(rf"{_BEGINNING}(?P<verb>[A-Z][a-z]+)(?= )")
"""A statement that leaves its subject out: "Likes tea"."""

_NOUNS: Final = frozenset(
    "stories settings accounts names groups interviews tests reviews profiles flows ids permissions sessions agents "
    "guides interfaces manuals roles tokens records events types inputs requests messages queries".split()
)
"""Nouns behind "user" that look like verbs."""

_AUXILIARIES: Final = frozenset(
    "is isn't was wasn't has hasn't had does doesn't did didn't can can't could will won't would wouldn't may might "
    "and who whose".split()
)

_PREPOSITIONS: Final = frozenset("in on at for to from as the a an with s".split())

_NAMED: Final = frozenset(
    "is was has had does did wants likes loves enjoys prefers hates dislikes lives works plans needs owns uses "
    "speaks studies knows plays moved works drinks eats drives reads runs teaches learns collects avoids wishes hopes "
    "goes".split()
)
"""Verbs that begin a statement without a subject; a name or a plural noun is none of them."""


def about(content: str, name: str) -> str:
    """Return a statement with the name of the person instead of "User", or in front of a verb without a subject."""
    content = _USER.sub(lambda match: name if _is_person(match) else match[0], content)
    return _VERB.sub(lambda match: _with_subject(match, name), content)


def _with_subject(match: re.Match[str], name: str) -> str:
    verb = match["verb"].lower()
    return f"{name} {verb}" if verb in _NAMED else match[0]


def _is_person(match: re.Match[str]) -> bool:
    """Return whether what follows "user" is said of a person: a verb, or what is theirs."""
    if match["owns"]:
        return True
    words = [word.strip(",").lower() for word in match["rest"].split()]
    return next((_is_verb(word) for word in words if word not in ADVERBS or word in UNCHANGED), False)


def _is_verb(word: str) -> bool:
    plain = word.replace("’", "'")
    if plain in _AUXILIARIES:
        return True
    if plain in UNCHANGED:
        return plain not in _PREPOSITIONS
    if plain in _NOUNS:
        return False
    stems = {plain.removesuffix("s"), plain.removesuffix("es"), re.sub(r"ies$", "y", plain)}
    return plain.endswith(("ed", "s")) or bool(stems & (BASE_VERBS | LY_VERBS | PRESENT_ED))
