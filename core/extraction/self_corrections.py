"""Corrections of what the speaker wrote just before: "I moved to Porto." / "Sorry, not Porto, Leeds.". Pure.

The corrected statement is put in the place of the correction, so that it is read like any other and keeps its slot; the
wrong one is not read at all. What does not certainly name a value of the statement before changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.extraction.chinese import joins
from core.extraction.english import corrections as english
from core.language import sentences
from core.language.lazy_regex import lazy_regex
from core.language.lexicon import CALENDAR, NUMBER_WORDS
from core.types import Candidate, Evidence, Message

REACH: Final = 3
"""Earlier messages of the speaker among which the corrected statement is searched."""

LONGEST: Final = 200
"""Characters of a correction and of a statement that is corrected."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What a sentence corrects. `wrong`: the value that it names as wrong, if any; `rest`: what else it says."""

    right: str
    wrong: str = ""
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A statement in its corrected words, the sentence it was made in, and the message that corrects it."""

    sentence: str
    source: Evidence
    correction: Evidence


def apply(messages: Sequence[Message]) -> tuple[list[Message], Mapping[str, list[Corrected]]]:
    """Return the messages with corrected statements in the place of their corrections, and these by message id."""
    result = [_corrected_within(message) if message.role == "user" else message for message in messages]
    corrected: dict[str, list[Corrected]] = {}
    for position, message in enumerate(result):
        if message.role != "user" or len(message.content) > LONGEST * 2:
            continue
        answers = position and _asks(result[position - 1], message)
        own = [n for n in range(position) if _speaker(result[n]) == _speaker(message) and result[n].content]
        for earlier in own[-REACH:][::-1]:
            if (found := _correct(message, result[earlier], answers=bool(answers))) is not None:
                result[earlier], result[position], statement = found
                cited = corrected.pop(result[earlier].id, []) if not result[earlier].content else []
                first = replace(statement, source=cited[0].source) if cited else statement
                corrected.setdefault(message.id, []).append(first)
                break
    return [message for message in result if message.content], corrected


def with_sources(candidate: Candidate, corrected: Mapping[str, Sequence[Corrected]]) -> Candidate:
    """Return a candidate made of a corrected statement with the evidence of both messages."""
    (first, *_) = candidate.evidence
    for statement in corrected.get(first.message_id, ()):
        if first.quote in statement.sentence or statement.sentence in first.quote:
            return replace(candidate, evidence=(statement.source, statement.correction), corrects=True)
    return candidate


def _speaker(message: Message) -> tuple[str, str, str | None]:
    return message.role, message.user_id, message.speaker


def _asks(before: Message, message: Message) -> bool:
    """Return whether the message before asks: what begins with "No, …" answers it then."""
    return _speaker(before) != _speaker(message) and before.content.rstrip().endswith(("?", "？"))


def _correct(message: Message, before: Message, *, answers: bool) -> tuple[Message, Message, Corrected] | None:
    """Return both messages and the corrected statement, if `message` begins with a correction of `before`.

    `answers`: it answers a question, so that it corrects only a value that it names.
    """
    correction = parse(message.content)
    if correction is None or (answers and not correction.wrong):
        return None
    for sentence in reversed(sentences.split(before.content) or [before.content.strip()]):
        right = corrected_sentence(sentence, correction)
        if right is not None:
            left = before.content.replace(sentence, "", 1).strip(" .。")
            stated = (
                right if right.endswith((".", "!", "。", "！")) else f"{right}{'。' if _is_chinese(right) else '.'}"
            )
            now = f"{stated} {correction.rest}".strip()
            cited = Evidence(before.session_id, before.id, before.event_id, sentence)
            citing = Evidence(message.session_id, message.id, message.event_id, message.content)
            return replace(before, content=left), replace(message, content=now), Corrected(stated, cited, citing)
    return None


def _corrected_within(message: Message) -> Message:
    """Return a message with a value that is corrected in its own sentence: "at Contoso—no wait, Fabrikam"."""
    if len(message.content) > LONGEST or not (match := _WITHIN.search(message.content)):
        return message
    statement, after = message.content[: match.start()].strip(), message.content[match.end() :].strip()
    value = _VALUE.match(after) or _VALUE_ZH.match(after)
    one = not re.search(r"[。！？!?]|\.\s", statement)
    right = corrected_sentence(statement, Correction(_trimmed(value["new"]))) if value and one else None
    return replace(message, content=f"{right}{after[value.end('new') :]}") if value and right else message


def parse(text: str) -> Correction | None:
    """Return the correction that a message begins with; None if it begins with none."""
    text = text.strip()
    return _parse_zh(text) if _is_chinese(text) else _parse_en(text)


def _is_chinese(text: str) -> bool:
    return sentences.is_chinese(text)


def _parse_en(text: str) -> Correction | None:
    if _ADDS.search(text):
        return None
    lead = match.group() if (match := _LEAD.match(text)) else ""
    body, marked = text[len(lead) :], bool(_MARK.search(lead))
    for form in _FORMS:
        if match := form.match(body):
            groups = match.groupdict()
            return _correction(groups["new"], groups.get("old") or "", body[match.end() :])
    match = _VALUE.match(body) or (_AFTER_CLAUSE.match(body) if marked else None)
    if match is None or not (marked or _TAIL.search(match["new"]) or _MARK_AFTER.match(body[match.end() :])):
        return None
    after = _MARK_AFTER.sub("", body[match.end() :], count=1)
    if _ADDRESSES.match(after) and lead.casefold().startswith("sorry"):
        return None
    return _correction(match["new"], "", after)


def _correction(right: str, wrong: str, rest: str) -> Correction | None:
    """Return a correction; the rest of its own sentence explains it, and only what follows is kept."""
    new = _trimmed(right)
    *_, more = re.split(r"(?<=[.!?])\s+", rest, maxsplit=1)
    more = more if re.search(r"[.!?]\s", rest) else ""
    is_value = new and len(new.split()) <= _WORDS and not _VERB.search(new)
    return Correction(new, _trimmed(wrong), more.strip()) if is_value else None


def _trimmed(value: str) -> str:
    value = value.strip(" .,;:!?—–-*\"'“”")
    return _TAIL.sub("", _PLACED.sub("", value)) if not _is_chinese(value) else value


def _parse_zh(text: str) -> Correction | None:
    first, _, rest = text.partition("。")
    match = _CORRECTS_ZH.match(first)
    if match is None or not (match["mark"] or match["wrong"] or match["after"]):
        return None
    right = re.sub(r"(?:才对|来着|的)$", "", match["new"])
    return Correction(right, match["wrong"] or "", rest.strip()) if 0 < len(right) <= _CHARACTERS else None


def corrected_sentence(sentence: str, correction: Correction) -> str | None:
    """Return a statement with its wrong value replaced; None if it does not hold one certainly."""
    if len(sentence) > LONGEST or sentence.rstrip().endswith(("?", "？")):
        return None
    right, wrong = correction.right, correction.wrong
    if right.casefold() in sentence.casefold() and not wrong:
        return None
    if wrong:
        place = re.search(rf"(?<![\w]){re.escape(wrong)}(?![a-z\d])", sentence, re.IGNORECASE)
        place = place or (re.search(re.escape(wrong), sentence) if _is_chinese(wrong) else None)
        return f"{sentence[: place.start()]}{right}{sentence[place.end() :]}" if place else None
    return _replaced_zh(sentence, right) if _is_chinese(sentence) else _replaced_en(sentence, right)


def _replaced_en(sentence: str, right: str) -> str | None:
    """Replace the value of the sort of the right one: a phrase with the same head, a number, a name, a thing."""
    for way in (_by_head, _by_number, _by_sort, _by_name, _by_article):
        if replaced := way(sentence, right):
            return replaced
    return None


def _by_head(sentence: str, right: str) -> str | None:
    """Replace the last word of a phrase: "a table for six" by "a table for eight", "size 5" by "Size 6"."""
    *head, last = right.split()
    if not head or all(word.casefold() in _ARTICLES for word in head):
        return None
    phrase = r"\s+".join(map(re.escape, head))
    match = re.search(rf"\b({phrase})\s+[\w'’:-]+", sentence, re.IGNORECASE)
    return f"{sentence[: match.end(1)]} {last}{sentence[match.end() :]}" if match else None


def _by_number(sentence: str, right: str) -> str | None:
    """Replace a number, written alike and with the same unit; an ordinal replaces the day of a date."""
    match = _NUMBER.fullmatch(right.removeprefix("the ").removeprefix("the "))
    if match is None:
        return None
    unit = match["unit"] or ""
    places = [
        place
        for place in _NUMBERS.finditer(sentence)
        if not unit or re.match(rf"\s*{re.escape(unit)}", sentence[place.end() :], re.IGNORECASE)
    ]
    shape = re.sub(r"\d+", "0", match["number"])
    alike = [place for place in places if re.sub(r"\d+", "0", place.group()) == shape] or places
    if len(alike) != 1:
        return None
    suffix = match["ordinal"] or ""
    (place,) = alike
    after = re.sub(r"^(?:st|nd|rd|th)\b", "", sentence[place.end() :]) if suffix else sentence[place.end() :]
    return f"{sentence[: place.start()]}{match['number']}{suffix}{after}"


def _by_sort(sentence: str, right: str) -> str | None:
    old = english.same_kind_value(right, sentence)
    right = _ARTICLE.sub("", right)
    return sentence.replace(old, right, 1) if old and old.casefold() != right.casefold() else None


def _by_name(sentence: str, right: str) -> str | None:
    """Replace the last name of a statement."""
    right = _ARTICLE.sub("", right)
    if not all(word[:1].isupper() or word in {"of", "the", "and", "&"} for word in right.split()):
        return None
    names = [
        match
        for match in _NAMES.finditer(sentence)
        if match.start() and match.group().casefold().removesuffix("s") not in CALENDAR and match.group() != "I"
    ]
    return f"{sentence[: names[-1].start()]}{right}{sentence[names[-1].end() :]}" if names else None


def _by_article(sentence: str, right: str) -> str | None:
    """Replace a thing by another: "a lasagne" by "a moussaka"."""
    article, _, thing = right.partition(" ")
    if article.casefold() not in {"a", "an"} or not thing or " " in thing:
        return None
    places = list(re.finditer(r"\b(?:a|an) [\w-]+", sentence))
    return f"{sentence[: places[0].start()]}{right}{sentence[places[0].end() :]}" if len(places) == 1 else None


def _replaced_zh(sentence: str, right: str) -> str | None:
    if replaced := joins.replace_value(sentence, right):
        return replaced if replaced != sentence else None
    if lunar := re.fullmatch(r"初[一二三四五六七八九十]", right):
        places = re.findall(r"初[一二三四五六七八九十]", sentence)
        return sentence.replace(places[0], lunar.group(), 1) if len(places) == 1 else None
    if clock := re.fullmatch(_CLOCK_ZH, right):
        times = re.findall(_CLOCK_ZH, sentence)
        return sentence.replace(times[0], clock.group(), 1) if len(times) == 1 else None
    for value in _VALUES_ZH:
        if (match := value.search(sentence)) and match["v"] != right:
            return f"{sentence[: match.start('v')]}{right}{sentence[match.end('v') :]}"
    return None


_WORDS: Final = 5
"""Words of a value at most: more is a statement of its own."""
_CHARACTERS: Final = 10
_ARTICLES: Final = frozenset("a an the my our".split())
_SORRY = (
    r"(?:oh|ah|sorry(?!\s)|no(?!\s(?!wait))|nope|wait|oops|whoops|ugh|gah|argh|hang on|hold on|hmm+|correction|typo|"
    r"autocorrect|scratch that|strike that|my (?:mistake|bad|error)|silly me|er+|erm|uh|um|well|actually|"
    r"i mistyped|i misspoke|make that)"
)
_LEAD = lazy_regex(
    rf"^(?:{_SORRY}(?=[\s,.!;:…–—-])[\s,.!;:…–—-]*)*(?:(?:that|it) (?:was|is) wrong[,.;:]? )?", re.IGNORECASE
)
_MARK = lazy_regex(
    r"\b(?:sorry|no|nope|wait|oops|whoops|ugh|gah|argh|hang on|hold on|correction|typo|autocorrect|scratch that|"
    r"strike that|my (?:mistake|bad|error)|silly me|actually|i mistyped|i misspoke|make that|erm)\b|^oh\b",
    re.IGNORECASE,
)
"""Words which say that what was written is wrong."""
_MARK_AFTER = lazy_regex(
    r"^[,\s]*(?:rather|actually|sorry|i meant?|i mean|apparently|i misremembered|that is)\b[,.!]?", re.IGNORECASE
)
_ADDS = lazy_regex(
    r"\b(?:also|as well|too|in addition|meant to (?:mention|add|ask|tell))\b|^(?:\w+,? )?and\b", re.IGNORECASE
)
"""Words by which something is added, not corrected."""
_IS = (
    r"(?:it['’]?s|it is|it was|that['’]?s|that is|they['’]?re|(?:she|he)['’]?s|(?:she|he|it)['’]?ll be|i['’]?m|is|was|"
    r"should be|should have been|called|for|to|in|at|on)"
)
_NEW = (
    r"(?P<new>(?!(?:it|i|we|he|she|they|you|so|not|never|no|the (?:rest|other)|if|but|when|that|there|thanks?|please)\b"
    r"(?!['’]))[\w$€£*][^,;!?—]{0,50}?)"
)
_END = r"(?=\s*(?:[,;!?—]|\s[–-]\s|\.(?!\d)|$|\s(?:I['’]?m|I am|because|though|I think)\b))"
_FORMS: Final = (
    lazy_regex(
        rf"^not (?P<old>[^,.;!?—]{{1,40}}?)\s*(?:[,.;—–-]\s*|\s)(?:but |{_IS} )*(?:actually )?{_NEW}{_END}",
        re.IGNORECASE,
    ),
    lazy_regex(rf"^(?:{_IS} )?{_NEW},? (?:and )?not (?P<old>[^,.;!?—]{{1,40}}?)(?=,|[.;!?]|$)", re.IGNORECASE),
    lazy_regex(
        rf"^(?:when )?i (?:said|wrote|typed|put) (?P<old>[^,.;!?—]{{1,40}}?),? (?:but |and )?"
        rf"(?:i meant?|{_IS}|make that) (?:actually |really )?{_NEW}{_END}",
        re.IGNORECASE,
    ),
    lazy_regex(rf"^(?P<old>[\w:.-]+),? (?:i meant?|i mean|should be|should have been) {_NEW}{_END}", re.IGNORECASE),
    lazy_regex(
        rf"^(?:i meant?(?: to (?:say|write|type|put))?|i should have (?:said|written)|make that) {_NEW}{_END}",
        re.IGNORECASE,
    ),
    lazy_regex(r"^\*(?P<new>[\w$€£][^*,;!?]{0,40}?)\*?[.!]?$"),
    lazy_regex(r"^(?P<new>[\w$€£][^*,;!?]{0,40}?)\*[.!]?$"),
)
"""Forms of a correction that need no other mark."""
_VALUE = lazy_regex(rf"^(?:and )?(?:{_IS} )?(?:actually |really )?{_NEW}{_END}", re.IGNORECASE)
_ADDRESSES = lazy_regex(r"^, ?(?:I|you|can|could|we|what|how|did|do|are|is)\b", re.IGNORECASE)
"""What follows a name that is only called: "Sorry, Tom, I was late"."""
_VERB = lazy_regex(
    r"\b(?:is|are|was|were|am|has|have|had|will|would|can|could|does|do|did|went|works?|lives?|likes?|loves?|says?|said|"
    r"goes|comes?|needs?|wants?|sounds?|looks?|makes?|gets?|got|i|you|we|he|she|they|this|that)\b",
    re.IGNORECASE,
)
"""Words of a clause, which is no value."""
_AFTER_CLAUSE = lazy_regex(
    rf"^[^.;!?]{{4,60}}? (?:and|but) (?:it['’]?s|it is) (?:actually )?{_NEW}{_END}", re.IGNORECASE
)
_ARTICLE = lazy_regex(r"^(?:the|an?) (?=[A-Z])")
_PLACED = lazy_regex(r"^(?:in|at|on|to|for|called|actually|really) ", re.IGNORECASE)
_TAIL = lazy_regex(r" (?:instead|actually|rather|sorry|of course|I (?:mean|meant|think))$", re.IGNORECASE)
_NUMBER = lazy_regex(
    rf"(?P<number>[$€£]?\d[\d.,:/-]*|{'|'.join(sorted(NUMBER_WORDS))})(?P<ordinal>st|nd|rd|th)?\s*(?P<unit>[a-z%]{{1,10}})?",
    re.IGNORECASE,
)
_NUMBERS = lazy_regex(
    rf"(?<![\w.])(?:[$€£]?\d(?:[\d.,:/-]*\d)?(?=(?:st|nd|rd|th)?(?![\d])(?:\W|[a-z]{{1,3}}\b|$))|"
    rf"(?:{'|'.join(sorted(NUMBER_WORDS))})\b)",
    re.IGNORECASE,
)
_NAMES = lazy_regex(r"[A-Z][\w'’&.-]*[\w](?: [A-Z][\w'’&-]+)*")
_WITHIN = lazy_regex(
    r"\s*(?:[—–…,]|\.\.\.|\s-)\s*(?:no,? wait|wait,? no|oh,? no|no,? sorry|sorry,? no|sorry,? I mean|sorry|I meant?|"
    r"or rather|make that|scratch that|correction)[,:]?\s+(?=[\w$€£])|"
    r"[，,—…]+(?:哦|啊|呃|额)*(?:不对|说错了?|打错了?|写错了?|记错了?|口误|更正)[，,：:]?(?:应该)?(?:是)?",
    re.IGNORECASE,
)
_VALUE_ZH = lazy_regex(r"(?P<new>[^，。！？,]{1,10})")
_LEAD_ZH = r"(?:[啊哦呃额诶嗯唉]+|哎呀|糟糕|抱歉|不好意思|等等|等一下|等下|慢着|又|刚才)"
_WRONG_ZH = (
    r"(?:不对|不是不是|哦?不(?=[，,。])|也不是|(?:我)?(?:说|打|写|记|看|搞|弄|算|讲|输|念)(?:错|岔|反|混)(?:一行|名字|字|日期|时间)?了?|错了|"
    r"口误|笔误|手误|嘴瓢|更正|纠正|改正|订正|应该)"
)
_CORRECTS_ZH = lazy_regex(
    rf"^(?:{_LEAD_ZH}[，,、。！!~…\s]*)*(?:刚[^，]{{1,8}}，)?(?P<mark>(?:{_WRONG_ZH}[，,：:、。！!~…\s]*)+)?"
    r"(?:不(?:是|叫|姓|在)(?P<wrong>[^，,。]{1,10})[，,]?(?:而|应该)?)?"
    rf"(?:应该)?(?:是|叫|姓)?(?P<new>(?![^，]*(?:不对|错))(?!也|就|还|但|因为|所以|我|你|谢|了|的|吧)[^，,。！!？?是]{{1,12}})"
    r"(?:[，,。！!]+(?P<after>[^。]*(?:这[回次](?:准|对)|记混|记错|看错|看岔|说错|打错|写错|弄混|搞混|弄错|输入法|口误|手误)[^。]*)|[，,。！!].*)?$"
)
_CLOCK_ZH = r"(?:\d{1,2}|十?[一二两三四五六七八九十])点(?:\d{1,2}分?|半|[一二三]刻)?"
_NOT_AFTER = r"(?=上班|工作|待|住|读|上学|当|做|出差|玩|旅游|开会|吃饭|见面|的|$|。|，|了)"
_VALUES_ZH: Final = (
    lazy_regex(r"(?<!不)是(?P<v>[\u4e00-\u9fffA-Za-z]{1,8})(?=$|。|，)"),
    lazy_regex(r"(?:姓|名叫|叫做|叫)(?P<v>[\u4e00-\u9fffA-Za-z]{1,6}?)(?=$|。|，|的)"),
    lazy_regex(r"(?P<v>(?<=[台个只条辆部双件套家间])[\u4e00-\u9fffA-Za-z]{2,6}?)(?=的[\u4e00-\u9fff])"),
    lazy_regex(rf"(?<!现)(?:在|去(?!年)|到|来自|飞)(?P<v>[\u4e00-\u9fffA-Za-z]{{2,8}}?){_NOT_AFTER}"),
    lazy_regex(r"(?:做|吃|喝|点|炖|买)(?:了|的)?(?P<v>[\u4e00-\u9fff]{2})(?=[\u4e00-\u9fff])"),
    lazy_regex(r"(?:用|开|骑|养|买了?)(?:[一二两]?[台个只条辆部双件套])?(?P<v>[\u4e00-\u9fffA-Za-z]{2,6})(?=$|。|，)"),
)
"""Places of a value in a Chinese statement: a name, a brand, a place, a dish, a thing."""
