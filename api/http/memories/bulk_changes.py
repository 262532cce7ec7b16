"""One action on many memories: a preview first, then row by row through the functions of the single routes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from api.http import retrying
from api.http.erasure import erasure
from api.http.memories import decisions
from api.http.memories.requests import Content, Reason, Version
from api.http.memories.writing import IdempotencyKey
from api.ingress import audience, error_responses
from api.ingress.answers import refuses
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Dependencies, Deps, Writer, author
from api.ingress.large_json import Route
from core.bulk import jobs
from core.consolidation import manual_merge
from core.consolidation.manual_merge import MOST_MERGED
from core.errors import Conflict, ImprintError, Invalid, NotFound, Problem
from core.events import log, request_ids
from core.events.log import Announcement
from core.memory import by_hand
from core.memory.by_hand import Made
from core.remembering import stated
from core.storage.db import Tx
from core.tenancy.tenants import Caller
from core.types import Json

router = APIRouter(prefix="/v1/memories", tags=["memory"], route_class=Route)

ROWS: Final = 500
"""Memories of one request."""

LEAST_MERGED: Final = 2

SECONDS: Final = 20.0
"""Seconds after which no further row is begun; those left are named, and the request is sent again for them."""

CHANGED: Final = "memory.bulk_changed"
"""Type of the event that records a request."""

FINGERPRINT: Final = "fingerprint"

FOR_ONE: Final = (("content", "merge"), ("evidence", "erase"), ("confirm", "erase"))
"""Fields of a request that one action alone has, and that action."""


class BulkRequest(RequestBody):
    """An action on several memories."""

    action: jobs.Action
    ids: Annotated[
        list[UUID], Field(min_length=1, max_length=ROWS, description="In this order; the first of a merge is kept")
    ]
    dry_run: Annotated[bool, Field(description="Only return what would happen to each row")] = False
    versions: Annotated[
        dict[UUID, Version],
        Field(default_factory=dict, max_length=ROWS, description="Versions you have seen; a row at another is refused"),
    ]
    reason: Annotated[Reason | None, Field(description="Reason, stored in the history")] = None
    content: Annotated[Content | None, Field(description="Of a merge: its wording; default: that of the first")] = None
    evidence: Annotated[bool, Field(description="Of an erasure: also blank the text of the cited messages")] = False
    confirm: Annotated[
        int | None, Field(description="Of an erasure: the number of `ids` again, as it cannot be undone")
    ] = None

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the request as a whole."""
        yield from (
            Problem(f"/ids/{index}", "occurs earlier in the list")
            for index, memory_id in enumerate(self.ids)
            if memory_id in self.ids[:index]
        )
        if unknown := set(self.versions) - set(self.ids):
            yield Problem(f"/versions/{min(unknown)}", "is not among `ids`")
        yield from misplaced(self, self.action)
        if self.action == "merge" and not LEAST_MERGED <= len(self.ids) <= MOST_MERGED:
            yield Problem("/ids", f"a merge takes {LEAST_MERGED} to {MOST_MERGED} memories")
        if self.action == "erase" and not self.dry_run and self.confirm != len(self.ids):
            yield Problem("/confirm", f"must be the number of rows, {len(self.ids)}: an erasure cannot be undone")


class BulkRow(BaseModel):
    """Outcome for one memory, or of a dry run.

    `status`: what the single route would have answered. `undo`: the path that takes it back. `erased`: memories that go
    together, `counts` the rows of each table.
    """

    id: UUID
    outcome: Literal["done", "unchanged", "refused"]
    status: int = 200
    detail: str | None = None
    change_id: UUID | None = None
    undo: str | None = None
    receipt_id: UUID | None = None
    erased: list[UUID] = []
    counts: dict[str, int] = {}


class BulkAnswer(BaseModel):
    """Result of a bulk request by row. `not_done`: rows for which the time did not suffice; send them again."""

    action: jobs.Action
    dry_run: bool
    done: int
    unchanged: int
    refused: int
    items: list[BulkRow]
    warnings: list[str] = []
    not_done: list[UUID] = []


_ROWS: Final = TypeAdapter(list[BulkRow])


@dataclass(slots=True)
class _Run:
    """The rows of a request so far. `with_others`: memories that were erased with an earlier row, and that row."""

    deps: Dependencies
    caller: Caller
    request: BulkRequest
    rows: list[BulkRow] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    with_others: dict[UUID, BulkRow] = field(default_factory=dict)

    def answer(self) -> BulkAnswer:
        """Return the result by row, and count it."""
        seen = {row.id for row in self.rows}
        numbers = {name: sum(row.outcome == name for row in self.rows) for name in ("done", "unchanged", "refused")}
        return BulkAnswer(
            action=self.request.action,
            dry_run=self.request.dry_run,
            **numbers,
            items=self.rows,
            warnings=self.warnings,
            not_done=[memory_id for memory_id in self.request.ids if memory_id not in seen],
        )


def misplaced(request: RequestBody, action: jobs.Action) -> Iterator[Problem]:
    """Yield the fields of a request that belong to another action than it asks for."""
    for name, only in FOR_ONE:
        if getattr(request, name) not in {None, False} and action != only:
            yield Problem(f"/{name}", f"belongs to the action `{only}`")


@router.post("/bulk", operation_id="changeMemories", responses=refuses(404, 409))
def post_bulk(deps: Deps, caller: Writer, request: BulkRequest, idempotency_key: IdempotencyKey = None) -> BulkAnswer:
    """Pin, unpin, archive, restore, merge or erase up to 500 memories; each row has a result of its own.

    Rows are done in order, each in a transaction and by the rules of the single route. A dry run carries each row out
    and takes it back, so that its answer is what would happen. With `Idempotency-Key` a repeated request gets the same
    answer.
    """
    if problems := list(request.problems()):
        raise Invalid(problems)
    requests = request_ids.of(deps.settings, caller.tenant_id, "bulk", idempotency_key)
    event_id, print_ = requests.id_of(""), requests.fingerprint(request.model_dump(mode="json"))
    if idempotency_key and (earlier := _earlier(deps, caller, event_id, print_)):
        return earlier
    run = _Run(deps, caller, request)
    if request.action == "merge":
        audience.require_memories(deps, caller, request.ids)
        _merge(run)
    else:
        _each(run, _ROW[request.action])
    answer = run.answer()
    if not request.dry_run:
        _record(deps, caller, event_id, print_, answer)
    return answer


def _each(run: _Run, work: Callable[[_Run, UUID], BulkRow]) -> None:
    """Do one row after the other until the time is over; one that is refused stops no other."""
    began = time.monotonic()
    # Read before the first row, which may erase others.
    hidden = audience.unreadable_memories(run.deps, run.caller, run.request.ids)
    for memory_id in run.request.ids:
        if run.rows and time.monotonic() - began > SECONDS:
            return
        try:
            if memory_id in hidden:
                raise hidden[memory_id]
            run.rows.append(work(run, memory_id))
        except (NotFound, Conflict, Invalid) as error:
            run.rows.append(_refused(memory_id, error))


def _refused(memory_id: UUID, error: ImprintError) -> BulkRow:
    status = error_responses.STATUS[type(error)]
    return BulkRow(id=memory_id, outcome="refused", status=status, detail=error.detail)


def _changed(run: _Run, memory_id: UUID, work: Callable[[Tx], Made | None]) -> BulkRow:
    """Carry out a change of one memory; of a preview in a transaction that is taken back."""
    db, tenant_id = run.deps.db, run.caller.tenant_id
    if run.request.dry_run:
        would = retrying.rehearse(db, tenant_id, work)
        return BulkRow(id=memory_id, outcome="unchanged" if would is None else "done")
    with db.tenant(tenant_id) as tx:
        made = work(tx)
    if made is None:
        return BulkRow(id=memory_id, outcome="unchanged")
    stated.count_changes(made.counts)
    return BulkRow(id=memory_id, outcome="done", change_id=made.change_id, undo=decisions.undo_path(made.change_id))


def _by_hand(run: _Run, memory_id: UUID) -> BulkRow:
    tenant_id, by = run.caller.tenant_id, author(run.caller)
    reason, version = run.request.reason, run.request.versions.get(memory_id)
    change = by_hand.CHANGES[run.request.action]
    return _changed(run, memory_id, lambda tx: change(tx, tenant_id, by, memory_id, reason, version))


def _erase(run: _Run, memory_id: UUID) -> BulkRow:
    """Erase one memory, unless it has gone with an earlier one; its receipt names all that goes."""
    if (earlier := run.with_others.get(memory_id)) is not None:
        detail = f"Goes with {earlier.id}." if run.request.dry_run else f"Went with {earlier.id}."
        return BulkRow(id=memory_id, outcome="done", detail=detail, receipt_id=earlier.receipt_id)
    evidence, version, receipt_id = run.request.evidence, run.request.versions.get(memory_id), None
    if run.request.dry_run:
        done = erasure.rehearse_memory(run.deps, run.caller, memory_id, evidence=evidence, version=version)
    else:
        done, receipt = erasure.erase_memory(run.deps, run.caller, memory_id, evidence=evidence, version=version)
        receipt_id = UUID(receipt.body["id"])
    row = BulkRow(
        id=memory_id, outcome="done", receipt_id=receipt_id, erased=list(done.memory_ids), counts=dict(done.counts)
    )
    run.with_others |= {erased_id: row for erased_id in done.memory_ids if erased_id != memory_id}
    return row


_ROW: Final[Mapping[str, Callable[[_Run, UUID], BulkRow]]] = {
    **dict.fromkeys(by_hand.CHANGES, _by_hand),
    "erase": _erase,
}


def _merge(run: _Run) -> None:
    """Merge all rows into the first, as one change, or refuse them all."""
    deps, caller, request = run.deps, run.caller, run.request
    with deps.db.tenant(caller.tenant_id) as tx:
        run.warnings = manual_merge.objections(tx, request.ids, request.versions)
    change_id = None
    if not request.dry_run:
        joined = manual_merge.merge(
            deps.db,
            deps.embedder,
            caller.tenant_id,
            request.ids,
            author(caller),
            content=request.content,
            reason=request.reason,
            secrets=deps.settings.secrets,
            versions=request.versions,
        )
        change_id = joined.change_id
    for index, memory_id in enumerate(request.ids):
        undo = decisions.undo_path(change_id) if change_id else None
        run.rows.append(
            BulkRow(id=memory_id, outcome="done", detail=manual_merge.detail_at(index), change_id=change_id, undo=undo)
        )


def _record(deps: Dependencies, caller: Caller, event_id: str, print_: str, answer: BulkAnswer) -> None:
    """Append the event of a request, which answers a repeat. Conflict: the key has been used at the same time."""
    names = ("action", "done", "unchanged", "refused", "warnings")
    payload: Json = {name: getattr(answer, name) for name in names}
    payload["items"] = _ROWS.dump_python(answer.items, mode="json", exclude_defaults=True)
    payload["not_done"] = [str(memory_id) for memory_id in answer.not_done]
    announcement = Announcement(event_id, CHANGED, datetime.now(UTC), payload, extensions={FINGERPRINT: print_})
    with deps.db.tenant(caller.tenant_id) as tx:
        if log.announce(tx, caller.tenant_id, [announcement]) == 0:
            raise Conflict("A request with this Idempotency-Key was completed in the meantime.")
    deps.bell.notify()


def _earlier(deps: Dependencies, caller: Caller, event_id: str, print_: str) -> BulkAnswer | None:
    """Return the answer to an earlier request with this key; None: there was none. Conflict: it asked for another."""
    with deps.db.tenant(caller.tenant_id) as tx:
        announced = log.announced(tx, event_id)
    if announced is None:
        return None
    payload, extensions = announced
    if extensions.get(FINGERPRINT, print_) != print_:
        raise Conflict("This Idempotency-Key was used for a different request. Use a new key for a new request.")
    try:
        return BulkAnswer(dry_run=False, **payload)
    except ValidationError:
        raise Conflict("The answer to this request has been erased since. Look at the memories themselves.") from None
