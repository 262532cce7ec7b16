"""Imports as jobs: uploads in parts, status and progress, cancelling."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from api.ingress.answers import refuses
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Body, Dependencies, Deps, Publisher, Reader, Writer, author
from api.ingress.large_json import Route
from api.ingress.route_bounds import Bounds, with_bounds
from core.events.parsing import Who
from core.tenancy.tenants import Caller
from core.transfer import imports
from core.transfer.archive import FILES
from core.transfer.imports import INTERRUPTED
from core.types import Json

router = APIRouter(prefix="/v1/imports", tags=["transfer"], route_class=Route)

Limit = Annotated[int, Query(ge=1, le=200)]

LARGEST: Final = 2**40
"""Bytes of an upload; what a tenant may upload is its limit `import_bytes`."""

PART: Final[Json] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class UploadRequest(RequestBody):
    """An archive of Imprint that is to be uploaded, and the user whose memory it becomes."""

    user_id: Who
    size: Annotated[int, Field(ge=1, le=LARGEST, description="Bytes of the archive")]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="Its digest: an upload of it goes on by that")]


Count = Annotated[int, Field(ge=0)]
ShortText = Annotated[str, Field(max_length=300)]


class ReadReport(RequestBody):
    """Counts of what a client has read, and of what the service has accepted of it."""

    conversations: Count = 0
    messages: Count = 0
    statements: Count = 0
    documents: Count = 0
    accepted: Count = 0
    duplicates: Count = 0
    odd: Count = 0
    first: ShortText | None = None
    last: ShortText | None = None
    skipped: Annotated[
        dict[ShortText, Count], Field(default_factory=dict, max_length=100, description="What is left out, by reason")
    ]


class ReadImport(RequestBody):
    """An import that a client has read where it lies and has sent as events and documents."""

    user_id: Who
    group_id: Who | None = None
    formats: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=20)]
    status: Literal["done", "failed"]
    report: ReadReport


class Progress(BaseModel):
    """Lines of the archive that have been restored, of all."""

    done: int
    lines: int


class ImportProblem(BaseModel):
    """A fault of an archive: file, line and pointer."""

    pointer: str
    detail: str


class ImportJob(BaseModel):
    """An import: its status, what has become of its lines, and how far it is.

    `report`: of an archive `lines` by file, `restored`, `known` and `left_out` with reasons; of other formats what was
    found and accepted. `missing`: parts that have not arrived, while it is uploaded.
    """

    id: UUID
    user_id: str
    group_id: str | None
    formats: list[str]
    status: Literal["uploading", "pending", "running", "done", "failed", "cancelled"]
    report: Json
    progress: Progress | None
    error: list[ImportProblem] | None
    size: int
    part_bytes: int = imports.PART_BYTES
    missing: list[int] | None = None
    settle_token: str | None
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None


class ImportList(BaseModel):
    """Imports, newest first, and the cursor of the next page."""

    items: list[ImportJob]
    next: str | None


@router.post("", status_code=201, operation_id="openUpload")
def post_upload(deps: Deps, caller: Writer, request: UploadRequest) -> ImportJob:
    """Open the upload of an archive of `imprint user export`. The same one, interrupted before, goes on.

    Send its parts of `part_bytes` each, the last one shorter, then start it.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        row = imports.open_upload(
            tx, caller.tenant_id, request.user_id, request.size, request.sha256, author(caller), caller.limits
        )
        return job(deps, caller, row, imports.missing_parts(tx, row))


@router.post("/records", status_code=201, operation_id="recordImport")
def post_record(deps: Deps, caller: Publisher, request: ReadImport) -> ImportJob:
    """Record an import whose events the caller has sent, as `imprint import` does, for the list of imports."""
    report = request.report.model_dump(mode="json")
    problems = [] if request.status == "done" else [INTERRUPTED]
    with deps.db.tenant(caller.tenant_id) as tx:
        noted = imports.note(tx, caller.tenant_id, request.user_id, request.group_id, request.formats, author(caller))
        imports.finish(tx, noted, request.status, report, problems)
        return job(deps, caller, imports.get(tx, noted))


@router.put(
    "/{import_id}/parts/{number}",
    status_code=204,
    openapi_extra=PART,
    operation_id="putImportPart",
    responses=refuses(409),
)
@with_bounds(Bounds(body=lambda _settings: imports.PART_BYTES))
def put_part(
    deps: Deps, caller: Writer, import_id: UUID, number: Annotated[int, Path(ge=0, le=2**31 - 1)], raw: Body
) -> Response:
    """Send one part of an upload, in any order; sent again, it replaces itself."""
    with deps.db.tenant(caller.tenant_id) as tx:
        imports.add_part(tx, caller.tenant_id, import_id, number, raw)
    return Response(status_code=204)


@router.post("/{import_id}/start", status_code=202, operation_id="startImport", responses=refuses(409))
def post_start(deps: Deps, caller: Writer, import_id: UUID) -> ImportJob:
    """Restore an uploaded archive. Workers check it as a whole first; a broken one changes nothing."""
    with deps.db.tenant(caller.tenant_id) as tx:
        row = imports.start(tx, caller.tenant_id, import_id)
    deps.bell.notify()
    return job(deps, caller, row)


@router.get("", operation_id="listImports")
def get_imports(
    deps: Deps, caller: Reader, user_id: str | None = None, after: UUID | None = None, limit: Limit = 50
) -> ImportList:
    """List imports, newest first."""
    with deps.db.tenant(caller.tenant_id) as tx:
        rows = imports.find(tx, user_id, after=after, limit=limit)
    items = [job(deps, caller, row) for row in rows]
    return ImportList(items=items, next=str(rows[-1].id) if len(rows) == limit else None)


@router.get("/{import_id}", operation_id="getImport")
def get_import(deps: Deps, caller: Reader, import_id: UUID) -> ImportJob:
    """Return an import: `uploading`, `pending`, `running`, `done`, `failed` (with `error`) or `cancelled`."""
    with deps.db.tenant(caller.tenant_id) as tx:
        row = imports.get(tx, import_id)
        return job(deps, caller, row, (imports.missing_parts(tx, row) if row.status == "uploading" else None))


@router.delete("/{import_id}", operation_id="cancelImport")
def delete_import(deps: Deps, caller: Writer, import_id: UUID) -> ImportJob:
    """Stop an import and delete its upload. What it has restored stays; its report says what that is."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return job(deps, caller, imports.cancel(tx, import_id))


def job(deps: Dependencies, caller: Caller, row: Any, missing: list[int] | None = None) -> ImportJob:
    """Return an import as it is shown."""
    problems = row.error or ([{"pointer": "", "detail": row.dead}] if row.dead else None)
    lines: dict[str, int] = row.report.get("lines", {})
    names = "id user_id group_id formats report size created_at updated_at ended_at".split()
    return ImportJob(
        **{name: getattr(row, name) for name in names},
        status="failed" if row.dead and row.ended_at is None else row.status,
        progress=Progress(done=_done(row, lines), lines=sum(lines.values())) if lines else None,
        error=problems and [ImportProblem(**problem) for problem in problems],
        missing=missing,
        settle_token=None if row.event_seq is None else deps.settle_tokens.of(caller.tenant_id, row.event_seq),
    )


def _done(row: Any, lines: dict[str, int]) -> int:
    before = FILES[: FILES.index(row.file)] if row.file in FILES else ()
    return int(sum(lines.get(file, 0) for file in before) + row.line)
