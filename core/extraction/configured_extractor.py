"""The extractor that the settings select."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from core import plugins
from core.config import Settings
from core.errors import Misconfigured
from core.extraction import extractor_setting, rule_extractor
from core.extraction.llm_extractor import ModelExtractor
from core.extraction.protocol import Extractor, Open, Reading, Window
from core.extraction.rule_extractor import Reader
from core.inference import local_reader
from core.inference.client import ChatClient, OnCall
from core.types import Candidate


class RuleExtractor:
    """Reads by rules alone: no model, no network, the same answer every time."""

    name = extractor_setting.BY_RULES
    prompt = None

    def __init__(self, reader: Reader | None = None) -> None:
        """`reader`: tells what corrects a slip of the tongue and what matters; None: words alone tell what matters."""
        self._reader = reader

    def read(self, window: Window, _on_call: OnCall) -> Reading:
        """Return the statements of the fresh messages; those before them show who speaks to whom and what was asked."""
        fresh = {message.id for message in window.fresh}
        read = rule_extractor.extract([*window.before, *window.fresh], self._reader, fresh)
        return Reading([kept for candidate in read if (kept := _of_fresh(candidate, fresh))])


def _of_fresh(candidate: Candidate, fresh: Collection[str]) -> Candidate | None:
    """Return the candidate with its evidence in fresh messages; None without.

    If the other message was read before, the candidate corrects what was learnt of that.
    """
    kept = tuple(evidence for evidence in candidate.evidence if evidence.message_id in fresh)
    corrects = candidate.corrects or len(kept) < len(candidate.evidence)
    return replace(candidate, evidence=kept, corrects=corrects) if kept else None


def by_rules(settings: Settings) -> RuleExtractor:
    """Return the extractor by rules, with the reader of this installation."""
    return RuleExtractor(local_reader.reader(settings))


def load_extractor(settings: Settings, model: ChatClient | None, name: str | None = None) -> Extractor:
    """Return the named or configured extractor; of `both` the model's, beside which the rules read everything.

    Misconfigured: it does not exist, or lacks its model.
    """
    chosen = extractor_setting.resolve(settings, has_model=model is not None, name=name)
    if chosen == extractor_setting.BY_RULES:
        return by_rules(settings)
    if chosen in extractor_setting.WITH_MODEL:
        if model is None:
            raise Misconfigured(extractor_setting.no_model(chosen))
        return ModelExtractor(model, settings.prompts)
    opened: Open = plugins.load(plugins.EXTRACTORS, chosen)
    return opened(settings)
