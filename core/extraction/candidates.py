"""Candidates without a slot, for readers of every language. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from core.language import dates
from core.language.calendar import DateMention
from core.language.language import CategoryCue, Grammar
from core.types import Candidate, Category, Evidence, Kind, Message, Topic

IMPORTANCE, CONFIDENCE = 0.5, 0.6
"""The defaults for a statement that no cue weighs."""


def evidence(message: Message, quote: str) -> tuple[Evidence, ...]:
    """Return the evidence that quotes a message."""
    return (Evidence(message.session_id, message.id, message.event_id, quote),)


def category_cue(text: str, language: Grammar) -> CategoryCue | None:
    """Return the first cue for a category in a text."""
    return next((cue for cue in language.categories if cue.regex.search(text)), None)


def is_ahead(mentions: Sequence[DateMention], message: Message) -> bool:
    """Return whether all dates lie after the message, and there is one."""
    return bool(mentions) and all(mention.when > dates.wall_clock(message.occurred_at) for mention in mentions)


def without_slot(
    content: str, text: str, subject: str, message: Message, mentions: Sequence[DateMention],
    language: Grammar, *, quote: str, corrects: bool, category: Category | None = None,
    importance: float | None = None, confidence: float = CONFIDENCE,
) -> Candidate:  # fmt: skip
    """Build a candidate dated by the first of its dates; its topic comes from `text`, its category unless given."""
    cue = category_cue(text, language)
    if category is None:
        category = _category(cue, ahead=is_ahead(mentions, message))
    if importance is None:
        importance = cue.importance if cue else IMPORTANCE
    return Candidate(
        content,
        category,
        next((theme.topic for theme in language.themes if theme.regex.search(text)), Topic.OTHER),
        subject,
        evidence(message, quote),
        mentions[0].when if mentions else message.occurred_at,
        kind=Kind.EPISODIC if category is Category.EVENT else Kind.SEMANTIC,
        importance=importance,
        confidence=confidence,
        corrects=corrects,
        structured={"date_precision": mentions[0].precision.value} if mentions else {},
    )


def _category(cue: CategoryCue | None, *, ahead: bool) -> Category:
    """Choose by the cue; a plan where a date lies ahead and no cue says otherwise ("We are flying on 3 June")."""
    if ahead and (cue is None or cue.category is Category.EVENT):
        return Category.PLAN
    return cue.category if cue else Category.FACT
