"""`POST /v1/import`: what another service exported, as events and documents; an archive of Imprint is restored."""

from __future__ import annotations

import hashlib
import io
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import AfterValidator, BaseModel

from api.http.log import events
from api.http.search import documents
from api.ingress.answers import answers
from api.ingress.dependencies import Body, Dependencies, Deps, Publisher, author
from api.ingress.large_json import Route
from api.ingress.route_bounds import Bounds, with_bounds
from core.baton import REQUESTS
from core.errors import Forbidden, Invalid, Problem
from core.events import parsing
from core.events.parsing import Who
from core.tenancy.tenants import Caller
from core.transfer import archive_reader, imports, intake
from core.transfer.archive_reader import ArchiveReader
from core.transfer.imports import INTERRUPTED, PART_BYTES
from core.transfer.intake import ImportOwner
from core.transfer.opened import ReadingAllowance, Unreadable
from core.transfer.reading import NAMES, PathReading
from core.transfer.records import Conversation, Record, Skipped, Statement
from core.transfer.report import Report
from core.types import Json

router = APIRouter(prefix="/v1", tags=["transfer"], route_class=Route)

LARGEST: Final = 16 * 1024 * 1024
"""Bytes of an upload; `imprint import` reads larger exports where they lie."""

UNPACKED_BYTES: Final = 256 * 1024 * 1024
"""Bytes that a zip may unpack to."""

SECONDS: Final = 120.0
"""Longest time for reading an upload and accepting what is in it."""

ADVICE: Final = "Split it, or use `imprint import`, which reads it where it lies."

BATCH: Final = 500
"""Events accepted in one transaction."""

Status = Literal["pending", "done", "failed"]


def _a_format(name: str) -> str:
    if name not in NAMES:
        raise ValueError(f"must be one of {', '.join(NAMES)}")
    return name


Format = Annotated[str, AfterValidator(_a_format)]

UPLOAD: Final[Json] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "application/zip": {"schema": {"type": "string", "format": "binary"}},
            "application/json": {"schema": {"type": ["object", "array"]}},
        },
    }
}


class Imported(BaseModel):
    """Counts of what was found and accepted, or the job `id` that restores it; a dry run accepts nothing.

    `skipped`: what is left out, by reason; `examples`: where some of it stands; `odd`: how much of it is not as its
    format has it.
    """

    formats: list[str]
    conversations: int
    messages: int
    statements: int
    documents: int
    skipped: dict[str, int]
    examples: dict[str, list[str]]
    odd: int
    first: str | None
    last: str | None
    accepted: int = 0
    duplicates: int = 0
    settle_token: str | None = None
    id: UUID | None = None
    status: Status | None = None


@router.post(
    "/import",
    openapi_extra=UPLOAD,
    operation_id="importExport",
    responses=answers(Imported, description="The report, and what was accepted")
    | answers(Imported, 202, "An archive of Imprint, which workers restore"),
)
@with_bounds(Bounds(body=lambda _settings: LARGEST, counted="imports"))
def post_import(
    deps: Deps,
    caller: Publisher,
    raw: Body,
    response: Response,
    user_id: Annotated[Who, Query(description="Whose memory it becomes")],
    group_id: Annotated[Who | None, Query(description="Group whose memory it becomes")] = None,
    only: Annotated[
        Format | None, Query(description="Import one format only", json_schema_extra={"enum": [*NAMES]})
    ] = None,
    include_forbidden: Annotated[bool, Query(description="Also what ChatGPT was told not to remember")] = False,
    dry_run: Annotated[bool, Query(description="Only report what would be imported")] = True,
) -> Imported:
    """Import an export, a file or zip of up to 16 MiB (unpacked 256), whose format is recognised.

    By default it is only read and reported. Sent again, or after an interruption, it adds only what was missing. An
    archive of Imprint is restored by workers (202): `GET /v1/imports/{id}` says how far they are.
    """
    ends_at = time.monotonic() + SECONDS
    if only in {None, "imprint"} and archive_reader.is_archive(io.BytesIO(raw)):
        answer = _restore(deps, caller, raw, user_id, ends_at, dry_run=dry_run)
        response.status_code = 200 if dry_run else 202
        return answer
    with tempfile.TemporaryDirectory() as folder, REQUESTS.carried(caller.tenant_id):
        path = Path(folder) / "upload"
        path.write_bytes(raw)

        def reading() -> PathReading:
            return PathReading(path, only, include_forbidden, allowance=_allowance(ends_at))

        try:
            answer = Imported.model_validate(Report.of(reading()).as_json())
            if not dry_run:
                _import(deps, caller, reading(), ImportOwner(user_id, group_id), answer)
        except Unreadable as error:
            raise Invalid([Problem("", str(error).replace(f"{path}", "the upload"))]) from None
    return answer


def _allowance(ends_at: float) -> ReadingAllowance:
    return ReadingAllowance(UNPACKED_BYTES, ends_at, ADVICE)


def _restore(
    deps: Dependencies, caller: Caller, raw: bytes, user_id: str, ends_at: float, *, dry_run: bool
) -> Imported:
    """Check an archive, and have it restored. Forbidden: the key may publish, but not write."""
    try:
        reader = ArchiveReader(io.BytesIO(raw), "the upload", _allowance(ends_at))
        answer = Imported.model_validate(Report.of_archive(reader).as_json())
    except Unreadable as error:
        raise Invalid([Problem("", str(error))]) from None
    if dry_run:
        return answer
    if not caller.may("write"):
        raise Forbidden("An archive of Imprint holds memories as they are; the key needs the scope `write` for it.")
    digest = hashlib.sha256(raw).hexdigest()
    with deps.db.tenant(caller.tenant_id) as tx:
        row = imports.open_upload(tx, caller.tenant_id, user_id, len(raw), digest, author(caller), caller.limits)
        for number in imports.missing_parts(tx, row):
            piece = raw[number * PART_BYTES :][:PART_BYTES]
            imports.add_part(tx, caller.tenant_id, row.id, number, piece)
        row = imports.start(tx, caller.tenant_id, row.id)
    deps.bell.notify()
    answer.id, answer.status = row.id, row.status
    answer.settle_token = deps.settle_tokens.of(caller.tenant_id, row.event_seq)
    return answer


def _import(deps: Dependencies, caller: Caller, reading: PathReading, owner: ImportOwner, answer: Imported) -> None:
    """Accept everything, and keep a record of it."""
    with deps.db.tenant(caller.tenant_id) as tx:
        answer.id = imports.note(tx, caller.tenant_id, owner.user_id, owner.group_id, answer.formats, author(caller))
    ended: Status = "failed"
    try:
        _accept(deps, caller, reading, owner, answer)
        ended = "done"
    finally:
        report = answer.model_dump(mode="json", exclude={"id", "status", "settle_token"})
        with deps.db.tenant(caller.tenant_id) as tx:
            imports.finish(tx, answer.id, ended, report, [] if ended == "done" else [INTERRUPTED])
    answer.status = ended


def _accept(deps: Dependencies, caller: Caller, reading: PathReading, owner: ImportOwner, answer: Imported) -> None:
    made = intake.events(_without_documents(deps, caller, reading.records(), owner, answer), owner)
    while batch := list(islice(made, BATCH)):
        done = events.accept(deps, caller, parsing.check(batch))
        answer.accepted += len(batch) - done.duplicates
        answer.duplicates += done.duplicates
        answer.settle_token = deps.settle_tokens.of(caller.tenant_id, done.last_seq)


def _without_documents(
    deps: Dependencies, caller: Caller, records: Iterator[Record], owner: ImportOwner, answer: Imported
) -> Iterator[Conversation | Statement]:
    """Yield what becomes events, and save what becomes documents on the way, if the key may write."""
    for record in records:
        if isinstance(record, Conversation) or (isinstance(record, Statement) and not intake.is_long(record)):
            yield record
        elif not isinstance(record, Skipped):
            if caller.may("write"):
                documents.save(deps, caller, intake.document(intake.as_note(record), owner))
            else:
                reason = "a document, for which the key lacks the scope `write`"
                answer.skipped[reason] = answer.skipped.get(reason, 0) + 1
