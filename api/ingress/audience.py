"""Audience labels at the interfaces: for whom a request reads, and which routes a key with labels reaches."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import Depends, Query
from pydantic import Field

from api.ingress.dependencies import Dependencies, Deps, any_caller
from core import errors
from core.errors import Invalid, NotFound, Problem
from core.events.parsing import Label
from core.memory import memories, receipts
from core.sessions import sessions
from core.tenancy.tenants import MOST_LABELS, Caller

ALL: Final = "*"
"""Everything that the key can read."""

READER_LABELS: Final = (
    "Audience labels that the reader of the answer holds; what has others is left out. `*`: all that the key can read. "
    "Default: those of the key, and none if it is not limited to some"
)

LabelList = Annotated[list[Label | Literal["*"]], Field(max_length=MOST_LABELS)]
ReaderLabels = Annotated[LabelList | None, Field(description=READER_LABELS)]

LABELLED_ROUTES: Final = frozenset(
    {
        ("POST", "/v1/events"),
        ("GET", "/v1/settle"),
        ("POST", "/v1/search"),
        ("GET", "/v1/search/recipes"),
        ("POST", "/v1/context"),
        ("POST", "/v1/answer"),
        ("GET", "/v1/memories"),
        ("POST", "/v1/memories"),
        ("POST", "/v1/memories/batch"),
        ("POST", "/v1/memories/fetch"),
        ("GET", "/v1/memories/graph"),
        ("GET", "/v1/memories/timeline"),
        ("GET", "/v1/entities"),
        ("GET", "/v1/entities/about"),
        ("GET", "/v1/ids"),
        ("GET", "/v1/keys/own"),
        ("GET", "/v1/memories/{memory_id}"),
        ("PATCH", "/v1/memories/{memory_id}"),
        ("GET", "/v1/memories/{memory_id}/history"),
        ("GET", "/v1/memories/{memory_id}/lineage"),
        ("GET", "/v1/memories/{memory_id}/related"),
        ("GET", "/v1/sessions/{session_id:path}/messages"),
        ("GET", "/v1/sessions/{session_id:path}/messages/{message_id:path}"),
        ("GET", "/v1/sessions/{session_id:path}/summary"),
        ("GET", "/v1/sessions/{session_id:path}/units"),
        ("GET", "/v1/units/{unit_id}"),
        ("GET", "/v1/users/{user_id:path}/profile"),
        ("GET", "/v1/groups/{group_id:path}/profile"),
        ("POST", "/mcp"),
        ("GET", "/compat/mem0/v1/ping/"),
        ("POST", "/compat/mem0/v3/memories/add/"),
        ("POST", "/compat/mem0/v1/memories/"),
        ("POST", "/compat/mem0/v3/memories/"),
        ("POST", "/compat/mem0/v2/memories/"),
        ("GET", "/compat/mem0/v1/memories/"),
        ("POST", "/compat/mem0/v3/memories/search/"),
        ("POST", "/compat/mem0/v1/memories/search/"),
        ("POST", "/compat/mem0/v2/memories/search/"),
        ("GET", "/compat/mem0/v1/memories/{memory_id}/"),
        ("GET", "/compat/mem0/v1/memories/{memory_id}/history/"),
        ("GET", "/compat/mem0/v1/event/{event_id}/"),
        ("POST", "/compat/mem0/oss/memories"),
        ("GET", "/compat/mem0/oss/memories"),
        ("POST", "/compat/mem0/oss/search"),
        ("GET", "/compat/mem0/oss/memories/{memory_id}"),
        ("GET", "/compat/mem0/oss/memories/{memory_id}/history"),
    }
)
"""Routes that enforce labels. The others show the log, decisions or settings whole, and refuse keys with labels."""


def require_route(caller: Caller, method: str, path: str) -> None:
    """Refuse a key with labels on a route that does not enforce them. Forbidden."""
    if caller.labels is not None and (method, path) not in LABELLED_ROUTES:
        raise errors.Forbidden(
            f"{method} {path} does not enforce audience labels, and this key is limited to some. "
            f"Use a key without labels."
        )


def for_reader(deps: Dependencies, caller: Caller, reader_labels: Collection[str] | None) -> Dependencies:
    """Return dependencies that read for somebody who holds these labels, never beyond those of the key."""
    held = caller.labels
    if reader_labels is None:
        labels: Collection[str] | None = held or ()
    elif ALL in reader_labels:
        labels = held
    else:
        labels = frozenset(reader_labels) if held is None else held & frozenset(reader_labels)
    return replace(deps, db=deps.db.as_reader(labels))


def require_held(caller: Caller, pointer: str, labels: Collection[str]) -> None:
    """Refuse to give a memory labels that a key with labels lacks: it could not read its own answer. Invalid."""
    missing = [] if caller.labels is None else sorted(set(labels) - caller.labels)
    if missing:
        raise Invalid([Problem(pointer, f"this key lacks {', '.join(missing)}; use a label that it has")])


def require_memories(
    deps: Dependencies, caller: Caller, ids: Collection[UUID], reader_labels: Collection[str] | None = None
) -> None:
    """Refuse to change memories that the reader with these labels cannot read, as if they were not there. NotFound."""
    for error in unreadable_memories(deps, caller, ids, reader_labels).values():
        raise error


def unreadable_memories(
    deps: Dependencies, caller: Caller, ids: Collection[UUID], reader_labels: Collection[str] | None = None
) -> dict[UUID, NotFound]:
    """Return those of the memories that the reader cannot read, in their order, with what is answered about each."""
    with for_reader(deps, caller, reader_labels).db.tenant(caller.tenant_id) as tx:
        readable = memories.of_ids(tx, list(ids))
        return {memory_id: receipts.absent(tx, memory_id) for memory_id in ids if memory_id not in readable}


def require_message(
    deps: Dependencies, caller: Caller, session_id: str, message_id: str, reader_labels: Collection[str] | None = None
) -> None:
    """Refuse to change a message that the reader with these labels cannot read. NotFound."""
    with for_reader(deps, caller, reader_labels).db.tenant(caller.tenant_id) as tx:
        sessions.message(tx, session_id, message_id)


QueryLabels = Annotated[LabelList | None, Query(description=READER_LABELS)]


def _query_reader(
    deps: Deps, caller: Annotated[Caller, Depends(any_caller)], reader_labels: QueryLabels = None
) -> Dependencies:
    return for_reader(deps, caller, reader_labels)


ReaderDeps = Annotated[Dependencies, Depends(_query_reader)]
"""Dependencies for the reader that the query string names with `reader_labels`."""


def _readable_memory(
    deps: Deps, caller: Annotated[Caller, Depends(any_caller)], memory_id: UUID, reader_labels: QueryLabels = None
) -> None:
    require_memories(deps, caller, [memory_id], reader_labels)


def _readable_message(
    deps: Deps,
    caller: Annotated[Caller, Depends(any_caller)],
    session_id: str,
    message_id: str,
    reader_labels: QueryLabels = None,
) -> None:
    require_message(deps, caller, session_id, message_id, reader_labels)


READABLE_MEMORY: Final = [Depends(_readable_memory)]
"""Dependencies of a route that changes the memory in its path: 404 for a reader who cannot read it."""

READABLE_MESSAGE: Final = [Depends(_readable_message)]
"""The same for the message in its path."""
