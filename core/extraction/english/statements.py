"""Statements of an English sentence: split into clauses, each with the person it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from core.extraction.english import clauses, corrections, informal, patterns, pretence
from core.extraction.english.people import Person, Persons
from core.extraction.english.tables.fragments import KIN
from core.extraction.pattern_types import Slot
from core.language import identification, sentences
from core.language.lazy_regex import lazy_regex

_STAND_IN = "Zed"
_OPENS_UNREAL = lazy_regex(
    r"^(?:and |but |so |or |even )*(?:if|what if|suppose|supposing|imagine|assume|assuming|pretend|unless|"
    r"whether|had I|were I|"
    r"hypothetically|should I|let['’]s|in (?:my|a|the) (?:dream|story|novel|game|movie))\b",
    re.IGNORECASE,
)
_ADVERBIAL = lazy_regex(
    r"^(?:(?:From|Since|In|On|By|Until|At|Before|After|As of|Every|Last|Next|This|Yesterday|Today|"
    r"Tomorrow)\b[^,;]{0,30}?,? |[A-Z][a-z' ]{2,25}, )"
    r"(?=(?!January|February|March|April|May|June|July|August|September|October|November|December|Monday|"
    r"Tuesday|Wednesday|Thursday|Friday|"
    r"Saturday|Sunday)[A-Z][a-z]+ (?:will|is|was|has|had|died|got|moved|started|[a-z]+s|[a-z]+ed)\b|my [a-z]+ )"
)
"""What may stand before the subject: "From September Tom will be teaching"."""
_APPOSITION = lazy_regex(r"^, (?:my|our|an?|the|who) [^,]{2,40},(?= [a-z])|^, \d{1,3},(?= [a-z])")


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a sentence says, in plain words in the first person.

    `person`: of whom it speaks, None for the speaker; `slots` what it fills; `introduces` who is named in passing
    ("my sister Anna lives …" says that the sister is called Anna); `mends`: it takes back something said before.
    """

    plain: str
    person: str | None
    slots: tuple[Slot, ...]
    introduces: tuple[Slot, ...] = ()
    mends: bool = False


def read(quote: str, names: frozenset[str], persons: Persons, number: int) -> Iterator[Statement]:
    """Yield the statements of `quote`; none if it asks, jokes, supposes, or is not English.

    `names`: who is spoken to; `number`: the number of the message. Everyone it mentions is remembered in `persons`.
    """
    pieces = _asserted_pieces(quote, names)
    subject: Person | None = None
    filled: set[tuple[str, str | None]] = set()
    for piece in pieces:
        resolved = None if pretence.is_hearsay(piece) else persons.resolve(piece, number, subject)
        if resolved is not None and pretence.is_meant(resolved) and not _is_history(resolved, persons):
            one = statement_of(resolved, persons)
            slots = tuple(slot for slot in one.slots if _is_news(slot, resolved, filled))
            yield replace(one, slots=slots, mends=corrections.statement_instead(quote) is not None)
            filled |= {(slot.attribute, slot.about) for slot in one.slots if not slot.pattern.negated}
        subject = persons.subject_of(resolved or piece) or (None if resolved else subject)
        persons.hear(resolved or piece, number)
        if resolved is not None:
            persons.set_center(resolved, subject, number)
    if not pieces:
        persons.hear(quote, number)
        persons.set_center(quote, persons.subject_of(quote), number)
        match = _THINKS.match(quote)
        if match:
            yield statement_of(f"{match['who'][:1].upper()}{match['who'][1:]} is called {match['name']}", persons)


_THINKS = lazy_regex(
    rf"^(?:and |so |but |oh,? )?(?P<who>(?i:my|our) (?:[a-z]+ )?(?:{KIN}))(?:,)? (?P<name>[A-Z][a-z]\w*),? "
    r"(?:also |still |always |keeps )?(?:says?|said|thinks?|thought|swears?|claims?|reckons?|insists?|believes?|"
    r"jokes?|told|saying|is convinced|hopes?)\b"
)
"""Whoever has an opinion is still who they are: "my cousin Ada thinks …"."""


_HISTORY = lazy_regex(
    r"^(?P<name>[A-Z]\w+) (?:was born|was an?|wrote|invented|discovered|painted|composed|founded|ruled|"
    r"conquered|became|died in \d)\b"
)


def _is_history(plain: str, persons: Persons) -> bool:
    """Return whether it tells of somebody's life whom the conversation has not introduced."""
    found = _HISTORY.match(plain)
    return found is not None and not persons.knows(found["name"])


def _is_news(slot: Slot, plain: str, filled: set[tuple[str, str | None]]) -> bool:
    """Return whether the sentence has not filled the slot yet: "I was born in Recife but grew up in Salvador"."""
    return (
        (slot.attribute, slot.about) not in filled
        or slot.pattern.corrects
        or slot.pattern.weak
        or not slot.pattern.exclusive
        or " now" in plain
    )


def statement_of(plain: str, persons: Persons) -> Statement:
    """Read the slots of a statement; those of another person as if they spoke of themselves."""
    lead = _ADVERBIAL.match(plain)
    body = plain[lead.end() :] if lead else plain
    person = persons.subject_of(body)
    read_as_is = patterns.slots(plain)
    if person is None:
        employed = any(slot.attribute == "work.employer" for slot in read_as_is)
        return Statement(plain, None, tuple(s for s in read_as_is if not employed or s.attribute != "work.activity"))
    name = person.name
    start = body.find(name)
    if start < 0:  # "My father died": the tables know the word
        return Statement(
            plain, name, tuple(slot for slot in read_as_is if slot.about or slot.attribute.startswith("relation."))
        )
    rest = _APPOSITION.sub("", body[start + len(name) :]).lstrip(",")
    introduces = tuple(slot for slot in read_as_is if slot.attribute.startswith("relation.") and slot.value == name)
    own = tuple(
        replace(slot, about=name)
        for slot in patterns.slots(f"My friend {_STAND_IN}{rest}")
        if slot.about == _STAND_IN and slot.attribute != "relation.friend"
    )
    own = (
        own
        if not any(slot.attribute == "work.employer" for slot in own)
        else tuple(s for s in own if s.attribute != "work.activity")
    )
    others = tuple(slot for slot in read_as_is if not slot.about and slot not in introduces)
    return Statement(plain, name, own + others, introduces)


_STANDING_QUESTION = lazy_regex(
    r"^(?:please |ok(?:ay)?,? )?(?:can|could|would|will) you (?:please )?(?P<wish>[a-z].*\b(?:from now on|"
    r"going forward|always|in future|"
    r"in the future|from here on)\b.*?)\?*$",
    re.IGNORECASE,
)

_STYLE_QUESTION = lazy_regex(
    r"^(?:(?:also|and|oh|hey|so|please|one thing|ok(?:ay)?|right),? )*(?:can|could|would|will) you (?:please "
    r")?(?:just )?"
    r"(?P<wish>(?:keep|make) (?:your|the|all) (?:answers?|repl(?:ies|y)|responses?|messages?) [^,.?!]+|stop "
    r"[a-z]+ing\b[^,.?!]*|"
    r"(?:not|never|always) [a-z]+ [^,.?!]+|(?:remind|nag|ping|nudge) me (?:to|on|every) [^,.?!]*\b(?:every|each|"
    r"daily|weekly|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days|mornings|evenings|nights)\b[^,.?!]*|"
    r"(?:use|give me|write|answer|reply)[^,.?!]* (?:from now on|always|every time|in "
    r"future)[^,.?!]*)(?P<rest>[,.?!].*)?$",
    re.IGNORECASE,
)
"""A wish about all that is to be said or done later, put as a question, and what may stand behind it."""


_BY_THE_WAY_IF = lazy_regex(
    r",? (?:just )?(?:if|in case) you (?:need|want|must|care|like|prefer|wonder\w*|['’]re (?:wondering|curious|"
    r"interested)|are "
    r"(?:wondering|curious|interested)|can believe|ask me|were wondering)\b[^,;.!?]*(?=[.!]?$)",
    re.IGNORECASE,
)
"""What only excuses that something is said: "…, if you want the full story"."""
_CALL_ME = lazy_regex(
    r"^(?:please |ok(?:ay)?,? )?(?:can|could|would|will) you (?:please )?(?:just )?(?P<wish>call me "
    r"[A-Z].*?)(?:,? please)?\?+$",
    re.IGNORECASE,
)


def _asserted_pieces(quote: str, names: frozenset[str]) -> list[str]:
    """Return the asserting pieces of a sentence."""
    if identification.is_foreign(quote) or quote.count('"') % 2 or quote[:1] in '"“' or not pretence.is_meant(quote):
        return []
    wish = _STANDING_QUESTION.match(quote) or _CALL_ME.match(quote) or _STYLE_QUESTION.match(quote)
    wish_text = re.sub(r"^not ", "do not ", wish["wish"], flags=re.IGNORECASE) if wish else ""
    quote = wish_text[:1].upper() + wish_text[1:] if wish else corrections.statement_instead(quote) or quote
    quote = _BY_THE_WAY_IF.sub("", quote)
    whole = sentences.asserted_part(quote)
    if whole is None and (_OPENS_UNREAL.match(quote) or not sentences.is_hypothetical(quote)):
        return []
    pieces = [informal.clean(piece, names) for piece in clauses.split(informal.clean(whole or quote, names))]
    if whole is None:  # one piece of several supposes or wishes
        pieces = [piece for piece in pieces if sentences.asserted_part(piece)] if len(pieces) > 1 else []
    return [piece for piece in pieces if piece]
