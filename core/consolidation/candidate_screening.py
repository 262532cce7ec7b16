"""Screens statements before they are stored: secrets are removed, hostile ones found. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from core.screening import masking, risky_instructions, screen
from core.types import Candidate, Category, Trust

MOST_IMPORTANCE_OF_QUARANTINED = 0.3
"""Upper bound of the importance of a quarantined statement: one that tries to steer an agent calls itself urgent."""


@dataclass(frozen=True, slots=True)
class ScreenedCandidate:
    """A candidate without its secrets, and the findings against it in words: its secrets, and why it is hostile."""

    candidate: Candidate
    secret: str
    hostile: str


def screened(candidate: Candidate) -> ScreenedCandidate:
    """Screen a statement and its evidence alike: a hostile message makes no harmless memory."""
    stated = [candidate.subject, candidate.content, candidate.tags, candidate.structured]
    slot = {candidate.attribute or "": candidate.value}
    quotes = [evidence.quote for evidence in candidate.evidence]
    hostile = _hostile(
        {*(text for _, text in masking.texts([*stated, candidate.value])), *quotes}
    ) or _instruction_risk(candidate)
    secrets = masking.secrets_in([*stated, slot])
    removed = secrets | masking.secrets_in(quotes)
    if not removed:
        return ScreenedCandidate(candidate, "", hostile)
    return ScreenedCandidate(_redact(candidate, removed), "; ".join(dict.fromkeys(secrets.values())), hostile)


def quarantined(candidate: Candidate) -> Candidate:
    """Return a candidate that is not served until someone has looked at it."""
    importance = min(candidate.importance, MOST_IMPORTANCE_OF_QUARANTINED)
    return replace(candidate, trust=Trust.QUARANTINED, importance=importance, pinned=False)


def _instruction_risk(candidate: Candidate) -> str:
    """Return why a person has to release a standing instruction; empty for other statements."""
    if candidate.category is not Category.INSTRUCTION:
        return ""
    # Without the name of its subject, which may be an id with as many digits as a telephone number.
    wish = candidate.content.removeprefix(candidate.subject)
    risks = (risky_instructions.risk(text) for text in (wish, *(e.quote for e in candidate.evidence)))
    return next((f"a standing instruction that {risk}" for risk in risks if risk), "")


def _hostile(texts: Iterable[str]) -> str:
    """Return why the texts are hostile, without quoting them: reasons are shown where the text is not."""
    findings = [finding for text in texts for finding in screen.screen(text).findings if finding.kind in screen.HOSTILE]
    return "; ".join(dict.fromkeys(finding.detail.partition(': "')[0] for finding in findings))


def _redact(candidate: Candidate, secrets: Mapping[str, str]) -> Candidate:
    """Return the candidate without these secrets in any field. A slot without its value is dropped."""
    clean = partial(masking.without, secrets=secrets)
    slotted = candidate.value is not None and clean(candidate.value) == candidate.value
    return replace(
        candidate,
        subject=clean(candidate.subject),
        content=clean(candidate.content),
        attribute=candidate.attribute if slotted else None,
        value=candidate.value if slotted else None,
        tags=tuple(clean(list(candidate.tags))),
        structured=clean(candidate.structured),
        evidence=tuple(replace(e, quote=clean(e.quote)) for e in candidate.evidence),
    )
