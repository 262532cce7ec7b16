"""Introductions of people and pets by name in Chinese clauses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.extraction.chinese import life, patterns, people
from core.extraction.chinese.people import People, Sort, Subject
from core.extraction.chinese.statement import ClauseContext, ClauseStatement
from core.extraction.chinese.tables import rows
from core.extraction.known_people import Acquaintance
from core.extraction.pattern_types import Slot
from core.language.lazy_regex import lazy_regex
from core.language.terms import dictionary_count

_NAMED = r"(?P<name>[\u4e00-\u9fff·]{2,4}?|[A-Z][a-z]+)"


_WHO = rf"(?P<kin>{people.KIN_WORDS}|{people.PET_KINDS})"


IS_KIN = lazy_regex(rf"^{_NAMED}(?:就|也)?是(?:我|我们|咱们?)(?:的|家)?[\u4e00-\u9fff]{{0,4}}?{_WHO}(?=$|[，。])")


_IS_PET = lazy_regex(
    rf"^(?P<name>[\u4e00-\u9fff]{{2,3}})是(?:一|只|条)*[\u4e00-\u9fff]{{0,4}}(?P<kin>{people.PET_KINDS})(?=$|[，。])"
)


CALLED = lazy_regex(rf"{_WHO}(?:的名字|大名)?[，]?(?:叫做?|名叫|取名|起名叫?){_NAMED}(?=$|[，。的])")


SOMEBODY = lazy_regex(
    r"(?:跟|和|与|有|来了?|认识了?|招了?|合租的是)(?:一)?(?:个|位|名)[^，的]{0,4}?(?P<kin>女生|男生|女孩|男孩|姑娘|小伙子?|小哥|大姐|大哥|大叔|阿姨|年轻人|大学生|研究生|租客|室友|同事|人)$"
)
"""“跟一个女生合租，叫思琪”."""
_NAME_ONLY = lazy_regex(rf"^(?:取名|起名|名字|小名)?叫?{_NAMED}$")


HAS = lazy_regex(
    rf"(?:有|养|生|捡|领养|收养|抱|接|救|买)(?:了|回)?(?:回来)?(?:一|两|三|四|[1-4])?(?:个|位|只|条)?[^，的]{{0,4}}?{_WHO}$"
)


_FRIENDS = r"[\u4e00-\u9fff]友(?!谊|好|情|人)"
_MINE = (
    r"我(?:们|家|的)*|俺的?|(?:最?[大小]|老[大二三])的(?:是|叫)?|"
    r"(?:[\u4e00-\u9fff]{0,2}(?:带|教|陪|和|跟|帮|管)我[^，]{0,6}的)(?:现在|还)?(?:就)?是"
)
_APPOSED = lazy_regex(
    rf"^(?:(?P<mine>{_MINE})|(?:还有|新|双打|现在的?))*(?P<kin>{people.KIN_WORDS}|{_FRIENDS})(?=[\u4e00-\u9fff]{{2}})"
)
"""“我同事陈静…”, “大的闺女陈一诺”, “带我的是跑友马骏”: who somebody is, right before the name."""
_WHOLE_NAME = lazy_regex(rf"[{people.SURNAMES}][\u4e00-\u9fff]{{1,2}}(?<![了过的着吗呢])")
_OF_AN_OFFICE = lazy_regex(rf"(?:{people.ROLES_AROUND})(?:们|俩)?")


@dataclass(frozen=True, slots=True)
class NamedInApposition:
    """Somebody named right after their relation to the speaker. `end`: the end of the name in the clause."""

    kin: str
    name: str
    end: int


def name_in_apposition(masked: str, known_people: People) -> NamedInApposition | None:
    """Return who is named at the beginning of a clause; the holder of an office only if it is the speaker's."""
    found = _APPOSED.match(masked)
    if found is None or (not found["mine"] and _OF_AN_OFFICE.fullmatch(found["kin"])):
        return None
    behind = masked[found.end() :]
    name = behind if _WHOLE_NAME.fullmatch(behind) else people.leading_name(behind)
    if name is None or dictionary_count(name) or not re.fullmatch(r"[\u4e00-\u9fff]{2,3}", name):
        return None
    if known_people.kin.get(people.kinship(found["kin"])) == name:
        return None
    return NamedInApposition(found["kin"], name, found.end() + len(name))


def person_brought_up(masked: str) -> re.Match[str] | None:
    """Return the mention of somebody whom a later clause may name."""
    return HAS.search(masked) or SOMEBODY.search(re.sub("(?:合租|同住|搭档|一起住)$", "", masked))


_OF_WHOM = lazy_regex(rf"(?P<kin>{people.KIN_WORDS}|新娘|新郎)$")
_FIRST_NAME = lazy_regex(rf"(?:叫|名叫)?(?P<name>{_WHOLE_NAME.pattern})")


def _bare_name(masked: str, context: ClauseContext, known_people: People) -> NamedInApposition | None:
    """Return a bare name right after a mention: “就一个儿子，郭晨，…”."""
    name = _FIRST_NAME.fullmatch(masked)
    if name is None or name["name"] in known_people.named or dictionary_count(name["name"]):
        return None
    of_whom = _OF_WHOM.search(context.before)
    return NamedInApposition(of_whom["kin"], name["name"], len(masked)) if of_whom else None


def relation_slots(kin: str, name: str) -> list[Slot]:
    """Return the slot of a relation with its name."""
    kin = people.kinship(kin)
    return patterns.slots(f"我的{kin}叫{name}") or [Slot(f"relation.{kin}", name, _OTHERS)]


_OTHERS = next(one for one in rows.SLOTS if one.attribute.startswith("relation.{") and not one.exclusive)


_BEFORE_NAME = lazy_regex(rf"(?:{people.ROLES_AROUND})(?=[\u4e00-\u9fff]{{2}})")


def introduce(masked: str, context: ClauseContext, known_people: People) -> NamedInApposition | None:
    """Register who gets a name in a clause; return who gets it in apposition."""
    both: NamedInApposition | None = None
    if bare := _bare_name(masked, context, known_people):
        known_people.introduce(bare.name, Sort.PERSON, bare.kin)
        known_people.note(bare.name, bare.kin)
        return bare
    found = _IS_PET.match(masked) or IS_KIN.match(masked) or CALLED.search(masked)
    if found:
        pet = re.fullmatch(people.PET_KINDS, found["kin"])
        known_people.introduce(found["name"], Sort.PET if pet else Sort.PERSON, None if pet else found["kin"])
    elif both := name_in_apposition(masked, known_people):
        known_people.introduce(both.name, Sort.PERSON, both.kin)
        known_people.note(both.name, both.kin)
    elif (
        (has := HAS.search(context.before) or context.had)
        and (found := _NAME_ONLY.match(masked))
        and re.match(r"取名|起名|叫|名|小名|大名", masked)
    ):
        pet = re.fullmatch(people.PET_KINDS, has["kin"])
        known_people.introduce(found["name"], Sort.PET if pet else Sort.PERSON, None if pet else has["kin"])
        context.subject = Subject(Sort.PET if pet else Sort.PERSON, found["name"])
    elif (near := _BEFORE_NAME.search(masked)) and (name := people.leading_name(masked[near.end() :])):
        known_people.introduce(people.nickname(name), Sort.PERSON)
    if found and found.re.pattern != _NAME_ONLY.pattern and re.fullmatch(people.PET_KINDS, found["kin"]) is None:
        known_people.note(found["name"], found["kin"])
    return both


def subject_after_having(kin: str, subject: Subject, known_people: People) -> Subject:
    """Return the subject of the clauses after “有个女儿”."""
    name = known_people.relative(kin) if subject.sort is Sort.SPEAKER else f"{subject.name}的{people.kinship(kin)}"
    return Subject(Sort.PET if re.fullmatch(people.PET_KINDS, kin) else Sort.PERSON, name)


def named_pet(statement: ClauseStatement | None, fact: life.Fact, known_people: People) -> ClauseStatement | None:
    """Return the statement before, with the pet's name filled in."""
    if statement is None:
        return None
    if statement.fact is None or statement.fact.attribute.startswith(("have.", "count.")):
        statement.fact = fact
    has = re.search(people.PET_KINDS, statement.plain)
    if has and statement.subject == known_people.speaker:
        statement.slots = (*statement.slots, *patterns.slots(f"我的{has.group()}叫{known_people.last[Sort.PET]}"))
    return statement


_ANYWHERE = lazy_regex(rf"(?:我|咱)(?:们|家)?(?:的)?(?P<kin>{people.KIN_WORDS})(?=[\u4e00-\u9fff]{{2}})")
_TOGETHER = lazy_regex(r"(?:跟|和|与|陪|带|找|还有|、)(?=(?P<name>[小老阿]?[\u4e00-\u9fffA-Z][\u4e00-\u9fffa-z]{0,5}))")


def note_names_within(masked: str, known_people: People) -> None:
    """Register names of relatives and companions within a clause."""
    for found in _ANYWHERE.finditer(masked):
        name = people.leading_name(masked[found.end() :])
        if name and not dictionary_count(name) and _WHOLE_NAME.fullmatch(name) and not known_people.named_at(name):
            known_people.name(name, Sort.PERSON)
            known_people.note(name, found["kin"])
            known_people.kin.setdefault(people.kinship(found["kin"]), name)
    for found in _TOGETHER.finditer(masked):
        name = people.leading_name(masked[found.end() :])
        if name and not dictionary_count(name) and not known_people.named_at(name):
            known_people.name(people.nickname(name), Sort.PERSON)


_PETS = frozenset({"dog", "cat", "rabbit", "hamster", "parrot", "turtle"})


def register_acquaintances(known_people: People, acquaintances: Sequence[Acquaintance]) -> People:
    """Register earlier acquaintances; a relation shared by two of them identifies neither."""
    by_relation: dict[str, list[str]] = {}
    for one in acquaintances:
        if not re.fullmatch(r"(?!.*的)[\u4e00-\u9fff·]{2,4}|[A-Z][a-z]+", one.name) or one.name == known_people.speaker:
            continue
        if not one.relation and dictionary_count(one.name):  # a word at the head of a clause that was taken for a name
            continue
        by_relation.setdefault(one.relation, []).append(one.name)
        if one.relation in _PETS or re.fullmatch(people.PET_KINDS, one.relation):
            known_people.named[one.name] = Sort.PET
        known_people.name(one.name, Sort.PERSON)
    for relation, names in by_relation.items():
        for kin in patterns.kin_words(relation) if len(set(names)) == 1 else ():
            known_people.kin.setdefault(people.kinship(kin), names[0])
    return known_people
