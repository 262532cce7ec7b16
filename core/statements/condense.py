"""Condenses several statements to one without a model: their sentences, keeping all numbers, names and dates. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from core.language.lexicon import CALENDAR, HAN, NUMBER_WORDS
from core.language.scripts import has_han
from core.language.sentences import ABBREVIATIONS
from core.language.terms import STOPWORDS, terms

LONGEST: Final = 1000
"""Maximum characters of a condensed statement."""

USUAL: Final = 400
"""Characters up to which it includes more than the details."""

Detail = tuple[str, ...]


def condense_all(statements: Sequence[str]) -> str | None:
    """Return one statement with all details of several, in order; None if it would exceed `LONGEST`."""
    sentences = list(dict.fromkeys(sentence for one in statements for sentence in _sentences(one)))
    chosen = _covering_sentences(sentences)
    chosen += _further_sentences(sentences, chosen)
    joined = _join([sentences[index] for index in sorted(chosen)])
    return joined if len(joined) <= LONGEST else None


def details(text: str) -> frozenset[Detail]:
    """Return the details that a shorter text must keep: counted numbers, names, dates; in Chinese every word.

    Chinese script does not mark names, so no word may be dropped that does not occur elsewhere.
    """
    words = _words(text)
    counted = {
        (one.casefold(), other.casefold()) for one, other in pairwise([*words, ""]) if _is_number(one) or _is_date(one)
    }
    names = {(word.casefold(),) for word in words if _is_name(word)}
    han = {(term,) for term in terms(text) if HAN.search(term)} if has_han(text) else set()
    return frozenset(counted | names | han)


def marks(text: str) -> frozenset[str]:
    """Return the numbers, names and dates of a text, each as a word."""
    return frozenset(w.casefold() for w in _words(text) if _is_number(w) or _is_date(w) or _is_name(w))


def words_of(text: str) -> frozenset[str]:
    """Return every word of a text, whatever its case."""
    return frozenset(word.casefold() for word in _words(text))


def _covering_sentences(sentences: Sequence[str]) -> list[int]:
    """Return sentences that contain all details: each time the one that adds most, then the shortest."""
    there = [details(sentence) for sentence in sentences]
    missing = frozenset[Detail]().union(*there)
    chosen: list[int] = []
    while missing:
        best = max(
            range(len(sentences)), key=lambda index: (len(there[index] & missing), -len(sentences[index]), -index)
        )
        chosen.append(best)
        missing -= there[best]
    return chosen


def _further_sentences(sentences: Sequence[str], chosen: Sequence[int]) -> list[int]:
    """Return further sentences that say something new, while there is room."""
    covered = set[str]().union(*(terms(sentences[index]) for index in chosen))
    length = sum(len(sentences[index]) + 1 for index in chosen)
    more: list[int] = []
    for index, sentence in enumerate(sentences):
        new = set(terms(sentence)) - covered
        if index not in chosen and new and length + len(sentence) < USUAL:
            more.append(index)
            covered |= new
            length += len(sentence) + 1
    return more


def _join(sentences: Sequence[str]) -> str:
    ended = [_with_full_stop(sentence) for sentence in sentences[:-1]] + list(sentences[-1:])
    return "".join(one + (" " if _LATIN_END.search(one) else "") for one in ended).strip()


def _with_full_stop(sentence: str) -> str:
    if unicodedata.category(sentence[-1])[0] == "P" and sentence[-1] not in "%'\"”’)）】」』":
        return sentence
    return sentence + ("。" if HAN.search(sentence[-1]) else ".")


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, nothing left out; an abbreviation does not end one."""
    begun = ""
    for piece in _END.split(" ".join(text.split())):
        begun = f"{begun} {piece}".strip() if begun and not HAN.search(begun[-2:]) else begun + piece
        last = _LAST_WORD.search(begun)
        if begun and not (last and last[1].casefold() in ABBREVIATIONS):
            yield begun
            begun = ""
    if begun:
        yield begun


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text))


def _is_number(word: str) -> bool:
    return any(c.isdigit() for c in word) or not NUMBER_WORDS.keys().isdisjoint(word.casefold().split("-"))


def _is_date(word: str) -> bool:
    return word[0].isupper() and word.casefold() in CALENDAR


def _is_name(word: str) -> bool:
    return any(c.isupper() for c in word) and word.casefold() not in STOPWORDS


_LETTER = rf"(?:(?!{HAN.pattern})[^\W_])"
_WORD = re.compile(rf"[+-]?{_LETTER}+(?:[-.,:/'’@+_]{_LETTER}+)*%?")
_END = re.compile(r"(?<=[.!?…])\s+(?=[^a-z])|(?<=[。！？；])\s*")
_LAST_WORD = re.compile(r"(\S+)\.$")
_LATIN_END = re.compile(r"[^。！？；，、]$")
