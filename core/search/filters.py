"""Applies filters and picks candidates."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.search.resident import candidates
from core.search.resident.candidates import Candidates, Flags, Floats, Places
from core.search.resident.loading import ENUMERATED, seconds
from core.search.resident.snapshot import View
from core.search.resident.vectors import Cosines
from core.types import Category

READ_ALL: Final = 5_000
"""Of up to so many candidates all are ranked; of more those that an arm names."""

ARM_LIMIT: Final = 1_000
"""Candidates that each arm names of a large store."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a row must be like. Of several values any will do; what is None or empty lets everything through.

    `retold`: episodes too. `statuses` and `trust`: of which a memory may be.
    """

    messages: bool
    memories: bool
    statuses: Sequence[str]
    trust: Sequence[str]
    kinds: Sequence[str] = ()
    categories: Sequence[str] = ()
    topics: Sequence[str] = ()
    tags: Sequence[str] = ()
    session_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    min_importance: float | None = None
    min_similarity: float | None = None
    expired: bool = False
    retold: bool = False


@dataclass(frozen=True, slots=True)
class Sifted:
    """What the filters let through, and how near it is; its words have not been looked at yet.

    `rows`: all of it as candidates; None: it is too much, and an arm has to name which. `near`: those that the vector
    names, where it is too much and there is one.
    """

    view: View
    places: Places
    cosine: Cosines
    rows: Candidates | None
    near: Places | None


def sifted(view: View, filters: Filters, vector: Floats | None) -> Sifted:
    """What the filters let through of what is at hand."""
    cosine = view.cosines(vector)
    places = _passing(view, filters, cosine)
    if len(places) <= READ_ALL:
        return Sifted(view, places, cosine, _candidates(view, places, cosine), None)
    near = cosine.nearest(places) if cosine.asked else None
    return Sifted(view, places, cosine, None, None if near is None else _top(near, cosine.of(near)))


def chosen(sifted: Sifted, lexical: NDArray[np.float32]) -> Candidates:
    """As candidates; of a large store the best of each arm, with what they rest on. `lexical`: how well words fit."""
    if sifted.rows is not None:
        return replace(sifted.rows, lexical=lexical[sifted.places].astype(np.float64))
    best = _best(sifted, lexical)
    return replace(_candidates(sifted.view, best, sifted.cosine), lexical=lexical[best].astype(np.float64))


def joined(found: Candidates, fresh: Sequence[candidates.Hit]) -> Candidates:
    """With messages that are not indexed yet."""
    if not fresh:
        return found
    more = candidates.of(fresh, found.session_ids, found.speakers)
    names = "keys memory lexical cosine sessions position told timed asks names at role speaker retired".split()
    both = {name: np.concatenate([getattr(found, name), getattr(more, name)]) for name in names}
    return replace(found, **both, session_ids=more.session_ids, speakers=more.speakers)


def _passing(view: View, filters: Filters, cosine: Cosines) -> Places:
    """The places of what the filters let through."""
    fields = view.fields
    memory = fields["memory"]
    passed = view.alive.copy()
    if not filters.memories:
        passed &= ~memory
    if not filters.messages:
        passed &= memory
    if filters.session_id is not None:
        passed &= view.sessions == view.registers.sessions.numbers.get(filters.session_id, -1)
    if filters.since is not None:
        passed &= fields["at"] >= seconds(filters.since)
    if filters.until is not None:
        passed &= fields["at"] <= seconds(filters.until)
    if filters.as_of is not None:
        passed &= memory | (fields["at"] <= seconds(filters.as_of))
    if filters.memories:
        passed &= ~memory | _believed(fields, filters) & _wanted(view, filters)
    places = np.flatnonzero(passed)
    if filters.min_similarity is not None:
        places = places[cosine.of(places) >= filters.min_similarity]  # What has no vector is near to nothing.
    return places


def _believed(fields: Mapping[str, NDArray[Any]], filters: Filters) -> Flags:
    """Memories that stand, at the time that is asked about."""
    known = time.time() if filters.known_at is None else seconds(filters.known_at)
    believed: Flags = _one_of(fields, "status", filters.statuses) & _one_of(fields, "trust", filters.trust)
    if not filters.expired:
        believed &= fields["expires"] > known
    if filters.as_of is not None:
        moment = seconds(filters.as_of)
        believed &= (fields["since"] <= moment) & (fields["until"] > moment)
    return believed


def _wanted(view: View, filters: Filters) -> Flags:
    """Memories of the kinds that are asked for."""
    fields = view.fields
    wanted = np.ones(len(view), dtype=np.bool_)
    for name, values in (("kind", filters.kinds), ("category", filters.categories), ("topic", filters.topics)):
        if values:
            wanted &= _one_of(fields, name, values)
    if not filters.retold:
        wanted &= ~_one_of(fields, "category", [Category.EPISODE])
    if filters.min_importance is not None:
        wanted &= fields["importance"] >= np.float32(filters.min_importance)
    if filters.tags:
        asked = set(filters.tags)
        tagged = [at for at in np.flatnonzero(wanted).tolist() if not asked.isdisjoint(view.tags(at))]
        wanted = np.zeros(len(view), dtype=np.bool_)
        wanted[tagged] = True
    return wanted


def _one_of(fields: Mapping[str, NDArray[Any]], name: str, values: Sequence[str]) -> Flags:
    read, allowed = fields[name], np.zeros(len(fields[name]), dtype=np.bool_)
    for value in values:
        allowed |= read == ENUMERATED[name].index(value) + 1
    return allowed


def _candidates(view: View, places: Places, cosine: Cosines) -> Candidates:
    """The rows at these places, but for how well their words fit."""
    fields = view.fields
    there = np.zeros(len(view), dtype=np.bool_)
    there[places] = True
    pairs = np.flatnonzero(there[view.citing] & there[view.cited])
    moved = np.empty(len(view), dtype=np.int64)
    moved[places] = np.arange(len(places))
    cites = moved[np.stack([view.citing[pairs], view.cited[pairs]], axis=1)]
    return Candidates(
        keys=view.keys[places],
        session_ids=view.registers.sessions.numbers,
        memory=fields["memory"][places],
        lexical=np.zeros(len(places)),
        cosine=cosine.of(places).astype(np.float64),
        sessions=view.sessions[places],
        position=fields["position"][places].astype(np.int64),
        told=fields["told"][places].astype(np.float64),
        timed=fields["timed"][places],
        asks=fields["asks"][places],
        names=fields["names"][places].astype(np.float64),
        at=fields["at"][places].astype(np.float64),
        role=fields["role"][places].astype(np.int64),
        speaker=view.speakers[places],
        speakers=view.registers.speakers.numbers,
        retired=view.retired[places],
        citations=cites,
    )


def _best(sifted: Sifted, lexical: NDArray[np.float32]) -> Places:
    """Those that an arm names, with the messages that memories among them cite, and the memories that cite them."""
    view, places = sifted.view, sifted.places
    named = [
        _top(places, lexical[places], fitting=sifted.cosine.asked),
        *([] if sifted.near is None else [sifted.near]),
    ]
    passed, wanted = np.zeros((2, len(view)), dtype=np.bool_)
    passed[places] = True
    wanted[np.concatenate(named)] = True
    ends = wanted[view.citing] | wanted[view.cited]
    wanted[view.citing[ends]] = True
    wanted[view.cited[ends]] = True
    return np.flatnonzero(passed & wanted)


def _top(places: Places, scores: NDArray[np.float32], *, fitting: bool = False) -> Places:
    """The best of some places, of equals the first; `fitting`: of those alone that score at all."""
    least = 0.0 if fitting else -np.inf
    if len(places) > ARM_LIMIT:
        least = max(least, np.partition(scores, len(scores) - ARM_LIMIT)[len(scores) - ARM_LIMIT])
    best = scores > least
    if not fitting or least > 0:
        best[np.flatnonzero(scores == least)[: ARM_LIMIT - np.count_nonzero(best)]] = True
    return places[best]
