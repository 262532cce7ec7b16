"""Merges a model's unit texts into those by rules. Pure.

A model is believed where it keeps to what was said: no name, number or address from elsewhere, no command, no secret.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.extraction.protocol import ExtractedUnit
from core.language import grounding
from core.screening import screen
from core.summaries import unit_rule_text
from core.summaries.unit_rule_text import RuleLine, UnitText
from core.types import Message

SUBJECT: Final = 200
"""Characters of a subject."""

SUMMARY: Final = 1_000
"""Characters of what several slices sum up."""

NARRATIVE: Final = 4_000
"""Characters of what several slices tell, with what rules tell of the rest."""

KEYWORDS: Final = 10
"""Keywords of several slices."""


@dataclass(frozen=True, slots=True)
class EarlierModelText:
    """A model's earlier text of a unit, which has grown behind the position `to` since then."""

    text: UnitText
    to: int


def unit_text(
    messages: Sequence[Message], extracted_units: Sequence[ExtractedUnit] = (), earlier: EarlierModelText | None = None
) -> UnitText:
    """Return the text of one unit; `extracted_units`: slices of it in the words of a model."""
    plain = list(unit_rule_text.screen_messages(messages))
    lines = list(unit_rule_text.lines(plain))
    rule_text = unit_rule_text.rule_text(plain, lines)
    model_units = [one for one in (_drop_unsaid(one, rule_text, plain) for one in extracted_units) if one is not None]
    if earlier is None and not model_units:
        return rule_text
    return _with(rule_text, lines, model_units, earlier)


def _drop_unsaid(one: ExtractedUnit, rule_text: UnitText, messages: Sequence[Message]) -> ExtractedUnit | None:
    """Drop secrets, and a subject or summary that nobody said, from the model's text; None: nothing is left."""
    seen = [screen.screen(" ".join(text.split())) for text in (one.subject, one.summary, one.narrative, *one.keywords)]
    subject, summary, narrative, *keywords = (text.text for text in seen)
    sources = [*(m.content for m in messages), *rule_text.participants, *(fact["text"] for fact in rule_text.facts)]
    sources += [
        f"{m.occurred_at:%Y-%m-%d %Y %d %B %A %H:%M} {m.occurred_at.day} {m.occurred_at.month}" for m in messages
    ]
    if not narrative or not _is_bounded(narrative, sources) or any(text.hostile for text in seen):
        return None
    subject, summary = (text if _is_bounded(text, sources) else "" for text in (subject, summary))
    return ExtractedUnit(one.message_ids, subject, summary, narrative, [word for word in keywords if word], one.prompt)


def _is_bounded(text: str, sources: Sequence[str]) -> bool:
    return grounding.is_grounded(_OPENING.sub(lambda begun: begun[0].lower(), text), "", sources)


def _with(
    rule_text: UnitText,
    lines: Sequence[RuleLine],
    model_units: Sequence[ExtractedUnit],
    earlier: EarlierModelText | None,
) -> UnitText:
    """Replace the rules' text by the model's for the same messages."""
    before = earlier.text if earlier else None
    narrative = rule_text.narrative
    if earlier is not None:
        fresh = [line.text for line in lines if line.position > earlier.to]
        narrative = unit_rule_text.narrative_of([earlier.text.narrative, *fresh])
    for one in model_units:
        message_ids = set(one.message_ids)
        narrative = _replace_lines(
            narrative, [line.text for line in lines if line.message_id in message_ids], one.narrative
        )
    summaries = [before.summary if before else "", *(one.summary for one in model_units)]
    most = max(model_units, key=lambda one: len(one.message_ids), default=None)
    subject = most.subject if most and (before is None or _is_most(most, lines)) else (before or rule_text).subject
    keywords = [*(before.keywords if before else ()), *(word for one in model_units for word in one.keywords)]
    return replace(
        rule_text,
        subject=grounding.clip(subject or rule_text.subject, SUBJECT),
        summary=_added_up(summaries) or rule_text.summary,
        narrative=narrative[:NARRATIVE],
        keywords=list(dict.fromkeys(word for word in keywords if word))[:KEYWORDS] or rule_text.keywords,
        prompt=next((one.prompt for one in reversed(model_units)), before.prompt if before else None),
    )


def _is_most(one: ExtractedUnit, lines: Sequence[RuleLine]) -> bool:
    return 2 * len({line.message_id for line in lines} & set(one.message_ids)) > len(lines)


def _replace_lines(narrative: str, lines: Sequence[str], words: str) -> str:
    """Put `words` in the place of the first of `lines`, and drop the others."""
    if words in narrative:
        return narrative
    narrative_lines = narrative.split("\n") if narrative else []
    places = [index for index, one in enumerate(narrative_lines) if one in lines]
    first = places[0] if places else len(narrative_lines)
    rest = [one for one in narrative_lines[first:] if one not in lines]
    return "\n".join([*narrative_lines[:first], words, *rest])


def _added_up(summaries: Sequence[str]) -> str:
    joined = ""
    for one in dict.fromkeys(summaries):
        if one and one not in joined and len(joined) + len(one) < SUMMARY:
            joined = unit_rule_text.join_sentences([joined, one])
    return joined


_OPENING: Final = re.compile(r"(?:^|(?<=[.!?:] )|(?<=[“\"]))[A-Z](?=[a-z])")
"""The first letter of a sentence, which is a capital whatever the word is."""
