"""The extractor that the settings select."""

from __future__ import annotations

from core import plugins
from core.config import Settings
from core.errors import Misconfigured
from core.extraction import extractor_setting, rule_extractor
from core.extraction.llm_extractor import ModelExtractor
from core.extraction.protocol import Extractor, Open, Reading, Window
from core.inference.client import ChatClient, OnCall


class RuleExtractor:
    """Reads by rules alone: no model, no network, the same answer every time."""

    name = extractor_setting.BY_RULES
    prompt = None

    def read(self, window: Window, _on_call: OnCall) -> Reading:
        """Return the statements of the fresh messages; those before them show who speaks to whom and what was asked."""
        fresh = {message.id for message in window.fresh}
        found = rule_extractor.extract([*window.before, *window.fresh], window.known)
        return Reading([one for one in found if {e.message_id for e in one.evidence} <= fresh])


def load_extractor(settings: Settings, model: ChatClient | None, name: str | None = None) -> Extractor:
    """Return the named or configured extractor; of `both` the model's, beside which the rules read everything.

    Misconfigured: it does not exist, or lacks its model.
    """
    chosen = extractor_setting.resolve(settings, has_model=model is not None, name=name)
    if chosen == extractor_setting.BY_RULES:
        return RuleExtractor()
    if chosen in extractor_setting.WITH_MODEL:
        if model is None:
            raise Misconfigured(extractor_setting.no_model(chosen))
        return ModelExtractor(model, settings.prompts)
    opened: Open = plugins.load(plugins.EXTRACTORS, chosen)
    return opened(settings)
