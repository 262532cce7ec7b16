"""Slots of English sentences: tables read from the top; the first matching row gives an attribute its value."""

from __future__ import annotations

import re

from core.language.en import values, verbs
from core.language.en.tables.abilities_and_possessions import MEANS
from core.language.en.tables.fragments import TITLES
from core.language.en.tables.health import HEALTH
from core.language.en.tables.people import PEOPLE
from core.language.en.tables.person import PERSON
from core.language.en.tables.preferences import TASTES
from core.language.en.tables.work import WORK
from core.language.language import Pattern, Slot
from core.language.lazy_regex import lazy_regex

SLOTS = (*PERSON, *WORK, *PEOPLE, *HEALTH, *MEANS, *TASTES)
_ONE_OF_SEVERAL = frozenset({"allergy", "language", "likes", "dislikes", "avoids", "health.condition"})
_CANONICAL = {
    "running": "run",
    "swimming": "swim",
    "training": "train",
    "climbing": "climb",
    "cycling": "cycle",
    "lifting": "lift",
    "jogging": "jog",
    "mam": "mother",
    "mom": "mother",
    "mum": "mother",
    "dad": "father",
    "wife": "spouse",
    "husband": "spouse",
    "grandma": "grandmother",
    "grandpa": "grandfather",
    "puppy": "dog",
    "kitten": "cat",
    "bunny": "rabbit",
    "manager": "boss",
}


def as_said(word: str, sentence: str) -> str:
    """Return the word that `sentence` has for a relation: "husband" where its attribute says "spouse"."""
    others = [one for one, canonical in _CANONICAL.items() if canonical == word]
    return next((one for one in others if re.search(rf"\b{one}\b", sentence, re.IGNORECASE)), word)


def slots(sentence: str) -> list[Slot]:
    """Return the attributes and values that `sentence` (plain English, first person) states, the surest first."""
    found: list[Slot] = []
    for pattern in SLOTS:
        for match in pattern.regex.finditer(sentence):
            read, groups = _values(pattern, match), match.groupdict()
            attribute, about = _attribute(pattern.attribute, groups, read[0] if read else ""), _about(groups)
            filled = {(slot.attribute, slot.about, slot.pattern.negated) for slot in found}
            if (attribute, about, pattern.negated) not in filled:
                found += [Slot(attribute, value, pattern, about) for value in dict.fromkeys(read)]
    return found


def _values(pattern: Pattern, match: re.Match[str]) -> list[str]:
    """Return the captured value in its plain form, or the several that it lists."""
    captured = (match["v"] + _behind_title(match)).strip(" '\"")
    parts = _several(captured) if pattern.attribute in _ONE_OF_SEVERAL else [captured]
    values = [pattern.check(part) if pattern.check else part for part in parts]
    return [value for value in values if value] if values and values[0] else []


def _behind_title(match: re.Match[str]) -> str:
    """Return the rest of a name of which a pattern captured the title alone, for its full stop ends no sentence."""
    if not _TITLE.search(match["v"]):
        return ""
    rest = _NAME_BEHIND.match(match.string, match.end("v"))
    return rest.group() if rest else ""


def _attribute(attribute: str, groups: dict[str, str | None], value: str) -> str:
    for name in ("rel", "cls"):
        word = (groups.get(name) or "").lower()
        attribute = attribute.replace(f"{{{name}}}", _CANONICAL.get(word, word).replace(" ", "_"))
    return "home.country" if attribute == "home.city" and values.is_country(value) else attribute


def _about(groups: dict[str, str | None]) -> str | None:
    return groups.get("kinname") or groups.get("kin")


def _several(value: str) -> list[str]:
    """Return the members of "A, B and C" while each is short and none starts another clause ("tea and work here")."""
    parts = [part.strip() for part in re.split(r",\s*(?:and |or )?| and | or ", value) if part.strip()]
    members: list[str] = []
    for part in parts:
        words = part.lower().split()
        clause = words[0] in verbs.BASE_VERBS and (len(words) > 1 or parts[0].startswith("to "))
        if members and (len(words) > 4 or clause or words[0] in _NO_MEMBER):
            break
        if members and _PREPOSITION.search(members[-1]):
            break
        members.append(part)
    return members


_TITLE = lazy_regex(rf"\b(?:{TITLES}|Prof)$")
_NAME_BEHIND = lazy_regex(r"\.(?: [A-Z][\w'’-]{0,40}){1,3}")
_PREPOSITION = lazy_regex(r"\b(?:about|between|with|for|of|in|on|to|as|at|from)\b", re.IGNORECASE)
_NO_MEMBER = frozenset(
    "i it they he she we my the a so then am have has would can that this you is are was there even "
    "just what how especially not as really badly very quite no please too which since because unfortunately "
    "seriously severely apparently luckily sadly mostly mainly including like yes sorry".split()
)
