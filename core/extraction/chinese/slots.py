"""The slots of a Chinese clause, whoever it is about."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

from core.extraction.chinese import naming, patterns
from core.extraction.chinese.people import People, Sort, Subject
from core.extraction.chinese.tables import rows
from core.extraction.pattern_types import Slot
from core.language import dates
from core.language.lazy_regex import lazy_regex
from core.types import Category

_IS_IN = lazy_regex(
    rf"^我(?:人|还|都|现在|目前|一直|一个人)*在(?P<v>{patterns.CITIES_ONLY})(?=$|做|当|念|读|上|开|教|打工)"
)


_LIVES = next(pattern for pattern in rows.SLOTS if pattern.attribute == "home.city" and not pattern.negated)


_ANY_DAY = datetime(2020, 1, 1, tzinfo=UTC)


_IS_OLD = lazy_regex(
    r"(?:^我|我|天|周|月|年|号|日)(?:满|就|都|已经|今年|刚|快)*(?P<years>[二三四五六七八九]?十[一二三四五六七八九]?(?=岁|了|$)|"
    r"(?:\d{1,3}|[一二三四五六七八九])(?=岁))岁?了?$"
)
_WRITES = 8


def slots_of(text: str, masked: str, subject: Subject) -> list[Slot]:
    """Return the slots of a clause, read as if said of the speaker, with its subject put in."""
    about = subject.name if subject.sort in {Sort.PERSON, Sort.PET} else ""
    if (
        about
        and (called := naming.CALLED.search(masked) or naming.IS_KIN.match(masked))
        and not re.search(r"[他她它]", masked[: called.start()])
    ):
        return [
            slot
            for slot in patterns.slots(
                text if masked.startswith("我") or not naming.CALLED.search(masked) else f"我{text}"
            )
            if slot.attribute.startswith("relation.")
        ]
    stated = f"我{text[subject.length :]}" if about else text if "我" in masked else f"我{text}"
    slots = patterns.slots(stated)
    undated = stated
    for one in reversed(dates.find(stated, _ANY_DAY, chinese=True)):
        undated = undated[: one.start] + undated[one.end :]
    filled = {(slot.attribute, slot.about) for slot in slots}
    slots += [slot for slot in patterns.slots(undated) if (slot.attribute, slot.about) not in filled]
    if not slots and (old := _IS_OLD.search(stated)):
        slots = patterns.slots(f"我今年{old['years']}岁")
    if about and not any(slot.pattern.exclusive for slot in slots) and (found := _IS_IN.search(stated)):
        slots = [*slots, Slot("home.city", found["v"], _LIVES)]
    if about:
        slots = [slot for slot in slots if not slot.attribute.startswith("name.") or slot.value != about]
    return [replace(slot, about=about) if about and not slot.about else slot for slot in slots]


def may_stand_by(slot: Slot) -> bool:
    """Return whether a slot is one of a list, so that the statement may fill another one beside."""
    return not slot.pattern.exclusive and slot.pattern.category is not Category.PREFERENCE


def is_a_childs(slot: Slot) -> bool:
    """Return whether it is an age at which nobody writes: somebody else was meant."""
    return slot.attribute == "age" and not slot.about and slot.value.isdecimal() and int(slot.value) < _WRITES


def with_home_town(plain: str, slots: list[Slot], known_people: People) -> tuple[str, list[Slot]]:
    """Put the speaker's town before a district given as their home."""
    for slot in slots:
        if slot.attribute != "home.city" or slot.about or slot.pattern.negated:
            continue
        if re.match(patterns.CITIES_ONLY, slot.value):
            known_people.home = re.match(patterns.CITIES_ONLY, slot.value)[0]  # type: ignore[index]
        elif known_people.home and not re.search(r"搬|移居|定居", plain):
            whole = f"{known_people.home}{slot.value}"
            return plain.replace(slot.value, whole, 1), [
                replace(one, value=whole) if one is slot else one for one in slots
            ]
    return plain, slots
