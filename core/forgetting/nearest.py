"""Finds what a request to forget may mean by the meaning of sentences, where no word of it leads there. Pure.

It is a guess, and is held for approval: the sentence of the asker that is nearest to it, or a few equally near.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.forgetting import described, matching, requests
from core.forgetting.extent import ForgetScope
from core.forgetting.matching import Found
from core.forgetting.requests import ForgetRequest
from core.forgetting.talk import PERSON, Passage, Talk, Turn, asker_of
from core.forgetting.text import content_terms
from core.statements.redaction import ERASED

SENTENCES: Final = 200
"""Sentences of the asker that are compared with a request: the latest."""

LEAST: Final = 0.2
"""Cosine from which a sentence may be meant."""

ABOVE_REST: Final = 0.05
"""Distance of the nearest sentence from the average one."""

EQUALLY_NEAR: Final = 0.02
"""Distance from the nearest sentence within which others are held as well."""

MOST: Final = 3
"""Sentences that are held for one request."""


def sentences(request: ForgetRequest, asking: Turn, turns: Sequence[Turn]) -> list[Passage]:
    """Return the sentences of the asker among which a request may mean one; none if it names somebody else."""
    talk = Talk([turn for turn in turns if turn.key != asking.key and turn.role == PERSON])
    if request.values_only or described.named_speakers(request.text, talk) - asker_of(asking).names:
        return []
    own = [
        one
        for one in talk.passages
        if one.turn.user_id == asking.user_id
        and content_terms(one.span.text)
        and ERASED not in one.span.text
        and requests.read(one.turn.text) is None
        and not described.is_kept(one, request)
    ]
    return own[-SENTENCES:]


def description(request: ForgetRequest) -> str:
    """Return the text of a request that says most of what is meant: the sentences that ask."""
    return request.widened[min(1, len(request.widened) - 1)]


def choose(passages: Sequence[Passage], cosines: Sequence[float], turns: Sequence[Turn]) -> Found:
    """Return the sentences that are nearest to the request, with what the assistant repeated of them."""
    best = max(cosines, default=0.0)
    average = sum(cosines) / max(1, len(cosines))
    if best < LEAST or (len(cosines) > 1 and best - average < ABOVE_REST):
        return Found(ForgetScope.SIMILAR, {})
    near = sorted(
        (one for one in zip(cosines, passages, strict=True) if one[0] >= best - EQUALLY_NEAR), key=lambda one: -one[0]
    )
    return at([(one.turn.key, one.span.start, one.span.end) for _, one in near[:MOST]], turns)


def at(spots: Sequence[tuple[Any, int, int]], turns: Sequence[Turn], scope: ForgetScope = ForgetScope.SIMILAR) -> Found:
    """Return what stands at these places, as far as they still are sentences."""
    by_key: Mapping[Any, Turn] = {turn.key: turn for turn in turns}
    places: dict[Any, list[tuple[int, int]]] = {}
    for key, start, end in spots:
        if key in by_key and any((one.start, one.end) == (start, end) for one in by_key[key].pieces):
            places.setdefault(key, []).append((start, end))
    return Found(scope, matching.with_replies(places, turns))
