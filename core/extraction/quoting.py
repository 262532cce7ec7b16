"""Sentences as candidates: quoted with who said them and what they need to be understood, or in the third person."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from core.extraction import candidates, durability, references
from core.extraction.references import LocatedSentence
from core.extraction.speakers import HeardMessage
from core.language import dates, identification, languages, sentences
from core.language.calendar import DateMention
from core.language.language import Grammar
from core.language.lazy_regex import either
from core.language.quotation_marks import is_mostly_quoted
from core.screening import screen
from core.statements.quotation import FRAMES
from core.types import Candidate, Category

LEAST: Final = -0.2
"""Log-odds by words alone from which a sentence is kept."""
LEAST_READ: Final = -0.5
"""Log-odds of the reader and by words together from which a sentence is kept."""
CERTAIN_BY_WORDS: Final = 1.0
"""Log-odds by words from which it is kept whatever the reader says, who has read little talk of work."""
LEAST_ALONE: Final = -0.5
"""Log-odds of the reader from which a sentence is kept in a language without weights."""
LEAST_UNSTATED: Final = 1.0
"""Log-odds of the reader from which a sentence is kept that asks, wishes or says little.

"my sister marries in may can you write her a card?"
"""
MORE_IF_SHORT: Final = 0.6
"""By so much more for a short sentence, which seldom says something by itself, and for an exclamation."""
LETTERS_A_WORD: Final = 4
"""Letters that count as a word in a language whose words are not known."""
SHORTEST, SHORT = 3, 5
"""Words of a sentence that may be kept though it answers no question, and below which one is short."""
ORDER_IMPORTANCE: Final = 0.8

_OTHER_SCRIPTS = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
"""Kana and Hangul, which stand beside Chinese characters in other languages."""

_UNDECIDED = either(language.grammar.undecided for language in languages.ALL if language.grammar)


def is_certain(sentence: str, language: Grammar) -> bool:
    """Return whether a sentence may be put in other words: one clause about the speaker or theirs, no reference."""
    return not language.refers_back(sentence) and bool(language.simple.search(sentence))


def is_known_language(sentence: str, language: Grammar) -> bool:
    """Return whether a sentence is in a language whose tables and weights there are."""
    letters = [letter for letter in sentence if letter.isalpha()]
    if language.code != "en":
        return not _OTHER_SCRIPTS.search(sentence)
    return sum(map(str.isascii, letters)) * 2 >= len(letters) and not identification.is_foreign(sentence)


def are_durable(located: Sequence[LocatedSentence], reader: durability.Reader | None) -> list[bool]:
    """Return which sentences of messages are likely to matter for months.

    `reader` None: by words alone, which know only sentences that are quotable (`is_quotable`).
    """
    by_words = [_by_words(sentence_at) >= LEAST + _more(sentence_at) for sentence_at in located]
    if reader is None:
        return [kept or _lasts(sentence_at) for kept, sentence_at in zip(by_words, located, strict=True)]
    leads = [heard.before_sentence(position, durability.BEFORE).strip() for heard, position, _ in located]
    durable = _are_read_as_durable(located, leads, reader)
    unsure = [at for at, kept in enumerate(durable) if not kept and by_words[at] and is_quotable(*located[at])]
    # Behind "My cat is three", "My cat is four" seems to be known: what words would keep is read by itself, too.
    behind = [at for at in unsure if leads[at]]
    alone = _are_read_as_durable([located[at] for at in behind], [""] * len(behind), reader)
    kept_alone = {at for at, kept in zip(behind, alone, strict=True) if kept}
    for at in unsure:
        durable[at] = at in kept_alone or _is_hostile(located[at])
    return durable


def _are_read_as_durable(
    located: Sequence[LocatedSentence], leads: Sequence[str], reader: durability.Reader
) -> list[bool]:
    """Return which sentences matter by the reader and by words, each read behind what was said before it."""
    texts = [(heard.sentences[position], lead) for (heard, position, _), lead in zip(located, leads, strict=True)]
    return [
        value >= _least_read(sentence_at) + _more(sentence_at)
        for sentence_at, value in zip(located, reader.matters(texts).tolist(), strict=True)
    ]


def _least_read(sentence_at: LocatedSentence) -> float:
    """Return the log-odds of the reader from which a sentence is kept; -inf: whatever it says."""
    heard, position, language = sentence_at
    if not is_quotable(heard, position, language):
        return LEAST_UNSTATED if language.is_meant(heard.sentences[position]) else math.inf
    if not _is_known(sentence_at):
        return LEAST_ALONE
    by_words = _by_words(sentence_at)
    return -math.inf if by_words >= CERTAIN_BY_WORDS or _lasts(sentence_at) else LEAST_READ - by_words


def _is_hostile(sentence_at: LocatedSentence) -> bool:
    """Return whether a sentence tries to steer an agent, so that people should see it."""
    heard, position, _ = sentence_at
    return any(finding.kind in screen.HOSTILE for finding in screen.screen(heard.sentences[position]).findings)


def _by_words(sentence_at: LocatedSentence) -> float:
    """Return the log-odds by words that a sentence matters; -inf in a language without weights."""
    heard, position, language = sentence_at
    if not _is_known(sentence_at):
        return -math.inf
    question = heard.question if position == 0 else ""
    return durability.log_odds(heard.sentences[position], language.code, question=question, position=position)


def _more(sentence_at: LocatedSentence) -> float:
    """Return how much more it takes to keep a sentence: an exclamation is more often a reaction than a fact."""
    heard, position, language = sentence_at
    sentence = heard.sentences[position]
    is_reaction = sentence.rstrip("\"'”’)").endswith(("!", "！"))
    answers = position == 0 and bool(heard.question and language.about_listener.search(heard.question))
    return MORE_IF_SHORT if is_reaction or (is_short(sentence, language) and not answers) else 0.0


def _is_known(sentence_at: LocatedSentence) -> bool:
    heard, position, language = sentence_at
    return is_known_language(heard.sentences[position], language)


def _lasts(sentence_at: LocatedSentence) -> bool:
    """Return whether a sentence about common work lasts by its form."""
    heard, position, language = sentence_at
    return _is_known(sentence_at) and lasts_at_work(heard.sentences[position], language)


def is_short(sentence: str, language: Grammar) -> bool:
    """Return whether a sentence has so few words that it seldom says something by itself."""
    return _size(sentence, language) < SHORT


def _size(sentence: str, language: Grammar) -> float:
    """Return the length of a sentence in words."""
    if not is_known_language(sentence, language):
        return max(len(sentence.split()), len(sentence) / LETTERS_A_WORD)
    return len(sentence) / language.word_length if language.word_length else len(sentence.split())


def lasts_at_work(sentence: str, language: Grammar) -> bool:
    """Return whether a sentence about common work lasts by its form."""
    return bool(language.lasting.search(sentence)) and not language.momentary.search(sentence)


def is_quotable(heard: HeardMessage, position: int, language: Grammar) -> bool:
    """Return whether a sentence says that something is so, and enough to be understood."""
    sentence = heard.sentences[position]
    answers = position == 0 and bool(heard.question)
    if not answers and _size(sentence, language) < SHORTEST:
        return False
    if not language.is_meant(sentence):
        return False
    asks = sentence.rstrip("\"'”’)!").endswith(("?", "？"))
    requests = sentences.is_request(sentence) and not lasts_at_work(sentence, language)
    undecided = sentences.is_hypothetical(sentence) or _UNDECIDED.search(sentence.lower())
    return not (asks or requests or undecided or is_mostly_quoted(sentence))


def candidate(
    heard: HeardMessage, position: int, language: Grammar, content: str | None, context: str | None
) -> Candidate:
    """Return the candidate of a sentence without its slots.

    `content`: in other words; None: quoted. `context`: see `references.contexts`.
    """
    message, sentence = heard.message, heard.sentences[position]
    days = dates.find(sentence, message.occurred_at, language.dates)
    orders = language.order.search(sentence)
    return candidates.without_slot(
        content or _quotation(heard, position, language, days, context),
        sentence, heard.speaker, message, days, language,
        quote=sentence, corrects=bool(language.change.search(sentence)),
        category=Category.INSTRUCTION if orders and content is None else None,
        importance=ORDER_IMPORTANCE if orders and content is None else None,
    )  # fmt: skip


def restated(heard: HeardMessage, position: int, language: Grammar) -> str:
    """Return a sentence in the third person, its dates written out."""
    sentence = heard.sentences[position]
    plain = language.plain(sentences.asserted_part(sentence) or sentence)
    dated = dates.made_absolute(plain, heard.message.occurred_at, language.dates)
    text = language.third_person(dated, heard.speaker, heard.addressee)
    return text if text.endswith((".", "!", "?", "”", "。", "！", "？")) else f"{text}{language.full_stop}"


def _quotation(
    heard: HeardMessage, position: int, language: Grammar, days: list[DateMention], context: str | None
) -> str:
    """Return the quotation with who said it, and what it needs to be understood."""
    sentence, frame = heard.sentences[position], FRAMES[language.code]
    relative = dates.written_out(sentence, days) != sentence
    day = language.dates.day(heard.message.occurred_at) if relative else None
    leans = context is not None
    question = heard.question if position == 0 and (leans or len(sentence) < language.short) else ""
    if position and language.corrects.search(sentence):
        return frame.around(heard.speaker, sentence, day=day, after=heard.sentences[position - 1])
    needs_more = language.refers_back(question) if question else leans
    after = (context or references.by_words(heard, position, language)) if needs_more else ""
    return frame.around(heard.speaker, sentence, day=day, asked=question, after=after)
