"""English introductions of people: "my sister Nora", "Graham, my boss", "everybody calls him Bear". Data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.language.en import values
from core.language.lazy_regex import lazy_regex
from core.language.parts import NameParts, People

_ROLES: Final = {
    **dict.fromkeys("mother mum mom mam mummy mommy mama ma".split(), "mother"),
    **dict.fromkeys("father dad daddy papa pop".split(), "father"),
    **dict.fromkeys("grandmother grandma nan nana gran granny".split(), "grandmother"),
    **dict.fromkeys("grandfather grandpa granddad grandad gramps".split(), "grandfather"),
    **dict.fromkeys("partner spouse".split(), "partner"),
    **dict.fromkeys("wife missus".split(), "wife"),
    **dict.fromkeys("husband hubby".split(), "husband"),
    "girlfriend": "girlfriend",
    "boyfriend": "boyfriend",
    **dict.fromkeys("fiancé fiancée fiance fiancee".split(), "fiancé"),
    **dict.fromkeys(("sister", "sis"), "sister"),
    **dict.fromkeys(("brother", "bro"), "brother"),
    **dict.fromkeys("boss manager supervisor advisor adviser".split(), "boss"),
    **dict.fromkeys("colleague coworker co-worker workmate teammate".split(), "colleague"),
    **dict.fromkeys("friend mate buddy pal".split(), "friend"),
    **dict.fromkeys("neighbour neighbor".split(), "neighbour"),
    **dict.fromkeys("flatmate roommate housemate".split(), "flatmate"),
    **dict.fromkeys("landlord landlady".split(), "landlord"),
    **dict.fromkeys("doctor gp".split(), "doctor"),
    **dict.fromkeys("therapist counsellor counselor".split(), "therapist"),
    **dict.fromkeys("trainer coach".split(), "trainer"),
    **dict.fromkeys("dog puppy".split(), "dog"),
    **dict.fromkeys("cat kitten".split(), "cat"),
    **dict.fromkeys("kid child baby toddler".split(), "child"),
    **dict.fromkeys("grandson granddaughter grandchild".split(), "grandchild"),
    **dict.fromkeys("client customer".split(), "client"),
    **{
        role: role
        for role in (
            "son daughter aunt uncle cousin niece nephew teacher tutor dentist vet lawyer plumber babysitter nanny "
            "godmother godfather godson goddaughter stepmother stepfather stepson stepdaughter stepsister stepbrother "
            "mother-in-law father-in-law sister-in-law brother-in-law son-in-law daughter-in-law ex apprentice "
            "assistant mentor pet horse rabbit parrot classmate"
        ).split()
    },
}
_BEFORE_FAMILY_NAMES: Final = "Mr Mrs Ms Miss Dr Professor".split()
_TITLES: Final = "uncle aunt auntie granny grandma grandpa nana".split()

_ROLE: Final = rf"(?P<role>{'|'.join(sorted(_ROLES, key=len, reverse=True))})"
_TITLE: Final = rf"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|{'|'.join(title.title() for title in _TITLES)})\.? "
_WORD: Final = r"(?<![\w’'-])[A-Z](?:[\w’'-]{0,40}[^\W\d_])?(?<!['’]s)(?!\w)"
_NAME: Final = rf"(?:{_TITLE})?{_WORD}(?: (?:(?:de|da|van|von|der|den|del|di|la|el|al|bin) ){{0,2}}{_WORD}){{0,2}}"
_WHOSE: Final = (
    rf"(?P<of>\b[Mm]y|\b[Oo]ur|(?:[Tt]he )?[Uu]ser['’]s|{_NAME}['’]s?|"
    rf"(?:[Mm]y|[Oo]ur) (?:[a-z]+ ){{0,2}}?(?:{'|'.join(_ROLES)})['’]s)"
)
_WHICH: Final = r"(?!work )(?:[a-z]+(?:-[a-z]+)? ){0,2}?"
_HAS_ROLE: Final = rf"{_WHOSE} {_WHICH}{_ROLE}\b"
_ENDS: Final = r"(?=\s*(?:[,.;:!?)—–]|$)| who\b)"
_IS: Final = r"(?: is| was|['’]s| turned out to be| happens to be| became| is now| used to be| is still)"


def _short(name: str) -> Sequence[str]:
    """Return what the bearer of a full name may be called: Graham, Miller and Mr Miller of "Graham Miller"."""
    tokens = _TITLED.sub("", name).split()
    if not tokens or not (tokens[0][0].isupper() and tokens[-1][0].isupper()):
        return ()
    if len(tokens) > 1:
        return [tokens[0], tokens[-1], *(f"{title} {tokens[-1]}" for title in _BEFORE_FAMILY_NAMES)]
    return tokens if tokens and tokens[0] != name else []


def _parts(name: str) -> NameParts:
    titled = _BEFORE_FAMILY_NAME.match(name)
    tokens = _TITLED.sub("", name).split()
    if len(tokens) > 1 and tokens[0][0].isupper() and tokens[-1][0].isupper():
        return NameParts(tokens[0], tokens[-1])
    return NameParts(family=tokens[0]) if titled and tokens else NameParts()


def _phrase(whose: str, role: str) -> str:
    return f"{whose}'s {role}" if whose else f"my {role}"


_BEFORE_FAMILY_NAME: Final = lazy_regex(rf"^(?:{'|'.join(_BEFORE_FAMILY_NAMES)}|Prof)\.? ")
_TITLED: Final = lazy_regex(rf"^{_TITLE}")

PEOPLE: Final = People(
    roles=_ROLES,
    own=frozenset({"my", "our", "user's", "the user's", "user’s", "the user’s"}),
    role=lazy_regex(
        rf"{_HAS_ROLE}(?!['’]s? {_WHICH}{_ROLE.replace('?P<role>', '?:')}\b)|"
        rf"\b(?P<bare>Mum|Mom|Mummy|Mommy|Dad|Daddy|Grandma|Grandpa|Granny|Nana)\b(?! [A-Z])"
    ),
    introductions=(
        # my sister Nora; my boss, Graham Miller, said; my boss (Graham)
        lazy_regex(rf"(?<!told )(?<!asked )(?<!showed )(?<!gave ){_HAS_ROLE} (?P<name>{_NAME})"),
        lazy_regex(rf"{_HAS_ROLE}(?:,| \(| [—–-]) ?(?P<name>{_NAME}){_ENDS}"),
        # Evelyn, my mother; Graham (my boss); Graham Miller, who is my boss
        lazy_regex(rf"(?P<name>{_NAME})(?:,| \(| [—–-]|, who(?:['’]s| is| was)) ?{_HAS_ROLE}(?!['’]s|,? and\b| and\b)"),
        # Evelyn is my mother; my boss is Petra; my mother's name is Evelyn
        lazy_regex(rf"(?P<name>{_NAME}){_IS} {_HAS_ROLE}(?!['’]s)"),
        lazy_regex(rf"{_HAS_ROLE}{_IS} (?P<name>{_NAME})(?! [A-Z])"),
        lazy_regex(rf"{_HAS_ROLE}(?:['’]s (?:\w+ )?name)?{_IS}? ?(?:called |named )?(?P<name>{_NAME}){_ENDS}"),
        lazy_regex(
            rf"\b(?:a|an|the|another|new|one|first|second) {_WHICH}{_ROLE},? (?:called|named) (?P<name>{_NAME})"
        ),
        # everybody calls Graham Bear
        lazy_regex(rf"\b(?:call|calls|called) (?P<name>(?:{_TITLE})?{_WORD}) [\"“‘']?(?P<also>(?:{_TITLE})?{_WORD})"),
        # everybody calls him Bear; Elizabeth, Liz for short; Benedikt "Bear" Olsen
        lazy_regex(
            rf"\b(?:call|calls|called|nicknamed|known as|goes by|go by|answers to|prefers)"
            rf"(?: him| her| them| it)?(?: just)? [\"“‘']?(?P<nick>{_NAME})"
        ),
        lazy_regex(rf"(?P<name>{_NAME}),? (?:a\.?k\.?a\.?|alias|also known as|short for) [\"“‘]?(?P<also>{_NAME})"),
        lazy_regex(rf"(?P<name>{_NAME}) [\"“‘](?P<also>{_NAME})[\"”’]"),
        lazy_regex(rf"(?P<also>{_NAME})(?: is|['’]s) (?:short for|what we call|our name for) (?P<name>{_NAME})"),
    ),
    full=lazy_regex(
        rf"(?:(?<![\w.’'-])(?P<name>{_TITLE}{_WORD}(?: {_WORD})?)|(?<=[a-z,] )(?P<whole>{_WORD} {_WORD}))(?![\w’'-]*\w)"
    ),
    name=values.person,
    short=_short,
    parts=_parts,
    phrase=_phrase,
)
