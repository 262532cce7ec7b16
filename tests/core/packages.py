"""Packages with plug-ins, as if they were installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.config import Settings

Publish = Callable[..., None]


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publish:
    """Puts a package on the path as an installer does: a module, and what its metadata says it brings."""

    def put(package: str, group: str, *points: str, code: str = "") -> None:
        folder = tmp_path / package
        metadata = folder / f"{package}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (folder / f"{package}.py").write_text(code, encoding="utf-8")
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text("\n".join([f"[{group}]", *points]) + "\n")
        monkeypatch.syspath_prepend(str(folder))

    return put


def with_embedding(name: str) -> Settings:
    return Settings(embedding="hash").model_copy(update={"embedding": name})
