"""Agents of the mirror: from what is remembered to Markdown files, and from edited files back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from core.errors import Never
from core.mirror import export, import_edits, sync_state
from core.mirror.export import Written
from core.mirror.sync_state import Mirror
from core.storage.db import Tx
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, count_changes

OFF: Json = {"mirror": "off"}
"""What comes of both where no folder is set."""


def write_mirror(tools: Tools, job: Job) -> Outcome:
    """Bring the files of a user level with what is remembered; what someone has edited is announced, and read first."""
    mirror = _mirror(tools, job)
    if mirror is None:
        return Outcome(lambda _tx: OFF)
    done: list[Written] = []

    def write(tx: Tx) -> Json:
        done[:] = [export.write(tx, mirror, datetime.now(UTC))]
        return done[0].result

    def after(_result: Json) -> None:
        if tools.settings.mirror_git:
            export.record(mirror, done[0])

    return Outcome(write, (), after)


def read_mirror(tools: Tools, job: Job) -> Outcome:
    """Take over what someone has edited in the files of a user, then have them written: new lines get their ids."""
    mirror = _mirror(tools, job)
    if mirror is None:
        return Outcome(lambda _tx: OFF)
    found = import_edits.read(tools.gate, mirror, job.event, datetime.now(UTC))
    author = replace(job.author, name=import_edits.NAME)
    next_one = job.target if found.again else "mirror_writer"
    then = [(next_one, {"user_id": mirror.user_id})] if found.edited else []
    return Outcome(lambda tx: found.write(tx, author), then, count_changes)


def _mirror(tools: Tools, job: Job) -> Mirror | None:
    """Whose mirror a job is about. Never: it does not say."""
    user_id = job.params.get("user_id") or job.event.user_id
    if not user_id:
        raise Never(f"{job.target} needs an event with a user; {job.event.event_type} {job.event.id!r} has none.")
    return sync_state.of(tools.settings, job.tenant_id, str(user_id))
