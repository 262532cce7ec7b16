"""Words of requests to forget and of other commands to delete, in every language. Pure."""

from __future__ import annotations

from typing import Final

from core.language import languages
from core.language.lazy_regex import either

_FORMS: Final = [language.forgetting.wording for language in languages.ALL if language.forgetting]

BARE: Final = either(forms.bare for forms in _FORMS)
"""Commands to delete, of whatever."""

FOREIGN: Final = either(forms.foreign for forms in _FORMS)
"""Sources other than the memory: "from the shopping list", "in the draft"."""

NEGATED: Final = either(forms.negated for forms in _FORMS)
"""Refusals to delete; "don't forget" asks for the opposite."""

QUESTION: Final = either(forms.question for forms in _FORMS)

WRITING: Final = either(forms.writing for forms in _FORMS)
"""Work on a text, in which a request may stand."""

REPORT: Final = either(forms.report for forms in _FORMS)
"""Reports that somebody forgot or deleted something."""

COMMAND: Final = either(forms.command for forms in _FORMS)
"""Any word of deleting or forgetting."""

FRAME: Final = either(forms.frame for forms in _FORMS)
"""Words of a request around what it means."""

ACT: Final = either(forms.act for forms in _FORMS)
"""Clauses that ask, rather than give a reason."""

MEMORY_SOURCE: Final = either(forms.memory_source for forms in _FORMS)
"""The memory of the assistant, or words for it."""

SOURCE: Final = either(forms.source for forms in _FORMS)
