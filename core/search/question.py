"""A question to the search, and its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from core.index.resident.arrays import Floats
from core.index.search_index import sparse_literal
from core.index.vector_notation import vector_literal
from core.search.filters import NO_FILTERS, Filters
from core.search.ordering import RankedHit, RankedPage
from core.search.pagination import RankPlace
from core.search.passages import FoundPassage
from core.search.recipes import DEFAULT, Recipe
from core.search.units import FoundUnit
from core.types import Evidence, Message

Method = Literal["hybrid", "keyword", "vector"]


@dataclass(frozen=True, slots=True)
class Question:
    """A query, its owner, and the required properties of results.

    `each`: `limit` per type. `recipe`: its weights; its filters and limit have been merged into the question. `after`:
    results after a place in the ranking. `now`: time of the question; None: the current time. `wordings`: the query
    with other names of those whom it mentions; None: nobody has looked for any yet.
    """

    query: str
    user_id: str | None
    group_id: str | None = None
    limit: int = 10
    method: Method = "hybrid"
    filters: Filters = NO_FILTERS
    each: bool = False
    recipe: Recipe = DEFAULT
    after: RankPlace | None = None
    now: datetime | None = None
    wordings: tuple[str, ...] | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of SQL that applies the filters."""
        return self.filters.parameters(self.user_id, self.group_id)

    def arms(self, terms: Mapping[int, float], vector: Floats | None) -> dict[str, Any]:
        """Return the parameters of SQL that scores rows of the index by words and by vector."""
        literal = None if vector is None else vector_literal(vector)
        return {**self.parameters, "vector": literal, "terms": sparse_literal(terms or {1: 0.0})}


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A result: a memory's row, a message, a passage or a unit, its rank, and its evidence.

    `doubted`: a memory that something said later may have ended, or a message that such a memory rests on.
    `says_more`: a message of which the superseded memories quote only a part.
    """

    ranked: RankedHit
    sources: Sequence[Evidence]
    message: Message | None = None
    memory: Any = None
    passage: FoundPassage | None = None
    unit: FoundUnit | None = None
    doubted: bool = False
    says_more: bool = False

    @property
    def superseded(self) -> bool:
        """True for a message whose memories are all superseded, and say what it says."""
        return self.message is not None and self.ranked.hit.retired and not self.says_more

    @property
    def partly_superseded(self) -> bool:
        """True for a message that says more than its superseded memories."""
        return self.message is not None and self.ranked.hit.outdated and not self.superseded


@dataclass(frozen=True, slots=True)
class RankedAnswer:
    """Results, and the page of the ranking that they are from.

    `considered`: number of rows that passed the filters, by type. `took`: milliseconds of each stage.
    """

    results: Sequence[SearchResult]
    considered: Mapping[str, int]
    page: RankedPage | None = None
    took: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.considered.values())
