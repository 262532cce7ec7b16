"""Imports that are under way, and lines of an archive, as the modules of this room take them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from core.config import Settings
from core.events import log
from core.events.log import Cause
from core.events.publishing import Author
from core.settings.limits import TenantLimits
from core.storage.db import Database
from core.transfer import archive_lines, imports
from core.transfer.archive_reader import ReadLine
from core.transfer.imports import PART_BYTES
from core.transfer.restoring.context import Context
from core.types import Json
from tests.factories import EMBEDDER, PERSON
from tests.samples import TENANT


def begun(app: Database, settings: Settings, archive: bytes = b"abc", **limits: int) -> tuple[Context, Any]:
    """Context and row of an upload that was started, or is under way."""
    with app.tenant(TENANT) as tx:
        digest = hashlib.sha256(archive).hexdigest()
        row: Any = next((one for one in imports.find(tx, "ada") if one.ended_at is None), None)
        if row is None:
            row = imports.open_upload(tx, TENANT, "ada", len(archive), digest, PERSON, TenantLimits())
            for number in imports.missing_parts(tx, row):
                imports.add_part(tx, TENANT, row.id, number, archive[number * PART_BYTES :][:PART_BYTES])
            imports.start(tx, TENANT, row.id)
        row = imports.begin(tx, row.id)
        cause = Cause(log.at(tx, row.event_seq))
    author = Author("archive_restorer", cause)
    return Context(app, EMBEDDER, settings, TENANT, "ada", row.id, author, cause, TenantLimits(**limits)), row


def read(file: str, *lines: Json) -> list[ReadLine]:
    """The lines of a file, checked."""
    written = [json.dumps(line).encode() for line in lines]
    return [ReadLine(n, *archive_lines.parse(file, raw), len(raw)) for n, raw in enumerate(written, 1)]
