"""English statements that end older ones: a new value of an aspect, a change, a denial, an ending. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from core.language.lazy_regex import lazy_regex
from core.language.lexicon import CALENDAR, NUMBER_WORDS
from core.language.terms import STOPWORDS, stem
from core.memoize import memoized_in_scope
from core.statements.revision_en_tables import (
    ALIKE,
    ASPECTS,
    BESIDE,
    BY_ATTRIBUTE,
    CHANGED,
    DENIED,
    DIED,
    DISPLACED,
    FINISHED,
    GENERIC,
    GIVEN,
    LIVING_WITH,
    MOVED_OUT,
    NEEDS_CHANGE,
    NEW_ONE,
    OVER,
    PAST,
    PETS,
    QUIT,
    STAGES,
)
from core.statements.succession import Statement, normal_value

Aspects = dict[tuple[str, str], str]


class EnglishStatement:
    """A statement, with features of what it may end and what may end it.

    `every`: its words, normalized; `stems`: those without its subject's name; `names`: those written as names.
    """

    def __init__(self, content: str, subject: str) -> None:
        self.content = content
        self._subject = subject

    @cached_property
    def every(self) -> frozenset[str]:
        return frozenset(_stems(self.content))

    @cached_property
    def own(self) -> frozenset[str]:
        return frozenset(map(_normal_form, _words(self._subject)))

    @cached_property
    def stems(self) -> frozenset[str]:
        return self.every - self.own

    @cached_property
    def names(self) -> frozenset[str]:
        found = _NAME.findall(self.content)
        return frozenset(_normal_form(name) for name in found if name.lower().removesuffix("s") not in CALENDAR)

    @cached_property
    def values(self) -> dict[str, frozenset[str]]:
        """Return its values of each sort: weekdays, dates, months, frequencies, times, ordinals."""
        found: dict[str, frozenset[str]] = {}
        rest = self.content
        for sort, pattern in _SORTS.items():
            matches = frozenset(_plain(match.group()) for match in pattern.finditer(rest))
            if matches:
                found[sort] = matches
                rest = pattern.sub(" ", rest)
        return found

    @cached_property
    def days(self) -> frozenset[str]:
        """Its days of a month, without the month: "the 24th" denies 24 August."""
        return frozenset(re.findall(r"\b\d{1,2}(?=(?:st|nd|rd|th)?\b)", " ".join(self.values.get("date", ()))))

    def denied_values(self, sort: str) -> frozenset[str]:
        """Return the values of a sort after "not" or "instead of"."""
        phrases = [found["what"] for found in DENIED.finditer(self.content)]
        days = frozenset(day for phrase in phrases for day in _DAY.findall(phrase)) if sort == "date" else frozenset()
        return days | {_plain(found.group()) for phrase in phrases for found in _SORTS[sort].finditer(phrase)}

    def topic(self, sort: str) -> list[str]:
        """Return the words before the value of a sort."""
        found = _SORTS[sort].search(self.content)
        before = dict.fromkeys(_stems(self.content[: found.start()] if found else ""))
        return [word for word in before if word in self.stems and word not in GENERIC and word not in _CALENDAR]

    @cached_property
    def aspects(self) -> Aspects:
        """The value of each aspect that it states."""
        found: Aspects = {}
        for name, ways in ASPECTS:
            for way in ways:
                for match in way.finditer(self.content):
                    if name != "called" and set(map(_normal_form, _words(match["v"]))) & self.own:
                        continue
                    key = match.groupdict().get("key") or ""
                    *_, clause = _CLAUSE.split(self.content[: match.start()])
                    if _OF_ANOTHER.search(clause):
                        continue
                    denied = _DENIES.search(clause + match.group())
                    if not denied or name == "favourite":
                        found.setdefault((name, _key(key)), "" if denied else match["v"].strip())
        return found

    @cached_property
    def changed(self) -> bool:
        return bool(CHANGED.search(self.content))

    @cached_property
    def beside(self) -> bool:
        return bool(BESIDE.search(self.content))

    @cached_property
    def past(self) -> bool:
        return bool(PAST.search(self.content))


@memoized_in_scope
def may_revise(new: Statement) -> bool:
    """Return whether a statement may end anything: it mentions a change, an ending, or something one has one of."""
    if new.attribute is not None:
        return True
    content = new.content
    return bool(
        CHANGED.search(content)
        or any(way.search(content) for way in (GIVEN, QUIT, FINISHED, OVER, DISPLACED, DIED, MOVED_OUT))
        or NEW_ONE.search(content)
        or any(stage[0].search(content) for stage in STAGES)
        or _aspects(new)
        or getattr(new, "corrects", False)
    )


def revises(new: Statement, old: Statement) -> str | None:
    """Return why `new`, said later, ends `old`; None if both may hold."""
    if new.content == old.content or (new.attribute and new.attribute == old.attribute) or not may_revise(new):
        return None
    if normal_value(new.subject) != normal_value(old.subject):
        return None
    new_frame, old_frame = _frame(new), _frame(old)
    reason = _another_value(new_frame, old_frame, _aspects(new), _aspects(old)) or _next_stage(new_frame, old_frame)
    if reason or _INSTRUCTION in old.content:
        return reason
    return (
        _changed_value(new_frame, old_frame, corrects=bool(getattr(new, "corrects", False)))
        or _new_one(new_frame, old_frame)
        or _instead(new_frame, old_frame)
        or _end_reason(new, new_frame, old_frame)
    )


def _another_value(
    new: EnglishStatement, old: EnglishStatement, new_aspects: Aspects, old_aspects: Aspects
) -> str | None:
    """Return the reason if one has one at a time: a boss, a favourite film, a locker."""
    if new.beside or old.past:
        return None
    for (name, key), value in new_aspects.items():
        old_value = old_aspects.get((name, key))
        if old_value is None or (name != "goal" and _agree(value, old_value)):
            continue
        if name in NEEDS_CHANGE and not new.changed:
            continue
        if name == "goal" and not _same_goal(new, old, value, old_value):
            continue
        if name == "count" and key in _VAGUE and not (new.changed and (key == "night" or _shared_words(new, old))):
            continue
        return f"{name} {key}".strip() + f": {old_value} → {value}"
    return None


def _same_goal(new: EnglishStatement, old: EnglishStatement, value: str, old_value: str) -> bool:
    """Return whether two goals replace each other: both are sums of money, or about one thing, and they differ."""
    one, other = set(_stems(value)), set(_stems(old_value))
    if one <= other or other <= one:
        return False
    money = [bool(_MONEY.search(goal)) for goal in (value, old_value)]
    return all(money) or (not any(money) and bool(_shared_words(new, old) - {stem("goal"), stem("target")}))


def _next_stage(new: EnglishStatement, old: EnglishStatement) -> str | None:
    for after, before in STAGES:
        if (
            (match := after.search(new.content))
            and (was := before.search(old.content))
            and not before.search(new.content)
            and _names_all(match, old)
            and _names_all(was, new)
        ):
            return f"{was.group()} → {match.group()}"
    return None


def _names_all(match: re.Match[str], other: EnglishStatement) -> bool:
    """Return whether the other statement holds every word of what a match names; one that names nothing does."""
    phrase = next(filter(None, match.groups()), "")
    return set(_stems(phrase)) - _OF_TIME <= other.every


def _changed_value(new: EnglishStatement, old: EnglishStatement, *, corrects: bool) -> str | None:
    """Return the reason if a day, date or number of the same thing differs and the newer one mentions a change."""
    if new.beside or old.past or QUIT.search(old.content) or not (corrects or new.changed):
        return None
    for sort, new_values in new.values.items():
        old_values = old.values.get(sort)
        if not old_values or old_values >= new_values:
            continue
        if new.denied_values(sort) & (old_values | old.days):
            return (
                f"{', '.join(sorted(old_values))} → {', '.join(sorted(new_values))}"
                if new.stems & old.stems - _CALENDAR
                else None
            )
        if not old_values & new_values and _concerns(new, old, sort):
            return f"{', '.join(sorted(old_values))} → {', '.join(sorted(new_values))}"
    return None


def _concerns(new: EnglishStatement, old: EnglishStatement, sort: str) -> bool:
    """Return whether both have one topic: the words before the newer value, or the subject if there are none.

    None need be named where the value has its noun with it: "grade 5".
    """
    topic = new.topic(sort)
    if topic or sort != "grade":
        return _speaks_of(topic, old)
    nouns = [{one.split()[0] for one in frame.values[sort]} for frame in (new, old)]
    return nouns[0] == nouns[1] and new.own <= old.every


def _speaks_of(topic: Sequence[str], old: EnglishStatement) -> bool:
    """Return whether an older statement holds half of the words before a newer value, or their last noun."""
    met = [word for word in topic if word in old.stems]
    return bool(met) and (2 * len(met) >= len(topic) or met[-1] == topic[-1])


def _instead(new: EnglishStatement, old: EnglishStatement) -> str | None:
    """Return the reason of "Lisbon instead of Rome", if both statements otherwise say the same of the two."""
    if old.past:
        return None
    for found in _INSTEAD.finditer(new.content):
        name = set(_stems(found["name"]))
        if name & old.names and (new.stems & old.stems) - GENERIC - name:
            return f"not {found['name']} any more"
    return None


def _new_one(new: EnglishStatement, old: EnglishStatement) -> str | None:
    """Return the reason of a new choir or dentist: statements about the previous one have ended."""
    found = NEW_ONE.search(new.content)
    if not found or new.beside or old.past or re.search(r"\bnew\b", old.content):
        return None
    return (
        f"a new {found['thing']}"
        if re.search(rf"['’]s {found['thing']}(?: [a-z]*s\b|,)", old.content, re.IGNORECASE)
        else None
    )


def _end_reason(new: Statement, new_frame: EnglishStatement, old_frame: EnglishStatement) -> str | None:
    """Return the reason if a statement says that a thing of the older one is sold, quit, finished, dead or over."""
    if (
        (old_frame.past and not STARTS.search(old_frame.content))
        or GIVEN.search(old_frame.content)
        or QUIT.search(old_frame.content)
    ):
        return None
    for name, way, needs in _ENDINGS:
        if needs and not needs.search(old_frame.content):
            continue
        for match in way.finditer(new_frame.content):
            if name in _DONE and not _is_subjects(new_frame.content[: match.start()], new.subject):
                continue
            phrase = next(group for group in match.groups() if group)
            cut = (_TO if name == "is given away" else _CUT).search(phrase)
            thing, rest = (phrase[: cut.start()].strip(), phrase[cut.start() :]) if cut else (phrase.strip(), "")
            if name == "is given up" and _RESTRICTS.match(rest):
                continue
            if what := _ended_thing(thing, new_frame, old_frame, by_name=name in _NAMED):
                return f"{what} {name}"
    return None


def _ended_thing(phrase: str, new_frame: EnglishStatement, old_frame: EnglishStatement, *, by_name: bool) -> str | None:
    """Return the thing that is over, if the older statement speaks of it: by its names, or its last noun.

    `by_name`: it may be the subject itself.
    """
    phrase = _OWNERS.sub("", phrase)
    if not _values_in(phrase) <= _values_in(old_frame.content):
        return None
    every = [one for one in _stems(phrase) if one not in _CALENDAR]
    stems = [one for one in every if one not in GENERIC and (by_name or one not in new_frame.own)]
    names = {one for one in stems if one in new_frame.names}
    if names:
        return phrase if names <= old_frame.names | old_frame.own else None
    if stems:
        return phrase if _is_done(stems[-1], old_frame.content) else None
    return phrase if every and ("count", every[-1]) in old_frame.aspects else None


def _is_done(stemmed: str, content: str) -> bool:
    """Return whether a word stands for itself in a statement: "goes running", not "is running the team".

    What it is when more follows ("on the board of a charity") or when it is taught or sold, nothing tells.
    """
    words = re.findall(r"[\w][\w'’-]*|[^\w\s]", content)
    return any(
        _normal_form(word) == stemmed
        and (not after[0].isalnum() or bool(_ALONE.fullmatch(after)))
        and not _OF_OTHERS.fullmatch(before)
        for before, word, after in zip(["", *words], words, [*words[1:], "."], strict=False)
    )


def _is_subjects(before: str, subject: str) -> bool:
    """Return whether the following words are about the subject: its name opens the clause, or it is omitted."""
    *_, mark, clause = ["", *_CLAUSE.split(before)]
    clause = _OWNERS.sub("", clause)
    return any(word in normal_value(clause) for word in normal_value(subject).split()) or (
        not clause.strip() and not mark.isalpha()
    )


def _values_in(text: str) -> set[str]:
    """Return numbers and weekdays, which must be equal for two things to be one."""
    return {*re.findall(r"\b\d[\w-]*", text), *(day.casefold() for day in _WEEKDAY.findall(text))}


def _shared_words(one: EnglishStatement, other: EnglishStatement) -> frozenset[str]:
    return frozenset(word for word in one.stems & other.stems if word not in GENERIC and not word[0].isdigit())


def _agree(one: str, other: str) -> bool:
    """Return whether two values are one: they share a word, or are the same number."""
    words, other_words = ({_count(word) for word in (set(_stems(text)) or set(_words(text)))} for text in (one, other))
    return bool((words & other_words) - _IDLE)


def _count(word: str) -> str:
    return _COUNTS.get(word, NUMBER_WORDS.get(word, word))


def _aspects(statement: Statement) -> Aspects:
    """Return the aspects in the words, and that of the slot."""
    found = dict(_frame(statement).aspects)
    if statement.attribute and statement.value:
        first, _, last = statement.attribute.partition(".")
        by_slot = {"preference": "favourite", "number": "number"}.get(first)
        name = BY_ATTRIBUTE.get(statement.attribute) or by_slot
        if name:
            found[name, _key(last.replace("_", " ")) if by_slot else ""] = statement.value
    return found


def _frame(statement: Statement) -> EnglishStatement:
    return _read(statement.content, statement.subject)


@memoized_in_scope
def _read(content: str, subject: str) -> EnglishStatement:
    return EnglishStatement(content, subject)


def _key(key: str) -> str:
    """Return a key without words for novelty: "new locker" and "locker there" are one."""
    words = [word for word in _words(key) if word not in _NO_KEY and not word.endswith(("'s", "’s"))]
    return " ".join(_normal_form(word) for word in words)


def _stems(text: str) -> Iterator[str]:
    return (_normal_form(word) for word in _words(text) if word not in STOPWORDS)


def _words(text: str) -> list[str]:
    return [re.sub(r"['’]s$|['’]$", "", word) for word in _WORD.findall(text.casefold())]


def _normal_form(word: str) -> str:
    stemmed = stem(word.casefold())
    return ALIKE.get(stemmed, stemmed)


def _plain(text: str) -> str:
    words = (_count(re.sub(r"(?<=day)s$", "", word)) for word in _words(text) if word not in {"on", "the", "of", "at"})
    return " ".join(words)


_INSTRUCTION = "'s standing instruction:"
_CLAUSE = re.compile(r"([,;:.!?]|\b(?:who|which|that|whose|because|when)\b)")
_OF_ANOTHER = re.compile(r"['’]s [\w-]+['’]s (?:new )?$")
_DENIES = re.compile(r"\b(?:not|no longer|never|used to|without|quit|left)\b")
_INSTEAD = re.compile(r"(?:\binstead of|\brather than|, not) (?:the |in |to |into )?(?P<name>[A-Z][\w-]+)")
_OWNERS = re.compile(r"\b[\w-]+['’]s? (?=\w)")
_WORD = re.compile(r"[\w][\w'’-]*")
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w-]+")
_BREAK = (
    r"for|because|in|on|last|this|since|after|and (?=bought|got|started|now|moved)|so|as|too|completely|any ?more|"
    r"at(?! (?-i:[A-Z]))|with|by|where|who|which|that|yesterday|today|back|when|until|away|out"
)
_CUT = re.compile(rf"\s(?:{_BREAK})\b", re.IGNORECASE)
_TO = re.compile(rf"\s(?:{_BREAK}|to)\b", re.IGNORECASE)
_MONEY = re.compile(r"[$€£]\s?\d|\d,\d{3}|\d{5,}|\d+k\b")
_CALENDAR = frozenset(stem(word) for word in CALENDAR)
_VAGUE = frozenset(stem(word) for word in "time day hour week night".split()) | {""}
_IDLE = frozenset(stem(word) for word in "work take get go".split())
_NO_KEY = frozenset("new old there the a my his her our their number is s".split())
_WEEKDAY = lazy_regex(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b")
_COUNTS = {"a": "1", "an": "1", "one": "1", "onc": "1", "once": "1", "twice": "2", "twic": "2"}
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b")
_SORTS = {
    "date": lazy_regex(rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b"),
    "month": lazy_regex(rf"\b{_MONTH}\b"),
    "weekday": _WEEKDAY,
    "how often": lazy_regex(r"\b(?:once|twice|[a-z]+ times) (?:a|per|every) (?:day|week|month|year)\b", re.IGNORECASE),
    "time": lazy_regex(r"\b\d{1,2}[:.]\d\d\b"),
    "grade": lazy_regex(r"\b(?:grade|year|level|room|gate|hall|unit|ward) \w*\d\w*\b", re.IGNORECASE),
}
STARTS = lazy_regex(
    r"\bhas (?:been|got|started|signed|booked|joined)\b|\bsigned up\b|\b(?:started|joined|switched to|moved to|took up|"
    r"adopted|came with)\b"
)
"""Events that started a lasting state."""
_ENDINGS: tuple[tuple[str, re.Pattern[str], re.Pattern[str] | None], ...] = (
    ("is given away", GIVEN, None),
    ("is given up", QUIT, None),
    (
        "is done",
        FINISHED,
        lazy_regex(r"\bis (?:\w+ )?(?:reading|doing|studying|taking|watching|working on)\b|\bstarted\b|\binto\b"),
    ),
    ("is over", OVER, None),
    ("is overtaken", DISPLACED, lazy_regex(r"\bfavou?rite\b|\bprefers\b|\bbest\b", re.IGNORECASE)),
    ("is dead or gone", DIED, PETS),
    ("has moved out", MOVED_OUT, LIVING_WITH),
)
_DONE = frozenset({"is given away", "is given up", "is done"})
"""Endings caused by a person, who must be the subject of the older statement."""
_NAMED = frozenset({"is dead or gone", "has moved out"})
_ALONE = lazy_regex(
    r"in|on|at|for|with|and|or|but|every|each|most|once|twice|again|now|since|until|till|when|because|along|from|by|"
    r"called|named|class|classes|course|courses|lessons|club|too|also|as|before|after|while|so|if|\w+ly|\w+day\w*",
    re.IGNORECASE,
)
"""Words that may follow an activity or a thing which stands for itself."""
_OF_OTHERS = lazy_regex(r"teach\w*|coach\w*|sell\w*|manag\w*|organi[sz]\w*|stud(?:y|ies|ying)|of|about", re.IGNORECASE)
"""Words after which an activity is a subject of work, not what somebody does."""
_RESTRICTS = lazy_regex(
    r"\s(?:in|on|at|with|for|by)\s(?!good\b|ever\b|now\b|health|a while|"
    r"(?:the )?(?:new year|spring|summer|autumn|fall|winter|end|start|moment|time)|\d|last|this|"
    rf"{'|'.join(sorted(CALENDAR))})",
    re.IGNORECASE,
)
"""What narrows what is given up: "oat milk in porridge", "running with Tom"."""
_OF_TIME = frozenset(stem(word) for word in "now any more again completely".split())
