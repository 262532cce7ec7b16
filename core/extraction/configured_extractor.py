"""The extractor that the settings select."""

from __future__ import annotations

from typing import Final

from core import plugins
from core.config import Settings
from core.errors import Misconfigured
from core.extraction import rule_extractor
from core.extraction.llm_extractor import ModelExtractor
from core.extraction.protocol import Extractor, Open, Reading, Window
from core.inference.client import ChatClient, OnCall

AUTO: Final = "auto"
"""A model where there is one, else the rules."""


_NO_MODEL: Final = "The extractor `llm` needs a model. Set IMPRINT_LLM_BASE_URL, or choose `offline`."


class RuleExtractor:
    """Reads by rules alone: no model, no network, the same answer every time."""

    name = "offline"
    prompt = None

    def read(self, window: Window, _on_call: OnCall) -> Reading:
        """Return the statements of the fresh messages; those before them show who speaks to whom and what was asked."""
        fresh = {message.id for message in window.fresh}
        found = rule_extractor.extract([*window.before, *window.fresh], window.known)
        return Reading([one for one in found if {e.message_id for e in one.evidence} <= fresh])


def require(settings: Settings) -> None:
    """Raise Misconfigured if the configured extractor does not exist or lacks its model; load nothing."""
    name = settings.extractor
    if name == ModelExtractor.name and settings.llm_base_url is None:
        raise Misconfigured(_NO_MODEL)
    if name not in plugins.OWN[plugins.EXTRACTORS]:
        plugins.load(plugins.EXTRACTORS, name)


def load_extractor(settings: Settings, model: ChatClient | None, name: str | None = None) -> Extractor:
    """Return the named or configured extractor. Misconfigured: it does not exist, or lacks its model."""
    chosen = name or settings.extractor
    if chosen == AUTO:
        chosen = ModelExtractor.name if model else RuleExtractor.name
    if chosen == RuleExtractor.name:
        return RuleExtractor()
    if chosen == ModelExtractor.name:
        if model is None:
            raise Misconfigured(_NO_MODEL)
        return ModelExtractor(model, settings.prompts)
    opened: Open = plugins.load(plugins.EXTRACTORS, chosen)
    return opened(settings)
