"""Comparison of two statements by their numbers, names, denials and words. Pure."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from core.covering import SHORT, number
from core.language.lexicon import (
    ARTICLES,
    BEING,
    BOUND,
    BOUND_STEMS,
    CALENDAR,
    DENIALS,
    DIRECTED,
    DISLIKES,
    ENDINGS,
    FORMS,
    HAN,
    HINTS,
    IRREGULAR,
    LINKS,
    NUMBER_WORDS,
    NUMERAL,
    NUMERALS,
    PLEASANTRY,
    PLURAL,
    SEPARATORS,
    SILENT,
    SMALL,
    SYNONYMS,
    THOUSANDS,
    TOKEN,
)
from core.language.spelling import american
from core.language.terms import STOPWORDS, stem
from core.memoize import memoized, memoized_in_scope

DERIVED = 5
"""Minimum common prefix of words that count as one if the vectors agree."""

KEPT: Final = 16_384
"""Statements of which outlines are cached: 6 MB."""

OUTLINED: Final = 32
"""Words of a statement in its outline."""


class Wording:
    """A statement, parsed on demand.

    `spoken`: every word as written. `words`: meaningful words in order, with synonyms and inflections normalized;
    `apart`: for each of them whether a comma or a small word precedes it; `order`: they and the words that give them a
    direction. `trails`: whether it ends with a small word. `denials`: number of negations; `ended`: whether it says
    that something is over. `bound`: words that change the whole statement (might, wants, before, sister). `past`,
    `present`: verbs by form; `single`, `plural`: nouns likewise.
    """

    def __init__(self, text: str) -> None:
        self.tokens: tuple[str, ...] = tuple(TOKEN.findall(_one_form(text)))
        self._read = [_read_token(token) for token in self.tokens]
        self.spoken = tuple(one.word for one in self._read if not one.is_sign)

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(word for word, _ in self._content_words)

    @cached_property
    def apart(self) -> tuple[bool, ...]:
        return tuple(apart for _, apart in self._content_words)

    @cached_property
    def numbers(self) -> frozenset[tuple[str, int]]:
        return frozenset(Counter(filter(None, map(_number, self.spoken))).items())

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(_names(self.tokens))

    @cached_property
    def signs(self) -> frozenset[str]:
        return frozenset(word for word in self.words if HAN.fullmatch(word))

    @cached_property
    def denials(self) -> int:
        return sum(word in DENIALS or stem in DISLIKES for word, stem in zip(self.spoken, self._stems, strict=True))

    @cached_property
    def ended(self) -> bool:
        return any(word in ENDINGS for word in self.spoken)

    @cached_property
    def bound(self) -> frozenset[str]:
        return BOUND.intersection(self.spoken) | BOUND_STEMS.intersection(self._stems)

    @cached_property
    def order(self) -> tuple[str, ...]:
        return tuple(meant for w in self.spoken if (meant := w if w in DIRECTED else _normal_form(w)))

    @cached_property
    def trails(self) -> bool:
        return bool(self.spoken) and not _normal_form(self.spoken[-1])

    @cached_property
    def past(self) -> tuple[str, ...]:
        return tuple(_verbs(self.spoken, past=True))

    @cached_property
    def present(self) -> tuple[str, ...]:
        return tuple(_verbs(self.spoken, past=False))

    @cached_property
    def single(self) -> frozenset[str]:
        return frozenset(
            stem for word, *after in _threes(self.spoken) if word in ARTICLES for stem in map(_stem, after)
        )

    @cached_property
    def plural(self) -> frozenset[str]:
        stems = zip(self.spoken, self._stems, strict=True)
        return frozenset(stem for word, stem in stems if PLURAL.search(word))

    @cached_property
    def _content_words(self) -> tuple[tuple[str, bool], ...]:
        return tuple(_content(self._read))

    @cached_property
    def _stems(self) -> tuple[str, ...]:
        return tuple(_stem(word) for word in self.spoken)


@memoized_in_scope
def read(text: str) -> Wording:
    """Parse a statement; the result is cached within `core.memoize.memo_scope`."""
    return Wording(text)


class Outline(NamedTuple):
    """Digests of a statement's words, each up to `DERIVED` letters, in order; and of all of them in any order."""

    beginnings: bytes
    words: int


@memoized(KEPT)
def outline(text: str) -> Outline:
    """Return what tells most statements apart without parsing them again."""
    words = read(text).words
    beginnings = b"".join(_beginning(word[:DERIVED]) for word in words[:OUTLINED])
    return Outline(beginnings, number(*sorted(words)))


@memoized_in_scope
def _beginning(letters: str) -> bytes:
    return number(letters, cover=SHORT).to_bytes(4, "little")


def may_be_alike(one: Outline, other: Outline) -> bool:
    """Return whether `says_more`, `is_same` or `is_derived` may hold of two statements, in either direction."""
    return (
        one.words == other.words
        or one.beginnings.startswith(other.beginnings)
        or other.beginnings.startswith(one.beginnings)
    )


def denial(one: Wording, other: Wording) -> str | None:
    """Return what one denies and the other says; None if they agree."""
    if one.ended != other.ended:
        return "one says that it is over"
    return "one denies what the other says" if one.denials != other.denials else None


def difference(one: Wording, other: Wording) -> str | None:
    """Return another reason not to merge two statements; None if there is none."""
    small, others = (Counter(w for w in wording.spoken if w in SMALL) for wording in (one, other))
    reasons = {
        "numbers or dates differ": one.numbers != other.numbers,
        "names differ": bool(
            one.names - set(other.spoken)
            or other.names - set(one.spoken)
            or (one.signs - other.signs and other.signs - one.signs)
        ),
        "a small word stands in another's place": bool(small - others and others - small),
        "one depends on something, or is about someone else": one.bound != other.bound,
        "one was so and the other is": _was_once(one, other) or _was_once(other, one),
        "one is about a single thing": _counts_apart(one, other) or _counts_apart(other, one),
        "what stands before and after has changed places": _is_reversed(one.order, other.order),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def is_same(one: Wording, other: Wording) -> bool:
    """Return whether they say the same in the same words, or with a phrase moved from the end to the front."""
    return bool(one.words) and _turns_into(one.words, other.words)


def is_derived(one: Wording, other: Wording) -> bool:
    """Return whether they say the same if words with a common prefix count as one (appreciates, appreciative)."""
    if not one.words or len(one.words) != len(other.words):
        return False
    return all(
        a == b or (len(a) >= DERIVED and a.isalpha() and a[:DERIVED] == b[:DERIVED])
        for a, b in zip(one.words, other.words, strict=True)
    )


def says_more(one: Wording, other: Wording) -> bool:
    """Return whether `one` is `other` with an addition set apart: `…, finding it hard`, `… with milk`."""
    length = len(other.words)
    within = 1 < length < len(one.words) and one.words[:length] == other.words
    return within and one.apart[length] and not other.trails


def begins_with(one: Wording, other: Wording) -> bool:
    """Return whether `one` begins with `other` word for word, followed by something set apart."""
    return says_more(one, other) and one.spoken[: len(other.spoken)] == other.spoken


def is_empty(text: str, subject: str) -> str | None:
    """Return the reason why a text says nothing about a subject; None if it says something."""
    wording = read(text)
    if text.rstrip(" \"'”’」)").endswith(("?", "？")):
        return "a question"
    if PLEASANTRY.fullmatch("".join(wording.spoken)):
        return "a pleasantry"
    return None if set(wording.words) - set(read(subject).words) else "no word that says anything"


def _one_form(text: str) -> str:
    normalised = unicodedata.normalize("NFKC", text).replace("’", "'")
    folded = normalised.casefold()
    if not any(hint in folded for hint in HINTS) and not HAN.search(normalised):
        return normalised
    for pattern, form in FORMS:
        normalised = pattern.sub(form, normalised)
    return normalised


def _is_sign(token: str) -> bool:
    return not token[0].isalnum() and not (len(token) > 1 and token[1].isdigit()) and token[0] != "+"


class _Token(NamedTuple):
    """A word or sign as read alone: its small letters, its meaning, and whether it sets apart what follows."""

    word: str
    is_sign: bool
    meant: str
    parts: bool


@memoized_in_scope
def _read_token(token: str) -> _Token:
    word, is_sign = token.casefold(), _is_sign(token)
    meant = _meaning_of_sign(word) if is_sign else _normal_form(word)
    return _Token(word, is_sign, meant, word in LINKS or (is_sign and word in SEPARATORS))


def _content(tokens: Sequence[_Token]) -> Iterator[tuple[str, bool]]:
    """Yield the meaningful words, each with whether it is set apart from the one before."""
    apart = False
    for _, _, meant, parts in tokens:
        if meant:
            yield meant, apart
        apart = not meant and (apart or parts)


def _meaning_of_sign(sign: str) -> str:
    """Return the meaning of a sign: currency, emoji and combining marks have one, punctuation has not."""
    return "" if unicodedata.category(sign[0])[0] in "PZ" else sign


@memoized_in_scope
def _normal_form(word: str) -> str:
    """Return the normal form of a word; empty for a word without meaning of its own and for a negation."""
    if word in DENIALS or word in ENDINGS or word in SILENT:
        return ""
    form = _number(word) or _stem(word)
    return "like" if form in DISLIKES else form


def _stem(word: str) -> str:
    """Return the normal form of a word and its synonyms; empty for one without meaning of its own."""
    if word in STOPWORDS:
        return ""
    base = IRREGULAR.get(word) or american(word)
    stemmed = stem(base) if base.isascii() and base.isalpha() else word
    return SYNONYMS.get(stemmed, stemmed)


def _number(word: str) -> str:
    """Return a number, month or weekday in one form; empty for any other word."""
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word]
    if word[-1].isdigit() and not any(c.isalpha() for c in word):
        return word.replace(",", "") if THOUSANDS.fullmatch(word) else word
    return NUMERALS.get(word, word) if word in CALENDAR or NUMERAL.fullmatch(word) else ""


def _names(tokens: Sequence[str]) -> Iterator[str]:
    """Return words that look like names or identifiers: capitalized after the first, or letters mixed with digits."""
    for position, token in enumerate(tokens):
        word = token.casefold()
        mixed = any(c.isdigit() for c in token) and any(c.isalpha() for c in token)
        if mixed or (position and token[0].isupper() and word not in STOPWORDS and word not in CALENDAR):
            yield word


def _verbs(spoken: Sequence[str], *, past: bool) -> Iterator[str]:
    for word in spoken:
        if word in BEING:
            if BEING[word][1] is past:
                yield BEING[word][0]
        elif word.isascii() and word.isalpha() and not word.endswith("ing"):
            stem = _stem(word)
            if stem and (word in IRREGULAR or (word.endswith("ed") and stem != word)) is past:
                yield stem


def _was_once(one: Wording, other: Wording) -> bool:
    was, is_ = Counter(one.past) - Counter(other.past), Counter(other.present) - Counter(one.present)
    return not was.keys().isdisjoint(is_)


def _counts_apart(one: Wording, other: Wording) -> bool:
    """Return whether one speaks of a dog, and the other of dogs."""
    return bool((one.single - one.plural) & (other.plural - other.single) - {""})


def _threes(spoken: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(spoken[start : start + 3]) for start in range(len(spoken)))


def _is_reversed(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether texts that compare or direct (tea over coffee, from Rome to Bern) share words in another order."""
    if not (DIRECTED.intersection(one) or DIRECTED.intersection(other)):
        return False
    counts, others = Counter(one), Counter(other)
    words_shared, other_shared = (tuple(w for w in words if counts[w] == others[w]) for words in (one, other))
    return not _turns_into(words_shared, other_shared)


def _turns_into(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether one is the other, whole or with its end moved to the front."""
    if one == other:
        return True
    if len(one) != len(other) or len(one) < 3:  # noqa: PLR2004 - of two words, each order is the other's turn
        return False
    twice = one + one
    return any(twice[start : start + len(one)] == other for start in range(1, len(one)))
