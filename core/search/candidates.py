"""Candidates of a search, as arrays and one by one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

import numpy as np

from core.index.resident.arrays import Flags, Numbers, Places, Texts, texts
from core.index.resident.encoding import ROLES, message_of_key

NEGLIGIBLE: Final = 1e-9
"""A score by words that is none."""

COLUMNS: Final = (
    "keys memory lexical cosine sessions position told timed asks names at role speaker retired outdated".split()
)
"""Arrays with one value for each candidate."""

Type = Literal["memory", "message", "document", "unit"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A candidate: a message, a memory that `cites` messages by their keys, a passage of a document, or a unit.

    `key` is unique; `lexical` is the inner product of the sparse vectors; `cosine` is None without a vector; `told` and
    `timed` come from `evidence`; `position` counts within `session_id`; `at` is when it was said or happened, in
    seconds since 1970; `role` and `speaker` say who spoke; `asks`: it contains a question; `names`: number of names;
    `retired`: a message that supports only superseded memories; `outdated`: one that supports any.
    """

    key: str
    type: Type
    lexical: float
    cosine: float | None
    session_id: str | None = None
    position: int = 0
    told: int = 0
    timed: bool = False
    cites: tuple[str, ...] = ()
    at: float = 0.0
    role: str = ""
    speaker: str = ""
    asks: bool = False
    names: int = 0
    retired: bool = False
    outdated: bool = False


@dataclass(frozen=True, slots=True)
class Candidates:
    """Messages and memories as arrays. `cosine` is NaN where there is no vector.

    `sessions` and `speaker` index `session_ids` and `speakers`; `role` indexes `ROLES`.
    `citations`: pairs of positions, a memory and a message that it cites.
    """

    keys: Texts
    memory: Flags
    lexical: Numbers
    cosine: Numbers
    sessions: Places
    position: Places
    told: Numbers
    timed: Flags
    asks: Flags
    names: Numbers
    at: Numbers
    role: Places
    speaker: Places
    retired: Flags
    outdated: Flags
    citations: Places
    session_ids: Mapping[str, int]
    speakers: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.keys)

    def with_words(self) -> Candidates:
        """Return those that have a word of the question, and memories that cite one of these."""
        matched = self.lexical > NEGLIGIBLE
        citing, cited = self.citations.T
        matched[citing[matched[cited]]] = True
        return self if matched.all() else self._only(matched)

    def _only(self, kept: Flags) -> Candidates:
        places = np.cumsum(kept) - 1
        citations = places[self.citations[kept[self.citations].all(axis=1)]]
        return replace(self, **{name: getattr(self, name)[kept] for name in COLUMNS}, citations=citations)

    def hit(self, index: int) -> Hit:
        """Return one of them."""
        return self.hits(np.array([index], dtype=np.int64))[0]

    def hits(self, places: Places) -> list[Hit]:
        """Return those at these positions."""
        chosen = np.zeros(len(self), dtype=np.bool_)
        chosen[places] = True
        pairs = self.citations[chosen[self.citations[:, 0]]]
        cites: dict[int, list[str]] = {}
        for citing, key in zip(pairs[:, 0].tolist(), self.keys[pairs[:, 1]].tolist(), strict=True):
            cites.setdefault(citing, []).append(key)
        read = zip(*(getattr(self, name)[places].tolist() for name in _OF_A_HIT), strict=True)
        return [
            Hit(
                key=key,
                type="memory" if memory else "message",
                lexical=lexical,
                cosine=None if cosine != cosine else cosine,  # noqa: PLR0124 - NaN is none
                session_id=None if memory else message_of_key(key)[0],
                position=position,
                told=int(told),
                timed=timed,
                cites=tuple(cites.get(index, ())),
                asks=asks,
                names=int(names),
                at=at,
                role=ROLES[role],
                retired=retired,
                outdated=outdated,
            )
            for index, values in zip(places.tolist(), read, strict=True)
            for key, memory, lexical, cosine, position, told, timed, asks, names, at, role, retired, outdated in [
                values
            ]
        ]


_OF_A_HIT: Final = "keys memory lexical cosine position told timed asks names at role retired outdated".split()


def of(
    hits: Sequence[Hit],
    session_ids: Mapping[str, int] = MappingProxyType({}),
    speakers: Mapping[str, int] = MappingProxyType({}),
) -> Candidates:
    """Build candidates from hits; sessions and speakers are numbered on from the given ones."""
    index_of = {hit.key: index for index, hit in enumerate(hits)}
    pairs = [(index, index_of[key]) for index, hit in enumerate(hits) for key in hit.cites if key in index_of]
    sessions, spoke = dict(session_ids), dict(speakers)
    return Candidates(
        keys=texts([hit.key for hit in hits]),
        memory=np.array([hit.type == "memory" for hit in hits], dtype=np.bool_),
        lexical=np.array([hit.lexical for hit in hits], dtype=np.float64),
        cosine=np.array([np.nan if hit.cosine is None else hit.cosine for hit in hits], dtype=np.float64),
        sessions=np.array([sessions.setdefault(hit.session_id or "", len(sessions)) for hit in hits], dtype=np.int64),
        position=np.array([hit.position for hit in hits], dtype=np.int64),
        told=np.array([hit.told for hit in hits], dtype=np.float64),
        timed=np.array([hit.timed for hit in hits], dtype=np.bool_),
        asks=np.array([hit.asks for hit in hits], dtype=np.bool_),
        names=np.array([hit.names for hit in hits], dtype=np.float64),
        at=np.array([hit.at for hit in hits], dtype=np.float64),
        role=np.array([ROLES.index(hit.role) for hit in hits], dtype=np.int64),
        speaker=np.array([spoke.setdefault(hit.speaker, len(spoke)) for hit in hits], dtype=np.int64),
        retired=np.array([hit.retired for hit in hits], dtype=np.bool_),
        outdated=np.array([hit.outdated for hit in hits], dtype=np.bool_),
        citations=np.array(pairs, dtype=np.int64).reshape(-1, 2),
        session_ids=sessions,
        speakers=spoke,
    )
