"""The setting `extractor`: its built-in names, and whether this installation can meet it."""

from __future__ import annotations

from typing import Final

from core import plugins
from core.config import Settings
from core.errors import Misconfigured

AUTO: Final = "auto"
"""Rules and model if one is configured, else the rules."""

BOTH: Final = "both"
BY_MODEL: Final = "llm"
BY_RULES: Final = "offline"

WITH_MODEL: Final = frozenset({BOTH, BY_MODEL})
"""Extractors that need a model."""


def resolve(settings: Settings, *, has_model: bool, name: str | None = None) -> str:
    """Return the name of the extractor that is named or configured, with `auto` replaced by what it stands for."""
    chosen = name or settings.extractor
    if chosen != AUTO:
        return chosen
    return BOTH if has_model else BY_RULES


def no_model(name: str) -> str:
    """Return what is wrong with an extractor that lacks its model."""
    return f"The extractor `{name}` needs a model. Set IMPRINT_LLM_BASE_URL, or choose `offline`."


def require(settings: Settings) -> None:
    """Raise Misconfigured if the configured extractor does not exist or lacks its model; load nothing."""
    name = settings.extractor
    if name in WITH_MODEL and settings.llm_base_url is None:
        raise Misconfigured(no_model(name))
    if name not in plugins.OWN[plugins.EXTRACTORS]:
        plugins.load(plugins.EXTRACTORS, name)
