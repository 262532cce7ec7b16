"""Export of all that is stored of a user or a group, as an archive."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Final

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from starlette.background import BackgroundTask

from api.ingress import raw_access as unscreened
from api.ingress.audience import ReaderDeps
from api.ingress.dependencies import Dependencies, Reader
from api.ingress.large_json import Route
from api.ingress.raw_access import Raw
from api.ingress.route_bounds import Bounds, with_bounds
from core.baton import REQUESTS
from core.memory import receipts
from core.sessions.known_owners import Kind
from core.tenancy.tenants import Caller
from core.transfer import export

router = APIRouter(prefix="/v1", tags=["transfer"], route_class=Route)

IN_MEMORY: Final = 1 << 20
"""Bytes of an archive that are kept in memory; the rest stands in a temporary file until it has been sent."""

PIECE: Final = 1 << 16

COSTLY: Final = Bounds(costly=True)

ZIP: Final = {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}


@router.get(
    "/users/{user_id:path}/export", response_class=StreamingResponse, responses={200: ZIP}, operation_id="exportUser"
)
@with_bounds(COSTLY)
def get_export(deps: ReaderDeps, caller: Reader, user_id: str, raw: Raw = False) -> StreamingResponse:
    """Export all that is stored of a user, as a zip of JSON lines: what they said, memories, documents, plans, profile.

    All from one moment. Secrets are masked and hostile messages marked, unless the archive is `raw`.
    """
    return _archive(deps, caller, "user", user_id, raw=raw)


@router.get(
    "/groups/{group_id:path}/export", response_class=StreamingResponse, responses={200: ZIP}, operation_id="exportGroup"
)
@with_bounds(COSTLY)
def get_group_export(deps: ReaderDeps, caller: Reader, group_id: str, raw: Raw = False) -> StreamingResponse:
    """Export all that is stored of a group, as a zip of JSON lines: what was said to it, memories, documents, profile.

    As of a user, each line with its user; what was said to a part of the group is in the archives of its members.
    """
    return _archive(deps, caller, "group", group_id, raw=raw)


def _archive(deps: Dependencies, caller: Caller, kind: Kind, name: str, *, raw: bool) -> StreamingResponse:
    if raw:
        unscreened.allow(deps, caller, "export", **{f"{kind}_id": name})
    file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - open until it has been sent
    try:
        with REQUESTS.carried(caller.tenant_id):
            signer = receipts.signer_of(deps.settings)
            export.write(deps.db, caller.tenant_id, name, file, kind=kind, raw=raw, signer=signer)
        length = file.tell()
        file.seek(0)
    except BaseException:
        file.close()
        raise
    headers = {
        "Content-Length": str(length),
        "Content-Disposition": 'attachment; filename="imprint-export.zip"',
        "Cache-Control": "private, no-store",
    }
    return StreamingResponse(
        _pieces(file), media_type="application/zip", headers=headers, background=BackgroundTask(file.close)
    )


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE):
            yield piece
