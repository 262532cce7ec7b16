"""Text of requests and statements in one form, with the places of its sentences, clauses and words. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from core.language import languages
from core.language.common_words import PLAIN
from core.language.lazy_regex import lazy_regex
from core.language.terms import STOPWORDS, stem, terms

READ: Final = 4_000
"""Characters of a message that are read: a request is short, and what is pasted behind it is none."""


_FORMS: Final = [language.forgetting.text for language in languages.ALL if language.forgetting]

_SIMPLIFIED: Final = str.maketrans({written: plain for forms in _FORMS for written, plain in forms.alike.items()})
"""Other characters for those of this room's patterns; one for one, so that places stay."""

_MARKS: Final = str.maketrans("’‘`´“”„「」『』", '\'\'\'\'"""""""')


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A piece of a text and its place in it."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def plain(text: str) -> str:
    """Return the text in small letters, simplified characters and straight quotes, each at its place."""
    folded = text.translate(_MARKS).translate(_SIMPLIFIED)
    lowered = folded.lower()
    return lowered if len(lowered) == len(folded) else folded


def sentences(text: str) -> list[TextSpan]:
    """Return the sentences of a text with their places; a stop within an abbreviation or a number ends none."""
    return _pieces(text, _SENTENCE_END)


def statements(text: str) -> list[TextSpan]:
    """Return the sentences of a text, those of two statements divided: "My PIN is 1234 and my code is 5678."."""
    return [
        TextSpan(piece.text, sentence.start + piece.start)
        for sentence in sentences(text)
        for piece in _pieces(sentence.text, _NEXT_STATEMENT)
    ]


def clauses(text: str) -> list[TextSpan]:
    """Return the clauses of a sentence with their places."""
    return _pieces(text, _CLAUSE_END)


def long_tokens(text: str) -> list[re.Match[str]]:
    """Return the tokens of a text that are long enough to be values by themselves, with their places."""
    return [token for token in TOKEN.finditer(text) if _is_long(token.group())]


def _is_long(token: str) -> bool:
    return sum(sign.isdigit() for sign in token) > 2 or (len(token) > 3 and re.search("[A-Za-z]", token) is not None)  # noqa: PLR2004


def content_terms(text: str) -> list[str]:
    """Return the stems of a text that carry a meaning, without those that occur in every talk."""
    stems = terms(text.translate(_SIMPLIFIED))
    return [
        stem for stem in stems if stem not in STOPWORDS and stem not in _EVERYDAY and (len(stem) > 1 or stem > "\u2e80")
    ]


def naming_terms(text: str) -> list[str]:
    """Return the stems of a description, everyday ones too, without those that say that it is to be forgotten."""
    stems = terms(text.translate(_SIMPLIFIED))
    return [stem for stem in stems if stem not in STOPWORDS and stem not in _FRAMING and stem not in STOPS]


def is_word_at(text: str, start: int, end: int) -> bool:
    """Return whether a piece of a text begins and ends at the edges of words, where its script has edges."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_joins(before, text[start]) or _joins(text[end - 1], after))


def loose(text: str) -> str:
    """Return the text in plain form with hyphens as spaces, each at its place: "blue-bin" is "blue bin"."""
    return plain(text).replace("-", " ")


def find_all(text: str, piece: str) -> list[tuple[int, int]]:
    """Return the places of a piece in a text, whole words only, regardless of case, hyphens and form of characters."""
    hay, needle = loose(text), loose(piece)
    places: list[tuple[int, int]] = []
    at = hay.find(needle) if needle else -1
    while at >= 0:
        end = at + len(needle)
        if is_word_at(hay, at, end):
            places.append((at, end))
        at = hay.find(needle, end)
    return places


def _joins(character: str, other: str) -> bool:
    return (
        bool(character and other)
        and character.isascii()
        and other.isascii()
        and character.isalnum()
        and other.isalnum()
    )


def _pieces(text: str, ends: re.Pattern[str]) -> list[TextSpan]:
    pieces, start = [], 0
    for match in ends.finditer(text):
        pieces.append(_trimmed(text, start, match.end()))
        start = match.end()
    pieces.append(_trimmed(text, start, len(text)))
    return [piece for piece in pieces if piece.text]


def _trimmed(text: str, start: int, end: int) -> TextSpan:
    piece = text[start:end]
    return TextSpan(piece.strip(), start + len(piece) - len(piece.lstrip()))


_SENTENCE_END: Final = lazy_regex(
    r"(?<![ .](?:mr|ms|dr|st|no|vs))(?<! mrs)[.!?…](?=[\"')\]]?(?:\s|$))[\"')\]]?|"
    r"(?<=[\u4e00-\u9fff])[!?]+|[。！？；;][”’」』\"]?|\n",
    re.IGNORECASE,
)

_NEXT_STATEMENT: Final = lazy_regex(
    "|".join(forms.next_statement.pattern for forms in _FORMS if forms.next_statement), re.IGNORECASE
)
"""End of a statement before another that says what something is."""

_CLAUSE_END: Final = lazy_regex(
    r",(?=\s)(?!\s(?:19|20)\d\d\b)|(?<=[\u4e00-\u9fff]),|;(?=\s)|[，、：]|:(?=\s)| - |[—–]|"
    + "|".join(forms.clause_end.pattern for forms in _FORMS if forms.clause_end),
    re.IGNORECASE,
)

STOPS: Final = frozenset[str]().union(*(forms.stops for forms in _FORMS))
"""Function words, which begin and end no value."""

TOKEN: Final = lazy_regex(
    "|".join(
        (
            *(forms.date.pattern for forms in _FORMS if forms.date),
            r"[A-Za-z0-9_@+-]*(?:\d|[A-Za-z]@)[A-Za-z0-9_@./:+-]*(?:,\d{3}(?!\d))*(?:\.\d+)?",
        )
    )
)
"""A word with a digit, an address of mail, a date in one word."""

_TELLING: Final = frozenset(stem(word) for forms in _FORMS for word in forms.telling)
"""Words that are common in talk, and yet tell one thing from another."""

_FRAMING: Final = frozenset[str]().union(*(forms.framing for forms in _FORMS))
"""Stems that say that something is to be forgotten, not what."""

_EVERYDAY: Final = (PLAIN - _TELLING) | _FRAMING
