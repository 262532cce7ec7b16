"""Quotation of sentences that matter and that the rules cannot restate with certainty. Pure.

A statement that the rules make of a sentence counts as certain if it fills a slot, or if nothing in the sentence points
beyond it. What is likely to matter and has no certain statement is quoted, with what it needs to be understood: the
question that it answers, or the sentence before it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.extraction import candidates, durability
from core.extraction.chinese import claims
from core.extraction.chinese import patterns as chinese_patterns
from core.extraction.chinese.tables import at_work as chinese_work
from core.extraction.english import corrections, patterns, pretence
from core.extraction.english.tables import at_work as english_work
from core.extraction.pattern_types import Tables
from core.language import dates, identification
from core.language import sentences as language_sentences
from core.language.lazy_regex import lazy_regex
from core.statements.quotation import FRAMES, QuotationFrame
from core.types import Candidate, Category, Message

LEAST: Final = 0.45
"""The probability from which a sentence is quoted."""
LEAST_SHORT: Final = 0.6
"""The same of a short one, which seldom says something by itself."""
LEAST_STATED: Final = 0.5
"""The probability from which a statement of the rules is kept that fills no slot."""
SHORTEST, SHORT, CHARACTERS_A_WORD = 3, 5, 1.6
"""Words of a sentence that may be quoted though it answers no question, and below which one is short."""
_ADDED_ZH = lazy_regex(r"[\d年月日。，：的]")
"""Words added when a statement is written out."""
PATCHED: Final = 0.5
"""The share of a statement's pairs of characters that its sentence lacks where it puts an earlier one right."""


@dataclass(frozen=True, slots=True)
class RuleStatement:
    """A candidate that rules made of the sentence `quote`; `plains`: its statements in the first person.

    `certain`: it needs no quotation.
    """

    quote: str
    candidate: Candidate
    certain: bool
    plains: frozenset[str] = frozenset()


@dataclass(slots=True)
class ReadMessage:
    """A message of a speaker: its sentences, and what the rules made of them.

    `question`: the question before it; `before`: the sentences that the speaker said last; `lost`: the sentences that a
    later one took back or put right; `among_people`: somebody else than an assistant listens.
    """

    message: Message
    speaker: str
    language: str
    sentences: Sequence[str]
    question: str
    before: Sequence[str]
    statements: list[RuleStatement]
    lost: set[str]
    among_people: bool

    def rule_candidates(self) -> list[Candidate]:
        """Return the candidates of the rules alone."""
        return [statement.candidate for statement in self.statements]

    def take_back(self, plains: Collection[str]) -> None:
        """Drop the statements made in these words."""
        self._drop([statement for statement in self.statements if not statement.plains.isdisjoint(plains)])

    def withdraw(self, candidates: Sequence[Candidate]) -> None:
        self._drop(
            [
                statement
                for statement in self.statements
                if any(statement.candidate is withdrawn for withdrawn in candidates)
            ]
        )

    def _drop(self, dropped: Sequence[RuleStatement]) -> None:
        self.lost.update(statement.quote for statement in dropped)
        self.statements = [
            statement for statement in self.statements if not any(statement is other for other in dropped)
        ]


@dataclass(frozen=True, slots=True)
class _Language:
    """Patterns and tables of a language used for quoting."""

    lasting: re.Pattern[str]
    momentary: re.Pattern[str]
    order: re.Pattern[str]
    points: re.Pattern[str]
    simple: re.Pattern[str]
    short: int
    tables: Tables
    frame: QuotationFrame


_ENGLISH = _Language(
    english_work.LASTING,
    english_work.MOMENTARY,
    english_work.ORDER,
    lazy_regex(
        r"\b(?:he|she|it|they|him|her|his|hers|its|them|their|theirs|this|that|these|those|there|one|ones|both|another|"
        r"either|neither|same|so)\b(?! (?:morning|afternoon|evening|week|weekend|month|year|spring|summer|autumn|fall|"
        r"winter)\b)|^(?:and|but|because|which|or|then|also|not|no|yes|yeah|yep|still|instead|only|just)\b|"
        r"^(?:I|We) (?:now )?live (?:near|by|close to|next to|across from) (?:the|an?) [a-z ]+[.!]?$",
        re.IGNORECASE,
    ),
    lazy_regex(
        r"^(?:(?:actually|oh|so|well|now|sorry|right|ok(?:ay)?|hi|hey|hello|by the way|btw),? )*"
        r"(?:I|I['’](?:m|ve|ll|d)|My|We|We['’](?:re|ve|ll)|Our)\b[^,;:—]*$",
        re.IGNORECASE,
    ),
    60,
    patterns.TABLES,
    FRAMES["en"],
)
_CHINESE = _Language(
    chinese_work.LASTING,
    chinese_work.MOMENTARY,
    chinese_work.ORDER,
    lazy_regex(r"[他她它]|[这那](?![周月年]|个月)|人家|对方|^(?!.*[我咱])"),
    lazy_regex(r"^(?:今天|昨天|最近|现在|上周|下周)?[我咱][^，,；：]*$"),
    20,
    chinese_patterns.TABLES,
    FRAMES["zh"],
)
_LANGUAGES: Final = {"en": _ENGLISH, "zh": _CHINESE}
_STATED_ZH = lazy_regex(r"^(?:对了|还有|另外|哦|嗯|其实|不过|今天|昨天|最近|现在|上周|下周)?[，, ]?[我咱]")
_SPEAKER_ZH = lazy_regex(r"[我咱你您]")
"""Words for the speaker, in a statement or a question."""
_SELF_STANDING = lazy_regex(
    r"\b(?:I|[Ww]e|[Mm]y|[Oo]ur|me|us)\b|^(?:The|A|An|There|Please)\b|[a-z,] [A-Z][a-z]|"
    r"^[A-Z][\w’']+ (?:is|was|has|had|will|[a-z]+s|[a-z]+ed|and [A-Z]\w+) |^[A-Z]\w+['’]s\b"
)
"""English sentences with their own subject: the speaker, a name, a thing."""
_OF_SOMEBODY = lazy_regex(r"\b(?:he|she|him|her|his|hers|they|them|their)\b", re.IGNORECASE)
_UNDECIDED = lazy_regex(
    r"再看看|看情况|再说吧|还没(?:想好|定)|不一定|\b(?:we['’]ll see|not (?:yet )?(?:sure|decided)|it depends)\b|"
    r"\b(?:keeps?|kept) saying\b",
    re.IGNORECASE,
)
_NAMES = lazy_regex(
    r"(?<=[a-z,'’] )(?!I\b)[A-Z][a-z]+|^[A-Z][a-z]+(?= (?:is|was|has|had|will|wants|got|said|and [A-Z]|"
    r"[a-z]+ed)\b|['’]s\b)|"
    r"\b[Mm]y (?:mum|mom|dad|wife|husband|son|daughter|sister|brother|partner|boss|friend|mate|nan|gran|aunt|uncle)\b"
)
"""Names that “he” or “she” may refer to."""
ORDER_IMPORTANCE: Final = 0.8
REACH: Final = 8
"""Earlier sentences of the speaker searched for the referent of a dependent one."""


def refers_back(sentence: str, language: str) -> bool:
    """Return whether a sentence can be understood only from what was said around it."""
    leans = bool(_LANGUAGES[language].points.search(sentence))
    return leans or (language == "en" and not _SELF_STANDING.search(sentence))


def is_certain(sentence: str, language: str) -> bool:
    """Return whether rules may restate a sentence: one clause about the speaker or theirs, with no reference."""
    return not refers_back(sentence, language) and bool(_LANGUAGES[language].simple.search(sentence))


def is_certain_zh(candidate: Candidate, speaker: str) -> bool:
    """Return whether a statement of the Chinese rules is correct as it is: its sentence names its subject."""
    quote, subject = candidate.evidence[0].quote, candidate.subject.removeprefix(f"{speaker}的")
    if candidate.category is Category.INSTRUCTION or _is_put_right(candidate, speaker):
        return True
    if not fills_slot(candidate):
        return is_certain(quote, "zh")
    names_subject = bool(_STATED_ZH.search(quote)) if candidate.subject == speaker else subject in quote
    return names_subject and candidate.subject in candidate.content


def _is_put_right(candidate: Candidate, speaker: str) -> bool:
    """Return whether a statement comes from an earlier sentence that the quoted one only corrects."""
    text = _ADDED_ZH.sub("", candidate.content.replace(speaker, ""))
    pairs = [text[start : start + 2] for start in range(len(text) - 1)]
    quote = candidate.evidence[0].quote
    return candidate.corrects and sum(pair not in quote for pair in pairs) > PATCHED * len(pairs)


def keep_or_quote(reading: ReadMessage) -> list[Candidate]:
    """Return the certain statements of a message, and quotations of its other sentences that matter."""
    places = range(len(reading.sentences))
    of = [
        [statement for statement in reading.statements if _is_of(statement.quote, sentence)]
        for sentence in reading.sentences
    ]
    wrong = {
        position - 1 for position in places if position and not of[position] and _corrects(reading.sentences[position])
    }
    chances = [1.0 if position - 1 in wrong else _chance(reading, position) for position in places]
    certain = [
        statement
        for statement in reading.statements
        if statement.certain
        and not _is_slight(statement, of, chances)
        and not any(statement in of[position] for position in wrong)
    ]
    sure = {id(statement) for statement in certain}
    quoted = [
        position
        for position in places
        if position not in wrong
        and chances[position] >= least_probability(reading.sentences[position], reading.language)
        and not any(_is_of(reading.sentences[position], lost) for lost in reading.lost)
        and not (of[position] and all(id(statement) in sure for statement in of[position]))
        and _is_quotable(reading, position)
    ]
    return [
        *(statement.candidate for statement in certain),
        *(_quotation(reading, position, of[position]) for position in quoted),
    ]


def _corrects(sentence: str) -> bool:
    """Return whether a sentence begins by saying that the one before it is wrong."""
    return corrections.corrects(sentence) or claims.corrects(sentence)


def least_probability(sentence: str, language: str) -> float:
    """Return the probability from which a sentence is quoted: an exclamation is more often a reaction than a fact."""
    is_reaction = sentence.rstrip("\"'”’)").endswith(("!", "！"))
    return LEAST_SHORT if is_reaction or _size(sentence, language) < SHORT else LEAST


def _size(sentence: str, language: str) -> float:
    """Return the length of a sentence in words; a Chinese word has about one and a half characters."""
    return len(sentence) / CHARACTERS_A_WORD if language == "zh" else len(sentence.split())


def _is_of(quote: str, sentence: str) -> bool:
    return quote in sentence or sentence in quote


def _chance(reading: ReadMessage, position: int) -> float:
    if _lasts_at_work(reading.sentences[position], reading.language):
        return 1.0
    question = reading.question if position == 0 else ""
    return durability.probability(reading.sentences[position], reading.language, question=question, position=position)


def _lasts_at_work(sentence: str, language: str) -> bool:
    """Return whether a sentence about common work lasts by its form."""
    own = _LANGUAGES[language]
    return bool(own.lasting.search(sentence)) and not own.momentary.search(sentence)


def _is_slight(statement: RuleStatement, of: Sequence[Sequence[RuleStatement]], chances: Sequence[float]) -> bool:
    """Return whether a statement without a slot comes from a sentence that is unlikely to matter."""
    if fills_slot(statement.candidate):
        return False
    own_chances = [
        chance for chance, several in zip(chances, of, strict=True) if any(statement is other for other in several)
    ]
    return bool(own_chances) and max(own_chances) < LEAST_STATED


def fills_slot(candidate: Candidate) -> bool:
    """Return whether it fills a slot or asks for something."""
    return bool(candidate.attribute or candidate.structured.get("attribute")) or (
        candidate.category is Category.INSTRUCTION
    )


def _is_quotable(reading: ReadMessage, position: int) -> bool:
    """Return whether a sentence says that something is so, in a language that is known, and enough to be understood."""
    sentence = reading.sentences[position]
    answers = position == 0 and bool(reading.question)
    if (not answers and _size(sentence, reading.language) < SHORTEST) or _is_unreal(sentence, reading.language):
        return False
    return reading.language == "zh" or (pretence.is_meant(sentence) and not identification.is_foreign(sentence))


def _is_unreal(sentence: str, language: str) -> bool:
    asks = sentence.rstrip("\"'”’)!").endswith(("?", "？"))
    requests = language_sentences.is_request(sentence) and not _lasts_at_work(sentence, language)
    undecided = language_sentences.is_hypothetical(sentence) or _UNDECIDED.search(sentence)
    return asks or requests or bool(undecided) or language_sentences.is_mostly_quoted(sentence)


def _quotation(reading: ReadMessage, position: int, statements: Sequence[RuleStatement]) -> Candidate:
    """Return the candidate that quotes a sentence, in the slot that the rules read of the speaker in it."""
    candidate = _candidate(reading, position)
    if (
        reading.language == "zh"
        and position == 0
        and reading.question
        and not _SPEAKER_ZH.search(reading.question + reading.sentences[position])
    ):
        return candidate  # the question may be about somebody else
    read = [statement.candidate for statement in statements if not statement.certain]
    slotted = [c for c in read if c.attribute and c.subject == reading.speaker]
    return (
        replace(candidate, attribute=slotted[0].attribute, value=slotted[0].value) if len(slotted) == 1 else candidate
    )


def _candidate(reading: ReadMessage, position: int) -> Candidate:
    message, sentence, language = reading.message, reading.sentences[position], _LANGUAGES[reading.language]
    days = list(dates.find(sentence, message.occurred_at, chinese=reading.language == "zh"))
    relative = dates.written_out(sentence, days) != sentence
    orders = language.order.search(sentence)
    content = _content(reading, position, dates.day(message.occurred_at, reading.language) if relative else None)
    return candidates.without_slot(
        content, sentence, reading.speaker, message, days, language.tables, quote=sentence,
        corrects=bool(language.tables.correction.search(sentence)),
        category=Category.INSTRUCTION if orders else None, importance=ORDER_IMPORTANCE if orders else None,
    )  # fmt: skip


def _content(reading: ReadMessage, position: int, day: str | None) -> str:
    """Return the quotation with who said it, and what it needs to be understood."""
    sentence, language = reading.sentences[position], _LANGUAGES[reading.language]
    leans = refers_back(sentence, reading.language)
    question = reading.question if position == 0 and (leans or len(sentence) < language.short) else ""
    means = refers_back(question, reading.language) if question else leans
    if position and _corrects(sentence):
        return language.frame.around(reading.speaker, sentence, day=day, after=reading.sentences[position - 1])
    after = _context_sentence(reading, position) if means else ""
    return language.frame.around(reading.speaker, sentence, day=day, asked=question, after=after)


def _context_sentence(reading: ReadMessage, position: int) -> str:
    """Return the sentence before `position` that explains it: the last with a name for “she”, or the last clear one."""
    earlier = [*reading.before, *reading.sentences[:position]][-REACH:]
    somebody = reading.language == "en" and _OF_SOMEBODY.search(reading.sentences[position])
    naming = [sentence for sentence in earlier if _NAMES.search(sentence)] if somebody else []
    clear = naming or [sentence for sentence in earlier if not refers_back(sentence, reading.language)] or earlier
    return clear[-1] if clear else ""
