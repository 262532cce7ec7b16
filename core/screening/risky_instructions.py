"""Standing instructions that need a person's release: tables of what makes one risky. Pure.

A wish about manners ("answer in French") is harmless whoever said it. One that moves money or data, uses a tool or
gives authority to somebody is what an attacker would plant, so a person has to release it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import re2

from core.language import languages
from core.screening import deobfuscation

ADDRESS: Final = "names an address"
MONEY: Final = "names money or an account"
TOOL: Final = "has a tool used"
AUTHORITY: Final = "gives another person authority"


def risk(wish: str) -> str | None:
    """Return why a standing instruction is risky, in words without a quote; None for a harmless one."""
    plain = deobfuscation.fold(wish)
    return next((what for what, pattern in _COMPILED if pattern.search(plain)), None)


def holds_risky_instruction(text: str) -> bool:
    """Return whether a text contains a risky standing instruction anywhere."""
    if not _STANDING.search(text):
        return False
    wishes = (
        sentence for sentence in _SENTENCE.split(text) if _ORDER.search(sentence) and not _RESOLVE.search(sentence)
    )
    return any(risk(sentence) for sentence in wishes)


def _compile(patterns: Sequence[str]) -> Any:
    options = re2.Options()
    options.log_errors, options.never_capture, options.case_sensitive = False, True, False
    return re2.compile("|".join(f"(?:{pattern})" for pattern in patterns), options)


_FORMS: Final = [language.screening for language in languages.ALL if language.screening]
_STANDING: Final = _compile([pattern for forms in _FORMS for pattern in forms.standing])
_ORDER: Final = _compile([pattern for forms in _FORMS for pattern in forms.order])
_RESOLVE: Final = _compile([pattern for forms in _FORMS for pattern in forms.resolve])
"""Sentences in which somebody says what they will do themselves."""

_SENTENCE: Final = re.compile(r"(?<=[.!?。！？\n])\s*")
_COMPILED: Final = [
    (what, _compile([pattern for forms in _FORMS for pattern in forms.risks.get(kind, ())]))
    for kind, what in {"address": ADDRESS, "money": MONEY, "tool": TOOL, "authority": AUTHORITY}.items()
]
