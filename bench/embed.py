"""Local embeddings: latency, rate and memory of the NumPy forward pass, beside onnxruntime where it is installed.

    python bench/embed.py                                             # this service's own pass
    uv run --with onnx --with onnxruntime python bench/embed.py       # and onnxruntime, on a graph of the same weights

Each contestant runs in a process of its own, so that its memory is its own. Set OMP_NUM_THREADS for both alike.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from core.inference.local_embedder import local_model_path
from core.inference.minilm import MAX_TOKENS, MiniLM, batches, read_safetensors

Floats = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Floats]

ONE = (
    "I went to the farmers market with my sister last Saturday and we bought far too many tomatoes, "
    "so on Sunday we cooked a big pot of sauce for the whole street and friends"
)
SUBJECTS = ("my sister", "our neighbour Ada", "the new doctor", "a colleague from Porto", "my old teacher")
ACTS = ("moved to Lisbon", "bought a bicycle", "started to paint", "found a job in a bakery", "adopted two cats")
TIMES = ("last May", "on Friday", "when it rained for a week", "after the long trip to the mountains in the north")


def sentences(count: int) -> list[str]:
    """Texts of 8 to 60 tokens, the same in every run."""
    digest = (hashlib.sha256(str(number).encode()).digest() for number in range(count))
    return [
        " ".join(
            f"I told you that {SUBJECTS[d[at] % 5]} {ACTS[d[at + 1] % 5]} {TIMES[d[at + 2] % 4]}."
            for at in range(0, 3 * (1 + d[9] % 3), 3)
        )
        for d in digest
    ]


def numpy_pass() -> Embed:
    """The forward pass that the service uses."""
    return MiniLM(local_model_path()).embed


def onnx_pass() -> Embed:
    """The same weights as an ONNX graph (opset 20, exact GELU) on onnxruntime's CPU provider."""
    runtime = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", "0"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.onnx"
        Graph(read_safetensors(local_model_path() / "model.safetensors")).save(file)
        session = runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(local_model_path() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)

    def embed(texts: Sequence[str]) -> Floats:
        tokens = [tokenizer.encode(text).ids for text in texts]
        vectors = np.empty((len(texts), 384), dtype=np.float32)
        for batch in batches([len(ids) for ids in tokens]):
            vectors[batch] = _run(session, [tokens[at] for at in batch])
        return vectors

    return embed


def _run(session: Any, tokens: list[list[int]]) -> Floats:
    width = max(map(len, tokens))
    present = np.array([[at < len(row) for at in range(width)] for row in tokens])
    ids = np.array([row + [0] * (width - len(row)) for row in tokens], dtype=np.int64)
    mask = np.where(present, np.float32(0), np.float32(-1e9))[:, None, None, :]
    (states,) = session.run(None, {"ids": ids, "places": np.arange(width), "mask": mask})
    mean = np.einsum("ntd,nt->nd", states, present.astype(np.float32))
    unit: Floats = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return unit


class Graph:
    """The BERT encoder, written node by node."""

    def __init__(self, weights: dict[str, Floats]) -> None:
        self._onnx = importlib.import_module("onnx")
        self._weights = weights
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def save(self, path: Path) -> None:
        """Write the graph with its weights to `path`."""
        helper, types = self._onnx.helper, self._onnx.TensorProto
        out = self._encoder()
        inputs = [
            helper.make_tensor_value_info("ids", types.INT64, ["n", "t"]),
            helper.make_tensor_value_info("places", types.INT64, ["t"]),
            helper.make_tensor_value_info("mask", types.FLOAT, ["n", 1, 1, "t"]),
        ]
        outputs = [helper.make_tensor_value_info(out, types.FLOAT, ["n", "t", 384])]
        graph = helper.make_graph(self._nodes, "minilm", inputs, outputs, list(self._constants.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
        model.ir_version = 10
        self._onnx.save(model, str(path))

    def _encoder(self) -> str:
        places = (
            self._weights["embeddings.position_embeddings.weight"]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        words = self._constant("words", self._weights["embeddings.word_embeddings.weight"])
        self._node("Gather", [words, "ids"], "words_at")
        self._node("Gather", [self._constant("all_places", places), "places"], "places_at")
        x = self._norm(self._node("Add", ["words_at", "places_at"], "summed"), "embeddings.LayerNorm")
        for layer in range(6):
            x = self._layer(x, f"encoder.layer.{layer}.")
        return x

    def _layer(self, x: str, at: str) -> str:
        attended = self._linear(self._attention(x, at + "attention.self."), at + "attention.output.dense")
        y = self._norm(self._node("Add", [attended, x], at + "sum1"), at + "attention.output.LayerNorm")
        wide = self._node("Gelu", [self._linear(y, at + "intermediate.dense")], at + "gelu")
        return self._norm(
            self._node("Add", [self._linear(wide, at + "output.dense"), y], at + "sum2"), at + "output.LayerNorm"
        )

    def _attention(self, x: str, at: str) -> str:
        heads = self._constant("heads", np.array([0, 0, 12, 32]))
        joined = self._constant("joined", np.array([0, 0, 384]))
        scale = self._constant("scale", np.array(1 / math.sqrt(32), dtype=np.float32))
        parts = {}
        for name, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
            split = self._node("Reshape", [self._linear(x, at + name), heads], at + name + "_split")
            parts[name] = self._node("Transpose", [split], at + name + "_heads", perm=order)
        scores = self._node("MatMul", [parts["query"], parts["key"]], at + "scores")
        scaled = self._node("Mul", [scores, scale], at + "scaled")
        shares = self._node("Softmax", [self._node("Add", [scaled, "mask"], at + "masked")], at + "shares", axis=-1)
        context = self._node("MatMul", [shares, parts["value"]], at + "context")
        back = self._node("Transpose", [context], at + "back", perm=[0, 2, 1, 3])
        return self._node("Reshape", [back, joined], at + "joined")

    def _linear(self, x: str, name: str) -> str:
        weight = self._constant(name + ".weight", self._weights[name + ".weight"].T)
        product = self._node("MatMul", [x, weight], name + ".product")
        return self._node("Add", [product, self._constant(name + ".bias", self._weights[name + ".bias"])], name)

    def _norm(self, x: str, name: str) -> str:
        weight, bias = (
            self._constant(f"{name}.{part}", self._weights[f"{name}.{part}"]) for part in ("weight", "bias")
        )
        return self._node("LayerNormalization", [x, weight, bias], name, axis=-1, epsilon=1e-12)

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        if name not in self._constants:
            self._constants[name] = self._onnx.numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def _node(self, kind: str, inputs: list[str], out: str, **attributes: Any) -> str:
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, [out], **attributes))
        return out


CONTESTANTS = {"numpy": numpy_pass, "onnxruntime": onnx_pass}


def measure(name: str, texts: int) -> dict[str, float]:
    """Figures of one contestant, in this process."""
    start = time.perf_counter()
    embed = CONTESTANTS[name]()
    embed([ONE])
    ready = time.perf_counter() - start
    single = []
    for _ in range(100):
        start = time.perf_counter()
        embed([ONE])
        single.append(time.perf_counter() - start)
    many = sentences(texts)
    start = time.perf_counter()
    vectors = embed(many)
    rate = texts / (time.perf_counter() - start)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    difference = float((vectors[:64] * numpy_pass()(many[:64])).sum(axis=1).min()) if name != "numpy" else 1.0
    return {
        "ready_s": round(ready, 2),
        "single_ms_p50": round(sorted(single)[50] * 1000, 1),
        "single_ms_p95": round(sorted(single)[95] * 1000, 1),
        "texts_per_s": round(rate),
        "resident_mb": round(resident / 1024),
        "cosine_to_numpy": round(difference, 6),
    }


def main() -> None:
    """Measure every contestant that is installed and print one line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=512)
    parser.add_argument("--only", choices=CONTESTANTS)
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(measure(arguments.only, arguments.texts)))
        return
    for name in CONTESTANTS:
        if name == "onnxruntime" and not all(map(importlib.util.find_spec, ("onnx", "onnxruntime"))):
            print(f"{name:12s} not installed")
            continue
        command = [sys.executable, __file__, "--only", name, "--texts", str(arguments.texts)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"{name:12s} {done.stdout.strip()}")


if __name__ == "__main__":
    main()
