"""Reading one conversation in Chinese, message by message: who speaks, what is taken back and put right."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.extraction import short_answers
from core.extraction.chinese import claims, clauses, joins, naming, things
from core.extraction.chinese.people import People, Subject
from core.extraction.chinese.statement import ClauseContext, ClauseStatement
from core.extraction.chinese.statements import read
from core.extraction.known_people import Acquaintance
from core.language import sentences
from core.language.lazy_regex import lazy_regex
from core.types import Category


class Conversation:
    """State of one conversation: its people, the last statements of a message, and those withdrawn."""

    def __init__(self) -> None:
        self._people: dict[str, People] = {}
        self._in_role = False
        self._last: list[ClauseStatement] = []
        self._before: list[ClauseStatement] = []
        self.withdrawn: list[ClauseStatement] = []
        self._told_of: dict[str, Subject] = {}

    def meet(self, speaker: str, acquaintances: Sequence[Acquaintance]) -> None:
        """Register, before the first message of `speaker`, the people they named in earlier conversations."""
        if speaker not in self._people:
            self._people[speaker] = naming.register_acquaintances(People(speaker), acquaintances)

    def hear(self, text: str, speaker: str, question: str | None, context: ClauseContext) -> list[ClauseStatement]:
        """Return the lasting statements of a message."""
        known_people = self._people.setdefault(speaker, People(speaker))
        if self._plays(clauses.mask_quotations(text)) or claims.is_test(text):
            return []
        if question:
            _note_names_in_question(clauses.mask_quotations(question), known_people)
        context.told_of = self._told_of.get(speaker, context.told_of)
        answer = _slotted_answer(question, text)
        found: list[ClauseStatement] = read(answer.quote, answer.statement, context, known_people) if answer else []
        spaced = clauses.is_spaced(text)
        for position, quote in enumerate(_sentences(text)):
            if not (found and answer and quote == answer.quote):
                found = self._read_sentence(
                    quote, clauses.with_commas(quote) if spaced else quote, position, found, context, known_people
                )
        self._told_of[speaker] = context.told_of
        self._last, self._before = found or self._last, found
        return found

    def _plays(self, masked: str) -> bool:
        """Return whether the message belongs to a role or begins one."""
        if self._in_role:
            self._in_role = not claims.ends_role(masked)
            return not claims.speaks_plainly(masked)
        self._in_role = claims.begins_role(masked)
        return self._in_role

    def _read_sentence(
        self,
        quote: str,
        sentence: str,
        position: int,
        found: list[ClauseStatement],
        context: ClauseContext,
        known_people: People,
    ) -> list[ClauseStatement]:
        """Return `found` with the statements of a sentence. `quote`: the sentence as written in the message."""
        masked = clauses.mask_quotations(sentence)
        if _HEADED.match(masked):
            return found
        before = found or ([] if position else self._last)
        if claims.withdraws(masked) and not _calls_off(masked):
            self.withdrawn += found or ([] if position else self._before)
            return []
        if claims.disbelieves(masked) and len(masked) <= claims.REMARK:
            self.withdrawn += [one for one in before[-1:] if one.subject != known_people.speaker]
            return found
        context.corrects = claims.corrects(sentence)
        rest = _apply_correction(
            sentence, claims.after_correction(sentence, masked), before if context.corrects else []
        )
        new = read(quote, rest, context, known_people)
        if context.corrects:
            self.withdrawn += [one for one in before if any(_sets_right(statement, one) for statement in new)]
            found = [one for one in found if not any(one is withdrawn for withdrawn in self.withdrawn)]
        return [*found, *new]


def _apply_correction(sentence: str, rest: str, before: list[ClauseStatement]) -> str:
    """Return apply a correction: within the sentence itself, or of the last statement whose value it replaces."""
    bare = rest.strip(" ，,。！!.")
    if rest == sentence:
        return sentence
    wrong = sentence[: sentence.find(rest)] if rest else ""
    if (within := joins.replace_value(claims.before_correction(wrong), bare)) and len(wrong) > len(bare) + 4:
        return within
    return next(
        (right for statement in reversed(before) if (right := _with_value_replaced(statement.plain, bare))), rest
    )


_HEADED = lazy_regex(r"^(?!我|咱)[\u4e00-\u9fff]{2,10}[：:] ?(?:每|隔|一律|必须|禁止|不要|不得|最多|最少|至少|周)")
"""A rule below the heading of what it is for: “厨房：每天打扫一次”. It says nothing of the speaker."""
_IS_RATHER = lazy_regex(r"^(?:应该|其实)?是(?P<value>[\u4e00-\u9fffA-Za-z《》]{1,10})$")
_LAST_VALUE = lazy_regex(r"(?:是|叫|姓|换成|改成)(?P<value>[\u4e00-\u9fffA-Za-z《》]{1,10})$")


def _with_value_replaced(plain: str, bare: str) -> str | None:
    """Replace the values of `plain` by those of `bare`: one, that of the first clause, or all dates in order."""
    first = re.split(r"[，,]", bare, maxsplit=1)[0]
    noun, _, value = first.partition("是")
    if value and len(noun) > 1 and noun in plain:
        first = value
    if (meant := _IS_RATHER.match(bare)) and (old_value := _LAST_VALUE.search(plain)) and old_value.group() != bare:
        return joins.replace_value(plain, bare) or f"{plain[: old_value.start('value')]}{meant['value']}"
    return (
        joins.replace_value(plain, bare)
        or joins.replace_dates(plain, bare)
        or joins.replace_value(plain, first)
        or joins.replace_complement(plain, bare)
    )


def _calls_off(masked: str) -> bool:
    """Return whether a sentence names the plan that it takes back."""
    fact = things.fact(masked, "", Category.PLAN)
    return fact is not None and fact.attribute.startswith("plan.")


def _sentences(text: str) -> list[str]:
    return sentences.split(text) or ([text.strip()] if 0 < len(text.strip()) <= sentences.LONGEST else [])


def _slotted_answer(question: str | None, text: str) -> short_answers.ShortAnswer | None:
    """Return the answer that a message begins with, where the speaker was asked about themselves."""
    if not question or re.search(r"[他她它]", question):
        return None
    return short_answers.read(question, text)


def _sets_right(new: ClauseStatement, old: ClauseStatement) -> bool:
    """Return whether a correction takes the place of what was said right before it."""
    if new.subject != old.subject:
        return False
    new_attributes, old_attributes = new.attributes, old.attributes
    if new_attributes & old_attributes:
        return True
    shared = _pairs(new.plain) & _pairs(old.plain)
    return not new_attributes and not old_attributes and len(shared) >= 2


def _pairs(text: str) -> set[str]:
    return {
        pair for start in range(len(text) - 1) if re.fullmatch(r"[\u4e00-\u9fff]{2}", pair := text[start : start + 2])
    }


def _note_names_in_question(masked: str, known_people: People) -> None:
    """Let “he” and “she” mean a known person named in the question."""
    for name, sort in known_people.named.items():
        if name in masked:
            known_people.last[sort] = name
