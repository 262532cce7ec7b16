"""Endpoints that write memories: single statements, batches, edits and reviews."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Header, Response
from sqlalchemy import text

from api.http.memories.answers import KeptStatement, KeptStatements, Memory
from api.http.memories.reading import apply_edit, current_memory_json
from api.http.memories.requests import CHARACTERS, Patch, Review, StatementBatch, StatementRequest
from api.ingress import audience
from api.ingress.answers import answers
from api.ingress.dependencies import Dependencies, Deps, Writer, author
from api.ingress.large_json import Route
from api.ingress.route_bounds import Bounds, with_bounds
from api.serializers import memory_json
from core.consolidation import pipeline
from core.errors import Conflict, Invalid, Problem
from core.events import request_ids
from core.events.parsing import Name
from core.events.request_ids import Requests, Via
from core.inference.sound_vectors import embed_sound
from core.memory import by_hand, memories
from core.memory.changes import Edit, Owner
from core.remembering import edits
from core.remembering import stated as extraction_stated
from core.remembering.edits import UNSERVED
from core.remembering.stated import ATTEMPTS, RequestedStatement, StatementOutcome
from core.sessions import speaker_clocks
from core.storage.db import Tx, recordset
from core.tenancy.tenants import Caller
from core.types import Evidence, Json, Trust

router = APIRouter(prefix="/v1", tags=["memory"], route_class=Route)

BATCH_BYTES: Final = 4 * 1024 * 1024
"""Size of a batch: 8 kB for each statement it may have."""

IdempotencyKey = Annotated[
    Name | None, Header(description="Identifies the request: repeated, it has no effect and gets the same answer")
]
IfMatch = Annotated[str | None, Header(description="ETag of the version you have seen")]

REVIEWED: Final[Mapping[str, Trust]] = {
    "confirm": Trust.CONFIRMED,
    "release": Trust.CANDIDATE,
    "reject": Trust.REJECTED,
}
"""Trust of a memory after each verdict of a review."""

CitedMessages = Mapping[tuple[str, str], Any]
"""Messages by session and id."""

REVIEWABLE: Final = UNSERVED | {Trust.DISPUTED}
"""Trust of memories that a review may change: unserved and disputed ones."""


@router.post(
    "/memories",
    status_code=201,
    operation_id="addMemory",
    responses=answers(KeptStatement, 201, "Stored, in a new memory or in a known one")
    | answers(KeptStatement, 200, "Not stored; `reason` says why", refusals=(404, 409)),
)
def post_memory(
    at: Deps, who: Writer, stated: StatementRequest, response: Response, idempotency_key: IdempotencyKey = None
) -> Json:
    """Remember a statement; it is judged like extracted ones, and the answer contains the verdict.

    201: the statement is stored, in a new memory or in a known one. 200: it was not stored; `reason` says why.
    """
    answer = remember(at, who, stated, idempotency_key, "http")
    if answer["memory"] is None:
        response.status_code = 200
    return answer


def remember(at: Dependencies, who: Caller, stated: StatementRequest, key: str | None, via: Via) -> Json:
    """Judge and store one statement, at most once per `key`, user and interface."""
    began = time.perf_counter()
    (answer,) = _remember_all(at, who, _statements(at, who, [stated], [""], _requests(at, who, via, key)))
    at.hits.took(who.tenant_id, "write", time.perf_counter() - began)
    return answer


@router.post("/memories/batch", operation_id="addMemories", responses=answers(KeptStatements, refusals=(404, 409)))
@with_bounds(Bounds(body=lambda _settings: BATCH_BYTES))
def post_memories(at: Deps, who: Writer, batch: StatementBatch, idempotency_key: IdempotencyKey = None) -> Json:
    """Remember up to 500 statements in one transaction; results are in the order of the request."""
    pointers = [f"/memories/{n}" for n in range(len(batch.memories))]
    statements = _statements(at, who, batch.memories, pointers, _requests(at, who, "batch", idempotency_key))
    return {"items": _remember_all(at, who, statements), "next": None}


@router.patch(
    "/memories/{memory_id}",
    dependencies=audience.READABLE_MEMORY,
    operation_id="editMemory",
    responses=answers(Memory, refusals=(409,)),
)
def patch_memory(
    at: Deps, who: Writer, memory_id: UUID, patch: Patch, response: Response, if_match: IfMatch = None
) -> Json:
    """Edit a memory; with a version, only if it is the current one. Earlier versions stay in the history."""
    version = _version(patch.version, if_match)
    for left in reversed(range(ATTEMPTS)):
        try:
            _edit(at, who, memory_id, patch, version)
            break
        except Conflict:
            if version is not None or not left:
                raise
    answer = current_memory_json(at, who, memory_id)
    response.headers["ETag"] = f'"{answer["version"]}"'
    return answer


@router.post(
    "/memories/{memory_id}/review",
    dependencies=audience.READABLE_MEMORY,
    operation_id="reviewMemory",
    responses=answers(Memory, refusals=(409,)),
)
def post_review(at: Deps, who: Writer, memory_id: UUID, review: Review) -> Json:
    """Review a memory: decide about a quarantined, disputed or rejected one, or confirm a candidate."""
    trust = REVIEWED[review.verdict]
    with at.db.tenant(who.tenant_id) as tx:
        row = by_hand.require_version(memories.get(tx, memory_id), review.version)
    promoted = row.trust == Trust.CANDIDATE and trust == Trust.CONFIRMED
    if row.trust not in REVIEWABLE | {trust} and not promoted:
        raise Conflict(f"There is nothing to review: the memory is {row.trust}. PATCH can set its `trust`.")
    if row.trust != trust:
        _change(at, who, row, {"trust": trust}, review.reason or f"Reviewed: {review.verdict}.")
    return current_memory_json(at, who, memory_id)


def _remember_all(at: Dependencies, who: Caller, statements: Sequence[RequestedStatement]) -> list[Json]:
    """Judge and write statements; return each with its memory."""
    consolidation = pipeline.from_settings(at.db, at.embedder, at.settings)
    outcomes = extraction_stated.remember_all(consolidation, who.tenant_id, author(who), statements)
    at.bell.notify()
    ids = [outcome.memory_id for outcome in outcomes if outcome.memory_id is not None]
    with at.db.tenant(who.tenant_id) as tx:
        rows, evidence = memories.of_ids(tx, ids), memories.evidence(tx, ids)
    return [{"memory": _json(outcome, rows, evidence), **outcome.as_json()} for outcome in outcomes]


def _json(outcome: StatementOutcome, rows: Mapping[UUID, Any], evidence: Mapping[UUID, list[Evidence]]) -> Json | None:
    row = rows.get(outcome.memory_id) if outcome.memory_id else None
    return None if row is None else memory_json(row, evidence.get(row.id, []))


def _statements(
    at: Dependencies, who: Caller, requested: Sequence[StatementRequest], pointers: Sequence[str], requests: Requests
) -> list[RequestedStatement]:
    """Validate statements. `pointers`: one to each; `requests`: makes their ids."""
    now = datetime.now(UTC)
    with at.db.tenant(who.tenant_id) as tx:
        spoken = _cited_messages(tx, requested)
        clocks = {
            user_id: speaker_clocks.local(tx, user_id, now) for user_id in {stated.user_id for stated in requested}
        }
    for stated, pointer in zip(requested, pointers, strict=True):
        audience.require_held(who, f"{pointer}/audience_labels", stated.audience_labels)
    problems, statements = list(_one_group_each(requested, pointers)), []
    for n, (stated, pointer) in enumerate(zip(requested, pointers, strict=True)):
        try:
            statements.append(_statement(stated, spoken, requests, n, clocks[stated.user_id]))
        except Invalid as error:
            problems += [Problem(pointer + problem.pointer, problem.detail) for problem in error.problems]
    if problems:
        raise Invalid(problems)
    return statements


def _requests(at: Dependencies, who: Caller, via: Via, key: str | None) -> Requests:
    return request_ids.of(at.settings, who.tenant_id, via, key)


def _statement(
    stated: StatementRequest, spoken: CitedMessages, requests: Requests, position: int, now: datetime
) -> RequestedStatement:
    """Turn a request into a statement to be judged. Invalid: a field is wrong."""
    problems = [*stated.problems(), *_evidence_problems(stated, spoken)]
    if problems:
        raise Invalid(problems)
    event_id = requests.id_of(stated.user_id, position)
    cited = [(spoken[citation.session_id, citation.message_id], citation.quote) for citation in stated.evidence]
    candidate = stated.candidate(event_id, max((message.occurred_at for message, _ in cited), default=now))
    quotes = tuple(Evidence(m.session_id, m.id, m.event_id, quote or m.content[:CHARACTERS]) for m, quote in cited)
    owner = Owner(stated.user_id, stated.group_id)
    heard = {label for message, _ in cited for label in message.audience_labels}
    labels = tuple(sorted(heard | set(candidate.audience_labels)))
    judged = replace(candidate, evidence=quotes or candidate.evidence, audience_labels=labels)
    print_ = requests.fingerprint(stated.model_dump(mode="json", include=set(StatementRequest.model_fields)))
    return RequestedStatement(owner, stated.content, judged, event_id, print_)


def _one_group_each(requested: Sequence[StatementRequest], pointers: Sequence[str]) -> Iterator[Problem]:
    """Yield statements whose group differs from that of an earlier one of the same user; both are judged together."""
    first: dict[str, str | None] = {}
    for stated, pointer in zip(requested, pointers, strict=True):
        if first.setdefault(stated.user_id, stated.group_id) != stated.group_id:
            yield Problem(
                f"{pointer}/group_id", "differs from another statement of this user; send each group in its own batch"
            )


def _evidence_problems(stated: StatementRequest, spoken: CitedMessages) -> Iterator[Problem]:
    for n, cited in enumerate(stated.evidence):
        message = spoken.get((cited.session_id, cited.message_id))
        if message is None or not _is_theirs(message, stated):
            yield Problem(
                f"/evidence/{n}/message_id", f"is not a message of this user or group in session {cited.session_id!r}"
            )
        elif cited.quote is not None and cited.quote not in message.content:
            yield Problem(f"/evidence/{n}/quote", "does not occur in that message; send its own words, or none")


def _is_theirs(message: Any, stated: StatementRequest) -> bool:
    """Return whether a message belongs to this user or to the group of the memory, and may therefore be quoted."""
    shared = stated.group_id is not None and message.group_id == stated.group_id
    return shared or bool(message.user_id == stated.user_id)


def _cited_messages(tx: Tx, requested: Sequence[StatementRequest]) -> CitedMessages:
    """Return the messages that statements cite, by session and id; missing ones are left out."""
    cited = {(citation.session_id, citation.message_id) for stated in requested for citation in stated.evidence}
    if not cited:
        return {}
    rows = tx.execute(_SPOKEN, {"rows": recordset([{"session_id": s, "id": i} for s, i in sorted(cited)])})
    return {(row.session_id, row.id): row for row in rows}


def _edit(at: Dependencies, who: Caller, memory_id: UUID, patch: Patch, version: int | None) -> None:
    """Try an edit once: read, decide, write if the version has not changed."""
    with at.db.tenant(who.tenant_id) as tx:
        row = by_hand.require_version(memories.get(tx, memory_id), version)
    if who.labels is not None and patch.audience_labels is not None:
        audience.require_held(who, "/audience_labels", patch.audience_labels)
        _require_no_fewer(row, patch.audience_labels)
    fields = changed_fields(row, patch, at.settings.secrets)
    if fields:
        _change(at, who, row, fields, patch.reason or "Edited by hand.")


def _require_no_fewer(row: Any, labels: Sequence[str]) -> None:
    """Refuse to take labels from a memory with a key that is limited to some. Invalid."""
    if gone := sorted(set(row.audience_labels) - set(labels)):
        raise Invalid([Problem("/audience_labels", f"takes {', '.join(gone)} away; that needs a key without labels")])


def _change(at: Dependencies, who: Caller, row: Any, fields: Json, reason: str) -> None:
    """Edit a memory as it was read; its vector is computed while no transaction is open.

    The row of the index depends on the time, too. A memory that is released from quarantine had no vector.
    """
    if row.trust == Trust.QUARANTINED and fields.get("trust", row.trust) not in UNSERVED:
        fields = {"content": row.content, **fields}
    content = fields.get("content", row.content)
    vector = embed_sound(at.embedder, [content])[0] if fields.keys() & {"content", "occurred_at"} else None
    edit = Edit(row.id, row.version, fields, reason, vector)
    with at.db.tenant(who.tenant_id) as tx:
        apply_edit(tx, who, row, edit)


def _version(given: int | None, if_match: str | None) -> int | None:
    """Return the version that the caller has seen, from the body or `If-Match`."""
    if if_match is None or if_match == "*":
        return given
    try:
        named = int(if_match.removeprefix("W/").strip('"'))
    except ValueError:
        raise Invalid([Problem("/if-match", f"{if_match} is not a version; send the ETag that you received")]) from None
    if given not in {None, named}:
        raise Invalid([Problem("/version", f"says {given}, but If-Match says {named}")])
    return named


_SPOKEN = text("""
    SELECT m.* FROM messages m
    JOIN json_to_recordset(cast(:rows AS json)) AS asked (session_id text, id text)
         ON asked.session_id = m.session_id AND asked.id = m.id
""")


def changed_fields(row: Any, patch: Patch, secrets: str) -> Json:
    """Return the columns of a memory's row that a patch changes, with their new values; empty if nothing changes.

    `secrets`: the setting for content with a secret. Invalid: the patch is invalid.
    """
    changed = patch.fields(row)
    problems = list(patch.problems(row, changed))
    if problems:
        raise Invalid(problems)
    return edits.complete(row, changed, patch.model_fields_set, secrets)
