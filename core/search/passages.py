"""Scores and reads passages of documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.index import search_index
from core.index.search_index import COSINE, LEXICAL
from core.language.terms import term_id
from core.memory import field_filters
from core.search.candidates import Hit
from core.storage.db import Tx, run_together
from core.storage.multiquery import BoundStatement

ARM_LIMIT = 300
"""Passages that each arm picks at most."""


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage; `from_char` and `to_char` are its place in the document's content."""

    document_id: UUID
    position: int
    title: str
    headings: Sequence[str]
    content: str
    uri: str | None
    from_char: int
    to_char: int
    user_id: str | None
    group_id: str | None
    occurred_at: datetime
    version: int


def counts_query(user_id: str | None, group_id: str | None, terms: Sequence[str]) -> BoundStatement:
    """Return the query behind `counts_by_owner`: messages and passages with these words, and all of them."""
    ids = [*{term_id(term) for term in terms}, search_index.DOCUMENTS]
    return _COUNTS, {"owners": _counted_under(user_id, group_id), "terms": ids}


def counts_by_owner(user_id: str | None, group_id: str | None, rows: Iterable[Any]) -> dict[str, dict[int, int]]:
    """Return counts by owner name; of a user and a group, the user's come first."""
    counts: dict[str, dict[int, int]] = {owner: {} for owner in _counted_under(user_id, group_id)}
    for row in rows:
        counts[row.owner][row.term] = row.documents
    return counts


def _counted_under(user_id: str | None, group_id: str | None) -> list[str]:
    shelves = [*search_index.passage_owners(user_id, group_id), search_index.TENANT_PASSAGES]
    return [*search_index.owners(user_id, group_id)[:1], *dict.fromkeys(shelves)]


def sum_counts(counted: Mapping[str, Mapping[int, int]]) -> Counter[int] | None:
    """Sum the counts of all owners, by which a passage's words are weighted; None: there is no passage."""
    of_passages = [counts for owner, counts in counted.items() if owner.startswith(search_index.TENANT_PASSAGES)]
    if not any(counts.get(search_index.DOCUMENTS) for counts in of_passages):
        return None
    total: Counter[int] = Counter()
    for counts in counted.values():
        total.update(counts)
    return total


def hits(tx: Tx, values: Mapping[str, Any]) -> list[Hit]:
    """Return the best passages of each arm among the user's, the group's and the whole tenant's."""
    rows = tx.execute(_HITS, {**values, "arm": ARM_LIMIT})
    return [
        Hit(key(row.session_id, row.position), "document", row.lexical, row.cosine, row.session_id, row.position)
        for row in rows
    ]


def key(document_id: object, position: int) -> str:
    """Return the key of a passage: `<document>#<passage>`."""
    return f"{document_id}#{position}"


def passages(tx: Tx, keys: Sequence[str]) -> dict[str, FoundPassage]:
    """Return passages by key, without those that do not exist or may not be shown."""
    return passages_by_key(run_together(tx, passages_query(keys))[0]) if keys else {}


def passages_query(keys: Sequence[str]) -> BoundStatement:
    """Return the statement that reads passages by key; for `passages_by_key`."""
    pairs = [passage_key.rsplit("#", 1) for passage_key in keys]
    return _PASSAGES, {
        "documents": [UUID(document_id) for document_id, _ in pairs],
        "positions": [int(position) for _, position in pairs],
    }


def passages_by_key(rows: Iterable[Any]) -> dict[str, FoundPassage]:
    """Return the passages read, by key."""
    return {key(row.document_id, row.position): FoundPassage(*row) for row in rows}


_COUNTS = text("SELECT owner, term, documents FROM term_counts WHERE owner = ANY(:owners) AND term = ANY(:terms)")

_OWNED = (
    "i.user_id = :user",
    "i.group_id = :group AND (i.user_id = :user) IS NOT TRUE",
    "i.user_id IS NULL AND i.group_id IS NULL",
)
"""Owners of the passages read, each by its own index: joined by OR, one over the whole tenant would be scanned."""

_SCORED = " UNION ALL ".join(
    f"""
    SELECT i.session_id, i.position, {LEXICAL}, {COSINE} AS cosine FROM search_index i
    WHERE i.type = 'document' AND {owned}
      AND (cast(:since AS timestamptz) IS NULL OR i.occurred_at >= :since)
      AND (cast(:until AS timestamptz) IS NULL OR i.occurred_at <= :until)
      AND (cast(:as_of AS timestamptz) IS NULL OR i.occurred_at <= :as_of)
      AND (cast(:known_at AS timestamptz) IS NULL OR i.occurred_at <= :known_at)
      AND (cast(:uri_prefix AS text) IS NULL OR EXISTS (
          SELECT FROM documents d WHERE d.id = cast(i.session_id AS uuid) AND starts_with(d.uri, :uri_prefix)))
      AND (cast(:metadata AS text) IS NULL OR EXISTS (
          SELECT FROM documents d
          WHERE d.id = cast(i.session_id AS uuid) AND {field_filters.condition("metadata", "d.metadata")}))
    """
    for owned in _OWNED
)
"""Earlier versions of a document are not kept."""

_HITS = search_index.best_of_arms(_SCORED, "session_id, position")

_PASSAGES = text("""
    SELECT p.document_id, p.position, d.title, p.headings, p.content, d.uri, p.from_char, p.to_char, d.user_id,
           d.group_id, i.occurred_at, d.version
    FROM unnest(cast(:documents AS uuid[]), cast(:positions AS int[])) AS wanted (document_id, position)
    JOIN passages p USING (document_id, position)
    JOIN documents d ON d.id = p.document_id
    JOIN search_index i ON i.type = 'document' AND i.session_id = cast(p.document_id AS text)
                       AND i.ref = cast(p.position AS text)
""")
"""Quarantined passages have no row in the index."""
