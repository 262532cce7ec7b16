"""all-MiniLM-L6-v2 (Wang et al. 2020; English): its published files, quantised while they are read."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from core.inference.local_models import quantisation
from core.inference.local_models.encoder import Floats, Ids, ModelFiles

MAX_TOKENS: Final = 256
"""Tokens of the texts that the model was trained on; longer ones are cut there."""

LAYERS: Final = 6

_NORMS: Final = {"attended.norm": "attention.output.LayerNorm", "layer.norm": "output.LayerNorm"}
_MATRICES: Final = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attended": "attention.output.dense",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
}
"""Names in the graph, and in the model's file."""


def read(folder: Path) -> ModelFiles:
    """Read `model.safetensors` (mapped, so processes share its pages) and `tokenizer.json` in `folder`."""
    tensors = read_safetensors(folder / "model.safetensors")
    tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    embeddings = tensors["embeddings.word_embeddings.weight"]
    positions = tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]

    def tokens(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text).ids
        return ids

    def embed(ids: Ids) -> Floats:
        embedded: Floats = embeddings[ids] + positions[: ids.shape[1]]
        return embedded

    return ModelFiles(tokens, embed, dict(_weights(tensors)))


def read_safetensors(path: Path) -> dict[str, Floats]:
    """Return the float32 tensors of a safetensors file, mapped into memory and not copied.

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


def _weights(tensors: Mapping[str, Floats]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the weights by their names in the graph."""
    yield "norm.weight", tensors["embeddings.LayerNorm.weight"]
    yield "norm.bias", tensors["embeddings.LayerNorm.bias"]
    for layer in range(LAYERS):
        source = f"encoder.layer.{layer}."
        for name, theirs in _MATRICES.items():
            codes, scales = quantisation.quantise(tensors[f"{source}{theirs}.weight"])
            yield f"{layer}.{name}.codes", codes
            yield f"{layer}.{name}.scales", scales
            yield f"{layer}.{name}.bias", tensors[f"{source}{theirs}.bias"]
        for name, theirs in _NORMS.items():
            yield f"{layer}.{name}.weight", tensors[f"{source}{theirs}.weight"]
            yield f"{layer}.{name}.bias", tensors[f"{source}{theirs}.bias"]
