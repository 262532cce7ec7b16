"""The types of the npm client are those of this checkout's OpenAPI document."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def test_the_types_are_not_stale(root: Path) -> None:
    path = root / "sdk/js/generate.py"
    spec = importlib.util.spec_from_file_location("js_generate", path)
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    written = generate.SCHEMA.read_text(encoding="utf-8").partition("\n")[0] + "\n"
    assert written == generate.heading(generate.document()), "the OpenAPI document has changed: run `make js-types`"
