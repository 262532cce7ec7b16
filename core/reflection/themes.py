"""Activities and things that a statement is about. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Final, NamedTuple

from core.language import languages
from core.language.common_words import PLAIN, PLAIN_UNSPACED, plain_stems
from core.language.lazy_regex import either
from core.language.lexicon import DENIALS, ENDINGS, IRREGULAR
from core.language.scripts import has_han
from core.language.terms import STOPWORDS, dictionary_count, terms
from core.statements import comparison

SHORTEST: Final = 3
"""Minimum letters of a topic word, in scripts with spaces."""

COMMON: Final = 6_000
"""Dictionary count from which a Chinese word is an everyday word."""

BEFORE: Final = 2
"""Maximum words between an article or preposition and its noun: "a new pottery class"."""

REACH: Final = 4
"""Number of words after "no longer" or "not" that are denied."""

TOGETHER: Final = 0.6
"""Share of its occurrences from which a neighbour becomes part of its name: "mental health"."""

ALONE: Final = 2
"""Minimum occurrences of a word by itself, not as a qualifier, to be a theme."""


class Mention(NamedTuple):
    """A word that a statement is about: its stem, its form there, and its neighbours.

    `telling`: it qualifies the next word. `doing`: the statement says that its subject did it, or does it.
    """

    stem: str
    word: str
    before: str = ""
    after: str = ""
    telling: bool = False
    doing: bool = False


def name_words(subject: str, names: Collection[str] = ()) -> frozenset[str]:
    """Return the words of the subject's and others' names, casefolded; names of people are no themes."""
    return frozenset(term for name in (subject, *names) for term in terms(name)) | {name.casefold() for name in names}


def mentions(statement: str, subject: str, people: AbstractSet[str]) -> list[Mention]:
    """Return the possible themes of a statement; none where it denies or wishes for them.

    `people`: from `name_words`. Quotes, code and addresses are ignored.
    """
    text = _UNSAID.sub(" , ", statement)
    if comparison.read(text).denials or comparison.read(text).ended or _UNREAL.search(text):
        return []
    return _of(text, subject, people)


def denied_stems(statement: str) -> set[str]:
    """Return the stems that a statement says are over or untrue: the words right after the negation."""
    words = comparison.read(_UNSAID.sub(" , ", statement)).spoken
    ends = [index for index, word in enumerate(words) if word in DENIALS | ENDINGS]
    near = {word for index in ends for word in words[index + 1 : index + 1 + REACH]}
    if any(has_han(word) for word in near):
        near |= {first + second for first, second in pairwise(words)}
    return {term for word in near for term in terms(word)}


def name(mentions: Sequence[Mention]) -> str | None:
    """Return the name of a theme: its most used form, a gerund first, with the word that always accompanies it.

    None: the word only ever qualifies other things ("trans" people, stories, rights).
    """
    word = _form(mentions)
    if has_han(word):
        return word
    after, before = (_usual([mention.after for mention in mentions]), _usual([mention.before for mention in mentions]))
    if after or before:
        return f"{word} {after}" if after else f"{before} {word}"
    alone = sum(not mention.telling for mention in mentions)
    return word if alone >= min(ALONE, len(mentions)) or word != word.casefold() else None


def _form(mentions: Sequence[Mention]) -> str:
    forms = Counter(mention.word for mention in mentions)
    gerunds = [word for word in forms if word.endswith("ing")]
    # Most used, then first in the alphabet: the order in which rows came must not show.
    return min(gerunds or forms, key=lambda form: (-forms[form], form))


def _usual(beside: Sequence[str]) -> str:
    """Return the word that is nearly always next to it; empty: none."""
    word, count = min(Counter(beside).items(), key=lambda item: (-item[1], item[0]))
    return word if count >= TOGETHER * len(beside) else ""


def _gerund_of(word: str) -> str:
    """Return the gerund of a verb form: ran, runs, painted."""
    if word in IRREGULAR:
        return _gerund(IRREGULAR[word])
    if word.endswith("ied"):
        return f"{word[:-3]}ying"
    if word.endswith("ed") and not word.endswith("eed"):
        return f"{word[:-2]}ing"
    return _gerund(word[:-1]) if word.endswith("s") else word


def _gerund(verb: str) -> str:
    if verb.endswith("e") and not verb.endswith("ee"):
        return f"{verb[:-1]}ing"
    return f"{verb}{verb[-1]}ing" if _DOUBLED.fullmatch(verb) else f"{verb}ing"


def _of(text: str, subject: str, own: AbstractSet[str]) -> list[Mention]:
    tokens = _TOKEN.findall(text)
    mentions = [*_english(tokens, subject), *_chinese(text)]
    mentions = [
        mention._replace(before=_apart(mention.before, own), after=_apart(mention.after, own)) for mention in mentions
    ]
    by_stem = {
        mention.stem: mention
        for mention in reversed(mentions)
        if mention.stem not in own and not _is_short_for(mention.word, own)
    }
    doing = {mention.stem: mention for mention in mentions if mention.doing}
    return list((by_stem | {stem: mention for stem, mention in doing.items() if stem in by_stem}).values())


def _apart(beside: str, own: AbstractSet[str]) -> str:
    """Return a neighbour unless it is a name."""
    return "" if own & set(terms(beside)) else beside


def _is_short_for(word: str, names: AbstractSet[str]) -> bool:
    """Return whether a word is a shortened name: Mel for Melanie."""
    return word[0].isupper() and any(name.startswith(word.casefold()) for name in names)


def _english(tokens: Sequence[str], subject: str) -> Iterator[Mention]:
    words = [token.casefold() for token in tokens]
    lead = [word.casefold() for word in _TOKEN.findall(subject)]
    for index, word in enumerate(words):
        if has_han(word) or not _tells(word):
            continue
        does = _is_deed(words, index) and _is_done(words[:index], lead)
        if does or _is_led(words, index):
            beside = _beside(tokens, index - 1), _beside(tokens, index + 1)
            telling = not does and bool(_NEXT.fullmatch("".join(words[index + 1 : index + 2])))
            form = _gerund_of(word) if does else _as_written(tokens, index)
            # "haved" and "thé" leave no term: their forms are stop words, or look like one.
            if stems := terms(form):
                yield Mention(stems[0], form, *beside, telling and words[index + 1] not in STOPWORDS, does)


def _as_written(tokens: Sequence[str], index: int) -> str:
    """Lower a word, except names, abbreviations and others with capitals that no sentence start explains."""
    token = tokens[index]
    return token if token[1:] != token[1:].lower() or (index and token[0].isupper()) else token.casefold()


def _beside(tokens: Sequence[str], index: int) -> str:
    """Return a neighbour that may be part of a name; empty: a sign, or a word that says too little."""
    word = tokens[index] if 0 <= index < len(tokens) else ""
    if not _NEXT.fullmatch(word) or word.casefold() in PLAIN:
        return ""
    return _as_written(tokens, index)


def _tells(word: str) -> bool:
    return (
        len(word) >= SHORTEST
        and word.isalpha()
        and word not in PLAIN
        and next(iter(terms(word)), "") not in plain_stems()
        and not word.endswith("ly")
    )


def _is_led(words: Sequence[str], index: int) -> bool:
    """Return whether an article, possessive or preposition leads to the word, over at most `BEFORE` words."""
    for before in range(index - 1, max(index - BEFORE - 2, -1), -1):
        if words[before] in _LEADS or words[before].endswith(("'s", "s'")):
            return True
        if words[before] in STOPWORDS or not words[before].isalpha():
            return False
    return index == 0 and words[index].endswith("ing")


def _is_deed(words: Sequence[str], index: int) -> bool:
    """Return whether a word has a verb form in its place: running, ran, painted; "paints" after its subject."""
    word = words[index]
    if word.endswith("s"):
        return not word.endswith(("ss", "ies")) and index > 0 and words[index - 1] not in _AUXILIARY - _ADVERBS
    return word.endswith(("ing", "ed")) or word in IRREGULAR


def _is_done(before: Sequence[str], subject: Sequence[str]) -> bool:
    """Return whether the subject begins the statement with at most auxiliary words before the verb."""
    if not subject or list(before[: len(subject)]) != list(subject):
        return False
    index = len(before)
    while index > len(subject) and before[index - 1] in _AUXILIARY:
        index -= 1
    return index == len(subject) or before[index - 1] in {"they", "he", "she"}


def _chinese(text: str) -> Iterator[Mention]:
    han_terms = [term for term in terms(text) if len(term) > 1 and has_han(term) and term not in PLAIN_UNSPACED]
    inside = {
        term[begin:end]
        for term in set(han_terms)
        for begin in range(len(term))
        for end in range(begin + 1, len(term) + 1)
        if end - begin < len(term)
    }
    for term in dict.fromkeys(han_terms):
        if term not in inside and 0 < dictionary_count(term) < COMMON and not set(term) & _NUMERALS:
            # Found by hand: `re` would keep people's words among its patterns.
            start = text.find(term)
            verb = text[start - 1] if start > 0 and text[start - 1] in _VERBS else ""
            yield Mention(term, term, verb, doing=bool(verb))


_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[^\w\s]")
_NEXT = re.compile(r"[^\W\d_]{3,}")
_BEGINS = r"(?<![^\s`”\"」』])"
"""Beginning of a word: starting at each letter of a long text without spaces would be quadratic."""

_UNSAID = re.compile(
    rf"```.*?```|`[^`\n]*`|https?://\S+|{_BEGINS}\S+@\S+|“[^”]*”|\"[^\"\n]*\"|「[^」]*」|『[^』]*』"
    rf"|{_BEGINS}\S*[/\\_<>{{}}=]\S*",
    re.DOTALL,
)
"""Parts of a statement that are not asserted: quotes, code, addresses."""

_FORMS: Final = [language.activities for language in languages.ALL if language.activities]
_UNREAL = either(forms.unreal for forms in _FORMS)
"""Signs that something was not done, or long ago."""

_DOUBLED = re.compile(r"[^aeiou]*[aeiou][bdgmnprt]")
"""Verbs that double their last letter: run, swim, jog."""

_LEADS = frozenset[str]().union(*(forms.leads for forms in _FORMS))
_ADVERBS = frozenset[str]().union(*(forms.adverbs for forms in _FORMS))
_AUXILIARY = frozenset[str]().union(*(forms.auxiliary for forms in _FORMS))
_VERBS = "".join(forms.verbs for forms in _FORMS)
_NUMERALS = frozenset[str]().union(*(forms.numerals for forms in _FORMS))
