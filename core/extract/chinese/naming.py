"""Who gets a name in a Chinese clause, and of whom the next clauses tell then."""

from __future__ import annotations

import re

from core.extract import patterns_zh
from core.extract.chinese import life, people
from core.extract.chinese.people import People, Sort, Subject
from core.extract.chinese.said import Flow, Said

_NAMED = r"(?P<name>[\u4e00-\u9fff·]{2,4}?|[A-Z][a-z]+)"


_WHO = rf"(?P<kin>{people.KIN_WORDS}|{people.PET_KINDS})"


IS_KIN = re.compile(rf"^{_NAMED}(?:就|也)?是(?:我|我们|咱们?)(?:的|家)?[\u4e00-\u9fff]{{0,4}}?{_WHO}(?=$|[，。])")


_IS_PET = re.compile(
    rf"^(?P<name>[\u4e00-\u9fff]{{2,3}})是(?:一|只|条)*[\u4e00-\u9fff]{{0,4}}(?P<kin>{people.PET_KINDS})(?=$|[，。])"
)


CALLED = re.compile(rf"{_WHO}(?:的名字|大名)?[，]?(?:叫做?|名叫|取名|起名叫?){_NAMED}(?=$|[，。的])")


_NAME_ONLY = re.compile(rf"^(?:取名|起名|名字|小名)?叫?{_NAMED}$")


HAS = re.compile(rf"(?:有|养|生)(?:了)?(?:一|两|三|四|[1-4])?(?:个|位|只|条)?[^，的]{{0,4}}?{_WHO}$")


_BEFORE_NAME = re.compile(rf"(?:{people.ROLES_AROUND})(?=[\u4e00-\u9fff]{{2}})")


def introduce(hidden: str, flow: Flow, known: People) -> None:
    """Note who gets a name in a clause."""
    found = _IS_PET.match(hidden) or IS_KIN.match(hidden) or CALLED.search(hidden)
    if found:
        pet = re.fullmatch(people.PET_KINDS, found["kin"])
        known.introduce(found["name"], Sort.PET if pet else Sort.PERSON, None if pet else found["kin"])
    elif (
        (has := HAS.search(flow.before))
        and (found := _NAME_ONLY.match(hidden))
        and re.match(r"取名|起名|叫|名|小名|大名", hidden)
    ):
        pet = re.fullmatch(people.PET_KINDS, has["kin"])
        known.introduce(found["name"], Sort.PET if pet else Sort.PERSON, None if pet else has["kin"])
        flow.subject = Subject(Sort.PET if pet else Sort.PERSON, found["name"])
    elif (near := _BEFORE_NAME.search(hidden)) and (name := people.name_at(hidden[near.end() :])):
        known.introduce(people.nickname(name), Sort.PERSON)
    if found and found.re is not _NAME_ONLY and re.fullmatch(people.PET_KINDS, found["kin"]) is None:
        known.she.setdefault(found["name"], bool(re.search(r"女|妹|姐|妈|婆|妻", found["kin"])))


def had(kin: str, subject: Subject, known: People) -> Subject:
    """Whom the next clauses tell of after “有个女儿”."""
    name = known.relative(kin) if subject.sort is Sort.SPEAKER else f"{subject.name}的{people.kinship(kin)}"
    return Subject(Sort.PET if re.fullmatch(people.PET_KINDS, kin) else Sort.PERSON, name)


def named_pet(kept: Said | None, fact: life.Fact, known: People) -> Said | None:
    """The statement before, now of a pet by its name."""
    if kept is None:
        return None
    if kept.fact is None or kept.fact.attribute.startswith(("have.", "count.")):
        kept.fact = fact
    has = re.search(people.PET_KINDS, kept.plain)
    if has and kept.subject == known.speaker:
        kept.slots = (*kept.slots, *patterns_zh.slots(f"我的{has.group()}叫{known.last[Sort.PET]}"))
    return kept
