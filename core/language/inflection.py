"""Terms by which inflected words of other languages than English match: пароля and пароль, 게임을 and 게임. Pure.

A word of a script of one language is stemmed for that language; Korean, which has no stemmer, is cut into pairs of
syllables. Words in Latin letters are stemmed for the languages of their text by its function words and letters; those
of a question that shows no language, for all. The terms begin with `MARK`, so that none equals a word of English.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Final

import Stemmer

from core.language.terms import LONGEST, STOPWORDS, terms

MARK: Final = "~"
"""First character of these terms; no word has it."""

SHORTEST: Final = 2
"""Letters of a word in Latin letters that is stemmed."""

FEW: Final = 12
"""Words of a question that are stemmed for every language; a longer one shows its own."""

_HANGUL = "\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f"
_OTHER = f"[{_HANGUL}\u0370-\u07ff\u0900-\u0dff\u00c0-\u024f\u1e00-\u1eff]"
_SCRIPTS: Final = (
    ("korean", re.compile(f"[{_HANGUL}]+")),
    ("russian", re.compile("[\u0400-\u052f\u0301]+")),
    ("greek", re.compile("[\u0370-\u03ff\u1f00-\u1fff]+")),
    ("arabic", re.compile("[\u0620-\u065f\u066e-\u06d3\u0750-\u077f]+")),
    ("hindi", re.compile("[\u0900-\u097f]+")),
    ("tamil", re.compile("[\u0b80-\u0bff]+")),
    ("armenian", re.compile("[\u0530-\u058f]+")),
)
_LATIN = re.compile("[a-z\u00df-\u00f6\u00f8-\u024f\u1e00-\u1eff]+")
_FOREIGN = re.compile(_OTHER)
_MIXED = re.compile(f"[a-z0-9]+(?=[{_HANGUL}])")

LANGUAGES: Final = {
    "german": "der das ein eine einen einem ist nicht und ich wir sie mit auf fur von zum zur im auch mein meine sein "
    "hat haben wird werden wurde sind bei nach aus noch schon aber oder wenn dass wie den dem des alle unser unsere",
    "dutch": "de het een ik wij niet en van voor met op mijn zijn heeft heb wordt naar bij ook maar nog dat deze onze "
    "er te aan uit",
    "french": "le la les un une des du de et je nous vous il elle est sont avec pour dans sur chez ne pas mon ma mes "
    "notre ce cette qui que au aux plus tous",
    "spanish": "el la los las un una unos y de del que en con por para no es son mi mis su sus nuestro nuestra al se "
    "lo le muy esta este tengo hay",
    "portuguese": "o os as um uma e de do da dos das que em no na com por para nao meu minha seu sua nosso nossa ao "
    "se esta este tenho muito",
    "italian": "il lo la gli le un una di del della dei e che in con per non mio mia suo sua nostro sono ho al nel "
    "questo questa molto",
    "swedish": "och att det en ett den som pa ar av for med inte jag vi min mitt har till fran om ska alla",
    "danish": "og at det en et den som pa er af for med ikke jeg vi min mit har til fra om skal alle",
    "norwegian": "og at det en et den som pa er av for med ikke jeg vi min mitt har til fra om skal alle",
    "finnish": "on ja ei se han mina olen etta mutta kun tama oli myos minun meidan ovat joka kanssa ole tai jos",
    "turkish": "bir ve bu icin ile da de cok ben benim biz var yok mi ne daha gibi olarak ama her sonra",
    "polish": "i w na z do nie sie jest to ze moj moja mam jak ale po dla od sa przez jestem",
    "czech": "a v na s se je to ze ne do muj moje mam jak ale po pro od jsou jsem jsme nas",
    "hungarian": "a az es egy nem hogy van volt ez meg is de en mi vagyok mert mint nagyon",
    "romanian": "si in la cu de pe nu este sunt un o care pentru din mai al ale meu mea am sa",
    "indonesian": "yang dan di ke dari untuk dengan ini itu saya kami tidak adalah pada akan sudah ada",
}
"""Function words, without accents, of the languages in Latin letters that a stemmer exists for."""

_LETTERS: Final = {
    "ß": "german",
    "ñ¿¡": "spanish",
    "ğış": "turkish",
    "å": "swedish danish norwegian",
    "øæ": "danish norwegian",
    "łąęśżź": "polish",
    "řěů": "czech",
    "őű": "hungarian",
    "ățș": "romanian",
    "ãõ": "portuguese",
    "ç": "french portuguese turkish",
    "èêœù": "french italian",
    "ä": "german swedish finnish",
    "ö": "german swedish finnish turkish hungarian",
    "ü": "german turkish hungarian",
}
"""Letters that show a language."""

_ENGLISH: Final = frozenset(
    "the a an and or of to in on at is are was were be been i you he she it we they my your his her our their this "
    "that with for from not have has had do does did will would can what which who when where why how".split()
)


def of_text(text: str) -> list[str]:
    """Return the terms of a stored text, beside its words."""
    plain = _plain(text)
    return [*_by_script(plain), *_stems(plain, _languages(plain))]


def of_question(text: str) -> list[str]:
    """Return the terms of a question, beside its words: in Latin letters of every language, if it shows none."""
    plain = _plain(text)
    words = _words(plain)
    languages = _languages(plain)
    if not languages and len(words) <= FEW and not any(word in _ENGLISH for word in words):
        languages = tuple(LANGUAGES)
    return list(dict.fromkeys([*_by_script(plain), *_stems(plain, languages)]))


def _plain(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text.replace("\u2019", "'").casefold())


def _words(plain: str) -> list[str]:
    return _LATIN.findall(plain)


def _languages(plain: str) -> tuple[str, ...]:
    """Return the languages in Latin letters that a text shows most, at most three; none for English."""
    words = _words(plain)
    counts: Counter[str] = Counter()
    table = _function_words()
    english = 0
    for word in words:
        english += word in _ENGLISH
        counts.update(table.get(word if word.isascii() else _bare(word), ()))
    if not plain.isascii():
        counts.update(language for letter in set(plain) for language in _letters().get(letter, ()))
    most = max(counts.values(), default=0)
    if most == 0 or english >= most:
        return ()
    best = tuple(language for language in LANGUAGES if counts[language] == most)
    return best if len(best) <= 3 else ()


def _by_script(plain: str) -> Iterator[str]:
    """Yield terms of words whose script shows their language."""
    if not _FOREIGN.search(plain):
        return
    for language, run in _SCRIPTS:
        for word in run.findall(plain):
            if language == "korean":
                yield from _syllables(word)
            else:
                yield _marked(_STEMMERS.stem(language, word))
    for word in _MIXED.findall(plain):
        yield from terms(word)


def _syllables(word: str) -> Iterator[str]:
    """Yield pairs of syllables, and the first of two: a word of one syllable has its particle for the second."""
    yield from (_marked(first + second) for first, second in pairwise(word))
    if len(word) <= 2:
        yield _marked(word[0])


def _stems(plain: str, languages: Sequence[str]) -> Iterator[str]:
    if not languages:
        return
    for word in _words(plain):
        if len(word) >= SHORTEST and word not in STOPWORDS:
            yield from {_marked(_bare(_STEMMERS.stem(language, word))) for language in languages}


def _marked(stem: str) -> str:
    return (MARK + stem)[:LONGEST]


def _bare(word: str) -> str:
    """Return a word without accents."""
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


@cache
def _function_words() -> dict[str, tuple[str, ...]]:
    return _by_key((word, language) for language, words in LANGUAGES.items() for word in words.split())


@cache
def _letters() -> dict[str, tuple[str, ...]]:
    return _by_key(
        (letter, name) for letters, names in _LETTERS.items() for letter in letters for name in names.split()
    )


def _by_key(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for key, language in pairs:
        table[key] = (*table.get(key, ()), language)
    return table


class _Stemmers(threading.local):
    """The stemmers of each thread: PyStemmer's are not safe to share, and would keep the words that people used."""

    def __init__(self) -> None:
        self.by_language: dict[str, Any] = {}

    def stem(self, language: str, word: str) -> str:
        stemmer = self.by_language.get(language)
        if stemmer is None:
            stemmer = self.by_language[language] = Stemmer.Stemmer(language, 0)
        stem: str = stemmer.stemWord(word)
        return stem


_STEMMERS = _Stemmers()
