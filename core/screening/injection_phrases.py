"""Phrases of prompt injection.

Phrases with spaces are matched as whole words in lower case with single spaces; they do not cross sentence ends. Those
of Chinese are matched in simplified characters without spaces. `core.screening.deobfuscation` makes both forms,
independent of how a text is spelled. Each line is one phrase; an indented line continues the previous one.
`<name>` in a phrase refers to the line of that name in `WORDS` or `HAN_WORDS`.
"""

from __future__ import annotations

import re

from core.language import languages

DROP = "would have its reader drop its instructions"
ROLE = "would have its reader become someone without rules"
REVEAL = "would have its reader reveal its instructions"
POSE = "poses as the system or its operator"
OBEY = "demands obedience"
CONCEAL = "would have its reader hide something from its user"
CALL = "would have its reader call a tool"
CARRY = "would carry private data out"


def _lines(table: str) -> list[str]:
    """Return the lines of a table, rejoined where they were broken: after a bar, or before a word or a group."""
    whole = re.sub(r"\n {4}(?=\( )|(?<=\|)\n {4}", "", table.strip("\n"))
    return re.sub(r"\n {4}", " ", whole).splitlines()


def _han_lines(table: str) -> list[str]:
    return table.strip("\n").replace("\n    ", "").splitlines()


def _named_lines(lines: list[str]) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in lines)


_KINDS = {
    "drop": DROP,
    "role": ROLE,
    "reveal": REVEAL,
    "pose": POSE,
    "obey": OBEY,
    "conceal": CONCEAL,
    "call": CALL,
    "carry": CARRY,
}
_SPACED = [language.screening for language in languages.ALL if language.screening and not language.has_script]
_UNSPACED = [language.screening for language in languages.ALL if language.screening and language.has_script]

WORDS = _named_lines([line for forms in _SPACED for line in _lines(forms.words)])

PHRASES = {
    what: [line for forms in _SPACED for line in _lines(forms.phrases.get(kind, ""))] for kind, what in _KINDS.items()
}
"""Kinds of injection, with their phrases."""

NEGATED = tuple(f" {word}".encode() for forms in _SPACED for word in forms.negated)
"""Words before a phrase by which it is warned of, not requested."""

TOLD = tuple(f" {who}".encode() for forms in _SPACED for who in forms.told)
"""Words before a phrase by which it is reported of someone."""

HAN_WORDS = _named_lines([line for forms in _UNSPACED for line in _han_lines(forms.words)])

HAN_PHRASES = {
    what: [line for forms in _UNSPACED for line in _han_lines(forms.phrases.get(kind, ""))]
    for kind, what in _KINDS.items()
}
"""The same in scripts without spaces."""

HAN_NEGATED = tuple(word for forms in _UNSPACED for word in forms.negated)
"""The same in scripts without spaces."""
