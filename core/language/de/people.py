"""German introductions of people: "meine Schwester Nora", "Graham, mein Chef", "alle nennen ihn Bär". Data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.language.lazy_regex import lazy_regex
from core.language.parts import NameParts, People

_ROLES: Final = {
    **dict.fromkeys("mutter mama mutti".split(), "mother"),
    **dict.fromkeys("vater papa vati".split(), "father"),
    **dict.fromkeys("oma großmutter".split(), "grandmother"),
    **dict.fromkeys("opa großvater".split(), "grandfather"),
    **dict.fromkeys("partner partnerin".split(), "partner"),
    **dict.fromkeys("frau ehefrau".split(), "wife"),
    **dict.fromkeys("mann ehemann".split(), "husband"),
    **dict.fromkeys("verlobte verlobter".split(), "fiancé"),
    "freundin": "girlfriend",
    **dict.fromkeys("tochter".split(), "daughter"),
    **dict.fromkeys("sohn".split(), "son"),
    **dict.fromkeys("schwester".split(), "sister"),
    **dict.fromkeys("bruder".split(), "brother"),
    **dict.fromkeys("tante".split(), "aunt"),
    **dict.fromkeys("onkel".split(), "uncle"),
    **dict.fromkeys("cousin cousine".split(), "cousin"),
    **dict.fromkeys("nichte".split(), "niece"),
    **dict.fromkeys("neffe".split(), "nephew"),
    **dict.fromkeys("enkel enkelin".split(), "grandchild"),
    **dict.fromkeys("schwager".split(), "brother-in-law"),
    **dict.fromkeys("schwägerin".split(), "sister-in-law"),
    **dict.fromkeys("schwiegermutter".split(), "mother-in-law"),
    **dict.fromkeys("schwiegervater".split(), "father-in-law"),
    **dict.fromkeys("chef chefin vorgesetzter vorgesetzte".split(), "boss"),
    **dict.fromkeys("kollege kollegin".split(), "colleague"),
    **dict.fromkeys("freund kumpel".split(), "friend"),
    **dict.fromkeys("nachbar nachbarin".split(), "neighbour"),
    **dict.fromkeys("mitbewohner mitbewohnerin".split(), "flatmate"),
    **dict.fromkeys("vermieter vermieterin".split(), "landlord"),
    **dict.fromkeys("arzt ärztin hausarzt hausärztin".split(), "doctor"),
    **dict.fromkeys("zahnarzt zahnärztin".split(), "dentist"),
    **dict.fromkeys("lehrer lehrerin".split(), "teacher"),
    **dict.fromkeys("trainer trainerin".split(), "trainer"),
    **dict.fromkeys("azubi lehrling".split(), "apprentice"),
    **dict.fromkeys("hund".split(), "dog"),
    **dict.fromkeys("katze kater".split(), "cat"),
}
_ROLE: Final = rf"(?P<role>{'|'.join(word.title() for word in sorted(_ROLES, key=len, reverse=True))})(?:n|en|s)?"
_TITLE: Final = r"(?:Herrn?|Frau|Dr\.|Prof\.|Onkel|Tante|Oma|Opa) "
_WORD: Final = r"(?<![\w-])[A-ZÄÖÜ][a-zäöüßé-]{1,40}"
_NAME: Final = rf"(?:{_TITLE}){{0,2}}{_WORD}(?: (?:(?:von|van|der|de|zu) ){{0,2}}{_WORD})?"
_OWN: Final = (
    "mein meine meiner meinem meinen meines unser unsere unserer unserem unseren unseres unsern unserm".split()
)
_WHOSE: Final = rf"(?P<of>\b(?:{'|'.join([*_OWN, *(word.title() for word in _OWN)])})|{_WORD}s)"
_HAS_ROLE: Final = rf"{_WHOSE} (?:[a-zäöüß]+ ){{0,2}}?{_ROLE}\b"
_ENDS: Final = r"(?=\s*(?:[,.;:!?)—–]|$))"


def _name(captured: str) -> str | None:
    return None if captured.split(maxsplit=1)[0] in _NO_NAMES else captured


def _short(name: str) -> Sequence[str]:
    """Return the first and the family name of somebody who has both."""
    tokens = _TITLED.sub("", name).split()
    if len(tokens) > 1:
        return [tokens[0], tokens[-1], f"Herr {tokens[-1]}", f"Frau {tokens[-1]}"]
    return [tokens[0]] if tokens and tokens[0] != name else []


def _parts(name: str) -> NameParts:
    tokens = _TITLED.sub("", name).split()
    if len(tokens) > 1 and tokens[0][0].isupper() and tokens[-1][0].isupper():
        return NameParts(tokens[0], tokens[-1])
    return NameParts(family=tokens[0]) if tokens and _BEFORE_FAMILY_NAME.match(name) else NameParts()


def _phrase(whose: str, role: str) -> str:
    return f"{whose}s {role.title()}" if whose else f"mein {role.title()}"


_BEFORE_FAMILY_NAME: Final = lazy_regex(r"^(?:Herrn?|Frau|Dr\.|Prof\.) ")
_TITLED: Final = lazy_regex(rf"^(?:{_TITLE})+")
_NO_NAMES: Final = frozenset(
    "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag Ich Er Sie Es Wir Das Der Die Den Und Aber Heute "
    "Gestern Morgen Am Im In Mit Von Zu Bei".split()
)

PEOPLE: Final = People(
    roles=_ROLES,
    own=frozenset(_OWN),
    role=lazy_regex(rf"{_HAS_ROLE}|\b(?P<bare>Mama|Papa|Mutti|Vati)\b"),
    introductions=(
        # meine Schwester Nora; mein Chef, Graham Müller, sagt; mein Chef (Graham)
        lazy_regex(rf"{_HAS_ROLE} (?P<name>{_NAME})"),
        lazy_regex(rf"{_HAS_ROLE}(?:,| \(| [—–-]) ?(?P<name>{_NAME}){_ENDS}"),
        # Nora, meine Schwester; Nora (meine Schwester); Nora ist meine Schwester
        lazy_regex(
            rf"(?P<name>{_NAME})(?:,| \(| [—–-]| ist| war| wird)(?: |(?<=\())(?:nun |jetzt )?{_HAS_ROLE}(?! und)"
        ),
        lazy_regex(rf"{_HAS_ROLE} (?:heißt|hieß|ist|war) (?P<name>{_NAME}){_ENDS}"),
        # ein Hund namens Bär; alle nennen ihn Bär
        lazy_regex(
            rf"\b(?:ein|eine|einen|einem|einer) (?:[a-zäöüß]+ ){{0,2}}?{_ROLE} (?:namens|mit Namen) (?P<name>{_NAME})"
        ),
        lazy_regex(rf"\b(?:nennen|nenne|nennt|genannt|heißt eigentlich)(?: ihn| sie| es)? (?P<nick>{_NAME})"),
        lazy_regex(rf"(?P<name>{_NAME}),? (?:alias|genannt|kurz|eigentlich) (?P<also>{_NAME})"),
    ),
    full=lazy_regex(rf"(?<![\w-])(?P<name>(?:{_TITLE})+{_WORD}(?: {_WORD})?)"),
    name=_name,
    short=_short,
    parts=_parts,
    phrase=_phrase,
)
