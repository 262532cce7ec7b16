"""Chinese statements that end older ones: a new value of one aspect, an end, a plan carried out. Pure."""

from __future__ import annotations

import re

from core.statements import revision_zh_clauses as reading
from core.statements import revision_zh_endings as ends
from core.statements import revision_zh_tables as table
from core.statements.succession import Statement


def may_revise(new: Statement) -> bool:
    """Return whether a statement may end anything at all."""
    return any(map(reading.turns, reading.around(new)))


def revises(new: Statement, old: Statement) -> str | None:
    """Return why `new`, said later, ends `old`; None if it does not."""
    if left := _left_office(new, old):
        return left
    if (
        not reading.of_one(new, old)
        or new.content == old.content
        or (table.WISH not in old.content and table.BYGONE.search(old.content))
    ):
        return _resumption(new, old)
    if table.WISH in old.content or table.WISH in new.content:
        return _another_wish(new.content, old.content)
    analysis = reading.NewStatement(reading.clauses(new.content), reading.around(new), reading.year(new))
    if reading.told_at(new) == reading.told_at(old):
        return _denial(analysis, old)
    return (
        _slot_of_an_alias(new, old)
        or _another_value(analysis, new, old)
        or _place_left(analysis, new, old)
        or _new_value(analysis, new, old)
        or _over(analysis, new, old)
        or ends.closed_state(analysis, new, old)
        or ends.set_aside(analysis, old)
        or _carried_out(analysis, new, old)
        or _denial(analysis, old)
    )


def _left_office(new: Statement, old: Statement) -> str | None:
    """老梁 has left: the boss is no longer one 姓梁, whoever the older statement speaks of."""
    if not re.search("姓[\u4e00-\u9fff]", old.content) or reading.told_at(new) == reading.told_at(old):
        return None
    return ends.departure(
        reading.NewStatement(reading.clauses(new.content), reading.around(new), reading.year(new)), new, old
    )


def _resumption(new: Statement, old: Statement) -> str | None:
    """Return the reason if `new` takes up again what `old` says is over."""
    if reading.told_at(new) == reading.told_at(old) or new.content == old.content or not reading.of_one(new, old):
        return None
    return ends.resumption(
        reading.NewStatement(reading.clauses(new.content), reading.around(new), reading.year(new)), new, old
    )


def _another_wish(new: str, old: str) -> str | None:
    """Return two standing wishes on one matter of which one can be met at a time."""
    if table.WISH not in old or table.WISH not in new:
        return None
    found = next((name for name, regex in table.WISHES.items() if regex.search(new) and regex.search(old)), None)
    if found:
        return f"another wish about {found}"
    if not table.WISHED_NO_MORE.search(new) or table.WISHED_NO_MORE.search(old):
        return None
    shared = reading.share(reading.without(new.partition(table.WISH)[2]), reading.without(old.partition(table.WISH)[2]))
    return f"no longer wished: {shared}" if shared else None


def _slot_of_an_alias(new: Statement, old: Statement) -> str | None:
    """Return one slot of one person under two names (朵朵, 赵朵朵)."""
    if new.subject == old.subject or new.attribute is None or new.attribute != old.attribute:
        return None
    if new.attribute.partition(".")[0] not in table.SINGLE or new.value == old.value:
        return None
    return f"{new.attribute}: {old.value} → {new.value}"


def _another_value(analysis: reading.NewStatement, new: Statement, old: Statement) -> str | None:
    """Return two values of one aspect of which only one holds at a time."""
    for aspect in table.ASPECTS:
        if aspect.own and not reading.are_one(new, old):
            continue
        texts = analysis.own if aspect.own else analysis.around
        for clause in texts:
            found = aspect.now.search(clause)
            if found is None or reading.is_not_so(clause[: found.end()], analysis.year):
                continue
            if aspect.marked and not table.MARKED.search("，".join(texts)):
                continue
            if old_value := _other(aspect, found, old.content):
                return f"{aspect.name}: {old_value} → {reading.value(found)}"
    return _renewal(analysis, old) or _favourite(analysis, old)


def _other(aspect: table.Aspect, new: re.Match[str], old: str) -> str | None:
    """Return the value that an older statement has of an aspect, if it is another one of the same thing."""
    for clause in reading.clauses(old):
        found = aspect.was.search(clause)
        if found is None or table.AHEAD.search(clause):
            continue
        same_thing = reading.group(new, "k") == reading.group(found, "k")
        nested = aspect.nested and reading.within(reading.value(new), reading.value(found))
        if same_thing and not nested and not reading.alike(reading.value(new), reading.value(found)):
            return reading.value(found)
    return None


def _renewal(analysis: reading.NewStatement, old: Statement) -> str | None:
    """“门禁码换了”, whatever it was."""
    for clause in analysis.around:
        found = table.RENEWED.search(clause)
        if found is None or reading.is_not_so(clause, analysis.year):
            continue
        noun = found["k"]
        for start in range(len(noun) - 1):
            if noun[start:] not in table.EMPTY and re.search(f"{re.escape(noun[start:])}{table.HAS}", old.content):
                return f"another {noun[start:]}"
    return None


def _favourite(analysis: reading.NewStatement, old: Statement) -> str | None:
    """Return another favourite, where the sentence that tells it speaks of the old one, too."""
    now = next((found["v"] for clause in analysis.around if (found := table.FAVOURITE.search(clause))), None)
    found = table.FAVOURITE.search(old.content)
    if now is None or found is None or not table.TURNED.search(analysis.whole):
        return None
    liked = found["v"].strip("《》")
    said_of_old = len(liked) > 1 and liked in analysis.whole and liked not in now
    return f"no longer likes {liked} best" if said_of_old else None


def _place_left(analysis: reading.NewStatement, new: Statement, old: Statement) -> str | None:
    """Return the reason if `old` tells of an activity or companion at a place that was left."""
    one, beside = reading.are_one(new, old), new.subject != old.subject or f"同事{old.subject}" in old.content
    for clause in analysis.around if beside else analysis.own:
        found = table.LEFT.search(clause)
        if found is None or reading.is_not_so(clause[: found.end()], analysis.year):
            continue
        where = reading.group(found, "v") or reading.group(found, "w")
        for old_clause in reading.clauses(old.content):
            worked = (one and table.WORKS.search(old_clause)) or (beside and table.WITH_WHOM.search(old_clause))
            if not worked or table.AHEAD.search(old_clause) or table.PAST.search(old_clause):
                continue
            workplace = reading.group(worked, "v")
            if where and workplace and not reading.share(where, workplace):
                continue
            if not (
                workplace
                and any(workplace in clause_said for clause_said in analysis.own if not table.LEFT.search(clause_said))
            ):
                return f"left the place ({found.group()})"
    return None


def _new_value(analysis: reading.NewStatement, new: Statement, old: Statement) -> str | None:
    """Return another time, number or measure of something that both name."""
    for index, clause in enumerate(analysis.around):
        found = table.MOVED.search(clause)
        if found is None or reading.is_not_so(clause[: found.start()], analysis.year) or table.BESIDE.search(clause):
            continue
        bare = clause[found.start() :] == found.group() and found.group().endswith(("了", "半", "倍"))
        goes_on = analysis.around[index + 1] if bare and index + 1 < len(analysis.around) else clause[found.start() :]
        sort = next((sort for sort in table.SORTS if sort.search(goes_on)), None)
        if sort is None or not sort.search(old.content) or sort.search(goes_on)[0] in old.content:  # type: ignore[index]
            continue
        about = "，".join(analysis.around[max(index - 1, 0) : index + 1])
        if shared := reading.share(reading.bare(about, new, old), reading.bare(old.content, new, old)):
            return f"another time or measure of {shared}"
    return None


def _over(analysis: reading.NewStatement, new: Statement, old: Statement) -> str | None:
    """Return an end said of what an older statement holds."""
    if departed := ends.departure(analysis, new, old):
        return departed
    if table.HAPPENED.search(old.content):
        return None
    for clause in analysis.around:
        found = table.OVER.search(clause)
        if found is None or reading.is_not_so(clause[: found.start()], analysis.year):
            continue
        about = reading.bare(clause[found.start() :], new, old)
        if table.WHAT_IS_OVER.search(clause) is None:
            # Of “画画班乐乐不去了” the last two characters are who no longer goes.
            about += re.sub(
                "(?<=[\u4e00-\u9fff]{3})[\u4e00-\u9fff]{2}$", "", " " + reading.bare(clause[: found.start()], new, old)
            )
        old_text = reading.bare(old.content, new, old)
        shared = reading.share(about, old_text) or reading.day_of(
            clause, old.content if reading.says_nothing(old_text) else ""
        )
        whole = table.NO_LONGER.search(clause)
        if whole and whole["v"] not in old.content:
            continue
        if shared and not table.NEGATED.search(reading.around_of(shared, old.content)):
            return f"{shared}: {found.group()}"
    return None


def _carried_out(analysis: reading.NewStatement, new: Statement, old: Statement) -> str | None:
    """Return a plan, a goal or a lack that has become a fact."""
    planned = table.PLANNED.search(old.content)
    if planned is None:
        return None
    for clause in analysis.around:
        done = table.DONE.search(clause)
        if (
            done is None
            or table.PLANNED.search(clause[: done.start()])
            or reading.is_not_so(clause[: done.start()], analysis.year)
        ):
            continue
        if done["goal"]:
            shared = next((unit for unit in table.UNITS if unit in old.content and unit in analysis.whole), "")
        else:
            shared_part = reading.share(
                reading.bare(clause, new, old), reading.bare(old.content[planned.start() :], new, old)
            )
            shared = shared_part if shared_part and (done["verb"] or "") in old.content else ""
            measure = table.MEASURE.search(clause)
            shared = shared or (measure[0] if measure and measure[0] in old.content else "")
        if shared:
            return f"carried out: {shared}"
    return None


def _denial(analysis: reading.NewStatement, old: Statement) -> str | None:
    """“不是柴犬，是田园犬”."""
    for found in table.NOT_BUT.finditer(analysis.whole):
        wrong = found["wrong"].strip("《》")
        if (
            len(wrong) > 1
            and wrong in old.content
            and not re.search(f"(?:不是|没有?)[^，]{{0,2}}{re.escape(wrong)}", old.content)
        ):
            return f"not {wrong} but {found['right']}"
    return None
