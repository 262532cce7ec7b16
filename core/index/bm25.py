"""BM25 weights as sparse vectors.

Source: Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", eq. 3.15.
The document side is independent of the collection (the average length is a constant), so a row is written once
and never again because others came; document frequencies enter with the query.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from core.language import inflection, languages
from core.language.scripts import has_han
from core.language.terms import STOPWORDS, dictionary_count, term_id, terms

K1 = 1.2  # where a repeated term saturates; rec@10 is flat from 0.6 to 2
B = 0.4  # how much length counts: windows differ less in length than documents do, for which 0.75 is usual
AVERAGE_TERMS = 36.0  # weighted terms of a chat message with its neighbours; rec@10 is flat from 15 to 45
NEAR = 0.5  # what a term counts that was said one message away
FURTHER = 0.25  # and two away; a third and a fourth bring nothing once the vectors are there
NEIGHBOUR_TERMS = 20  # the most terms a neighbour counts for, spread over all of its own: a long answer drowns no one
EVERYDAY = 20_000  # finds of a character in the dictionary's texts; rec@10 is the same from 5,000 to 50,000
READ = 2_000  # characters of a query that are embedded and whose words are looked for
TERMS = 256  # of these words the first, each of which costs a pass over the index
VARIANTS = 512  # likewise of their other forms: more than 500 characters have
MOST_TERMS = 4000  # entries of one vector: pgvector stores 16,000, and what is rarer in so long a text tells little


def index_terms(text: str) -> list[str]:
    """Return the terms of a stored text: its words, Chinese ones in simplified characters, and its stems."""
    return terms(languages.plainly_written(text)) + inflection.of_text(text)


def message_terms(content: str, speaker: str | None = None) -> list[str]:
    """Return the terms of a message: its content and the name of its speaker."""
    return index_terms(content) + terms(languages.plainly_written(speaker or ""))


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """Terms of a query. `variants`: other forms of its words, which say nothing where they occur nowhere."""

    terms: Sequence[str] = ()
    variants: Sequence[str] = ()

    @property
    def all(self) -> list[str]:
        return [*self.terms, *self.variants]

    def occurring(self, df: Mapping[int, int]) -> list[str]:
        """Return its words, and the variants that occur."""
        return [*self.terms, *(term for term in self.variants if df.get(term_id(term)))]


NOTHING: Final = QueryTerms()


def query_terms(question: str, wordings: Sequence[str] = ()) -> QueryTerms:
    """Return the terms of a query, and the other forms by which its words may be stored, also in other wordings."""
    question = question[:READ]
    simple = languages.plainly_written(question)
    own_terms = asked_terms(simple)
    # Rows that were indexed by traditional characters are not written again.
    as_written = set(terms(question)) - set(own_terms) if simple != question else set()
    own = frozenset(own_terms)
    reworded = [term for wording in wordings for term in asked_terms(languages.plainly_written(wording[:READ]))]
    others = [term for term in dict.fromkeys(reworded) if term not in own]
    return QueryTerms(own_terms, [*others, *inflection.of_question(question), *sorted(as_written)][:VARIANTS])


def asked_terms(question: str) -> list[str]:
    """Return the words of a query; in Chinese without words that only mark a question.

    Chinese adds forms that another wording would use: the characters of its words alone, and words
    of characters that its own segmentation separates. So no row of the index is rewritten.
    """
    question_terms = terms(question)[:TERMS]
    if not has_han(question):
        return question_terms
    kept = [term for term in question_terms if term not in _ASKING]
    alone = [sign for term in kept if len(term) > 1 and has_han(term) for sign in term if _tells(sign)]
    signs = [term for term in kept if len(term) == 1]
    joined = [first + second for first, second in pairwise(signs) if dictionary_count(first + second)]
    there = frozenset(kept)  # A question may be pages long.
    more = dict.fromkeys(term for term in [*alone, *joined] if term not in there)
    return [*kept, *more] or question_terms


def _tells(sign: str) -> bool:
    """Return whether a character is meaningful by itself."""
    return sign not in STOPWORDS and sign not in _ASKING and 0 < dictionary_count(sign) < EVERYDAY


def document_weights(
    own: Sequence[str], near: Iterable[Sequence[str]] = (), further: Iterable[Sequence[str]] = ()
) -> dict[int, float]:
    """Return the sparse vector of a message: term id to weight, 0 < weight < 2.2.

    `near` holds the terms of the messages one place before and after it in its session, `further` of those two away.
    """
    counts: dict[str, float] = dict(Counter(own))
    around = [(NEAR, beside) for beside in near] + [(FURTHER, beside) for beside in further]
    for weight, beside in around:
        each = weight * min(1.0, NEIGHBOUR_TERMS / max(len(beside), 1))
        for term in beside:
            counts[term] = counts.get(term, 0.0) + each
    norm = K1 * (1 - B + B * sum(counts.values()) / AVERAGE_TERMS)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_TERMS]
    return {term_id(term): count * (K1 + 1) / (count + norm) for term, count in ranked}


def query_weights(terms: Sequence[str], df: Mapping[int, int], n_docs: int) -> dict[int, float]:
    """Return the sparse vector of a query: term id to IDF times how often it is asked.

    `df`: by term id, in how many of the user's `n_docs` messages a term occurs *itself* (neighbours not counted);
    the inner product with `document_weights` is the BM25 score. The IDF is the one that cannot be negative.
    """
    return {term: count * _idf(df.get(term, 0), n_docs) for term, count in Counter(map(term_id, terms)).items()}


def _idf(having: int, n_docs: int) -> float:
    return math.log(1 + (max(n_docs - having, 0) + 0.5) / (having + 0.5))


_ASKING = frozenset[str]().union(*(language.questions.marks for language in languages.ALL if language.questions))
"""Words that turn a statement into a question, and occur in no answer."""
