"""Naming again what a statement only points at, where the one before it leaves no doubt: "it", "Anna's"."""

from __future__ import annotations

import re

from core.extraction.english.people import Persons

_ENDED = re.compile(r"^(?:I|we) (?:no longer|do not|stopped) (?P<verb>[a-z]+)\b", re.IGNORECASE)
_INSTEAD = re.compile(r"^(?:I|we) (?:now )?(?:go|do it|do that)\b(?=.*\b(?:instead|now)\b)", re.IGNORECASE)
_LEFT = re.compile(
    r"\bI (?:\w+ )?(?:left|quit|resigned)\b|\b(?:switched|changed) (?:jobs|companies|employers)\b", re.IGNORECASE
)
_NOW_AT = re.compile(r"^I am (?:now )?(?:at|with) (?=[A-Z])")
_CANNOT_STAND = re.compile(
    r"^(?P<said>I (?:really |absolutely |just )*(?:cannot stand|hate|love|like|dislike|adore|do not like|never "
    r"eat|cannot eat)) "
    r"(?:it|them|that|the stuff|that stuff|the things?)(?=[.!]?$)",
    re.IGNORECASE,
)
_TASTES = re.compile(
    r"^(?P<np>(?:(?:my|our|the) )?[A-Z]?[a-z]+(?: [a-z]+)?) (?:tastes?|smells?|is|are|makes?|gives?|looks?|sounds?)\b",
    re.IGNORECASE,
)
_DID = re.compile(
    r"^I (?P<verb>[a-z]+) (?P<what>[a-z]+(?: [a-z]+)?) (?:yesterday|today|last|on|this|in|again)\b", re.IGNORECASE
)
_DO_IT = re.compile(
    r"^I (?:usually |always )?do (?:it|that|this) (?=.*(?:every|each|once|twice|times|a (?:day|week|month|year)|on ))",
    re.IGNORECASE,
)
_THING = re.compile(
    r"^(?P<np>(?:(?:[Mm]y|[Oo]ur|[Tt]he) (?:[a-z-]+ )?[a-z-]+)|(?:[A-Z][\w-]*\d[\w-]*)|(?:[A-Z][a-z]+ "
    r"[\w-]*\d[\w-]*)) (?:is|was|has|are|came|runs)\b"
)
_ON_IT = re.compile(
    r"^(?P<before>I (?:have |just |finally |already )*[a-z]+(?:ed|t|ld|de)|I (?:got|found|lost|won|paid|keep)) "
    r"(?:it|that one)\b(?P<after>.*)$"
)
_BARE_POSSESSIVE = re.compile(
    r"^(?P<who>[A-Z]\w+['’]s|[Mm]ine|[Hh]ers|[Hh]is) (?P<verb>is|was|has|ran|runs|expires|expired|are|were)\b"
)
_BASE = {
    "gave": "give", "went": "go", "ran": "run", "swam": "swim", "ate": "eat", "took": "take", "did": "do", "saw": "see",
    "drove": "drive",
    "wrote": "write", "made": "make", "had": "have", "read": "read", "met": "meet", "rode": "ride",
}  # fmt: skip


def named_again(pieces: list[str], persons: Persons) -> list[str]:
    """The pieces of a sentence with what they point at by name; "Anna's is green" after "My desk is blue" too."""
    named = list(pieces)
    for place, piece in enumerate(named):
        if place:
            named[place] = _after(named[place - 1], piece)
        bare = _BARE_POSSESSIVE.match(named[place])
        if bare:
            noun = persons.thing.split()[-1] if persons.thing else ""
            named[place] = f"{_own(bare['who'])} {noun}{named[place][bare.end('who') :]}" if noun else ""
        thing = _THING.match(named[place])
        persons.thing = thing["np"] if thing else persons.thing
    return [piece for piece in named if piece]


def _own(word: str) -> str:
    return {"mine": "My", "hers": "Her", "his": "His"}.get(word.lower(), word)


def _after(before: str, piece: str) -> str:
    ended = _ENDED.match(before)
    if ended and ended["verb"] not in {"go", "do", "have"}:
        return _INSTEAD.sub(f"I {ended['verb']}", piece)
    if _LEFT.search(before):
        return _NOW_AT.sub("I work at ", piece)
    tastes, stand = _TASTES.match(before), _CANNOT_STAND.match(piece)
    if tastes and stand and tastes["np"].lower() not in {"it", "that", "this", "he", "she", "they", "there"}:
        return f"{stand['said']} {tastes['np'][:1].lower()}{tastes['np'][1:]}{piece[stand.end() :]}"
    did = _DID.match(before)
    if did and _DO_IT.match(piece):
        verb = _BASE.get(did["verb"].lower()) or re.sub(r"(?<=[^e])ed$", "", did["verb"])
        return _DO_IT.sub(f"I {verb} {did['what']} ", piece)
    thing, on_it = _THING.match(before), _ON_IT.match(piece)
    if thing and on_it:
        return f"{on_it['before']} {thing['np']}{on_it['after']}"
    return piece
