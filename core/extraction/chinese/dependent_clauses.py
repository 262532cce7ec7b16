"""Decide whether a Chinese clause ends the statement before it or is a statement of its own."""

from __future__ import annotations

import re

from core.extraction.chinese import claims, durable, joins, naming, slots, things
from core.extraction.chinese.people import Sort, Subject
from core.extraction.chinese.statement import ClauseContext
from core.language.lazy_regex import lazy_regex
from core.types import Category

ALONE = frozenset({"age", "diet", "education.field", "allergy", "home.city", "work.role", "health.condition"})
"""What changes for itself, however short it is told."""

_PART_OF_IT = lazy_regex(r"预算|落地|尾号|去程|回程|座位")


_CHANGED = lazy_regex(
    r"(?:换(?:了)?(?:份|个|家)?(?:工作|公司|手机|电脑|车|老师)?|跳槽|改|辞职|离职|搬(?:家)?|变)了$|喝不动了$"
)
_INTO = lazy_regex(
    r"现在(?:用|是|在|开|改|去|跟|住|骑|叫|姓|归)|改(?:成|为|用|到|在)|换(?:成|到|了)|变成|减(?:成|到|为)|去了"
)
"""“手机换了，现在用小米”: what it was changed into."""


def ends_statement_before(own: Subject, masked: str, text: str, context: ClauseContext, *, listed: bool) -> bool:
    """Return whether a clause (masked, as said) ends the one before. `listed`: both are in a list under a heading."""
    if _goes_on(masked, context):
        return True
    if own.sort in {Sort.NONE, Sort.THING} and _CHANGED.search(context.before) and _INTO.match(masked):
        return True
    if own.sort not in {Sort.NONE, Sort.THING} or not context.before or (listed and not re.match(r"不过|但", masked)):
        return claims.is_advice(masked) and bool(context.before)
    if not joins.depends_on_clause_before(masked) or _names_the_speaker(masked, context):
        return False
    if re.match("住", masked):
        return joins.is_trip(context.before)
    return not _has_a_slot(masked) and (_is_of_the_dead(context) or not _is_alone(masked, text, context))


def _goes_on(masked: str, context: ClauseContext) -> bool:
    """Return whether it continues a statement: “我才写完第二部分” a plan, “每周二晚上” a habit."""
    if context.last_statement is None:
        return False
    over = context.last_statement.fact is not None and context.last_statement.fact.over
    return bool(
        (re.match(r"我(?:才|已经|刚|都)", masked) and joins.depends_on_clause_before(masked))
        or (re.search(durable.FREQUENCY, masked) and len(things.key(masked)) < 2)
        or (over and re.match("不再|不[报去买考学练做跑喝吃]了?$", masked))
    )


def _names_the_speaker(masked: str, context: ClauseContext) -> bool:
    return masked.startswith("叫") and context.subject.sort is Sort.SPEAKER and not naming.HAS.search(context.before)


def _has_a_slot(masked: str) -> bool:
    """Return whether it fills a slot that changes for itself: work, what is over, the number of a thing."""
    fact = things.fact(masked, "", Category.FACT)
    if fact is None:
        return False
    numbered = fact.attribute.startswith("number.") and durable.THINGS.match(masked) and not _PART_OF_IT.match(masked)
    return fact.attribute.startswith(("work.", "weight")) or bool(fact.over and things.key(masked)) or bool(numbered)


def _is_of_the_dead(context: ClauseContext) -> bool:
    return bool(re.search(r"走了|去世", context.before))


def _is_alone(masked: str, text: str, context: ClauseContext) -> bool:
    return any(slot.attribute in ALONE for slot in slots.slots_of(text, masked, context.subject))
