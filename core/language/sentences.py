"""Sentence splitting; which sentences assert something."""

from __future__ import annotations

import re

from core.language import languages
from core.language.lazy_regex import either, lazy_regex
from core.language.machine_text import is_machine_text

LONGEST = 400
"""Maximum characters of a sentence; longer ones are pasted text."""
LONGEST_ASSERTED = 4_000
"""Maximum characters of an asserting sentence: the patterns are quadratic, and no statement is that long."""
LEAD_WORDS = 9
"""Most words of an introduction with a colon."""
LONGEST_ABBREVIATION = 20
"""Characters at the end of a piece searched for an abbreviation: searching all of it is quadratic."""


_ASSERTIONS = [language.assertions for language in languages.ALL if language.assertions]
_NO_LEAD_IN = either(forms.lead_in.excluded for forms in _ASSERTIONS)
_STATED_ITSELF = either(forms.lead_in.itself for forms in _ASSERTIONS)
_REPORTS = either(forms.lead_in.reports for forms in _ASSERTIONS if forms.lead_in.reports)
ABBREVIATIONS = frozenset[str]().union(*(language.abbreviations for language in languages.ALL))
_UNENDED = either(language.unended for language in languages.ALL if language.unended)

_BLOCKS = lazy_regex(r"```.*?(?:```|\Z)|^[^\S\n]*>[^\n]*$|https?://\S+|`[^`\n]{41,}`", re.DOTALL | re.MULTILINE)
_END = lazy_regex(
    r"(?<=[.!?…])\s+|(?<=[.!?…])[\"'”’)\]]+\s+(?![a-z])|(?<=[。！？；])[”’」』）]*\s*|\n+|"
    r"(?<=[\U0001F300-\U0001FAFF])\s+(?=[A-Z])"
)
_LAST_WORD = lazy_regex(r"(\S+)\.$")
_EMOJI = lazy_regex(r"[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+")
_BULLET = lazy_regex(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")


def split(text: str) -> list[str]:
    """Return the sentences of `text` in order, trimmed, without code, errors, logs, links, quoted lines, list marks.

    A short piece of code within a sentence stays: "Never use the `any` type."
    """
    pieces: list[str] = []
    for raw in _END.split(_BLOCKS.sub(" ", text)):
        piece = _BULLET.sub("", raw or "").strip()
        if pieces and _is_abbreviation(pieces[-1]):
            # Of a sentence that is too long already, only its end counts: to join all of it each time takes n² steps.
            pieces[-1] = f"{pieces[-1]} {piece}"[-LONGEST - 1 :]
        elif piece:
            pieces.append(piece)
    return [piece for piece in pieces if 2 < len(piece) <= LONGEST and not is_machine_text(piece)]


def _is_abbreviation(piece: str) -> bool:
    """Return whether the full stop at the end ends no sentence, in whatever language."""
    tail = piece[-LONGEST_ABBREVIATION:]
    last = _LAST_WORD.search(tail)
    return (last is not None and last.group(1).lower() in ABBREVIATIONS) or _UNENDED.search(tail) is not None


def asserted_part(sentence: str) -> str | None:
    """Return the asserting part of `sentence` without emoji: all, the part before a question, or None."""
    short = len(sentence) <= LONGEST_ASSERTED
    part = _without_lead_in(_EMOJI.sub(" ", sentence).strip()) if short else None
    if part is None:
        return None
    forms = languages.of(part).assertions
    asks = part.rstrip("\"'”’)!").endswith(("?", "？"))
    if forms is None:
        return None if asks else part
    if asks:
        tail = forms.asking_tail.match(part)
        if tail is None:
            return None
        part = tail["said"].strip()
    if forms.is_request(part) or forms.is_question(part) or forms.hypothetical.search(part) or forms.is_quoted(part):
        return None
    return part


def _without_lead_in(sentence: str) -> str | None:
    """Strip an introduction with a colon ("One thing:"); return None if it announces a quotation."""
    several = ((forms.lead_in, forms.lead_in.begins.match(sentence)) for forms in _ASSERTIONS)
    lead_in, match = next(((lead_in, match) for lead_in, match in several if match), (None, None))
    if lead_in is None or match is None:
        return sentence
    lead = match["lead"]
    if _REPORTS.match(lead):
        return sentence
    words = lead.lower().split()
    quoted = lead_in.alone is not None and len(words) == 1 and words[0] not in lead_in.alone
    if quoted or len(words) > LEAD_WORDS or _NO_LEAD_IN.search(lead):
        return None
    return sentence if _STATED_ITSELF.search(lead) else sentence[match.end() :]


def is_request(sentence: str) -> bool:
    """Return whether a sentence only asks for something to be done once."""
    forms = languages.of(sentence).assertions
    return forms is not None and forms.is_request(sentence)


def is_hypothetical(sentence: str) -> bool:
    """Return whether `sentence` speaks of what is not so: a condition, a wish, a dream, a joke, an example."""
    forms = languages.of(sentence).assertions
    return forms is not None and bool(forms.hypothetical.search(sentence))


def is_quoted(sentence: str) -> bool:
    """Return whether `sentence` gives someone else's words: a quotation with a verb of speech, or reported speech."""
    forms = languages.of(sentence).assertions
    return forms is not None and forms.is_quoted(sentence)
