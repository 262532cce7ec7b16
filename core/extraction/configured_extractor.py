"""The extractor that the settings select."""

from __future__ import annotations

from typing import Final

from core import plugins
from core.config import Settings
from core.errors import Misconfigured
from core.extraction import rule_extractor
from core.extraction.llm_extractor import ModelExtractor
from core.extraction.protocol import Extractor, Open, Reading, Window
from core.inference.client import Client, OnCall

AUTO: Final = "auto"
"""A model where there is one, else the rules."""


_NO_MODEL: Final = "The extractor `llm` needs a model. Set IMPRINT_LLM_BASE_URL, or choose `offline`."


class RuleExtractor:
    """Reads by rules alone: no model, no network, the same answer every time."""

    name = "offline"
    prompt = None

    def read(self, window: Window, _on_call: OnCall) -> Reading:
        """What the fresh messages state; those before them tell who speaks to whom, and what was asked."""
        fresh = {message.id for message in window.fresh}
        found = rule_extractor.extract([*window.before, *window.fresh], window.known)
        return Reading([one for one in found if {e.message_id for e in one.evidence} <= fresh])


def require(settings: Settings) -> None:
    """Misconfigured: nobody brings the extractor that is set, or it lacks its model. Nothing is loaded."""
    name = settings.extractor
    if name == ModelExtractor.name and settings.llm_base_url is None:
        raise Misconfigured(_NO_MODEL)
    if name not in plugins.OWN[plugins.EXTRACTORS]:
        plugins.named(plugins.EXTRACTORS, name)


def chosen(settings: Settings, model: Client | None, name: str | None = None) -> Extractor:
    """The extractor of that name, or the one that is set. Misconfigured: there is none, or it lacks its model."""
    wanted = name or settings.extractor
    if wanted == AUTO:
        wanted = ModelExtractor.name if model else RuleExtractor.name
    if wanted == RuleExtractor.name:
        return RuleExtractor()
    if wanted == ModelExtractor.name:
        if model is None:
            raise Misconfigured(_NO_MODEL)
        return ModelExtractor(model, settings.prompts)
    opened: Open = plugins.named(plugins.EXTRACTORS, wanted)
    return opened(settings)
