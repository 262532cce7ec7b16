"""Merges a model's unit texts into those by rules. Pure.

A model's text is accepted if it adds nothing: no other name, number or address, no command, no secret.
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
"""Maximum characters of a subject."""

SUMMARY: Final = 1_000
"""Maximum characters of a merged summary."""

NARRATIVE: Final = 4_000
"""Maximum characters of a merged narrative, including parts by rules."""

KEYWORDS: Final = 10
"""Maximum keywords of several slices."""


@dataclass(frozen=True, slots=True)
class EarlierModelText:
    """A model's earlier text of a unit that has grown after the position `to`."""

    text: UnitText
    to: int


def unit_text(
    messages: Sequence[Message], extracted_units: Sequence[ExtractedUnit] = (), earlier: EarlierModelText | None = None
) -> UnitText:
    """Return the text of one unit; `extracted_units`: slices of it in the words of a model."""
    plain = list(unit_rule_text.screen_messages(messages))
    lines = list(unit_rule_text.lines(plain))
    rule_text = unit_rule_text.rule_text(plain, lines)
    model_units = [
        unit for unit in (_drop_unsaid(unit, rule_text, plain) for unit in extracted_units) if unit is not None
    ]
    if earlier is None and not model_units:
        return rule_text
    return _with(rule_text, lines, model_units, earlier)


def _drop_unsaid(unit: ExtractedUnit, rule_text: UnitText, messages: Sequence[Message]) -> ExtractedUnit | None:
    """Drop secrets, and unsupported subjects or summaries, from the model's text; None: nothing is left."""
    seen = [
        screen.screen(" ".join(text.split())) for text in (unit.subject, unit.summary, unit.narrative, *unit.keywords)
    ]
    subject, summary, narrative, *keywords = (text.text for text in seen)
    sources = [*(m.content for m in messages), *rule_text.participants, *(fact["text"] for fact in rule_text.facts)]
    sources += [
        f"{m.occurred_at:%Y-%m-%d %Y %d %B %A %H:%M} {m.occurred_at.day} {m.occurred_at.month}" for m in messages
    ]
    if not narrative or not _is_bounded(narrative, sources) or any(text.hostile for text in seen):
        return None
    subject, summary = (text if _is_bounded(text, sources) else "" for text in (subject, summary))
    return ExtractedUnit(
        unit.message_ids, subject, summary, narrative, [keyword for keyword in keywords if keyword], unit.prompt
    )


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
    for unit in model_units:
        message_ids = set(unit.message_ids)
        narrative = _replace_lines(
            narrative, [line.text for line in lines if line.message_id in message_ids], unit.narrative
        )
    summaries = [before.summary if before else "", *(unit.summary for unit in model_units)]
    most = max(model_units, key=lambda unit: len(unit.message_ids), default=None)
    subject = most.subject if most and (before is None or _is_most(most, lines)) else (before or rule_text).subject
    keywords = [*(before.keywords if before else ()), *(keyword for unit in model_units for keyword in unit.keywords)]
    return replace(
        rule_text,
        subject=grounding.clip(subject or rule_text.subject, SUBJECT),
        summary=_added_up(summaries) or rule_text.summary,
        narrative=narrative[:NARRATIVE],
        keywords=list(dict.fromkeys(keyword for keyword in keywords if keyword))[:KEYWORDS] or rule_text.keywords,
        prompt=next((unit.prompt for unit in reversed(model_units)), before.prompt if before else None),
    )


def _is_most(unit: ExtractedUnit, lines: Sequence[RuleLine]) -> bool:
    return 2 * len({line.message_id for line in lines} & set(unit.message_ids)) > len(lines)


def _replace_lines(narrative: str, lines: Sequence[str], replacement: str) -> str:
    """Replace the first of `lines` by `replacement`, and drop the others."""
    if replacement in narrative:
        return narrative
    narrative_lines = narrative.split("\n") if narrative else []
    indexes = [index for index, line in enumerate(narrative_lines) if line in lines]
    first = indexes[0] if indexes else len(narrative_lines)
    rest = [line for line in narrative_lines[first:] if line not in lines]
    return "\n".join([*narrative_lines[:first], replacement, *rest])


def _added_up(summaries: Sequence[str]) -> str:
    joined = ""
    for summary in dict.fromkeys(summaries):
        if summary and summary not in joined and len(joined) + len(summary) < SUMMARY:
            joined = unit_rule_text.join_sentences([joined, summary])
    return joined


_OPENING: Final = re.compile(r"(?:^|(?<=[.!?:] )|(?<=[“\"]))[A-Z](?=[a-z])")
"""First letter of a sentence, capitalized regardless of the word."""
