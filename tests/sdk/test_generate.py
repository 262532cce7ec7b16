from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType


def generator(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", root / "sdk/python/generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_synchronous_client_is_current(root: Path) -> None:
    kept = {path.name: path.read_text() for path in (root / "sdk/python/imprint_client/_sync").glob("*.py")}
    assert kept == generator(root).generated(), "run python sdk/python/generate.py"


def test_nothing_asynchronous_is_left(root: Path) -> None:
    words = " ".join(generator(root).generated().values())
    assert "await " not in words
    assert "async def" not in words
    assert "asyncio" not in words
