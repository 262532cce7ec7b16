"""Tokenization, stemming and term ids shared by index and query."""

from __future__ import annotations

import hashlib
import importlib
import math
import re
import threading
import unicodedata
import warnings
from functools import cache
from itertools import groupby, pairwise
from typing import Any

import Stemmer

from core.language import languages
from core.language.scripts import HAN

TERM_IDS = 999_999_937  # the largest prime below 1e9, the number of dimensions a pgvector sparsevec may have

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u31f0-\u31ff"  # Thai … Khmer, Japanese kana
_ACCENTS = re.compile("[\u0300-\u036f]+")
_PARTS = re.compile(r"['.,:/@_+#&-]+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
LONGEST = 64  # characters of a term: what is longer is no word, and its beginning tells it apart

STOPWORDS = frozenset[str]().union(*(language.lexicon.stopwords for language in languages.ALL if language.lexicon))


def terms(text: str) -> list[str]:
    """Return the terms of `text` in order, with repeats: stems, numbers, ids whole and in parts, Chinese words."""
    found: list[str] = []
    for match in _word().finditer(_normal(text)):
        found.extend(_SPLIT[match.lastgroup or "word"](match.group()))
    return [term[:LONGEST] for term in found]


def term_id(term: str) -> int:
    """Return the index of a term in a sparse vector: 1 … 999,999,937, the same on all machines and versions."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "big") % TERM_IDS + 1


def stem(word: str) -> str:
    """Return the term of one English word in small letters, as `terms` finds it."""
    found: str = _OWN.stemmer.stemWord(word)
    return found[:LONGEST]


def token_estimate(text: str) -> int:
    """Return about how many tokens a language model counts: 4 ASCII characters are one, as is one of any other script.

    Meant for budgets, so it errs upwards: accented Latin and Cyrillic text takes fewer than it says.
    """
    ascii_characters = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_characters / 4) + len(text) - ascii_characters


def dictionary_count(word: str) -> int:
    """Return the count of a Chinese word in the corpus of the dictionary; 0 if it has no such word."""
    count: int = _segmenter().FREQ.get(word, 0)
    return count


@cache
def _word() -> re.Pattern[str]:
    """Return the pattern of a word, a run of Han, or a run of a script without spaces."""
    # A combining mark (a vowel of Devanagari, say) belongs to its word; `\w` leaves it out.
    marks = "".join(chr(code) for code in range(0x370, 0x10000) if unicodedata.category(chr(code)).startswith("M"))
    run = rf"(?:(?![{HAN}{_UNSPACED}])[^\W_][{marks}]*)+"
    return re.compile(rf"(?P<han>[{HAN}]+)|(?P<unspaced>[{_UNSPACED}]+)|(?P<word>{run}(?:['.,:/@_+#&-]{run})*)")


def _normal(text: str) -> str:
    """Normalise compatibility characters, accents, typographic apostrophes and case."""
    if text.isascii():
        return text.lower()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.replace("\u2019", "'").casefold()))
    return unicodedata.normalize("NFKC", bare).casefold()


def _word_terms(word: str) -> list[str]:
    """Return the terms of a word between spaces; an id, date or price (a digit or an @) whole and in parts."""
    if _THOUSANDS.fullmatch(word):
        return [word.replace(",", "")]
    parts = [part for part in _PARTS.split(word) if part and part not in STOPWORDS]
    whole = [word] if len(parts) > 1 and re.search(r"[\d@]", word) else []
    return whole + _stems(parts)


def _stems(words: list[str]) -> list[str]:
    stems: list[str] = _OWN.stemmer.stemWords(words)
    return stems


def _character_pairs(run: str) -> list[str]:
    """Return pairs of characters, for scripts without spaces and without a dictionary here."""
    return [first + second for first, second in pairwise(run)] or [run]


def _chinese(run: str) -> list[str]:
    """Return dictionary words with shorter ones inside them; unknown words (names) by one and two characters.

    jieba's guess at unknown words is off: it cuts the same name differently in a question and in an answer.
    """
    words: list[str] = []
    for alone, group in groupby(_segmenter().cut_for_search(run, HMM=False), key=_stands_alone):
        part = [word for word in group if word not in STOPWORDS]
        words += part
        if alone:
            words += [first + second for first, second in pairwise(part)]
    return words


def _stands_alone(word: str) -> bool:
    return len(word) == 1 and word not in STOPWORDS


@cache
def _segmenter() -> Any:
    """Return a jieba tokenizer with its dictionary: 0.9 s and 100 MB, so paid only once Chinese text is here.

    Filled by hand: jieba's own way logs, and trusts a marshalled cache that anyone may have put into /tmp.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in its source, pkg_resources
        jieba = importlib.import_module("jieba")
        tokenizer = jieba.Tokenizer()
        tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


class _Own(threading.local):
    """A stemmer for each thread: PyStemmer's are not safe to share. It would keep the words that people used."""

    def __init__(self) -> None:
        self.stemmer = Stemmer.Stemmer("english", 0)


_OWN = _Own()
_SPLIT = {"word": _word_terms, "han": _chinese, "unspaced": _character_pairs}
