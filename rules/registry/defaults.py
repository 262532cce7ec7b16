"""The rules that a new tenant starts with: JSON files beside this module, one a rule."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Final

from core.types import Json


def load() -> list[Json]:
    """The documents of `rules/defaults/*.json`, by name."""
    folder = files("rules").joinpath("defaults")
    texts = [entry.read_text(encoding="utf-8") for entry in folder.iterdir() if entry.name.endswith(".json")]
    return sorted((json.loads(text) for text in texts), key=lambda document: str(document["name"]))


NAMES: Final = frozenset(str(document["name"]) for document in load())
"""What they are called: the only names of rules that stand in metrics, which know no tenant and are never forgotten."""
