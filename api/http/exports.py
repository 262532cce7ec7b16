"""Export of all that is stored of a user, as an archive."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Final

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from starlette.background import BackgroundTask

from api.ingress import raw_access as unscreened
from api.ingress.audience import ReaderDeps
from api.ingress.dependencies import Reader
from api.ingress.large_json import Route
from api.ingress.raw_access import Raw
from core.transfer import export

router = APIRouter(prefix="/v1", tags=["transfer"], route_class=Route)

IN_MEMORY: Final = 1 << 20
"""Bytes of an archive that are kept in memory; the rest stands in a temporary file until it has been sent."""

PIECE: Final = 1 << 16

ZIP: Final = {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}


@router.get(
    "/users/{user_id:path}/export", response_class=StreamingResponse, responses={200: ZIP}, operation_id="exportUser"
)
def get_export(deps: ReaderDeps, caller: Reader, user_id: str, raw: Raw = False) -> StreamingResponse:
    """Export all that is stored of a user, as a zip of JSON lines: what they said, memories, documents, plans, profile.

    All from one moment. Secrets are masked and hostile messages marked, unless the archive is `raw`.
    """
    if raw:
        unscreened.allow(deps, caller, "export", user_id=user_id)
    file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - open until it has been sent
    try:
        export.write(deps.db, caller.tenant_id, user_id, file, raw=raw)
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
