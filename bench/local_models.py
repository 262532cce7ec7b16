"""Make what lies beside the code of the local models: graphs of encoders without weights, and the mean of e5's vectors.

    python -m bench.local_models [--check]

The mean is that of 750 passages: what users and assistants say in conversations of seven languages.
Operators of the domain `com.microsoft` are documented in onnxruntime's `docs/ContribOperators.md`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

from core.inference.local_embedder import local_model_path
from core.inference.local_models import blocks, e5, encoder
from core.inference.local_models.catalog import MULTILINGUAL
from core.inference.local_models.encoder import Floats

FOLDER = Path(blocks.__file__).parent
TEXTS = Path(__file__).parent
SLIP = 1e-3
"""By how much the mean may differ between machines."""
WIDTH, WIDE, HEADS, EPSILON = 384, 1536, 12, 1e-12


@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph to draw: layers, and bits of a weight."""

    name: str
    layers: int
    bits: int


DRAWINGS = (Drawing("minilm", 6, 8), Drawing("e5", 12, 4))


def graph(drawing: Drawing) -> bytes:
    """Return a serialised model; the same bytes every time."""
    weights: dict[str, tuple[int, list[int]]] = {}
    nodes = list(_nodes(drawing, weights))
    inputs = [
        helper.make_tensor_value_info("embedded", onnx.TensorProto.FLOAT, ["texts", "tokens", WIDTH]),
        helper.make_tensor_value_info("present", onnx.TensorProto.INT32, ["texts", "tokens"]),
    ]
    last = nodes[-1].output[0]
    outputs = [helper.make_tensor_value_info(last, onnx.TensorProto.FLOAT, ["texts", "tokens", WIDTH])]
    made = helper.make_graph(nodes, drawing.name, inputs, outputs, [_external(*one) for one in weights.items()])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    content: bytes = helper.make_model(made, opset_imports=opsets, ir_version=8).SerializeToString(deterministic=True)
    return content


def mean() -> Floats:
    """Return the mean of the vectors that the multilingual model makes of the passages."""
    files = e5.read(local_model_path(MULTILINGUAL))
    vectors = encoder.Encoder(FOLDER / MULTILINGUAL.graph, files).embed(
        [MULTILINGUAL.passage + one for one in _passages()]
    )
    centre: Floats = vectors.mean(axis=0).astype(np.float32)
    return centre


def _passages() -> list[str]:
    """150 messages in English and in Chinese, 90 in each of five other languages; spread over the conversations."""
    found: list[str] = []
    for language, count in (("en", 150), ("zh", 150), *((name, 90) for name in ("ar", "de", "es", "hi", "ja"))):
        talks = [
            json.loads(path.read_text(encoding="utf-8")) for path in sorted(TEXTS.glob(f"*_data/{language}*.json"))
        ]
        texts = [text for talk in talks for text in _texts(talk)]
        found += [texts[place * len(texts) // count] for place in range(count)]
    return found


def _texts(talk: Any) -> Iterator[str]:
    for one in talk if isinstance(talk, list) else [talk]:
        for session in one["sessions"]:
            yield from (turn.get("content") or turn["text"] for turn in session["turns"])


Weights = dict[str, tuple[int, list[int]]]
"""Type and shape by name."""


def _nodes(drawing: Drawing, weights: Weights) -> Iterator[Any]:
    """Yield the nodes, and note the weights that they name."""

    def norm(name: str, inputs: list[str], output: str) -> Any:
        for part in ("weight", "bias"):
            weights[f"{name}.{part}"] = (onnx.TensorProto.FLOAT, [WIDTH])
        operator, domain = (
            ("SkipLayerNormalization", "com.microsoft") if len(inputs) > 1 else ("LayerNormalization", "")
        )
        return helper.make_node(
            operator, [*inputs, f"{name}.weight", f"{name}.bias"], [output], domain=domain, epsilon=EPSILON
        )

    def linear(name: str, source: str, inputs: int, outputs: int) -> Any:
        count = inputs // blocks.BLOCK
        weights[f"{name}.codes"] = (onnx.TensorProto.UINT8, [outputs, count, blocks.BLOCK * drawing.bits // 8])
        weights[f"{name}.scales"] = (onnx.TensorProto.FLOAT, [outputs * count])
        weights[f"{name}.bias"] = (onnx.TensorProto.FLOAT, [outputs])
        parts = [source, f"{name}.codes", f"{name}.scales", "", "", f"{name}.bias"]
        size = {"K": inputs, "N": outputs, "bits": drawing.bits, "block_size": blocks.BLOCK}
        # Level 4: activations are quantised to 8 bits, block by block, and multiplied as integers.
        return helper.make_node("MatMulNBits", parts, [name], domain="com.microsoft", accuracy_level=4, **size)

    state = "embedded.norm"
    yield norm("norm", ["embedded"], state)
    for layer in range(drawing.layers):
        heads = [f"{layer}.{name}" for name in ("query", "key", "value")]
        for name in heads:
            yield linear(name, state, WIDTH, WIDTH)
        yield helper.make_node(
            "MultiHeadAttention", [*heads, "", "present"], [f"{layer}.heads"], domain="com.microsoft", num_heads=HEADS
        )
        yield linear(f"{layer}.attended", f"{layer}.heads", WIDTH, WIDTH)
        yield norm(f"{layer}.attended.norm", [state, f"{layer}.attended"], f"{layer}.middle")
        yield linear(f"{layer}.wide", f"{layer}.middle", WIDTH, WIDE)
        yield helper.make_node("Gelu", [f"{layer}.wide"], [f"{layer}.gelu"], domain="com.microsoft")
        yield linear(f"{layer}.narrow", f"{layer}.gelu", WIDE, WIDTH)
        state = f"{layer}.state"
        yield norm(f"{layer}.layer.norm", [f"{layer}.middle", f"{layer}.narrow"], state)


def _external(name: str, of: tuple[int, list[int]]) -> Any:
    """Declare a weight that is not in the file."""
    kind, shape = of
    tensor = onnx.TensorProto(name=name, data_type=kind, dims=shape, data_location=onnx.TensorProto.EXTERNAL)
    size = 1 if kind == onnx.TensorProto.UINT8 else 4
    for number in shape:
        size *= number
    for key, value in (("location", "weights"), ("offset", "0"), ("length", str(size))):
        tensor.external_data.add(key=key, value=value)
    return tensor


def main() -> None:
    """Write the files, or compare them with `--check`."""
    place, centre = FOLDER / "e5_mean.npy", mean()
    if "--check" not in sys.argv:
        np.save(place, centre)
    elif np.abs(np.load(place) - centre).max() > SLIP:
        sys.exit(f"{place} is out of date: run `python -m bench.local_models`.")
    for drawing in DRAWINGS:
        path, drawn = FOLDER / f"{drawing.name}.onnx", graph(drawing)
        if "--check" not in sys.argv:
            path.write_bytes(drawn)
        elif path.read_bytes() != drawn:
            sys.exit(f"{path} is out of date: run `python -m bench.local_models`.")


if __name__ == "__main__":
    main()
