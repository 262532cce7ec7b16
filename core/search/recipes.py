"""Named search configurations. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final, Literal

from core.types import Json

DAY_SECONDS: Final = 86_400

Name = Literal[
    "default", "precise", "broad", "recent", "associative", "chat", "task", "profile", "even_blend", "recent_blend"
]

Formula = Literal["even_blend", "recent_blend"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A named configuration of the ranking. Parameters of the request override it.

    Scores are on a scale on which the best match by words counts 1. `recency`: the gain of a result of now, halved
    after each `half_life_days`. `diversity`: 0 ranks by score alone, 1 only by dissimilarity to the results before.
    `association`: share of the spread activation that a memory gains; 0 skips that step. `lexical` and `vector`
    multiply the scores of each arm. `share`: of the best score, which a result must reach. `rerank`: the best
    results are read part by part, and those are returned that may answer the query, the most certain first; in searches
    that cannot be reranked `share` decides. `distinct`: without results that cite only messages which results
    before them are or cite. `include`: types to search, if not all. `formula`: of `core.memory.decay`, by which
    memories are ranked instead: similarity to the question, decay and importance.
    """

    name: Name
    meaning: str
    limit: int = 10
    adaptive: bool = False
    min_similarity: float | None = None
    recency: float = 0.0
    half_life_days: float = 30.0
    diversity: float = 0.0
    association: float = 0.0
    lexical: float = 1.0
    vector: float = 1.0
    share: float = 0.0
    rerank: bool = False
    distinct: bool = False
    include: frozenset[str] = frozenset({"memories", "messages", "documents"})
    formula: Formula | None = None

    def as_json(self) -> Json:
        """Return all its fields."""
        return asdict(self) | {"include": sorted(self.include)}


DEFAULT: Final = Recipe("default", "What fits best, whenever it was: the ranking as it was measured.")

_ALL: Final = (
    DEFAULT,
    Recipe(
        "precise",
        "Few results and reliable ones: each from a message of its own, and likely to answer the query.",
        limit=5,
        share=0.78,
        rerank=True,
        distinct=True,
    ),
    Recipe(
        "broad",
        "All sides of a matter: many results that repeat each other little, by meaning more than by words.",
        limit=30,
        diversity=0.3,
        vector=1.25,
    ),
    Recipe(
        "recent",
        "What is new about it: of two that fit as well, the later one, by far.",
        recency=1.0,
        half_life_days=7.0,
    ),
    Recipe(
        "associative",
        "What hangs together: also what is tied to the best results by relations, shared evidence or one slot.",
        limit=15,
        association=0.5,
    ),
    Recipe(
        "chat",
        "For the next turn of a conversation: as many as the question deserves, the last weeks a little ahead.",
        limit=15,
        adaptive=True,
        recency=0.2,
        half_life_days=14.0,
    ),
    Recipe(
        "task",
        "For a piece of work: what was settled about it and what follows from that, with its ties.",
        limit=20,
        recency=0.1,
        half_life_days=60.0,
        diversity=0.1,
        association=0.3,
    ),
    Recipe(
        "profile",
        "For knowing someone: many memories on many matters, and neither messages nor documents.",
        limit=50,
        diversity=0.4,
        include=frozenset({"memories"}),
    ),
    Recipe(
        "even_blend",
        "What is near, fresh and important, the last two alike: 0.6·similarity + 0.2·decay + 0.2·importance.",
        include=frozenset({"memories"}),
        formula="even_blend",
    ),
    Recipe(
        "recent_blend",
        "What is near, important and fresh, in this order: 0.6·similarity + 0.25·importance + 0.15·decay.",
        include=frozenset({"memories"}),
        formula="recent_blend",
    ),
)

RECIPES: Final[Mapping[str, Recipe]] = {recipe.name: recipe for recipe in _ALL}
"""Every recipe by its name."""
