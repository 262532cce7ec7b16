"""Clauses and persons of Chinese statements, and words that two of them share. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from core.memoize import memoized_in_scope
from core.statements import revision_zh_tables as table
from core.statements.succession import Statement

PAIR: Final = 2
"""Characters by which two statements show that they speak of one thing."""
SHORT: Final = 3
"""Characters of the name of a town."""


@dataclass(frozen=True, slots=True)
class NewStatement:
    """A new statement. `own`: its clauses; `around`: those and the clauses of the sentences it was read from."""

    own: tuple[str, ...]
    around: tuple[str, ...]
    year: int

    @property
    def whole(self) -> str:
        return "，".join(self.around)


def turns(clause: str) -> bool:
    return bool(table.TURNS.search(clause)) or any(aspect.now.search(clause) for aspect in table.ASPECTS)


def is_not_so(clause: str, year: int) -> bool:
    """Return whether a clause speaks of what is only wished for, asked or long past."""
    years = [int(found) for found in re.findall(r"(?<!\d)(?:19|20)\d\d(?=年)", clause)]
    return bool(table.NOT_SO.search(clause)) or any(one < year for one in years)


def of_one(new: Statement, old: Statement) -> bool:
    """Return whether both speak of one person, by name, by a part of the name, or where one names the other's."""
    new_person, old_person = _person(new), _person(old)
    return are_one(new, old) or _names(new_person, old.content) or _names(old_person, new.content)


def are_one(new: Statement, old: Statement) -> bool:
    """The same by who is spoken of alone: 朵朵 is 赵朵朵, and 赵磊的姐姐 whoever 赵磊的姐赵琳 is."""
    new_person, old_person = _person(new), _person(old)
    if new_person == old_person or (
        min(len(new_person), len(old_person)) > 1
        and (new_person.endswith(old_person) or old_person.endswith(new_person))
    ):
        return "的" not in new_person + old_person or new_person == old_person
    owner, _, kin = new_person.partition("的")
    return bool(kin) and f"{owner}的{kin[0]}{old_person}" in old.content


def _person(statement: Statement) -> str:
    """Return the person of a statement; a doctor's advice is about the patient."""
    owner, _, role = statement.subject.partition("的")
    return (
        owner if role and re.search(rf"(?:让|叫|要求|建议){re.escape(owner)}", statement.content) else statement.subject
    )


def _names(name: str, content: str) -> bool:
    start = content.find(name)
    return len(name) > 1 and start > 0 and not re.match(r"[的爸妈哥姐弟妹爷奶]", content[start + len(name) :])


def around(new: Statement) -> tuple[str, ...]:
    """Return the clauses of a statement, and of the sentences that it was read from."""
    quotes = [one.quote for one in getattr(new, "evidence", ())]
    return tuple(dict.fromkeys([*clauses(new.content), *(clause for quote in quotes for clause in clauses(quote))]))


def told_at(statement: Statement) -> datetime | None:
    """Return when it was said; one message ends nothing that it says itself."""
    moment: datetime | None = getattr(statement, "told_at", None)
    return moment


def year(new: Statement) -> int:
    moment = told_at(new)
    return moment.year if moment else 0


@memoized_in_scope
def clauses(text: str) -> tuple[str, ...]:
    return tuple(
        piece
        for piece in re.split(r"[，,；;。！!？?…]+|(?<=[\u4e00-\u9fff])[ \u3000]+|[ \u3000]+(?=[\u4e00-\u9fff])", text)
        if piece
    )


def bare(text: str, new: Statement, old: Statement) -> str:
    """Return a text without the names of those it speaks of, days, numbers and words that say nothing by themselves."""
    for name in {new.subject, old.subject, new.subject.partition("的")[0], old.subject.partition("的")[0]}:
        text = text.replace(name, " ")
    return without(text)


@memoized_in_scope
def without(text: str) -> str:
    text = table.COFFEE.sub("咖啡", text)
    return " ".join(table.FUNCTION.sub(" ", table.TIMES.sub(" ", text)).split())


def share(one: str, other: str) -> str | None:
    """Return the words that two texts share: two characters or more, a Latin word, a short form, or a key character."""
    for head in _heads(one):
        if head in other:
            return head
        if len(head) == PAIR and re.search(f"{head[0]}[\u4e00-\u9fff]{{1,3}}{head[1]}", other):
            return head
    telling = set(table.TELLING.findall(other))
    return next((sign for sign in table.TELLING.findall(one) if sign in telling), None)


def says_nothing(text: str) -> bool:
    return not next(_heads(text), "")


def day_of(what: str, other: str) -> str | None:
    """Return a weekday that both name."""
    return next((day for day in re.findall("周[一二三四五六日末]", what) if day in other), None)


def _heads(text: str) -> Iterator[str]:
    for run in re.findall(r"[A-Za-z][A-Za-z0-9-]+|[\u4e00-\u9fff]{2,}", text):
        if run[0].isascii():
            yield run
        else:
            yield from (pair for start in range(len(run) - 1) if (pair := run[start : start + 2]) not in table.EMPTY)


def value(found: re.Match[str]) -> str:
    return group(found, "v") or group(found, "w")


def group(found: re.Match[str], name: str) -> str:
    return found.groupdict().get(name) or ""


def within(new: str, old: str) -> bool:
    """Return whether a district may lie in the town that is named: 高新区 after 成都."""
    return bool(re.search(r"(?:区|路|街|镇|小区|新村)(?:的[^，]*)?$", new)) and len(table.EDGES.sub("", old)) <= SHORT


def alike(one: str, other: str) -> bool:
    one, other = table.EDGES.sub("", one), table.EDGES.sub("", other)
    return not one or not other or one in other or other in one


def around_of(shared: str, content: str) -> str:
    """Return the clause of a content in which something stands."""
    return next((clause for clause in clauses(content) if shared in clause), content)
