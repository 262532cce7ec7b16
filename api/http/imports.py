"""`POST /v1/import`: what another service exported, as events and documents."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from api.http import documents, events
from api.ingress.dependencies import Body, Dependencies, Deps, Publisher
from api.ingress.large_json import Route
from api.ingress.route_bounds import Bounds, with_bounds
from core.errors import Invalid, Problem
from core.events import parsing
from core.events.parsing import Who
from core.tenancy.tenants import Caller
from core.transfer import intake
from core.transfer.intake import Owner
from core.transfer.opened import Unreadable
from core.transfer.reading import Reading
from core.transfer.records import Conversation, Record, Skipped, Statement
from core.transfer.report import Report
from core.types import Json

router = APIRouter(prefix="/v1", tags=["transfer"], route_class=Route)

LARGEST: Final = 32 * 1024 * 1024
"""Bytes of an upload; `imprint import` reads larger exports where they lie."""

BATCH: Final = 500
"""Events accepted in one transaction."""

Format = Literal["imprint", "chatgpt", "claude", "claude-code", "mem0", "hindsight", "langgraph", "locomo", "messages"]

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
    """What was found and accepted; nothing is accepted by a dry run."""

    formats: list[str]
    conversations: int
    messages: int
    statements: int
    documents: int
    skipped: dict[str, int]
    first: str | None
    last: str | None
    accepted: int = 0
    duplicates: int = 0
    settle_token: str | None = None


@router.post("/import", openapi_extra=UPLOAD, operation_id="importExport")
@with_bounds(Bounds(body=lambda _settings: LARGEST))
def post_import(
    deps: Deps,
    caller: Publisher,
    raw: Body,
    user_id: Annotated[Who, Query(description="Whose memory it becomes")],
    group_id: Annotated[Who | None, Query(description="Group whose memory it becomes")] = None,
    only: Annotated[Format | None, Query(description="Import one format only")] = None,
    include_forbidden: Annotated[bool, Query(description="Also what ChatGPT was told not to remember")] = False,
    dry_run: Annotated[bool, Query(description="Only report what would be imported")] = True,
) -> Imported:
    """Import an export of another service, a file or zip of up to 32 MiB, whose format is recognised.

    By default it is only read and reported. Sent again, or after an interruption, it adds only what was missing.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "upload"
        path.write_bytes(raw)
        try:
            found = Report.of(Reading(path, only, include_forbidden))
            answer = Imported.model_validate(found.as_json())
            if not dry_run:
                _accept(deps, caller, Reading(path, only, include_forbidden), Owner(user_id, group_id), answer)
        except Unreadable as error:
            raise Invalid([Problem("", str(error).replace(f"{path}", "the upload"))]) from None
    return answer


def _accept(deps: Dependencies, caller: Caller, reading: Reading, owner: Owner, answer: Imported) -> None:
    made = intake.events(_kept(deps, caller, reading.records(), owner, answer), owner)
    while batch := list(islice(made, BATCH)):
        done = events.accept(deps, caller, parsing.check(batch))
        answer.accepted += len(batch) - done.duplicates
        answer.duplicates += done.duplicates
        answer.settle_token = deps.settle_tokens.of(caller.tenant_id, done.last_seq)


def _kept(
    deps: Dependencies, caller: Caller, records: Iterator[Record], owner: Owner, answer: Imported
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
