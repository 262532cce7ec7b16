"""Draw the graphs of the local models' encoders, without weights: `core/inference/local_models/*.onnx`.

    uv run --with onnx python -m bench.encoder_graphs [--check]

Operators of the domain `com.microsoft` are documented in onnxruntime's `docs/ContribOperators.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from onnx import helper

from core.inference.local_models import blocks

FOLDER = Path(blocks.__file__).parent
WIDTH, WIDE, HEADS, EPSILON = 384, 1536, 12, 1e-12


@dataclass(frozen=True, slots=True)
class Encoder:
    """A graph to draw: layers, and bits of a weight."""

    name: str
    layers: int
    bits: int


ENCODERS = (Encoder("minilm", 6, 8), Encoder("e5", 12, 4))


def graph(encoder: Encoder) -> bytes:
    """Return a serialised model; the same bytes every time."""
    weights: dict[str, tuple[int, list[int]]] = {}
    nodes = list(_nodes(encoder, weights))
    inputs = [
        helper.make_tensor_value_info("embedded", onnx.TensorProto.FLOAT, ["texts", "tokens", WIDTH]),
        helper.make_tensor_value_info("present", onnx.TensorProto.INT32, ["texts", "tokens"]),
    ]
    last = nodes[-1].output[0]
    outputs = [helper.make_tensor_value_info(last, onnx.TensorProto.FLOAT, ["texts", "tokens", WIDTH])]
    made = helper.make_graph(nodes, encoder.name, inputs, outputs, [_external(*one) for one in weights.items()])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    content: bytes = helper.make_model(made, opset_imports=opsets, ir_version=8).SerializeToString(deterministic=True)
    return content


Weights = dict[str, tuple[int, list[int]]]
"""Type and shape by name."""


def _nodes(encoder: Encoder, weights: Weights) -> Iterator[Any]:
    """Yield the nodes, and note the weights that they name."""

    def norm(name: str, inputs: list[str], output: str) -> Any:
        for part in ("weight", "bias"):
            weights[f"{name}.{part}"] = (onnx.TensorProto.FLOAT, [WIDTH])
        operator, domain = ("SkipLayerNormalization", "com.microsoft") if len(inputs) > 1 else ("LayerNormalization", "")
        return helper.make_node(
            operator, [*inputs, f"{name}.weight", f"{name}.bias"], [output], domain=domain, epsilon=EPSILON
        )

    def linear(name: str, source: str, inputs: int, outputs: int) -> Any:
        count = inputs // blocks.BLOCK
        weights[f"{name}.codes"] = (onnx.TensorProto.UINT8, [outputs, count, blocks.BLOCK * encoder.bits // 8])
        weights[f"{name}.scales"] = (onnx.TensorProto.FLOAT, [outputs * count])
        weights[f"{name}.bias"] = (onnx.TensorProto.FLOAT, [outputs])
        parts = [source, f"{name}.codes", f"{name}.scales", "", "", f"{name}.bias"]
        size = {"K": inputs, "N": outputs, "bits": encoder.bits, "block_size": blocks.BLOCK}
        # Level 4: activations are quantised to 8 bits, block by block, and multiplied as integers.
        return helper.make_node("MatMulNBits", parts, [name], domain="com.microsoft", accuracy_level=4, **size)

    state = "embedded.norm"
    yield norm("norm", ["embedded"], state)
    for layer in range(encoder.layers):
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
    """Write the graphs, or compare them with `--check`."""
    for encoder in ENCODERS:
        path, drawn = FOLDER / f"{encoder.name}.onnx", graph(encoder)
        if "--check" not in sys.argv:
            path.write_bytes(drawn)
        elif path.read_bytes() != drawn:
            sys.exit(f"{path} is out of date: run `python -m bench.encoder_graphs`.")


if __name__ == "__main__":
    main()
