"""Judgements about texts, by trained heads: upper layers of their own on the multilingual encoder.

The lower half of the encoder (`e5`) and its tokenizer are shared; the upper half and the heads are trained together
(`python -m bench.reader`). A head reads a text, or several side by side, so that each word of one can look at each
word of the others; one more head points at words (Devlin et al. 2019).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from core.inference.local_models import encoder
from core.inference.local_models.e5 import Tokens
from core.inference.local_models.encoder import Floats, ModelFiles, Transformer

WEIGHTS: Final = Path(__file__).with_name("reader.npz")
"""Weights of the upper layers by their names in the graph, and of each head: [first state, mean of all states, 1]."""

LOWER: Final = 6
"""Layers that are the encoder's."""

HEADS: Final = "head."
PLACES: Final = "places"
"""Head that points at words: a column for the first and the last token of each of two values."""

LIMITS: Final[Mapping[int, Sequence[int]]] = {1: (128,), 2: (100, 50), 3: (70, 30, 60)}
"""Tokens of each of so many texts that are read together; what is longer is cut."""

TOGETHER: Final = 8
"""Statements that are read beside a text at a time, as in training."""

MESSAGE_TOKENS: Final = 70
STATEMENT_TOKENS: Final = 40
"""Tokens of a message, and of each statement that is read beside it and others."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Texts as they are read together: in the characters of the model, as tokens, and where these stand.

    `places`: for each text the places of its tokens, start and end. `starts`: the token with which each text begins.
    """

    texts: Sequence[str]
    ids: Sequence[int]
    places: Sequence[Sequence[tuple[int, int]]]
    starts: Sequence[int]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Return the first token of each text and the one behind its last; of an empty text the separator's."""
        return [(start, start + max(1, len(places))) for start, places in zip(self.starts, self.places, strict=True)]

    def tokens_of(self, text: int, part: str) -> tuple[int, int] | None:
        """Return the first and the last token of the first place of a part of a text; None if it has none."""
        at = self.texts[text].find(part)
        inside = [n for n, (start, end) in enumerate(self.places[text]) if start < at + len(part) and end > at >= 0]
        return (self.starts[text] + inside[0], self.starts[text] + inside[-1]) if inside and part else None

    def part(self, text: int, first: int, last: int) -> str:
        """Return what these tokens of a text say."""
        places = self.places[text]
        return self.texts[text][places[first - self.starts[text]][0] : places[last - self.starts[text]][1]]


def join(tokens: Tokens, texts: Sequence[str]) -> Joined:
    """Return texts as they are read together, two separators between them."""
    return _join(tokens, texts, LIMITS[len(texts)])


def join_list(tokens: Tokens, message: str, statements: Sequence[str]) -> Joined:
    """Return a message and statements as they are read together, so that these are compared with each other, too."""
    return _join(tokens, [message, *statements], [MESSAGE_TOKENS, *[STATEMENT_TOKENS] * len(statements)])


def _join(tokens: Tokens, texts: Sequence[str], limits: Sequence[int]) -> Joined:
    ids, starts = [tokens.first], list[int]()
    places, normal = list[list[tuple[int, int]]](), list[str]()
    for text, most in zip(texts, limits, strict=True):
        normalised = tokens.unigram.normalised(text)
        cut = tokens.unigram.places(normalised, most)
        ids += [tokens.last, tokens.last] if starts else []
        starts.append(len(ids))
        places.append([(start, end) for _, start, end in cut])
        normal.append(normalised)
        ids += [piece for piece, _, _ in cut]
    return Joined(normal, [*ids, tokens.last], places, starts)


class Reader:
    """The model in memory. Safe to share between threads."""

    def __init__(self, graph: Path, lower: ModelFiles, weights: Path = WEIGHTS) -> None:
        """`graph`, `lower`: those of the multilingual encoder."""
        with np.load(weights) as stored:
            own = {name: stored[name] for name in stored.files}
        self._heads: Mapping[str, Floats] = {
            name.removeprefix(HEADS): own.pop(name) for name in list(own) if name.startswith(HEADS)
        }
        self._tokens = cast(Tokens, lower.tokens)
        self._layers = Transformer(graph, ModelFiles(lower.tokens, lower.embed, {**lower.weights, **own}))

    def log_odds(self, head: str, texts: Sequence[tuple[str, ...]]) -> Floats:
        """Return what a head says of each text, pair or triple. KeyError: there is no such head."""
        weights = self._heads[head]
        result: Floats = self.pooled(texts) @ weights[:-1] + weights[-1]
        return result

    def log_odds_of_each(self, head: str, text: str, statements: Sequence[str]) -> Floats:
        """Return what a head says of each of some statements that are read with a text, `TOGETHER` at a time."""
        weights = self._heads[head]
        parts = [self._each(text, statements[at : at + TOGETHER]) for at in range(0, len(statements), TOGETHER)]
        result: Floats = np.concatenate(parts) @ weights[:-1] + weights[-1]
        return result

    def _each(self, text: str, statements: Sequence[str]) -> Floats:
        """Return what heads read of each statement: the first state of all, and the mean of its own."""
        joined = join_list(self._tokens, text, statements)
        states = self._layers.states([joined.ids])[0][0]
        means = np.stack([states[start:end].mean(axis=0) for start, end in joined.spans[1:]])
        return np.concatenate([np.broadcast_to(states[0], means.shape), means], axis=1)

    def pooled(self, texts: Sequence[tuple[str, ...]]) -> Floats:
        """Return what heads read of each text, pair or triple: its first state, and the mean of all."""
        joined = [join(self._tokens, each).ids for each in texts]
        return self._layers.rows(joined, _pool, 2 * encoder.WIDTH)

    def values(self, texts: tuple[str, ...]) -> tuple[str, str, float]:
        """Return the value in the first text that the reader points at, that in the last one, and their probability.

        The probability is that of the less certain one. The second value is never the first one again.
        """
        joined = join(self._tokens, texts)
        logits = self._layers.states([joined.ids])[0][0] @ self._heads[PLACES]
        last = len(texts) - 1
        *wrong, of_wrong = _best(logits[:, :2], joined, 0)
        value = joined.part(0, *wrong)
        *right, of_right = _best(logits[:, 2:], joined, last, joined.tokens_of(last, value))
        return value, joined.part(last, *right), min(of_wrong, of_right)


def _best(logits: Floats, joined: Joined, text: int, barred: tuple[int, int] | None = None) -> tuple[int, int, float]:
    """Return the likeliest first and last token within a text, and the probability of both.

    `barred`: first and last token of what it is not, if something else is left.
    """
    start, count = joined.starts[text], len(joined.places[text])
    scores = logits[start : start + count]
    if barred is not None and barred[1] - barred[0] + 1 < count:
        scores = scores.copy()
        scores[barred[0] - start : barred[1] - start + 1] = -np.inf
    raised = np.exp(scores - scores.max(axis=0))
    begins, ends = (raised / raised.sum(axis=0)).T
    together = np.triu(begins[:, None] * ends[None, :])
    first, last = np.unravel_index(int(np.argmax(together)), together.shape)
    return start + int(first), start + int(last), float(together[first, last])


def _pool(states: Floats, present: NDArray[np.bool_]) -> Floats:
    means = encoder.summed(states, present) / present.sum(axis=1, keepdims=True)
    rows: Floats = np.concatenate([states[:, 0], means], axis=1)
    return rows
