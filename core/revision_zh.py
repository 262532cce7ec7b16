"""Whether a Chinese statement ends an older one: another value of one aspect, an end, a plan carried out. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from core import revision_zh_words as table
from core.remembered import once
from core.succession import Statement

PAIR: Final = 2
"""Characters by which two statements show that they speak of one thing."""
SHORT: Final = 3
"""Characters of the name of a town."""


@dataclass(frozen=True, slots=True)
class _Told:
    """What a new statement tells. `own`: its clauses; `around`: they and those of the sentences it was read from."""

    own: tuple[str, ...]
    around: tuple[str, ...]
    year: int

    @property
    def whole(self) -> str:
        return "，".join(self.around)


def may_revise(new: Statement) -> bool:
    """Whether a statement may end anything at all."""
    return any(map(_turns, _around(new)))


def revises(new: Statement, old: Statement) -> str | None:
    """Why `new`, said later, ends `old`; None: it does not."""
    if not _of_one(new, old) or new.content == old.content or table.BYGONE.search(old.content):
        return None
    if table.WISH in old.content or table.WISH in new.content:
        return _another_wish(new.content, old.content)
    told = _Told(_clauses(new.content), _around(new), _year(new))
    if _at(new) == _at(old):
        return _denied(told, old)
    return (
        _slot_of_an_alias(new, old)
        or _another_value(told, new, old)
        or _left(told, new, old)
        or _moved(told, new, old)
        or _over(told, new, old)
        or _carried_out(told, new, old)
        or _denied(told, old)
    )


def _another_wish(new: str, old: str) -> str | None:
    """Two standing wishes on one matter of which one can be met at a time."""
    if table.WISH not in old or table.WISH not in new:
        return None
    found = next((name for name, regex in table.WISHES.items() if regex.search(new) and regex.search(old)), None)
    return f"another wish about {found}" if found else None


def _slot_of_an_alias(new: Statement, old: Statement) -> str | None:
    """One slot of one person under two names (朵朵, 赵朵朵)."""
    if new.subject == old.subject or new.attribute is None or new.attribute != old.attribute:
        return None
    if new.attribute.partition(".")[0] not in table.SINGLE or new.value == old.value:
        return None
    return f"{new.attribute}: {old.value} → {new.value}"


def _another_value(told: _Told, new: Statement, old: Statement) -> str | None:
    """Two values of one aspect of which only one holds at a time."""
    for aspect in table.ASPECTS:
        if aspect.own and not _are_one(new, old):
            continue
        texts = told.own if aspect.own else told.around
        for clause in texts:
            found = aspect.now.search(clause)
            if found is None or _is_not_so(clause[: found.end()], told.year):
                continue
            if aspect.marked and not table.MARKED.search("，".join(texts)):
                continue
            if held := _other(aspect, found, old.content):
                return f"{aspect.name}: {held} → {_value(found)}"
    return _renewed(told, old) or _favourite(told, old)


def _other(aspect: table.Aspect, new: re.Match[str], old: str) -> str | None:
    """The value that an older statement has of an aspect, if it is another one of the same thing."""
    for clause in _clauses(old):
        found = aspect.was.search(clause)
        if found is None or table.AHEAD.search(clause):
            continue
        same_thing = _group(new, "k") == _group(found, "k")
        nested = aspect.nested and _within(_value(new), _value(found))
        if same_thing and not nested and not _alike(_value(new), _value(found)):
            return _value(found)
    return None


def _renewed(told: _Told, old: Statement) -> str | None:
    """“门禁码换了”, whatever it was."""
    for clause in told.around:
        found = table.RENEWED.search(clause)
        if found is None or _is_not_so(clause, told.year):
            continue
        noun = found["k"]
        for start in range(len(noun) - 1):
            if noun[start:] not in table.EMPTY and re.search(f"{re.escape(noun[start:])}{table.HAS}", old.content):
                return f"another {noun[start:]}"
    return None


def _favourite(told: _Told, old: Statement) -> str | None:
    """Another favourite, where the sentence that tells it speaks of the old one, too."""
    now = next((found["v"] for clause in told.around if (found := table.FAVOURITE.search(clause))), None)
    found = table.FAVOURITE.search(old.content)
    if now is None or found is None or not table.TURNED.search(told.whole):
        return None
    liked = found["v"].strip("《》")
    known = len(liked) > 1 and liked in told.whole and liked not in now
    return f"no longer likes {liked} best" if known else None


def _left(told: _Told, new: Statement, old: Statement) -> str | None:
    """What one does, and with whom, at a place that one has left."""
    one, beside = _are_one(new, old), new.subject != old.subject or f"同事{old.subject}" in old.content
    for clause in told.around if beside else told.own:
        found = table.LEFT.search(clause)
        if found is None or _is_not_so(clause[: found.end()], told.year):
            continue
        where = _group(found, "v") or _group(found, "w")
        for held in _clauses(old.content):
            worked = (one and table.WORKS.search(held)) or (beside and table.WITH_WHOM.search(held))
            if not worked or table.AHEAD.search(held) or table.PAST.search(held):
                continue
            place = _group(worked, "v")
            if where and place and not _share(where, place):
                continue
            if not (place and any(place in said for said in told.own if not table.LEFT.search(said))):
                return f"left the place ({found.group()})"
    return None


def _moved(told: _Told, new: Statement, old: Statement) -> str | None:
    """Another time, number or measure of something that both name."""
    for place, clause in enumerate(told.around):
        found = table.MOVED.search(clause)
        if found is None or _is_not_so(clause[: found.start()], told.year) or table.BESIDE.search(clause):
            continue
        sort = next((sort for sort in table.SORTS if sort.search(clause[found.start() :])), None)
        if sort is None or not sort.search(old.content) or sort.search(clause[found.start() :])[0] in old.content:  # type: ignore[index]
            continue
        about = "，".join(told.around[max(place - 1, 0) : place + 1])
        if shared := _share(_bare(about, new, old), _bare(old.content, new, old)):
            return f"another time or measure of {shared}"
    return None


def _over(told: _Told, new: Statement, old: Statement) -> str | None:
    """An end said of what an older statement holds."""
    if gone := _gone(told, new, old):
        return gone
    if table.HAPPENED.search(old.content):
        return None
    for clause in told.around:
        found = table.OVER.search(clause)
        if found is None or _is_not_so(clause[: found.start()], told.year):
            continue
        about = _bare(clause[found.start() :], new, old)
        if table.WHAT_IS_OVER.search(clause) is None:
            # Of “画画班乐乐不去了” the last two characters are who no longer goes.
            about += re.sub(
                "(?<=[\u4e00-\u9fff]{3})[\u4e00-\u9fff]{2}$", "", " " + _bare(clause[: found.start()], new, old)
            )
        held = _bare(old.content, new, old)
        shared = _share(about, held) or _day_of(clause, old.content if _says_nothing(held) else "")
        whole = table.NO_LONGER.search(clause)
        if whole and whole["v"] not in old.content:
            continue
        if shared and not table.NEGATED.search(_around_of(shared, old.content)):
            return f"{shared}: {found.group()}"
    return None


def _gone(told: _Told, new: Statement, old: Statement) -> str | None:
    """Somebody who is no longer there, of whom it was said that they are."""
    for clause in told.around:
        found = table.GONE.search(clause)
        if found is None or _is_not_so(clause[: found.start()], told.year):
            continue
        named = new.subject if new.subject != old.subject and new.subject in old.content else ""
        named = named or _share(_without(clause.replace(new.subject, " ")), old.content) or ""
        if named and re.search(f"叫{re.escape(named)}", old.content):
            return f"{named}: {found.group()}"
    return None


def _carried_out(told: _Told, new: Statement, old: Statement) -> str | None:
    """A plan, a goal or a lack that has become a fact."""
    planned = table.PLANNED.search(old.content)
    if planned is None:
        return None
    for clause in told.around:
        done = table.DONE.search(clause)
        if (
            done is None
            or table.PLANNED.search(clause[: done.start()])
            or _is_not_so(clause[: done.start()], told.year)
        ):
            continue
        if done["goal"]:
            shared = next((unit for unit in table.UNITS if unit in old.content and unit in told.whole), "")
        else:
            named = _share(_bare(clause, new, old), _bare(old.content[planned.start() :], new, old))
            shared = named if named and (done["verb"] or "") in old.content else ""
            measure = table.MEASURE.search(clause)
            shared = shared or (measure[0] if measure and measure[0] in old.content else "")
        if shared:
            return f"carried out: {shared}"
    return None


def _denied(told: _Told, old: Statement) -> str | None:
    """“不是柴犬，是田园犬”."""
    for found in table.NOT_BUT.finditer(told.whole):
        wrong = found["wrong"].strip("《》")
        if (
            len(wrong) > 1
            and wrong in old.content
            and not re.search(f"(?:不是|没有?)[^，]{{0,2}}{re.escape(wrong)}", old.content)
        ):
            return f"not {wrong} but {found['right']}"
    return None


def _turns(clause: str) -> bool:
    return bool(table.TURNS.search(clause)) or any(aspect.now.search(clause) for aspect in table.ASPECTS)


def _is_not_so(clause: str, year: int) -> bool:
    """Whether a clause speaks of what is only wished for, asked or long past."""
    years = [int(found) for found in re.findall(r"(?<!\d)(?:19|20)\d\d(?=年)", clause)]
    return bool(table.NOT_SO.search(clause)) or any(one < year for one in years)


def _of_one(new: Statement, old: Statement) -> bool:
    """Whether both speak of one person, by name, by a part of the name, or where one names the other's."""
    mine, theirs = _person(new), _person(old)
    return _are_one(new, old) or _names(mine, old.content) or _names(theirs, new.content)


def _are_one(new: Statement, old: Statement) -> bool:
    """The same by who is spoken of alone: 朵朵 is 赵朵朵, and 赵磊的姐姐 whoever 赵磊的姐赵琳 is."""
    mine, theirs = _person(new), _person(old)
    if mine == theirs or (min(len(mine), len(theirs)) > 1 and (mine.endswith(theirs) or theirs.endswith(mine))):
        return "的" not in mine + theirs or mine == theirs
    owner, _, kin = mine.partition("的")
    return bool(kin) and f"{owner}的{kin[0]}{theirs}" in old.content


def _person(statement: Statement) -> str:
    """Of whom a statement speaks: what a doctor has somebody do is said of that one."""
    owner, _, role = statement.subject.partition("的")
    return (
        owner if role and re.search(rf"(?:让|叫|要求|建议){re.escape(owner)}", statement.content) else statement.subject
    )


def _names(name: str, content: str) -> bool:
    at = content.find(name)
    return len(name) > 1 and at > 0 and not re.match(r"[的爸妈哥姐弟妹爷奶]", content[at + len(name) :])


def _around(new: Statement) -> tuple[str, ...]:
    """The clauses of a statement, and of the sentences that it was read from."""
    quotes = [one.quote for one in getattr(new, "evidence", ())]
    return tuple(dict.fromkeys([*_clauses(new.content), *(clause for quote in quotes for clause in _clauses(quote))]))


def _at(statement: Statement) -> datetime | None:
    """When it was said: one message ends nothing that it says itself."""
    at: datetime | None = getattr(statement, "told_at", None)
    return at


def _year(new: Statement) -> int:
    at = _at(new)
    return at.year if at else 0


@once
def _clauses(text: str) -> tuple[str, ...]:
    return tuple(piece for piece in re.split(r"[，,；;。！!？?…]+", text) if piece)


def _bare(text: str, new: Statement, old: Statement) -> str:
    """A text without the names of those it speaks of, days, numbers and words that say nothing by themselves."""
    for name in {new.subject, old.subject, new.subject.partition("的")[0], old.subject.partition("的")[0]}:
        text = text.replace(name, " ")
    return _without(text)


@once
def _without(text: str) -> str:
    return " ".join(table.FUNCTION.sub(" ", table.TIMES.sub(" ", text)).split())


def _share(one: str, other: str) -> str | None:
    """What two texts name both: two characters or more, a word of Latin letters, a short form, a telling character."""
    for head in _heads(one):
        if head in other:
            return head
        if len(head) == PAIR and re.search(f"{head[0]}[\u4e00-\u9fff]{{1,3}}{head[1]}", other):
            return head
    telling = set(table.TELLING.findall(other))
    return next((sign for sign in table.TELLING.findall(one) if sign in telling), None)


def _says_nothing(held: str) -> bool:
    return not next(_heads(held), "")


def _day_of(what: str, other: str) -> str | None:
    """A weekday that both name."""
    return next((day for day in re.findall("周[一二三四五六日末]", what) if day in other), None)


def _heads(text: str) -> Iterator[str]:
    for run in re.findall(r"[A-Za-z][A-Za-z0-9-]+|[\u4e00-\u9fff]{2,}", text):
        if run[0].isascii():
            yield run
        else:
            yield from (pair for at in range(len(run) - 1) if (pair := run[at : at + 2]) not in table.EMPTY)


def _value(found: re.Match[str]) -> str:
    return _group(found, "v") or _group(found, "w")


def _group(found: re.Match[str], name: str) -> str:
    return found.groupdict().get(name) or ""


def _within(new: str, old: str) -> bool:
    """Whether a district may lie in the town that is named: 高新区 after 成都."""
    return bool(re.search(r"(?:区|路|街|镇|小区|新村)(?:的[^，]*)?$", new)) and len(table.EDGES.sub("", old)) <= SHORT


def _alike(one: str, other: str) -> bool:
    one, other = table.EDGES.sub("", one), table.EDGES.sub("", other)
    return not one or not other or one in other or other in one


def _around_of(shared: str, content: str) -> str:
    """The clause of a content in which something stands."""
    return next((clause for clause in _clauses(content) if shared in clause), content)
