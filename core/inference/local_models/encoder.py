"""Forward pass of BERT encoders under onnxruntime (Devlin et al. 2019), pooled to one vector a text.

The graphs beside this module have no weights; `bench/local_models.py` draws them. Each weight of a graph is fed from
the file of its model, quantised (`quantisation.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]

BATCH_TOKENS: Final = 256
"""Padded tokens in one pass: the widest activation, 1.5 MB, fits a core's cache; twice as many take a fifth longer."""

WIDTH: Final = 384
"""Numbers of a token's state."""

SLOW_FUSIONS: Final = ("SkipLayerNormFusion",)
"""Optimisations left out: the operator that adds and normalises in one takes longer than the two it replaces."""

Pool = Callable[[Floats, NDArray[np.bool_]], Floats]
"""Makes a row of the states of each text; the second array says which of them are not padding."""

_PROBE: Final = "Is anybody there?"


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Contents of a model's files.

    `tokens`: the tokens of a text, at most as many as the model takes. `embed`: the input vectors of an array of token
    ids. `weights`: by the names in the graph.
    """

    tokens: Callable[[str], list[int]]
    embed: Callable[[Ids], Floats]
    weights: Mapping[str, NDArray[Any]]


class Transformer:
    """The layers of a model in memory. Safe to share between threads: nothing changes after loading."""

    def __init__(self, graph: Path, files: ModelFiles) -> None:
        """Open a session with one thread: several passes at a time use several cores."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        # The arena keeps the memory of the largest pass for good, and is no faster.
        options.enable_cpu_mem_arena = False
        values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(value) for name, value in files.weights.items()}
        options.add_external_initializers(list(values), list(values.values()))
        self._session = onnxruntime.InferenceSession(
            graph.read_bytes(), options, providers=["CPUExecutionProvider"], disabled_optimizers=list(SLOW_FUSIONS)
        )
        self.tokens, self._vectors = files.tokens, files.embed
        self._weights = dict(files.weights)  # The session reads them from there.
        self._drop_repacked()

    def _drop_repacked(self) -> None:
        """Free the matrices that the session has copied into a layout of its own, as it does on most processors.

        Whether it has cannot be asked: with another sign they would change the states if it read them.
        """
        matrices = {name: values for name, values in self._weights.items() if values.dtype == np.int8}
        probe = [self.tokens(_PROBE)]
        before, _ = self.states(probe)
        for values in matrices.values():
            np.negative(values, out=values)
        if np.array_equal(before, self.states(probe)[0]):
            self._weights = {name: values for name, values in self._weights.items() if name not in matrices}
        else:
            for values in matrices.values():
                np.negative(values, out=values)

    def rows(self, tokens: Sequence[Sequence[int]], pool: Pool, width: int) -> Floats:
        """Return a row of `width` numbers for each list of tokens, in the order given: what `pool` makes of its states.

        Lists of similar length share a pass.
        """
        rows = np.empty((len(tokens), width), dtype=np.float32)
        for batch in batches([len(ids) for ids in tokens]):
            rows[batch] = pool(*self.states([tokens[index] for index in batch]))
        return rows

    def states(self, tokens: Sequence[Sequence[int]]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the states of the tokens of a few texts, [text, token, number], and which of them are not padding."""
        ids, present = pad(tokens)
        inputs = {"embedded": self._vectors(ids), "present": present.astype(np.int32)}
        (states,) = self._session.run(None, inputs)
        return states, present


class Encoder:
    """A model that turns texts into vectors. Safe to share between threads."""

    def __init__(self, graph: Path, files: ModelFiles) -> None:
        self._layers = Transformer(graph, files)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one row of length 1 for each text, in the order given."""
        return self._layers.rows([self._layers.tokens(text) for text in texts], _pool, WIDTH)


def batches(lengths: Sequence[int]) -> list[list[int]]:
    """Return positions in `lengths`, longest first, cut so that no batch exceeds the token limit once padded."""
    grouped: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if not grouped or (len(grouped[-1]) + 1) * lengths[grouped[-1][0]] > BATCH_TOKENS:
            grouped.append([])
        grouped[-1].append(index)
    return grouped


def pad(tokens: Sequence[Sequence[int]]) -> tuple[Ids, NDArray[np.bool_]]:
    """Return token ids as a rectangle, and which of them are not padding."""
    lengths = np.array([len(ids) for ids in tokens])
    present = np.arange(lengths.max()) < lengths[:, None]
    ids = np.zeros(present.shape, dtype=np.int64)
    ids[present] = np.concatenate([np.array(row, dtype=np.int64) for row in tokens])
    return ids, present


def _pool(states: Floats, present: NDArray[np.bool_]) -> Floats:
    """Average the states of the tokens of each text (Reimers & Gurevych 2019), and scale to length 1."""
    sums = summed(states, present)
    vectors: Floats = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return vectors


def summed(states: Floats, present: NDArray[np.bool_]) -> Floats:
    """Return the sum of the states of the tokens of each text."""
    sums: Floats = np.einsum("ntd,nt->nd", states, present.astype(np.float32))
    return sums
