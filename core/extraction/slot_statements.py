"""Candidates with the slots that their statement fills, for readers of every language. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.language import languages
from core.language.language import Grammar, Slot
from core.types import Candidate, Kind


def by_attribute(slots: Iterable[Slot]) -> list[list[Slot]]:
    """Return slots grouped by attribute and subject, in order."""
    grouped: dict[tuple[str, str | None, bool], list[Slot]] = {}
    for slot in slots:
        grouped.setdefault((slot.attribute, slot.about, slot.pattern.negated), []).append(slot)
    return list(grouped.values())


def fill_slot(base: Candidate, slots: Sequence[Slot], subject: str) -> Candidate:
    """Return `base` about `subject` with its slot filled by one value, or with the list of several values."""
    slot, pattern = slots[0], slots[0].pattern
    exclusive = pattern.exclusive and not pattern.negated
    side_by_side = {"attribute": slot.attribute, "values": [s.value for s in slots], "negated": pattern.negated}
    return replace(
        base, category=pattern.category, topic=pattern.topic, kind=Kind.SEMANTIC, importance=pattern.importance,
        confidence=0.85, subject=subject, attribute=slot.attribute if exclusive else None,
        value=slot.value if exclusive else None, corrects=base.corrects or pattern.corrects,
        structured=base.structured if exclusive else base.structured | side_by_side,
    )  # fmt: skip


def content(subject: str, slots: Sequence[Slot], language: Grammar, sentence: str) -> str:
    """Return an attribute of `subject` and its values as a short sentence.

    A relative is named by the word that `sentence` has: "husband", where the attribute says "spouse".
    """
    attribute, stated = slots[0].attribute, language.stated
    form: str = stated.get(attribute) or stated.get(attribute.split(".")[0]) or stated[""]
    if slots[0].pattern.negated:
        form = stated.get(f"not {attribute}") or stated["not"]
    value = language.joiner.join(slot.value for slot in slots)
    last = attribute.split(".")[-1]
    what = language.as_said(language.labels.get(last, last.replace("_", " ")), sentence)
    return form.format(who=subject, value=value, a_value=language.with_article(value), what=what)


def about(speaker: str, slot: Slot) -> str:
    """Return whom a slot speaks of: the speaker, somebody by name, or a relative of the speaker."""
    if not slot.about:
        return speaker
    of = languages.phrases(languages.by_script(slot.about)).possessive
    return slot.about if slot.about[0].isupper() else of.format(who=speaker, what=slot.about)
