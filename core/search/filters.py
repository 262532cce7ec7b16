"""Filters of a search, applied to the cached rows, and the choice of candidates."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.index.resident.arrays import Flags, Floats, Places
from core.index.resident.encoding import ENUMERATED, message_key, seconds
from core.index.resident.excerpt import Name
from core.index.resident.snapshot import Snapshot
from core.index.resident.vectors import Cosines
from core.memory import as_of
from core.memory.as_of import NOW, Moment
from core.search import candidates
from core.search.candidates import Candidates
from core.types import Category, Trust

READ_ALL: Final = 5_000
"""Candidates up to which all are ranked; of more only those that an arm picks."""

ARM_LIMIT: Final = 1_000
"""Candidates that each arm picks from a large store."""


SERVED: Final = (Trust.CANDIDATE, Trust.CONFIRMED, Trust.DISPUTED)
"""Levels of trust that are found unless others are asked for."""

EVERYWHERE: Final = frozenset({"memories", "messages", "documents"})


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on results. Any of several values matches; None or empty matches everything.

    `trust`: `quarantined` is returned only on request, `rejected` never. `moment`: as of when. `structured`,
    `metadata`: fields that a result has (`core.memory.field_filters.demands`). `matches`: the rows that have them, by
    the name of the filter, once they are looked up.
    """

    include: frozenset[str] = EVERYWHERE
    kinds: Sequence[str] = ()
    categories: Sequence[str] = ()
    topics: Sequence[str] = ()
    tags: Sequence[str] = ()
    session_id: str | None = None
    uri_prefix: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    min_similarity: float | None = None
    min_importance: float | None = None
    include_archived: bool = False
    trust: Sequence[str] = SERVED
    moment: Moment = NOW
    structured: str | None = None
    metadata: str | None = None
    matches: Mapping[str, frozenset[Name]] = field(default_factory=dict)

    @property
    def statuses(self) -> list[str]:
        return self.moment.statuses(archived=self.include_archived)

    @property
    def trusted(self) -> list[str]:
        return [trust for trust in self.trust if trust != Trust.REJECTED]

    @property
    def episodes(self) -> bool:
        """True if episodes match. They repeat their messages in more words, and unasked would rank before them."""
        return bool(self.kinds or self.categories or self.structured)

    @property
    def names_fields(self) -> bool:
        return self.structured is not None or self.metadata is not None

    def parameters(self, user_id: str | None, group_id: str | None) -> dict[str, Any]:
        """Return the parameters of SQL that applies the filters to rows of a user or a group."""
        return {
            "user": user_id,
            "group": group_id,
            "session": self.session_id,
            "uri_prefix": self.uri_prefix,
            "since": self.since,
            "until": self.until,
            "as_of": self.moment.as_of,
            "known_at": self.moment.known_at,
            "statuses": self.statuses,
            "trust": self.trusted,
            "archived": self.include_archived,
            "kinds": list(self.kinds) or None,
            "categories": list(self.categories) or None,
            "episodes": self.episodes,
            "topics": list(self.topics) or None,
            "tags": list(self.tags) or None,
            "importance": self.min_importance,
            "structured": self.structured,
            "metadata": self.metadata,
        }


NO_FILTERS: Final = Filters()

FITS_SQL: Final = f"""
    m.status = ANY(:statuses) AND m.trust = ANY(:trust) AND {as_of.TRUE}
    AND (cast(:session AS text) IS NULL OR m.session_id = :session)
    AND (cast(:since AS timestamptz) IS NULL OR m.occurred_at >= :since)
    AND (cast(:until AS timestamptz) IS NULL OR m.occurred_at <= :until)
    AND (cast(:kinds AS text[]) IS NULL OR m.kind = ANY(:kinds))
    AND (cast(:categories AS text[]) IS NULL OR m.category = ANY(:categories))
    AND (:episodes OR m.category <> 'episode')
    AND (cast(:topics AS text[]) IS NULL OR m.topic = ANY(:topics))
    AND (cast(:tags AS text[]) IS NULL OR m.tags && cast(:tags AS text[]))
    AND (cast(:importance AS float8) IS NULL OR m.importance >= :importance)
"""
"""Condition that a row `m` of `memories` passes the filters, but for its expiry; with `Filters.parameters`."""


@dataclass(frozen=True, slots=True)
class FilteredRows:
    """Rows that pass the filters with their cosines; lexical scores are not known yet.

    `rows`: all of them as candidates; None: they are too many, and the arms must pick. `near`: those that the vector
    arm picks, if they are too many and there is a vector.
    """

    view: Snapshot
    places: Places
    cosine: Cosines
    rows: Candidates | None
    near: Places | None


def filter_rows(view: Snapshot, filters: Filters, vector: Floats | None) -> FilteredRows:
    """Apply the filters to the cached rows."""
    cosine = view.cosines(vector)
    places = _passing_positions(view, filters, cosine)
    if len(places) <= READ_ALL:
        return FilteredRows(view, places, cosine, _candidates(view, places, cosine), None)
    near = cosine.nearest(places) if cosine.asked else None
    return FilteredRows(view, places, cosine, None, None if near is None else _top(near, cosine.of(near)))


def select(filtered: FilteredRows, lexical: NDArray[np.float32]) -> Candidates:
    """Return candidates; of a large store the best of each arm, and what they cite. `lexical`: scores by words."""
    if filtered.rows is not None:
        return replace(filtered.rows, lexical=lexical[filtered.places].astype(np.float64))
    best = _best(filtered, lexical)
    return replace(_candidates(filtered.view, best, filtered.cosine), lexical=lexical[best].astype(np.float64))


def merge_unindexed(indexed: Candidates, fresh: Sequence[candidates.Hit]) -> Candidates:
    """Append messages that are not indexed yet."""
    if not fresh:
        return indexed
    more = candidates.of(fresh, indexed.session_ids, indexed.speakers)
    both = {name: np.concatenate([getattr(indexed, name), getattr(more, name)]) for name in candidates.COLUMNS}
    return replace(indexed, **both, session_ids=more.session_ids, speakers=more.speakers)


def failed(view: Snapshot, position: int, filters: Filters, vector: Floats | None) -> list[str]:
    """Return the names of the filters that leave out the row at a position; empty: it passes them all."""
    names = [name for name, passes in _conditions(view, filters) if not passes[position]]
    if filters.tags and view.fields["memory"][position] and set(filters.tags).isdisjoint(view.tags(position)):
        names.append("tags")
    if filters.min_similarity is not None:
        cosine = view.cosines(vector).of(np.array([position], dtype=np.int64))
        names += ["min_similarity"] if not cosine[0] >= filters.min_similarity else []
    return list(dict.fromkeys(names))


def _passing_positions(view: Snapshot, filters: Filters, cosine: Cosines) -> Places:
    """Return the positions of rows that pass the filters."""
    passed = view.alive.copy()
    for _, passes in _conditions(view, filters):
        passed &= passes
    if filters.tags:
        tags, memory = set(filters.tags), view.fields["memory"]
        untagged = [
            position for position in np.flatnonzero(passed & memory).tolist() if tags.isdisjoint(view.tags(position))
        ]
        passed[untagged] = False
    places = np.flatnonzero(passed)
    if filters.min_similarity is not None:
        places = places[cosine.of(places) >= filters.min_similarity]  # A row without a vector is near to nothing.
    return places


def _conditions(view: Snapshot, filters: Filters) -> Iterator[tuple[str, Flags]]:
    """Yield which rows pass each filter, by its name in a request; tags and similarity take one row at a time."""
    fields, as_of = view.fields, filters.moment.as_of
    memory: Flags = fields["memory"]
    if "memories" not in filters.include:
        yield "include", ~memory
    if "messages" not in filters.include:
        yield "include", memory
    if filters.session_id is not None:
        yield "session_id", view.sessions == view.interners.sessions.numbers.get(filters.session_id, -1)
    if filters.since is not None:
        yield "time", fields["at"] >= seconds(filters.since)
    if filters.until is not None:
        yield "time", fields["at"] <= seconds(filters.until)
    if as_of is not None:
        yield "as_of", memory | (fields["at"] <= seconds(as_of))
    for name, rows in filters.matches.items():
        yield name, _among(view, rows)
    if "memories" in filters.include:
        for name, passes in (*_match_validity(fields, filters), *_match_content(fields, filters)):
            yield name, ~memory | passes


def _match_validity(fields: Mapping[str, NDArray[Any]], filters: Filters) -> Iterator[tuple[str, Flags]]:
    """Match memories by status, trust, expiry and validity at the moment asked about."""
    as_of, known_at = filters.moment.as_of, filters.moment.known_at
    yield "status", _one_of(fields, "status", filters.statuses)
    yield "trust", _one_of(fields, "trust", filters.trusted)
    if not filters.include_archived:
        yield "expires_at", fields["expires"] > (time.time() if known_at is None else seconds(known_at))
    if as_of is not None:
        yield "as_of", (fields["since"] <= seconds(as_of)) & (fields["until"] > seconds(as_of))


def _match_content(fields: Mapping[str, NDArray[Any]], filters: Filters) -> Iterator[tuple[str, Flags]]:
    """Match memories by kind, category, topic and importance."""
    for name, values in (("kind", filters.kinds), ("category", filters.categories), ("topic", filters.topics)):
        if values:
            yield _PLURALS[name], _one_of(fields, name, values)
    if not filters.episodes:
        yield "episodes", ~_one_of(fields, "category", [Category.EPISODE])
    if filters.min_importance is not None:
        yield "min_importance", fields["importance"] >= np.float32(filters.min_importance)


def _among(view: Snapshot, rows: frozenset[Name]) -> Flags:
    """Return which rows are among those named."""
    passes = np.zeros(len(view), dtype=np.bool_)
    positions = view.rows_of([ref if type_ == "memory" else message_key(session, ref) for type_, session, ref in rows])
    passes[positions[positions >= 0]] = True
    return passes


_PLURALS: Final = {"kind": "kinds", "category": "categories", "topic": "topics"}


def _one_of(fields: Mapping[str, NDArray[Any]], name: str, values: Sequence[str]) -> Flags:
    read, allowed = fields[name], np.zeros(len(fields[name]), dtype=np.bool_)
    for value in values:
        allowed |= read == ENUMERATED[name].index(value) + 1
    return allowed


def _candidates(view: Snapshot, places: Places, cosine: Cosines) -> Candidates:
    """Return the rows at these positions as candidates, without lexical scores."""
    fields = view.fields
    # Where all pass, as nearly always, nothing is copied.
    some: Places | slice = slice(None) if len(places) == len(view) else places
    return Candidates(
        keys=view.keys[some],
        session_ids=view.interners.sessions.numbers,
        memory=fields["memory"][some],
        lexical=np.zeros(len(places)),
        cosine=cosine.of(places).astype(np.float64),
        sessions=view.sessions[some],
        position=fields["position"][some].astype(np.int64),
        told=fields["told"][some].astype(np.float64),
        timed=fields["timed"][some],
        asks=fields["asks"][some],
        names=fields["names"][some].astype(np.float64),
        at=fields["at"][some].astype(np.float64),
        role=fields["role"][some].astype(np.int64),
        speaker=view.speakers[some],
        speakers=view.interners.speakers.numbers,
        retired=view.retired[some],
        outdated=view.outdated[some],
        citations=_citations(view, places),
    )


def _citations(view: Snapshot, places: Places) -> Places:
    """Return the pairs of a memory and a message among these positions, by their places in them."""
    cites = np.stack([view.citing, view.cited], axis=1)
    if len(places) == len(view):
        return cites
    moved = np.full(len(view), -1, dtype=np.int64)
    moved[places] = np.arange(len(places))
    pairs = moved[cites]
    return pairs[(pairs >= 0).all(axis=1)]


def _best(filtered: FilteredRows, lexical: NDArray[np.float32]) -> Places:
    """Return what the arms pick, with the messages that its memories cite and the memories that cite its messages."""
    view, places = filtered.view, filtered.places
    picks = [
        _top(places, lexical[places], fitting=filtered.cosine.asked),
        *([] if filtered.near is None else [filtered.near]),
    ]
    passed, chosen = np.zeros((2, len(view)), dtype=np.bool_)
    passed[places] = True
    chosen[np.concatenate(picks)] = True
    ends = chosen[view.citing] | chosen[view.cited]
    chosen[view.citing[ends]] = True
    chosen[view.cited[ends]] = True
    return np.flatnonzero(passed & chosen)


def _top(places: Places, scores: NDArray[np.float32], *, fitting: bool = False) -> Places:
    """Return the best positions, of equals the first; `fitting`: only those with a score above 0."""
    least = 0.0 if fitting else -np.inf
    if len(places) > ARM_LIMIT:
        least = max(least, np.partition(scores, len(scores) - ARM_LIMIT)[len(scores) - ARM_LIMIT])
    best = scores > least
    if not fitting or least > 0:
        best[np.flatnonzero(scores == least)[: ARM_LIMIT - np.count_nonzero(best)]] = True
    return places[best]
