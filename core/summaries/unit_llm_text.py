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

    told: UnitText
    to: int


def unit_text(
    messages: Sequence[Message], retold: Sequence[ExtractedUnit] = (), earlier: EarlierModelText | None = None
) -> UnitText:
    """Return the text of one unit; `retold`: slices of it in the words of a model."""
    plain = list(unit_rule_text.screen_messages(messages))
    lines = list(unit_rule_text.lines(plain))
    told = unit_rule_text.rule_text(plain, lines)
    kept = [one for one in (_drop_unsaid(one, told, plain) for one in retold) if one is not None]
    if earlier is None and not kept:
        return told
    return _with(told, lines, kept, earlier)


def _drop_unsaid(one: ExtractedUnit, told: UnitText, messages: Sequence[Message]) -> ExtractedUnit | None:
    """Drop secrets, and a subject or summary that nobody said, from the model's text; None: nothing is left."""
    seen = [screen.screen(" ".join(said.split())) for said in (one.subject, one.summary, one.narrative, *one.keywords)]
    subject, summary, narrative, *keywords = (said.text for said in seen)
    sources = [*(m.content for m in messages), *told.participants, *(fact["text"] for fact in told.facts)]
    sources += [
        f"{m.occurred_at:%Y-%m-%d %Y %d %B %A %H:%M} {m.occurred_at.day} {m.occurred_at.month}" for m in messages
    ]
    if not narrative or not _is_bounded(narrative, sources) or any(said.hostile for said in seen):
        return None
    subject, summary = (said if _is_bounded(said, sources) else "" for said in (subject, summary))
    return ExtractedUnit(one.message_ids, subject, summary, narrative, [word for word in keywords if word], one.prompt)


def _is_bounded(said: str, sources: Sequence[str]) -> bool:
    return grounding.is_grounded(_OPENING.sub(lambda begun: begun[0].lower(), said), "", sources)


def _with(
    told: UnitText, lines: Sequence[RuleLine], kept: Sequence[ExtractedUnit], earlier: EarlierModelText | None
) -> UnitText:
    """Replace the rules' text by the model's for the same messages."""
    before = earlier.told if earlier else None
    narrative = told.narrative
    if earlier is not None:
        fresh = [line.text for line in lines if line.position > earlier.to]
        narrative = unit_rule_text.narrative_of([earlier.told.narrative, *fresh])
    for one in kept:
        cited = set(one.message_ids)
        narrative = _replace_lines(narrative, [line.text for line in lines if line.message_id in cited], one.narrative)
    summaries = [before.summary if before else "", *(one.summary for one in kept)]
    most = max(kept, key=lambda one: len(one.message_ids), default=None)
    subject = most.subject if most and (before is None or _is_most(most, lines)) else (before or told).subject
    keywords = [*(before.keywords if before else ()), *(word for one in kept for word in one.keywords)]
    return replace(
        told,
        subject=grounding.clip(subject or told.subject, SUBJECT),
        summary=_added_up(summaries) or told.summary,
        narrative=narrative[:NARRATIVE],
        keywords=list(dict.fromkeys(word for word in keywords if word))[:KEYWORDS] or told.keywords,
        prompt=next((one.prompt for one in reversed(kept)), before.prompt if before else None),
    )


def _is_most(one: ExtractedUnit, lines: Sequence[RuleLine]) -> bool:
    return 2 * len({line.message_id for line in lines} & set(one.message_ids)) > len(lines)


def _replace_lines(narrative: str, lines: Sequence[str], words: str) -> str:
    """Put `words` in the place of the first of `lines`, and drop the others."""
    if words in narrative:
        return narrative
    told = narrative.split("\n") if narrative else []
    places = [place for place, one in enumerate(told) if one in lines]
    first = places[0] if places else len(told)
    rest = [one for one in told[first:] if one not in lines]
    return "\n".join([*told[:first], words, *rest])


def _added_up(summaries: Sequence[str]) -> str:
    said = ""
    for one in dict.fromkeys(summaries):
        if one and one not in said and len(said) + len(one) < SUMMARY:
            said = unit_rule_text.join_sentences([said, one])
    return said


_OPENING: Final = re.compile(r"(?:^|(?<=[.!?:] )|(?<=[“\"]))[A-Z](?=[a-z])")
"""The first letter of a sentence, which is a capital whatever the word is."""
