"""The setting `extractor`: its built-in names, and whether this installation can meet it."""

from __future__ import annotations

from typing import Final

from core import plugins
from core.config import Settings
from core.errors import Misconfigured

AUTO: Final = "auto"
"""The model if one is configured, else the rules."""

BY_MODEL: Final = "llm"
BY_RULES: Final = "offline"

NO_MODEL: Final = "The extractor `llm` needs a model. Set IMPRINT_LLM_BASE_URL, or choose `offline`."


def require(settings: Settings) -> None:
    """Raise Misconfigured if the configured extractor does not exist or lacks its model; load nothing."""
    name = settings.extractor
    if name == BY_MODEL and settings.llm_base_url is None:
        raise Misconfigured(NO_MODEL)
    if name not in plugins.OWN[plugins.EXTRACTORS]:
        plugins.load(plugins.EXTRACTORS, name)
