"""A new tenant's rules: JSON files next to this module, one per rule."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Final

from core.types import Json


def load() -> list[Json]:
    """Return the documents of `rules/defaults/*.json` by name."""
    folder = files("rules").joinpath("defaults")
    texts = [entry.read_text(encoding="utf-8") for entry in folder.iterdir() if entry.name.endswith(".json")]
    return sorted((json.loads(text) for text in texts), key=lambda document: str(document["name"]))


NAMES: Final = frozenset(str(document["name"]) for document in load())
"""Names of the default rules."""

OTHER = "other"
"""What all rules but the defaults count as."""


def public_name(rule: str) -> str:
    """Return the name of a default rule, and OTHER for the rest, for metrics and traces.

    Names of tenants' rules would be visible to their readers, and each would stay there after its rule is deleted.
    """
    return rule if rule in NAMES else OTHER
