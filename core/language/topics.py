"""Salient words of a conversation. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from core.language import identification, languages
from core.language.scripts import has_han
from core.language.terms import dictionary_count, terms

WORDS: Final = 5
"""Words that say what a conversation was about."""


SHORTEST: Final = 3
"""Letters of a word that says what it was about, in scripts with spaces."""


def topics(own: Sequence[str], others: Sequence[str], names: Iterable[str] = ()) -> list[str]:
    """Return the topic words in their commonest form; the speaker's own words count twice, `names` not."""
    said: defaultdict[str, Counter[str]] = defaultdict(Counter)
    spread: Counter[str] = Counter()
    left_out = {stem for name in names for stem in terms(name)}
    for weight, message in [*((2, one) for one in own), *((1, one) for one in others)]:
        found = [(stem, word) for word, stem in _words(message) if stem not in left_out]
        for stem, word in found:
            said[stem][word] += weight
        spread.update(dict.fromkeys({stem for stem, _ in found}, weight))
    order = {stem: place for place, stem in enumerate(said)}
    ranked = sorted(said, key=lambda stem: (-spread[stem] - _is_name(said[stem]), -said[stem].total(), order[stem]))
    return _apart([said[stem].most_common(1)[0][0] for stem in ranked])


def _words(message: str) -> list[tuple[str, str]]:
    """Return each word of a message that may say what it is about, with its stem.

    Of a language whose function words are not known here, only what stands in quotation marks.
    """
    found = []
    for run in _RUN.findall(message if is_known(message) else " ".join(_QUOTED.findall(message))):
        if has_han(run):
            found += [(term, term) for term in terms(run) if len(term) > 1 and _says_something(term)]
        elif len(run) >= SHORTEST and run.casefold() not in _EVERYDAY:
            found += [(run if run[0].isupper() else run.casefold(), stem) for stem in terms(run)[:1]]
    return found


def is_known(message: str) -> bool:
    """Return whether a message is in English or Chinese, as far as its script and its function words show."""
    return not _OTHER_SCRIPT.search(message) and not identification.is_foreign(message)


def _says_something(term: str) -> bool:
    """Return whether a Chinese term is a word of its own, and not one of every conversation."""
    return term not in _EVERYDAY and dictionary_count(term) > 0


def _apart(words: Sequence[str]) -> list[str]:
    """Return the first words of which none is part of another, as words of Chinese are that are cut in two ways."""
    found: list[str] = []
    for word in words:
        if len(found) < WORDS and not any(word in other or other in word for other in found):
            found.append(word)
    return found


def _is_name(forms: Counter[str]) -> int:
    """Return 1 for a word mostly written as a name, else 0."""
    return int(2 * sum(n for form, n in forms.items() if form[0].isupper()) > forms.total())


IDEOGRAPHS = "\u2e80-\u2fdf\u3005\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


_LETTER = rf"(?:(?![{IDEOGRAPHS}])[^\W_])"


_RUN = re.compile(rf"[{IDEOGRAPHS}]+|(?!\d){_LETTER}+(?:['’-]{_LETTER}+)*")


_OTHER_SCRIPT = re.compile("[\u0370-\u1fff\u3041-\u30ff\uac00-\ud7a3]")
"""Letters of scripts from Greek to Khmer, of Japanese and of Korean."""


_QUOTED = re.compile('[“„«「『"]([^“”„«»「」『』"]{2,60})[”“»」』"]')


ASSISTANT: Final = "assistant"
"""Name of the assistant among the participants."""


_EVERYDAY: Final = frozenset[str]().union(
    *(language.lexicon.everyday for language in languages.ALL if language.lexicon)
)
"""Words that are said in every conversation, and so do not say what one was about."""
