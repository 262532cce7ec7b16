"""Word lists for comparing statements: negation, modality, synonyms, numbers."""

from __future__ import annotations

import re
from typing import Any, Final

from core.language import languages
from core.language.lazy_regex import lazy_regex
from core.language.terms import terms

HAN = lazy_regex(r"[\u3400-\u9fff\uf900-\ufaff]")
_LETTER = rf"(?:(?!{HAN.pattern})[^\W_])"
THOUSANDS = lazy_regex(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


SEPARATORS = frozenset(",;:，；：、。.(（—–")

_LEXICONS: Final = [language.lexicon for language in languages.ALL if language.lexicon]


def _union(field: str) -> frozenset[str]:
    return frozenset[str]().union(*(getattr(lexicon, field) for lexicon in _LEXICONS))


def _merged(field: str) -> dict[str, Any]:
    return {key: value for lexicon in _LEXICONS for key, value in getattr(lexicon, field).items()}


_NUMERAL: Final = "".join(lexicon.numeral for lexicon in _LEXICONS)
TOKEN = lazy_regex(
    rf"(?<!\w)[+-]?\d+(?:[.,:/-]\d+)*(?![a-zA-Z])|[{_NUMERAL}]{{1,20}}"
    rf"(?=[{''.join(lexicon.counted for lexicon in _LEXICONS)}])"
    rf"|{HAN.pattern}|{_LETTER}+(?:[-.'/+]{_LETTER}+)*|[^\w\s]"
)
NUMERAL = lazy_regex(rf"[{_NUMERAL}]+")
NUMERALS: Final[dict[str, str]] = _merged("numerals")

FORMS = tuple((lazy_regex(pattern, re.IGNORECASE), form) for lexicon in _LEXICONS for pattern, form in lexicon.forms)
"""Ways of saying the same that are longer than a word."""

HINTS = tuple(hint for lexicon in _LEXICONS for hint in lexicon.hints)
"""One of these stands in every text without Chinese characters in which any of those ways is found."""

CALENDAR = _union("calendar")
NUMBER_WORDS: Final[dict[str, str]] = _merged("number_words")
DENIALS = _union("denials")
ENDINGS = _union("endings")
LINKS = _union("links")
SILENT = _union("silent")
"""Words that may be there or not."""

SMALL = _union("small")
"""Words that may be there or not, but not in each other's place."""

BEING: Final[dict[str, tuple[str, bool]]] = _merged("being")
ARTICLES = _union("articles")
BOUND = _union("bound")
BOUND_STEMS = _union("bound_stems")
"""Stems whose addition makes a different statement rather than a more detailed one."""

DIRECTED = _union("directed")
DISLIKES = _union("dislikes")
IRREGULAR: Final[dict[str, str]] = _merged("irregular")
"""Verbs whose past does not end in -ed."""

SYNONYMS = {
    terms(word)[0]: terms(group.split()[0])[0]
    for lexicon in _LEXICONS
    for group in lexicon.synonyms
    for word in group.split()
}
"""Words that stand for each other, by their stems."""

PLEASANTRY = lazy_regex(rf"(?:{'|'.join(lexicon.pleasantries for lexicon in _LEXICONS if lexicon.pleasantries)})*")

PLURAL = lazy_regex(r"^[a-z]{2,}[^s\W\d]s$")
