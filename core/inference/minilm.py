"""all-MiniLM-L6-v2 forward pass in NumPy.

Architecture: Devlin et al. 2019 (BERT), Wang et al. 2020 (MiniLM); pooling: Reimers & Gurevych 2019.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from core.inference.embedding_model import DIMENSION

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]

MAX_TOKENS = 256  # what the model was trained on; a longer text is cut there
_HEADS = 12
_LAYERS = 6
_HEAD = DIMENSION // _HEADS
_EPSILON = 1e-12
_BATCH_TOKENS = 512  # padded tokens in one pass: the fastest of 256 to 2,048, and 3 MB for the widest activation
_GELU_ROWS = 64  # rows worked on at once: 390 kB stay in the cache, a fifth of a pass is saved
_HIDDEN_BY_MASK = np.float32(-1e9)


@dataclass(frozen=True, slots=True)
class _Linear:
    weight: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        out: Floats = x @ self.weight.T
        out += self.bias
        return out


@dataclass(frozen=True, slots=True)
class _Norm:
    weight: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        centred: Floats = x - x.mean(axis=-1, keepdims=True)
        variance = np.einsum("td,td->t", centred, centred)[:, None] / np.float32(DIMENSION)
        centred /= np.sqrt(variance + np.float32(_EPSILON))
        centred *= self.weight
        centred += self.bias
        return centred


@dataclass(frozen=True, slots=True)
class _Layer:
    qkv: _Linear
    attended: _Linear
    attended_norm: _Norm
    wide: _Linear
    narrow: _Linear
    narrow_norm: _Norm

    def __call__(self, x: Floats, shape: tuple[int, int], mask: Floats) -> Floats:
        x = self.attended_norm(x + self.attended(_attention(self.qkv(x), shape, mask)))
        return self.narrow_norm(x + self.narrow(gelu(self.wide(x))))


class MiniLM:
    """The model in memory. Safe to share between threads: nothing changes after loading."""

    def __init__(self, folder: Path) -> None:
        """Open `model.safetensors` (mapped, so processes share its pages) and `tokenizer.json` in `folder`."""
        weights = read_safetensors(folder / "model.safetensors")
        self._words = weights["embeddings.word_embeddings.weight"]
        self._places = (
            weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        )
        self._norm = _Norm(weights["embeddings.LayerNorm.weight"], weights["embeddings.LayerNorm.bias"])
        self._layers = [_layer(weights, f"encoder.layer.{number}.") for number in range(_LAYERS)]
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one row of length 1 for each text, in the order given; texts of similar length share a pass."""
        tokens = [self._tokenizer.encode(text).ids for text in texts]
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for batch in batches([len(ids) for ids in tokens]):
            vectors[batch] = self._forward([tokens[at] for at in batch])
        return vectors

    def _forward(self, tokens: list[list[int]]) -> Floats:
        ids, present = _pad(tokens)
        count, width = ids.shape
        mask = np.where(present, np.float32(0), _HIDDEN_BY_MASK)[:, None, None, :]
        x = self._norm((self._words[ids] + self._places[:width]).reshape(-1, DIMENSION))
        for layer in self._layers:
            x = layer(x, (count, width), mask)
        return _pool(x.reshape(count, width, DIMENSION), present)


def batches(lengths: Sequence[int]) -> list[list[int]]:
    """Return indexes of `lengths`, longest first, in batches within the token limit after padding."""
    order = sorted(range(len(lengths)), key=lambda at: -lengths[at])
    found: list[list[int]] = []
    for at in order:
        if not found or (len(found[-1]) + 1) * lengths[found[-1][0]] > _BATCH_TOKENS:
            found.append([])
        found[-1].append(at)
    return found


def read_safetensors(path: Path) -> dict[str, Floats]:
    """Return the float32 tensors of a safetensors file, memory-mapped instead of copied.

    Format: 8 bytes little-endian header length, JSON header, tensors at `data_offsets` after it.
    """
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    (size,) = struct.unpack("<Q", raw[:8].tobytes())
    header = json.loads(raw[8 : 8 + size].tobytes())
    body = raw[8 + size :]
    return {
        name: np.asarray(body[slice(*entry["data_offsets"])].view(np.float32).reshape(entry["shape"]))
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


def gelu(x: Floats) -> Floats:
    """Compute x·Φ(x) in place, with Φ to 3e-5: its tanh form (Hendrycks & Gimpel 2016) plus one term, fitted to erf.

    The published form with two terms has an error of 4.7e-4; beyond |x| = 5, where Φ is flat, the fitted polynomial
    would turn back.
    """
    for start in range(0, len(x), _GELU_ROWS):
        rows = x[start : start + _GELU_ROWS]
        inner = np.clip(rows, np.float32(-5), np.float32(5))
        square = inner * inner
        inner *= np.float32(0.797457818) + square * (np.float32(0.0370510348) - square * np.float32(0.000358867436))
        np.tanh(inner, out=inner)
        inner += np.float32(1)
        inner *= np.float32(0.5)
        rows *= inner
    return x


def _attention(qkv: Floats, shape: tuple[int, int], mask: Floats) -> Floats:
    """Compute scaled dot-product attention (Vaswani et al. 2017) of all heads; `qkv` holds the three side by side."""
    count, width = shape
    query, key, value = qkv.reshape(count, width, 3, _HEADS, _HEAD).transpose(2, 0, 3, 1, 4)
    scores = query @ key.swapaxes(-1, -2)
    scores += mask
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    attended: Floats = scores @ value
    return attended.transpose(0, 2, 1, 3).reshape(-1, DIMENSION)


def _pad(tokens: list[list[int]]) -> tuple[Ids, NDArray[np.bool_]]:
    lengths = np.array([len(ids) for ids in tokens])
    present = np.arange(lengths.max()) < lengths[:, None]
    ids = np.zeros(present.shape, dtype=np.int64)
    ids[present] = np.concatenate([np.array(row, dtype=np.int64) for row in tokens])
    return ids, present


def _pool(x: Floats, present: NDArray[np.bool_]) -> Floats:
    mean = np.einsum("ntd,nt->nd", x, present.astype(np.float32)) / present.sum(axis=1, dtype=np.float32)[:, None]
    vectors: Floats = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return vectors


def _layer(weights: dict[str, Floats], at: str) -> _Layer:
    def linear(name: str) -> _Linear:
        return _Linear(weights[f"{at}{name}.weight"], weights[f"{at}{name}.bias"])

    def norm(name: str) -> _Norm:
        return _Norm(weights[f"{at}{name}.LayerNorm.weight"], weights[f"{at}{name}.LayerNorm.bias"])

    query, key, value = (linear(f"attention.self.{part}") for part in ("query", "key", "value"))
    scale = np.float32(1 / math.sqrt(_HEAD))
    qkv = _Linear(
        np.concatenate([query.weight * scale, key.weight, value.weight]),
        np.concatenate([query.bias * scale, key.bias, value.bias]),
    )
    return _Layer(
        qkv=qkv,
        attended=linear("attention.output.dense"),
        attended_norm=norm("attention.output"),
        wide=linear("intermediate.dense"),
        narrow=linear("output.dense"),
        narrow_norm=norm("output"),
    )
