"""Agents of the mirror: export memories to Markdown files, and import edited files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from core.events.pending import Reported
from core.events.publishing import Author
from core.mirror import export, import_edits, sync_state
from core.mirror.export import WrittenFiles
from core.mirror.sync_state import Mirror
from core.storage.db import Tx
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, count_changes, user_of

OFF: Json = {"mirror": "off"}
"""Result of both agents where no folder is set."""


def write_mirror(tools: Tools, job: Job) -> Outcome:
    """Export a user's memories to the mirror files; a file that someone has edited is announced and imported first."""
    mirror = _mirror(tools, job)
    if mirror is None:
        return Outcome(Reported(OFF))
    files = _Export(mirror, tools.settings.mirror_git)
    return Outcome(files, (), files.record)


@dataclass(slots=True)
class _Export:
    """The files of a user, to be written in the transaction and then committed to git."""

    mirror: Mirror
    uses_git: bool
    written: WrittenFiles | None = None

    def write(self, tx: Tx, _author: Author) -> Json:
        self.written = export.write(tx, self.mirror, datetime.now(UTC))
        return self.written.result

    def record(self, _result: Json) -> None:
        if self.uses_git and self.written is not None:
            export.record(self.mirror, self.written)


def read_mirror(tools: Tools, job: Job) -> Outcome:
    """Import a user's edited files, then export them again, which gives new lines their ids."""
    mirror = _mirror(tools, job)
    if mirror is None:
        return Outcome(Reported(OFF))
    imported = import_edits.read(tools.consolidation, mirror, job.event, datetime.now(UTC))
    next_one = job.target if imported.again else "mirror_writer"
    then = [(next_one, {"user_id": mirror.user_id})] if imported.edited else []
    return Outcome(imported, then, count_changes)


def _mirror(tools: Tools, job: Job) -> Mirror | None:
    """Return the mirror of the job's user; None: no folder is set. Never: the job names no user."""
    return sync_state.of(tools.settings, job.tenant_id, user_of(job))
