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

from bench import arguments
from core.inference.local_embedder import local_model_path
from core.inference.local_models import e5, encoder, minilm
from core.inference.local_models.catalog import MULTILINGUAL
from core.inference.local_models.encoder import Floats

FOLDER = Path(encoder.__file__).parent
TEXTS = Path(__file__).parent
SOURCES = {f"talks_data/{name}-*.json": 150 for name in ("en", "zh")} | {
    f"languages_data/{name}.json": 90 for name in ("ar", "de", "es", "hi", "ja")
}
"""Files of conversations, and how many of their passages count."""
SLIP = 1e-3
"""By how much the mean may differ between machines."""
WIDTH, WIDE, HEADS, EPSILON = 384, 1536, 12, 1e-12


@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph to draw."""

    name: str
    layers: int


DRAWINGS = (Drawing("minilm", minilm.LAYERS), Drawing("e5", e5.LAYERS))


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
    constants = [
        helper.make_tensor("step", onnx.TensorProto.FLOAT, [], [1 / 127]),
        helper.make_tensor("zero", onnx.TensorProto.UINT8, [], [128]),
    ]
    external = [_external(*item) for item in weights.items()]
    made = helper.make_graph(nodes, drawing.name, inputs, outputs, [*constants, *external])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    content: bytes = helper.make_model(made, opset_imports=opsets, ir_version=8).SerializeToString(deterministic=True)
    return content


def mean() -> Floats:
    """Return the mean of the vectors that the multilingual model makes of the passages."""
    files = e5.read(local_model_path(MULTILINGUAL))
    vectors = encoder.Encoder(FOLDER / MULTILINGUAL.graph, files).embed(
        [MULTILINGUAL.passage + passage for passage in _passages()]
    )
    centre: Floats = vectors.mean(axis=0).astype(np.float32)
    return centre


def _passages() -> list[str]:
    """150 messages in English and in Chinese, 90 in each of five other languages; spread over the conversations."""
    passages: list[str] = []
    for pattern, count in SOURCES.items():
        texts = [text for path in sorted(TEXTS.glob(pattern)) for text in _texts(path)]
        passages += [texts[index * len(texts) // count] for index in range(count)]
    return passages


def _texts(path: Path) -> Iterator[str]:
    """Yield what is said in a conversation, or in the first half of several."""
    talk = json.loads(path.read_text(encoding="utf-8"))
    for conversation in talk[: len(talk) // 2] if isinstance(talk, list) else [talk]:
        for session in conversation["sessions"]:
            yield from (turn.get("content") or turn["text"] for turn in session["turns"])


Weights = dict[str, tuple[int, list[int]]]
"""Type and shape by name."""


def _nodes(drawing: Drawing, weights: Weights) -> Iterator[Any]:
    """Yield the nodes, and note the weights that they name."""

    def norm(name: str, inputs: list[str], output: str) -> Iterator[Any]:
        """Add and normalise as two operators: the one that does both takes nine times as long."""
        for part in ("weight", "bias"):
            weights[f"{name}.{part}"] = (onnx.TensorProto.FLOAT, [WIDTH])
        if len(inputs) > 1:
            yield helper.make_node("Add", inputs, [f"{name}.sum"])
        summed = f"{name}.sum" if len(inputs) > 1 else inputs[0]
        parts = [summed, f"{name}.weight", f"{name}.bias"]
        yield helper.make_node("LayerNormalization", parts, [output], epsilon=EPSILON)

    def rows(source: str) -> Iterator[Any]:
        """Quantise each token by its own highest value, so that its vector does not depend on what shares its pass."""
        yield helper.make_node("Abs", [source], [f"{source}.size"])
        yield helper.make_node("ReduceMax", [f"{source}.size"], [f"{source}.highest"], axes=[-1], keepdims=1)
        yield helper.make_node("Div", [source, f"{source}.highest"], [f"{source}.share"])
        yield helper.make_node("QuantizeLinear", [f"{source}.share", "step", "zero"], [f"{source}.codes"])

    def linear(name: str, source: str, inputs: int, outputs: int) -> Iterator[Any]:
        weights[f"{name}.codes"] = (onnx.TensorProto.INT8, [inputs, outputs])
        weights[f"{name}.scales"] = (onnx.TensorProto.FLOAT, [outputs])
        weights[f"{name}.bias"] = (onnx.TensorProto.FLOAT, [outputs])
        parts = [f"{source}.codes", f"{name}.codes", "step", f"{name}.scales", "zero"]
        yield helper.make_node("MatMulIntegerToFloat", parts, [f"{name}.share"], domain="com.microsoft")
        yield helper.make_node("Mul", [f"{name}.share", f"{source}.highest"], [f"{name}.product"])
        yield helper.make_node("Add", [f"{name}.product", f"{name}.bias"], [name])

    state = "embedded.norm"
    yield from norm("norm", ["embedded"], state)
    for layer in range(drawing.layers):
        heads = [f"{layer}.{name}" for name in ("query", "key", "value")]
        yield from rows(state)
        for name in heads:
            yield from linear(name, state, WIDTH, WIDTH)
        yield helper.make_node(
            "MultiHeadAttention", [*heads, "", "present"], [f"{layer}.heads"], domain="com.microsoft", num_heads=HEADS
        )
        yield from rows(f"{layer}.heads")
        yield from linear(f"{layer}.attended", f"{layer}.heads", WIDTH, WIDTH)
        yield from norm(f"{layer}.attended.norm", [state, f"{layer}.attended"], f"{layer}.middle")
        yield from rows(f"{layer}.middle")
        yield from linear(f"{layer}.wide", f"{layer}.middle", WIDTH, WIDE)
        yield helper.make_node("Gelu", [f"{layer}.wide"], [f"{layer}.gelu"], domain="com.microsoft")
        yield from rows(f"{layer}.gelu")
        yield from linear(f"{layer}.narrow", f"{layer}.gelu", WIDE, WIDTH)
        state = f"{layer}.state"
        yield from norm(f"{layer}.layer.norm", [f"{layer}.middle", f"{layer}.narrow"], state)


def _external(name: str, of: tuple[int, list[int]]) -> Any:
    """Declare a weight that is not in the file."""
    kind, shape = of
    tensor = onnx.TensorProto(name=name, data_type=kind, dims=shape, data_location=onnx.TensorProto.EXTERNAL)
    size = 1 if kind == onnx.TensorProto.INT8 else 4
    for number in shape:
        size *= number
    for key, value in (("location", "weights"), ("offset", "0"), ("length", str(size))):
        tensor.external_data.add(key=key, value=value)
    return tensor


def main() -> None:
    """Write the files, or compare them with `--check`; the mean is made with the graph."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the files, and write nothing")
    check = parser.parse_args().check
    for drawing in DRAWINGS:
        path, drawn = FOLDER / f"{drawing.name}.onnx", graph(drawing)
        if not check:
            path.write_bytes(drawn)
        elif path.read_bytes() != drawn:
            sys.exit(f"{path} is out of date: run `python -m bench.local_models`.")
    file, centre = FOLDER / "e5_mean.npy", mean()
    if not check:
        np.save(file, centre)
    elif np.abs(np.load(file) - centre).max() > SLIP:
        sys.exit(f"{file} is out of date: run `python -m bench.local_models`.")


if __name__ == "__main__":
    main()
