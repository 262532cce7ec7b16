"""Reading one conversation in Chinese, message by message: who speaks, what is taken back and put right."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.extraction import short_answers
from core.extraction.chinese import claims, clauses, ellipsis, joins, naming, people, replies, things
from core.extraction.chinese.ellipsis import Carried
from core.extraction.chinese.people import People, Sort, Subject
from core.extraction.chinese.statement import Flow, Said
from core.extraction.chinese.statements import read
from core.extraction.known_people import Acquaintance
from core.language import sentences
from core.types import Category


class Conversation:
    """What has been said so far in one conversation, by whom it is said and of whom."""

    def __init__(self) -> None:
        self._people: dict[str, People] = {}
        self._in_role = False
        self._last: list[Said] = []
        self._before: list[Said] = []
        self.withdrawn: list[Said] = []
        self._carried: dict[str, Carried] = {}

    def meet(self, speaker: str, known: Sequence[Acquaintance]) -> None:
        """Before the first message of `speaker`: of whom they have spoken by name in earlier conversations."""
        if speaker not in self._people:
            self._people[speaker] = naming.reminded(People(speaker), known)

    def hear(self, text: str, speaker: str, asked: str | None, flow: Flow) -> list[Said]:
        """What a message of `speaker` states that lasts."""
        known = self._people.setdefault(speaker, People(speaker))
        if self._plays(clauses.masked(text)) or claims.is_test(text):
            return []
        if asked:
            _look_around(clauses.masked(asked), known)
        flow.carried = self._carried.setdefault(speaker, Carried())
        flow.carried.turn += 1
        asked = ellipsis.meant(asked, known)
        flow.asked = replies.question(asked)
        if asked:
            flow.carried.take_place(asked)
            flow.carried.take_feast(asked)
        flow.subject, flow.thing = _asked_about(flow.asked, known, flow.carried.subject)
        answer = _slotted_answer(asked, text, flow)
        found: list[Said] = read(answer.quote, answer.statement, flow, known) if answer else []
        spaced = clauses.is_spaced(text)
        for place, quote in enumerate(_sentences(text)):
            if not (found and answer and quote == answer.quote):
                found = self._heard(quote, clauses.with_commas(quote) if spaced else quote, place, found, flow, known)
            flow.asked = None
        self._last, self._before = found or self._last, found
        return found

    def _plays(self, hidden: str) -> bool:
        """Whether the message belongs to a role or begins one."""
        if self._in_role:
            self._in_role = not claims.ends_role(hidden)
            return not claims.speaks_plainly(hidden)
        self._in_role = claims.begins_role(hidden)
        return self._in_role

    def _heard(self, quote: str, sentence: str, place: int, found: list[Said], flow: Flow, known: People) -> list[Said]:
        """What a sentence states beside what is `found`. `quote`: the sentence as it stands in the message."""
        hidden = clauses.masked(sentence)
        before = found or ([] if place else self._last)
        if claims.withdraws(hidden) and not _calls_off(hidden):
            self.withdrawn += found or ([] if place else self._before)
            return []
        if claims.disbelieves(hidden) and len(hidden) <= claims.REMARK:
            self.withdrawn += [one for one in before[-1:] if one.subject != known.speaker]
            return found
        flow.corrects = claims.corrects(sentence)
        rest = _put_right(sentence, claims.corrected(sentence, hidden), before if flow.corrects else [])
        new = read(quote, rest, flow, known)
        if flow.corrects:
            self.withdrawn += [one for one in before if any(_sets_right(said, one) for said in new)]
            found = [one for one in found if not any(one is gone for gone in self.withdrawn)]
        return [*found, *new]


def _put_right(sentence: str, rest: str, before: list[Said]) -> str:
    """A sentence that corrects itself as it was meant; one that corrects another by a bare number as that other."""
    bare = rest.strip(" ，,。！!.")
    if rest == sentence:
        return sentence
    wrong = sentence[: sentence.find(rest)] if rest else ""
    if (within := joins.patched(claims.uncorrected(wrong), bare)) and len(wrong) > len(bare) + 4:
        return within
    return next((right for said in reversed(before) if (right := _mended(said.plain, bare))), rest)


_IS_RATHER = re.compile(r"^(?:应该|其实)?是(?P<value>[\u4e00-\u9fffA-Za-z《》]{1,10})$")
_LAST_VALUE = re.compile(r"(?:是|叫|姓|换成|改成)(?P<value>[\u4e00-\u9fffA-Za-z《》]{1,10})$")


def _mended(plain: str, bare: str) -> str | None:
    """`plain` with its numbers as `bare` has them: a single one, the first of several clauses, or all dates in turn."""
    first = re.split(r"[，,]", bare, maxsplit=1)[0]
    noun, _, value = first.partition("是")
    if value and len(noun) > 1 and noun in plain:
        first = value
    if (meant := _IS_RATHER.match(bare)) and (said := _LAST_VALUE.search(plain)) and said.group() != bare:
        return joins.patched(plain, bare) or f"{plain[: said.start('value')]}{meant['value']}"
    return (
        joins.patched(plain, bare)
        or joins.redated(plain, bare)
        or joins.patched(plain, first)
        or joins.said_instead(plain, bare)
    )


def _calls_off(hidden: str) -> bool:
    """Whether a sentence names the plan that it takes back."""
    fact = things.fact(hidden, "", Category.PLAN)
    return fact is not None and fact.attribute.startswith("plan.")


def _sentences(text: str) -> list[str]:
    return sentences.split(text) or ([text.strip()] if 0 < len(text.strip()) <= sentences.LONGEST else [])


def _slotted_answer(asked: str | None, text: str, flow: Flow) -> short_answers.Answer | None:
    """What the tables of questions make of the beginning of a message, where the speaker is asked of themselves."""
    if (
        not asked
        or re.search(r"[他她它]", asked)
        or not (flow.subject.sort is Sort.SPEAKER or re.search(r"[你您]", asked))
    ):
        return None
    return short_answers.read(asked, text)


def _sets_right(new: Said, old: Said) -> bool:
    """Whether a correction takes the place of what was said right before it."""
    if new.subject != old.subject:
        return False
    mine, theirs = new.attributes, old.attributes
    if mine & theirs:
        return True
    shared = _pairs(new.plain) & _pairs(old.plain)
    return not mine and not theirs and len(shared) >= 2


def _pairs(text: str) -> set[str]:
    return {pair for at in range(len(text) - 1) if re.fullmatch(r"[\u4e00-\u9fff]{2}", pair := text[at : at + 2])}


def _asked_about(asked: replies.Question | None, known: People, carried: Subject) -> tuple[Subject, str]:
    """Of whom or what an answer without a subject speaks."""
    if asked is None:
        return Subject(Sort.SPEAKER), ""
    if (
        who := re.fullmatch(r"(?P<name>(?![这那你我他她它])[\u4e00-\u9fff]{2,3}|[A-Z][a-z]+)是谁", asked.text)
    ) and not known.named_at(who["name"]):
        known.introduce(who["name"], Sort.PERSON)
    found = people.subject_of(asked.text, known)
    if found.sort in {Sort.PERSON, Sort.PET}:
        known.meant(found)
        return Subject(found.sort, found.name), ""
    told = known.last.get(Sort.PERSON, "")
    if found.sort is Sort.NONE and carried.sort is Sort.PERSON and carried.name == told and "我" not in asked.text:
        return Subject(Sort.PERSON, told), ""
    if found.sort is Sort.THING and re.search(
        r"公司|婚礼|店|房|车|书|项目|学校|面试|旅行|考试|手术|计划|单|功能|[A-Z]\d", found.name
    ):
        return Subject(Sort.SPEAKER), found.name
    return Subject(Sort.SPEAKER), ""


def _look_around(hidden: str, known: People) -> None:
    """Somebody of whom others spoke may be meant by “he” and “she”."""
    for name, sort in known.named.items():
        if name in hidden:
            known.last[sort] = name
