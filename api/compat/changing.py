"""Updates and deletions of memories: every deletion erases, and leaves a receipt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi import Response
from pydantic import ValidationError

from api.compat import annotated, finding
from api.compat.annotated import FIELD, Annotation
from api.compat.requests import ListRequest, UpdateRequest
from api.http.erasure import erasure
from api.http.memories import writing
from api.http.memories.requests import Patch
from api.ingress import audience
from api.ingress.dependencies import Dependencies
from core.errors import Conflict, Invalid, Later, NotFound, Problem
from core.memory import relations
from core.storage.db import Tx
from core.tenancy.tenants import Caller
from core.types import Json, Relation

DELETED: Final = 1_000
"""Memories that one request deletes."""


REQUESTED: Final[Mapping[str, str]] = {
    "content": "/text",
    "structured": "/metadata",
    "occurred_at": "/timestamp",
    "expires_at": "/expiration_date",
}
"""Pointer to each field of an edit in the request."""


class AnnotatedPatch(Patch):
    """Edit of a memory that replaces its annotation whole: a merge would keep metadata that is gone."""

    def fields(self, row: Any) -> Json:
        """Return the columns that change."""
        changed = {name: value for name, value in super().fields(row).items() if name != "structured"}
        structured = row.structured | (self.structured or {})
        return changed if structured == row.structured else changed | {"structured": structured}


def update(deps: Dependencies, caller: Caller, memory_id: str, request: UpdateRequest) -> Json:
    """Change words, metadata or dates. NotFound. Conflict: the memory is immutable. Invalid: nothing to change."""
    audience.require_memories(deps, caller, [finding.id_of(memory_id)])
    patch = _patch(deps, caller, memory_id, request)
    writing.patch_memory(deps, caller, finding.id_of(memory_id), patch, Response(), None)
    return finding.by_id(deps, caller, memory_id)


def delete(deps: Dependencies, caller: Caller, memory_id: str, *, linked: bool = False) -> None:
    """Erase a memory; `linked`: also those that it superseded, and those that they did. NotFound."""
    audience.require_memories(deps, caller, [finding.id_of(memory_id)])
    with deps.db.tenant(caller.tenant_id) as tx:
        row = finding.served_row(tx, memory_id)
        older = _superseded(tx, str(row.id)) if linked else []
    erasure.delete_memory(deps, caller, row.id)
    delete_each(deps, caller, older)


def delete_all(deps: Dependencies, caller: Caller, request: ListRequest) -> int:
    """Erase the memories that pass the filter; return how many. Later: more than DELETED, the rest is still there."""
    ids = [str(memory["id"]) for memory in finding.page(deps, caller, request)]
    delete_each(deps, caller, ids[:DELETED])
    if len(ids) > DELETED:
        raise Later(f"{DELETED} memories are deleted, and more match. Send the request again.")
    return len(ids)


def delete_each(deps: Dependencies, caller: Caller, ids: Sequence[str]) -> None:
    """Erase memories; one that went with another before it is passed over."""
    for memory_id in ids:
        try:
            erasure.delete_memory(deps, caller, finding.id_of(memory_id))
        except NotFound:
            continue


def require_all(deps: Dependencies, caller: Caller, ids: Sequence[str]) -> None:
    """Refuse a batch that names a memory which is not there, before anything is changed. NotFound."""
    with audience.for_reader(deps, caller, None).db.tenant(caller.tenant_id) as tx:
        for memory_id in ids:
            finding.served_row(tx, memory_id)


def _patch(deps: Dependencies, caller: Caller, memory_id: str, request: UpdateRequest) -> AnnotatedPatch:
    """Return the edit. Only what is given is set, for a field that is set to null is cleared."""
    given: Json = {}
    if request.content is not None:
        given["content"] = request.content
    if "expiration_date" in request.model_fields_set:
        given["expires_at"] = annotated.end_of(request.expiration_date)
    if request.timestamp is not None:
        given["occurred_at"] = annotated.moment_of(request.timestamp)
    if not given and request.metadata is None:
        raise Invalid([Problem("/text", "say what to change: `text`, `metadata`, `timestamp` or `expiration_date`")])
    with deps.db.tenant(caller.tenant_id) as tx:
        stands = finding.annotation_of(tx, finding.served_row(tx, memory_id))
    if stands.immutable:
        raise Conflict("The memory is immutable. Delete it, and add another one.")
    if request.metadata is not None or given.keys() - {"content"}:
        given["structured"] = _annotated(stands, request)
    return _checked(given)


def _checked(given: Json) -> AnnotatedPatch:
    """Return the edit with these fields. Invalid: one of them breaks a bound."""
    try:
        return AnnotatedPatch(**given)
    except ValidationError as error:
        messages = {REQUESTED.get(str(fault["loc"][0]), ""): fault["msg"] for fault in error.errors(include_url=False)}
        raise Invalid([Problem(pointer, message) for pointer, message in messages.items()]) from None


def _annotated(stands: Annotation, request: UpdateRequest) -> Json:
    """Return the annotation as it is after the update, under its key in `structured`."""
    annotated.require_free(request.metadata or {})
    kept: Json = stands.in_structured[FIELD]
    if request.metadata is not None:
        kept["metadata"] = request.metadata
    if "expiration_date" in request.model_fields_set:
        kept["expiration_date"] = request.expiration_date
    if request.timestamp is not None and (at := annotated.moment_of(request.timestamp)):
        kept["timestamp"] = at.isoformat()
    return {FIELD: kept}


def _superseded(tx: Tx, memory_id: str) -> list[str]:
    """Return the memories that this one superseded, directly or through others."""
    superseded, ahead = dict[str, None](), [memory_id]
    while ahead and len(superseded) < DELETED:
        newer_id = finding.id_of(ahead.pop())
        for link in relations.of_memory(tx, newer_id):
            older = str(link.to_id)
            if link.relation == Relation.SUPERSEDES and link.from_id == newer_id and older not in superseded:
                superseded[older] = None
                ahead.append(older)
    return list(superseded)
