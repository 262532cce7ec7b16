"""Probability that a request to forget means a statement: a logistic regression over their likeness. Pure.

Its features compare the request with a statement, and the statement with all others: by meaning, by shared words, by
the kind of thing, by whom they are about, and by what the request says stays. `python -m bench.forget_relevance` trains
the weights beside this module and reports how they decide on requests of authors who were left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.forgetting import described, extent, people, subjects
from core.forgetting.described import Description
from core.forgetting.extent import ForgetScope
from core.forgetting.requests import ForgetRequest
from core.forgetting.talk import Passage, Talk
from core.forgetting.text import clauses, naming_terms, plain
from core.language.lazy_regex import lazy_regex

Floats = NDArray[np.float64]

MEANT: Final = 0.5
"""Probability from which a statement is meant."""

LIKELY: Final = 0.25
"""Probability from which the likeliest statement is held for approval."""

CLOSE: Final = 0.8
"""Share of the best probability down to which others are held with it."""

LOOSE: Final = 3
"""Statements that a request holds at most where it is unclear which is meant."""

CLIPPED: Final = 4.0
"""Deviations from the mean to which a feature is cut: nothing unheard-of decides alone."""

NEUTRAL: Final = 0.2
"""Cosine that stands for "nothing is said to stay"."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Texts of a request that are compared with statements.

    `whole`: all that is not said to stay; `context`: the same, from two sentences before the asking ones; `asking`: the
    sentences that ask; `named`: these without the words of asking. `parts`: the things that these and the context
    name, each by itself; `kept`: the things that stay.
    """

    whole: str
    context: str
    asking: str
    named: str
    parts: Sequence[str]
    kept: Sequence[str]

    @property
    def texts(self) -> list[str]:
        """All of them, in the order in which `features` takes the cosines."""
        return [self.whole, self.context, self.asking, self.named, *self.parts, *self.kept]


def wording(request: ForgetRequest) -> Wording:
    """Return the texts of a request by which statements are compared with it."""
    asking = " ".join(_meant(sentence.text for sentence in request.asking)) or request.widened[0]
    context = " ".join(_meant(request.around)) or asking
    parts = [part for text in _meant(request.around) for part in _AND.split(text) if naming_terms(part)]
    kept = [part for clause in request.kept for part in _AND.split(clause) if naming_terms(part)]
    named = described.unframed(asking) or asking
    return Wording(request.widened[-1][:LONGEST], context, asking, named, parts[:PARTS] or [asking], kept[:PARTS])


def features(
    request: ForgetRequest, shown: Wording, passages: Sequence[Passage], cosines: Floats, talk: Talk
) -> Floats:
    """Return a row of features for each statement.

    `cosines`: those of each text of `shown.texts` with each statement. Statements that say the same as one another are
    not compared with each other.
    """
    words = [frozenset(naming_terms(passage.span.text)) for passage in passages]
    same = _alike(words)
    parts, kept = [Description(text) for text in shown.parts], [Description(text) for text in shown.kept]
    own, rest = cosines[:_TEXTS], cosines[_TEXTS:]
    near = rest[: len(parts)].max(axis=0)
    stays = rest[len(parts) :].max(axis=0) if kept else np.full(len(passages), NEUTRAL)
    covered = np.array([max(_covered(part, its, talk) for part in parts) for its in words])
    covered_by_kept = np.array([max((_covered(one, its, talk) for one in kept), default=0.0) for its in words])
    columns = [column for row in (*own, near, covered) for column in (row, _lead(row, same), row - row.mean())]
    columns += [stays, near - stays, covered_by_kept, covered - covered_by_kept]
    wide, scope = _is_wide(shown.asking), request.scope
    columns += [wide * columns[1], wide * columns[10], (1 - wide) * columns[10]]
    whole = Description(shown.named), Description(shown.context)
    single = [
        _single(request, shown, whole, kept, passage, its, talk) for passage, its in zip(passages, words, strict=True)
    ]
    extents = [wide, float(len(parts) > 1), float(scope is ForgetScope.ALL_ABOUT), float(scope is ForgetScope.LAST)]
    return np.column_stack([*columns, np.array(single), np.tile(extents, (len(passages), 1))])


def probabilities(rows: Floats, weights: Mapping[str, Floats]) -> Floats:
    """Return the probability that the request means the statement of each row of features."""
    scaled = np.clip((rows - weights["mean"]) / weights["spread"], -CLIPPED, CLIPPED)
    found: Floats = 1 / (1 + np.exp(-(scaled @ weights["weights"][:-1] + weights["weights"][-1])))
    return found


def choose(rows: Floats, weights: Mapping[str, Floats] | None = None) -> tuple[list[int], bool]:
    """Return the statements that are meant, by their rows of features, and whether that is certain.

    Where none reaches `MEANT`, the likeliest may be meant.
    """
    likely = probabilities(rows, weights or stored_weights())
    meant = [at for at, probability in enumerate(likely) if probability >= MEANT]
    if meant:
        return meant, True
    best = likely.max()
    return [at for at, probability in enumerate(likely) if probability >= max(LIKELY, best * CLOSE)][:LOOSE], False


def _single(
    request: ForgetRequest,
    shown: Wording,
    descriptions: Sequence[Description],
    kept: Sequence[Description],
    passage: Passage,
    words: frozenset[str],
    talk: Talk,
) -> list[float]:
    """Return the features of a statement that compare it with the request alone."""
    stated = subjects.stated(passage.plain)
    row: list[float] = []
    for description in descriptions:
        shared = description.kinds & stated
        row += [
            len(description.words & words) / max(1, len(words)),
            float(bool(description.words & words)),
            float(bool(shared)),
            float(bool(shared and subjects.values(shared, passage.plain))),
            float(bool(description.kinds and not shared)),
            described.person_score(description, passage, talk.aliases),
            described.age_score(description, passage),
            float(described.is_other_thing(description, passage)),
            float(described.lacks_modifiers(description, words)),
        ]
    subject, asked = people.subject(passage.plain), people.roles(plain(shown.context))
    names = {name for name in people.names(passage.span.text) if name not in _NO_NAMES}
    return [
        *row,
        float(bool(frozenset(kind for one in kept for kind in one.kinds) & stated)),
        float(bool(frozenset(role for one in kept for role in one.roles) & people.roles(passage.plain))),
        float(described.is_kept(passage, request)),
        float(subject is not None),
        float(subject is not None and subject in asked),
        float(subject is None and bool(asked)),
        float(subject is not None and not asked),
        float(any(name in shown.context for name in names)),
        float(any(match.group() in shown.context for match in _DIGITS.finditer(passage.span.text))),
    ]


def _meant(texts: Iterable[str]) -> list[str]:
    """Return the clauses that do not say what stays."""
    return [clause.text for text in texts for clause in clauses(text) if not extent.is_kept(clause.text)]


def _covered(description: Description, words: frozenset[str], talk: Talk) -> float:
    """Return the share of a description's words that a statement has, rare words counting more."""
    weights = {word: talk.weight(word) for word in description.words}
    return sum(weights[word] for word in description.words & words) / max(sum(weights.values()), 0.01)


def _alike(words: Sequence[frozenset[str]]) -> NDArray[np.bool_]:
    """Return which statements, by their words, say the same as which."""
    alike = [[described.says_same(own, others) for others in words] for own in words]
    return np.array(alike) | np.eye(len(words), dtype=bool)


def _lead(row: Floats, same: NDArray[np.bool_]) -> Floats:
    """Return by how much each value exceeds the largest of statements that say something else."""
    others = np.where(same, -np.inf, row[None, :]).max(axis=1)
    return np.where(np.isinf(others), row, row - others)


def _is_wide(text: str) -> float:
    return float(_SEVERAL.search(plain(text)) is not None)


@cache
def stored_weights() -> Mapping[str, Floats]:
    with np.load(WEIGHTS) as stored:
        return {name: stored[name] for name in ("mean", "spread", "weights")}


WEIGHTS: Final = Path(__file__).with_name("relevance.npz")
LONGEST: Final = 800
"""Characters of a whole message that are embedded."""

PARTS: Final = 12
"""Things that a request names, at most."""

_TEXTS: Final = 4
_NO_NAMES: Final = frozenset({"I", "My", "The", "Our"})
_DIGITS: Final = lazy_regex(r"\d{2,}")
_AND: Final = lazy_regex(r"\s*(?:\band\b|\bor\b|,|;|，|、|；|和|以及|还有|跟|\bas well as\b|\bplus\b)\s*")
_SEVERAL: Final = lazy_regex(
    r"\b(?:all|everything|anything|any|every|whatever|both|each|stuff|things|none|lot|whole|entire)\b|"
    r"所有|全部|一切|都|全|统统|那些|这些|任何"
)
"""Words of requests that mean more than one statement."""
