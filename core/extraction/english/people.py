"""People mentioned in an English conversation, and resolution of "he", "she", "her" where one fits.

A pronoun is replaced by the name only where one person fits it; a statement in which it is not certain is not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from core.extraction.english.tables.fragments import KIN, PETS
from core.extraction.english.tables.names import COMMON_WORDS, FEMALE, MALE, NO_NAMES
from core.extraction.known_people import Acquaintance
from core.language.english_verbs import PAST
from core.language.lazy_regex import lazy_regex

NEAR = 3
"""Messages back in which someone must have been mentioned."""

_HER = frozenset(
    "wife mother mom mum mam mama sister daughter aunt auntie niece grandmother grandma granny nana girlfriend "
    "landlady "
    "fiancée stepmother stepmom stepsister ex-wife girl woman lady".split()
)
_HIM = frozenset(
    "husband father dad papa brother son uncle nephew grandfather grandpa granddad boyfriend landlord fiancé "
    "stepfather "
    "stepdad stepbrother ex-husband boy man guy chap bloke lad".split()
)
_SEVERAL_KIN = frozenset(
    "parents grandparents kids children siblings sons daughters brothers sisters twins boys girls".split()
)
"""Words that neither "he" nor "she" can mean."""
_KIND = (
    rf"(?:{KIN}|mam|mama|papa|granny|nana|granddad|oldest|youngest|eldest|stepmom|stepdad|stepmother|"
    rf"stepfather|auntie|baby|{PETS})"
)
_BEFORE_KIN = (
    r"(?:(?:older|younger|little|big|elder|twin|late|new|old|oldest|youngest|eldest|best|ex|wee|first|other|only) )*"
)
_OF_SOMEONE = lazy_regex(
    rf"\b(?P<whose>[Mm]y|[Oo]ur|[Yy]our|[Hh]is|[Hh]er|[A-Z]\w+['’]s) "
    rf"(?P<kin>{_BEFORE_KIN}{_KIND}(?:-in-law)?)\b(?!['’]s|-)"
    r"(?:,? (?:is )?(?:called |named )?(?P<name>(?!I\b)[A-Z][\w-]+(?: [A-Z][\w-]+)?))?",
)
_INTRODUCED = lazy_regex(
    r"\b(?:[Aa]|[Aa]n|[Aa]nother|[Tt]he) (?:[a-z-]+ ){0,2}?(?P<kin>[a-z]+)(?:,? (?:called|named)|,) "
    r"(?P<name>[A-Z][\w-]+)"
)
_SEVERAL = lazy_regex(
    r"\b(?:(?:[Tt]he|[Mm]y|[Oo]ur) )?(?:[Oo]ne|[Tt]wo|[Tt]hree|[Tt]win|[Aa]|[Mm]y|[Oo]ur) (?:[a-z-]+ "
    rf"){{0,2}}?(?P<kin>{_KIND}|girl|boy)s?"
    r"(?:,| called| named) (?P<name>[A-Z][a-z]\w*)(?:(?:, (?P<third>[A-Z][a-z]\w*))?,? and "
    r"(?P<other>[A-Z][a-z]\w*))?(?=[.,;!]|$| )"
)
"""People and animals by name after how many they are: "two cats, Biscuit and Mozart"."""
_TITLE = r"(?:Mr|Mrs|Ms|Miss|Dr|Prof)"
_TITLED = lazy_regex(rf"(?P<title>{_TITLE})\.? [A-Z]")
_NO_PERSON_BEFORE = lazy_regex(r"\b(?:St\.?|Saint|Lake|Mount|Mt\.?|Port|Fort|at the) $")
_NAME = lazy_regex(rf"(?<![\w'’-])(?P<name>(?:{_TITLE}\.? (?=[A-Z]))?[A-Z][\w-]*[a-zé]\w*)(?P<poss>['’]s)?(?![\w-])")
_STARTS_SENTENCE = lazy_regex(r"(?:^|[.!?:;]\s+|[\"“])$")
_PERSONAL_VERB = lazy_regex(
    rf"(?:['’]s)? (?:also |just |still |now |really |never |always |only |finally )*(?:{PAST}|is|was|has|had|"
    rf"will|'s|loves|likes|hates|wants|"
    r"lives|works|plays|thinks|says|moved|died|turned|started|called|drives|teaches|studies|cannot|can't|knows|"
    r"needs|turns|swears|"
    r"tells|goes|runs|coaches|[a-z]{3,}(?<!e)ed|married|graduated|retired|quit|joined|passed|finished|adopted|"
    r"switched|helped|stopped)\b"
)
_JOINT = lazy_regex(r" and (?:I\b|my\b|our\b|[A-Z])")
_COMPOUND = lazy_regex(
    r" (?!also|just|still|now|really|never|always|only|usually|often|actually|[a-z]+ly\b)(?!is\b|was\b|has\b|"
    r"had\b|will\b)[a-z]+ "
    r"(?:is|are|was|were|has|have)\b"
)
"""Two subjects, or a noun made with the word: "my wife and I", "my mother tongue is"."""
_PRONOUN = lazy_regex(r"\b(?P<word>he|she|him|her|his|hers)\b", re.IGNORECASE)
_OF_NAMED = lazy_regex(
    r"\b(?!Mon|Tue|Wed|Thu|Fri|Sat|Sun|January|February|March|April|May|June|July|August|September|October|November|"
    r"December|I\b)"
    r"(?<=[a-z] )[A-Z][a-z]+ (?:[a-z]+ ){1,3}(?:his|her)$"
)
"""A name that nobody knows, and a pronoun that can only mean it: "take Pickle for his jabs"."""
_FEMININE = frozenset({"she", "her", "hers"})
_FIRST_NAME = lazy_regex(r"[A-Z][\w-]+")


@dataclass(frozen=True, slots=True)
class Person:
    """Someone by the name that a statement may give them; `gender` is "f", "m" or None where it is not known."""

    name: str
    gender: str | None


@dataclass(slots=True)
class Persons:
    """People mentioned in a conversation, the latest last, each with the number of the message.

    `centers`: by gender, whom the last statement that has a person for its
    subject is about, or who alone is named in it, and the number of its message, unless the same pronoun would mean
    another, too.
    """

    speaker: str
    seen: list[tuple[int, Person]] = field(default_factory=list)
    genders: dict[str, str | None] = field(default_factory=dict)
    centers: dict[str | None, tuple[int, Person]] = field(default_factory=dict)

    def hear(self, text: str, number: int) -> None:
        """Remember whom `text`, the message of this `number`, mentions."""
        self.seen += [(number, one) for one in self._find_people(text)]

    def meet(self, acquaintances: Iterable[Acquaintance]) -> None:
        """Register people named with their relation in an earlier conversation."""
        for one in acquaintances:
            if one.relation and _FIRST_NAME.fullmatch(one.name) and one.name != self.speaker:
                word = one.relation.split("_")[-1].lower()
                self.genders[one.name] = "f" if word in _HER else "m" if word in _HIM else _gender(one.name)

    def ask(self, question: str, number: int) -> None:
        """Let the pronouns of an answer mean the only person named in the question."""
        mentioned = {one.name: one for one in self._find_people(question)}
        if len(mentioned) == 1:
            (one,) = mentioned.values()
            self._forget(one)
            self.centers[one.gender] = (number, one)

    def knows(self, name: str) -> bool:
        """Return whether somebody of that name was introduced, or a first name says that it is a person."""
        return name in self.genders or _gender(name) is not None

    def resolve(self, statement: str, number: int, subject: Person | None = None) -> str | None:
        """Return `statement` with "he", "she", "his", "her" replaced by the name; None: nobody is certainly meant.

        `subject`: of whom the statement before speaks. Only who is mentioned up to here is considered.
        """
        for found in _PRONOUN.finditer(statement):
            before = statement[: found.start()]
            gender = "f" if found["word"].lower() in _FEMININE else "m"
            if self._of_gender(self._find_people(before), gender):
                continue
            person = self._referent(gender, number, subject)
            if person is None:
                return statement if _OF_NAMED.search(statement[: found.end()]) else None
            self._learn(person, gender)
            own_relation = person.name.startswith(f"{self.speaker}'s ")
            name = f"my{person.name[len(self.speaker) + 2 :]}" if own_relation else person.name
            name = name if before.strip() else name[:1].upper() + name[1:]
            rest = statement[found.end() :]
            owns = found["word"].lower() in {"his", "hers"} or (
                found["word"].lower() == "her"
                and re.match(
                    r" (?!in\b|to\b|on\b|at\b|a\b|the\b|and\b|for\b|with\b|up\b|as\b|out\b|every\b|that\b|"
                    r"this\b|so\b|my\b|yesterday\b|last\b)[a-z-]",
                    rest,
                )
            )
            return f"{before}{name}{chr(39) + 's' if owns else ''}{rest}"
        return statement

    def subject_of(self, statement: str) -> Person | None:
        """Return the person whom a statement begins with; None: the speaker, a thing, or nobody."""
        kin = _OF_SOMEONE.match(statement)
        if kin and (_JOINT.match(statement, kin.end()) or (not kin["name"] and _COMPOUND.match(statement, kin.end()))):
            return None
        if kin and (kin["whose"].lower() in {"my", "our"} or kin["name"]):
            return self._kin(kin)
        name = _NAME.match(statement)
        if name and _JOINT.match(statement, name.end()):
            return None
        if name and not name["poss"] and self._is_person(name["name"], statement, 0):
            return Person(name["name"], self.genders.get(name["name"]) or _gender(name["name"]))
        if name and name["poss"] and name["name"].lower() not in NO_NAMES:
            return Person(name["name"], self.genders.get(name["name"]) or _gender(name["name"]))
        return None

    def set_center(self, statement: str, subject: Person | None, number: int) -> None:
        """Remember of whom `statement`, in this message, speaks: its `subject`, or the only one it mentions."""
        mentioned = {one.name: one for one in self._find_people(statement)}
        if subject is None and len(mentioned) != 1:
            for one in mentioned.values():
                self._forget(one)
            return
        before = (one for _, one in self.centers.values() if statement.startswith(f"{one.name}'s "))
        center = next(before, None) or subject or next(iter(mentioned.values()))
        introduced = any(one.name == center.name for _, one in self.centers.values())
        others = [one for name, one in mentioned.items() if name != center.name and not introduced]
        self._forget(center)
        if not any(one.gender == center.gender or None in {one.gender, center.gender} for one in others):
            self.centers[center.gender] = (number, center)

    def _learn(self, person: Person, gender: str) -> None:
        """Remember that somebody of unknown gender was called "he" or "she"."""
        if person.gender is None and self.genders.get(person.name, "") is None:
            self.genders[person.name] = gender
            self.seen = [(number, replace(one, gender=gender) if one == person else one) for number, one in self.seen]
            if None in self.centers and self.centers[None][1] == person:
                self.centers[gender] = self.centers.pop(None)

    def _forget(self, other: Person) -> None:
        """Forget the referents of pronouns that fit `other` as well."""
        for gender in [one for one in self.centers if None in {one, other.gender} or one == other.gender]:
            del self.centers[gender]

    def _referent(self, gender: str, number: int, subject: Person | None) -> Person | None:
        if subject and subject.gender in {gender, None}:
            return subject
        near_by = [
            self.centers[one]
            for one in (gender, None)
            if one in self.centers and number - self.centers[one][0] <= NEAR + 1
        ]
        if near_by:
            return max(near_by, key=lambda one: one[0])[1]
        near = [person for seen_at, person in self.seen if number - NEAR < seen_at <= number]
        fitting = self._of_gender(near, gender)
        gendered = [one for one in fitting if one.gender]
        names = {one.name for one in gendered or fitting}
        return (gendered or fitting)[-1] if len(names) == 1 else None

    @staticmethod
    def _of_gender(several: list[Person], gender: str) -> list[Person]:
        return [one for one in several if one.gender in {gender, None}]

    def _find_people(self, text: str) -> list[Person]:
        found: list[tuple[int, Person]] = []
        taken: set[int] = set()
        for match in _OF_SOMEONE.finditer(text):
            if match["whose"].lower() in {"my", "our", "your"} or match["name"]:
                found.append((match.start(), self._kin(match)))
                taken |= set(range(match.start(), match.end()))
        for match in _INTRODUCED.finditer(text):
            word = match["kin"].lower()
            gender = "f" if word in _HER else "m" if word in _HIM else _gender(match["name"])
            if match["name"].lower() not in NO_NAMES and (gender or re.fullmatch(_KIND, word)):
                self.genders[match["name"]] = gender
                found.append((match.start(), Person(match["name"], gender)))
        found += self._several(text)
        for match in _NAME.finditer(text):
            name = match["name"]
            if _NO_PERSON_BEFORE.search(text[max(0, match.start() - 10) : match.start()]):
                continue
            if match.start() not in taken and self._is_person(name, text, match.start()):
                found.append((match.start(), Person(name, self.genders.get(name) or _gender(name))))
        return [person for _, person in sorted(found, key=lambda one: one[0])]

    def _several(self, text: str) -> list[tuple[int, Person]]:
        """Register people named after their number; return those named alone, whom a pronoun may mean."""
        alone = []
        for match in _SEVERAL.finditer(text):
            word = match["kin"].lower()
            gender = "f" if word in _HER else "m" if word in _HIM else None
            for name in filter(None, (match["name"], match["third"], match["other"])):
                self.genders[name] = gender
            alone += [] if match["other"] else [(match.start(), Person(match["name"], gender))]
        return alone

    def _kin(self, match: re.Match[str]) -> Person:
        word = match["kin"].split()[-1].lower().removesuffix("-in-law")
        gender = "f" if word in _HER else "m" if word in _HIM else "several" if word in _SEVERAL_KIN else None
        name = match["name"]
        if name and name.split()[0].lower() not in NO_NAMES:
            gender = gender or _gender(name)
            self.genders[name] = self.genders[name.split()[0]] = gender
            return Person(name, gender)
        return Person(f"{self.speaker}'s {match['kin'].lower()}", gender)

    def _is_person(self, name: str, text: str, start: int) -> bool:
        low = name.lower()
        if _TITLED.match(name) or (name in self.genders and name != self.speaker):
            return True
        if name == self.speaker or low in NO_NAMES:
            return False
        if _gender(name) and low not in COMMON_WORDS:
            return True
        if not _STARTS_SENTENCE.search(text[:start]):
            return low in COMMON_WORDS
        return not _THING.search(low) and bool(_PERSONAL_VERB.match(text, start + len(name)))


_THING = lazy_regex(
    r"(?:ing|ly|tion|sion|ment|ness|ity|ship|ery|ance|ence|ism|ics|ware|ings|work|ursday|day)$|"
    r"^(?:only|better|worse|still|even|just|vet|boiler|doctor|doc|car|van|quiet|funny|mornings?|evenings?|nights?|school|"
    r"work|choir|church|band|club|class|house|flat|rent|job|gym|training|practice|trivia|weather|traffic|dinner|lunch)$"
)
"""Words that open a sentence and name nobody, though a verb of persons follows: "Surgery was expensive"."""


def _gender(name: str) -> str | None:
    if titled := _TITLED.match(name):
        return {"Mr": "m", "Mrs": "f", "Ms": "f", "Miss": "f"}.get(titled["title"])
    first = name.partition(" ")[0].lower()
    return "f" if first in FEMALE else "m" if first in MALE else None
