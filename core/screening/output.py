"""Screening of output: secrets are masked, hostile text is marked. What is stored stays as it was sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from core.memoize import DigestCache, digest
from core.screening import masking, risky_instructions, screen, secret_scanner
from core.types import Evidence, Message

_VERDICTS: Final[DigestCache[int]] = DigestCache(50_000)
"""Cached verdicts by digest of a text: the same messages are returned again and again, and most are harmless."""

_CLEAN, _SECRET, _HOSTILE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class ScreenedOutput:
    """A screened text, and whether it tries to command its reader."""

    text: str
    hostile: bool


def screened_output(text: str) -> ScreenedOutput:
    """Return a text without its secrets, and whether it is hostile."""
    key = digest(text)
    verdict = _VERDICTS.get(key, None)
    if verdict is None:
        screened = screen.screen(text)
        hostile = screened.hostile or risky_instructions.holds_risky_instruction(text)
        verdict = (_SECRET if screened.secret else _CLEAN) | (_HOSTILE if hostile else _CLEAN)
        _VERDICTS.put(key, verdict)
    masked = secret_scanner.redact(text, secret_scanner.find_secrets(text)) if verdict & _SECRET else text
    return ScreenedOutput(masked, bool(verdict & _HOSTILE))


def messages(several: Iterable[Message]) -> list[Message]:
    """Return messages without their secrets, excluding hostile ones."""
    seen = [(message, screened_output(message.content)) for message in several]
    return [
        message if it.text is message.content else replace(message, content=it.text)
        for message, it in seen
        if not it.hostile
    ]


def evidence(source: Evidence) -> Evidence:
    """Return the evidence of a memory without secrets."""
    text = screened_output(source.quote).text
    return source if text is source.quote else replace(source, quote=text)


def value(json: Any) -> Any:
    """Return a JSON value without its secrets."""
    return masking.mask(json)
