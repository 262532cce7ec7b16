"""Lists, searches and single memories in the shape of mem0, with its filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from api.compat import annotated, filters, shapes
from api.compat.annotated import Annotation
from api.compat.requests import FindRequest, ListRequest
from api.ingress.dependencies import Dependencies
from core.browsing import listing, owners
from core.browsing.listing import MemoryFilter
from core.consolidation.echo import Served
from core.errors import NotFound
from core.memory import as_of, field_filters, memories, relations
from core.remembering import stated as stated_requests
from core.search import query
from core.search.filters import SERVED, Filters
from core.search.question import Question, SearchResult
from core.search.recall_log import Asker
from core.sessions import transcripts
from core.storage.db import Tx
from core.tenancy.tenants import Caller
from core.types import Evidence, Json, Relation, Status

SCANNED: Final = 5_000
"""Memories that one list reads, the newest ones, to apply a filter that the database cannot."""

AT_ONCE: Final = 500
"""Memories that are read together."""

OWNERS: Final = 10
"""Users whose memories one request searches or lists one by one."""

NARROWED: Final = 500
"""Results of a search that are read to find those which pass a filter."""


def page(deps: Dependencies, caller: Caller, request: ListRequest) -> list[Json]:
    """Return all memories that pass the filter, newest first; beyond SCANNED none is looked at."""
    tree, now, left, passing = request.tree, datetime.now(UTC), SCANNED, []
    with deps.db.tenant(caller.tenant_id) as tx:
        for owner in _listed_owners(tree):
            for rows in _pages(tx, owner, tree, archived=request.show_expired, most=left):
                left -= len(rows)
                passing += _passing(_memories_json(tx, rows), tree, request, now)
    passing.sort(key=lambda memory: str(memory["id"]), reverse=True)
    return [shapes.only(memory, request.fields) for memory in passing]


def search(deps: Dependencies, caller: Caller, request: FindRequest) -> list[Json]:
    """Return the best memories that pass the filter, best first; they count as recalled."""
    tree, now = request.tree, annotated.moment_of(request.reference_date) or datetime.now(UTC)
    named = filters.owners_of(tree)
    with deps.db.tenant(caller.tenant_id) as tx:
        searched = sorted(named)[:OWNERS] if named is not None else _any_owners(tx, tree)
    candidates = [best for owner in searched for best in _best_of(deps, caller, request, owner, now)]
    candidates.sort(key=lambda memory: -memory["score"])
    best = candidates[: request.top_k]
    _note(deps, caller, best, request.query)
    return [shapes.only(memory, request.fields) for memory in best]


def _best_of(deps: Dependencies, caller: Caller, request: FindRequest, owner: str, now: datetime) -> list[Json]:
    """Return the best memories of one user that pass the filter."""
    tree, results = request.tree, _results(deps, caller, request, owner, now)
    with deps.db.tenant(caller.tenant_id) as tx:
        displayed = _memories_json_with(
            tx, [result.memory for result in results], {result.memory.id: result.sources for result in results}
        )
    scored = [[_scored(result, memory) for memory in each] for result, each in zip(results, displayed, strict=True)]
    least = request.threshold or 0.0
    return [memory for memory in _passing(scored, tree, request, now) if memory["score"] >= least][: request.top_k]


def by_id(deps: Dependencies, caller: Caller, memory_id: str) -> Json:
    """Return a memory. NotFound: there is none that this caller is served."""
    with deps.db.tenant(caller.tenant_id) as tx:
        row = served_row(tx, memory_id)
        ((memory, *_),) = _memories_json(tx, [row])
        if row.status == Status.SUPERSEDED:
            memory["replaced_by"] = _successor(tx, row.id)
    return memory


def history(deps: Dependencies, caller: Caller, memory_id: str) -> list[Json]:
    """Return the versions of a memory. NotFound: as for `by_id`."""
    with deps.db.tenant(caller.tenant_id) as tx:
        row = served_row(tx, memory_id)
        ((memory, *_),) = _memories_json(tx, [row])
        return shapes.history_json(memory, memories.history(tx, row.id))


def served_row(tx: Tx, memory_id: str) -> Any:
    """Return the row of a memory that is neither quarantined nor rejected. NotFound."""
    row = memories.get(tx, id_of(memory_id))
    if row.trust not in SERVED:
        raise NotFound(f"There is no memory {memory_id}.")
    return row


def annotation_of(tx: Tx, row: Any) -> Annotation:
    """Return what a memory is annotated with: its own, or what the messages that it cites bring along."""
    evidence = as_of.evidence(tx, [row.id], None).get(row.id, [])
    return shapes.annotations_of(row, evidence, *_notes(tx, evidence))[0]


def id_of(memory_id: str) -> UUID:
    """Return the id of a memory. NotFound: it is no id."""
    try:
        return UUID(memory_id)
    except ValueError:
        raise NotFound(f"There is no memory {memory_id[:100]!r}; ids are UUIDs.") from None


def _listed_owners(tree: Json) -> Sequence[str | None]:
    named = filters.owners_of(tree)
    return [None] if named is None or len(named) > OWNERS else sorted(named)


def _any_owners(tx: Tx, tree: Json) -> list[str]:
    """Return whom a filter that fits any user is searched for: the owners it names, then those with news."""
    latest = [owner.user_id for owner in owners.latest(tx, OWNERS)]
    return list(dict.fromkeys([*filters.named_owners(tree), *latest]))[:OWNERS]


def _pages(tx: Tx, owner: str | None, tree: Json, *, archived: bool, most: int) -> Iterator[Sequence[Any]]:
    memory_filter = MemoryFilter(SERVED, user_id=owner, include_archived=archived, metadata=_metadata(tree))
    after: str | None = None
    while most > 0:
        listed = listing.page(tx, memory_filter, after=after, limit=min(AT_ONCE, most))
        yield listed.rows
        most, after = most - len(listed.rows), listed.following
        if after is None:
            return


def _memories_json(tx: Tx, rows: Sequence[Any]) -> list[list[Json]]:
    return _memories_json_with(tx, rows, as_of.evidence(tx, [row.id for row in rows], None))


def _memories_json_with(tx: Tx, rows: Sequence[Any], evidence: Mapping[UUID, Sequence[Evidence]]) -> list[list[Json]]:
    """Return each memory in mem0's shape: as it is shown, then with the ids and metadata of each statement of it."""
    metadata, stated = _notes(tx, [source for row in rows for source in evidence.get(row.id, ())])
    displayed = []
    for row in rows:
        own = evidence.get(row.id, ())
        each = shapes.annotations_of(row, own, metadata, stated)
        displayed.append([shapes.memory_json(row, own, annotation) for annotation in each])
    return displayed


def _notes(tx: Tx, evidence: Sequence[Evidence]) -> tuple[Mapping[tuple[str, str], Json], Mapping[str, Json]]:
    """Return the metadata of cited messages by session and id, and the data of cited requests by their event."""
    messages = {(source.session_id, source.message_id) for source in evidence if source.session_id}
    requests = {source.event_id for source in evidence if not source.session_id}
    return transcripts.metadata_of(tx, messages), stated_requests.structured_of(tx, requests)


def _passing(memories_: Sequence[Sequence[Json]], tree: Json, request: ListRequest, now: datetime) -> list[Json]:
    """Return the memories that pass the filter, each with the first annotation that does."""
    chosen = (next((memory for memory in each if _passes(memory, tree, request, now)), None) for each in memories_)
    return [memory for memory in chosen if memory is not None]


def _passes(memory: Json, tree: Json, request: ListRequest, now: datetime) -> bool:
    if shapes.is_expired(memory, now) and not request.show_expired:
        return False
    if memory["lifecycle_state"] == Status.ARCHIVED and not shapes.is_expired(memory, now):
        return False
    return filters.matches(tree, memory)


def _results(
    deps: Dependencies, caller: Caller, request: FindRequest, owner: str, now: datetime
) -> Sequence[SearchResult]:
    chosen = Filters(
        include=frozenset({"memories"}), include_archived=request.show_expired, metadata=_metadata(request.tree)
    )
    question = Question(request.query, owner, limit=max(NARROWED, request.top_k), filters=chosen, now=now)
    return query.search(deps.db, caller.tenant_id, question, deps.embedder).results


def _metadata(tree: Json) -> str | None:
    """Return what a filter demands of metadata, for the database."""
    demanded = filters.metadata_of(tree)
    return field_filters.demands(demanded) if demanded else None


def _scored(result: SearchResult, memory: Json) -> Json:
    hit = result.ranked.hit
    return memory | {
        "score": round(min(1.0, max(0.0, result.ranked.score)), 6),
        "score_breakdown": {"semantic": hit.cosine, "bm25": hit.lexical, "entity": None},
    }


def _note(deps: Dependencies, caller: Caller, results: Sequence[Json], question: str) -> None:
    """Record what was shown, for echoes and counts of use."""
    by_owner: dict[str, list[Served]] = {}
    for memory in results:
        by_owner.setdefault(shapes.owner_of(memory), []).append(Served(memory["memory"], UUID(memory["id"])))
    for owner, served in by_owner.items():
        asker, announced = Asker(caller.tenant_id, owner, None), deps.settings.announce_recalls
        deps.recalls.note(asker, served, announced=announced, query=question)
    deps.note_search(caller.tenant_id, hit=bool(results))


def _successor(tx: Tx, memory_id: UUID) -> str | None:
    links = relations.of_memory(tx, memory_id)
    ends = (link.from_id for link in links if link.relation == Relation.SUPERSEDES and link.to_id == memory_id)
    return next((str(end) for end in ends), None)
