"""Database to files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import structlog

from core.config import Settings
from core.memory import writer
from core.mirror import arrangement, diff, edit_events, files, front_matter, git, markdown, sync_state
from core.mirror.edit_events import FileEdit
from core.mirror.git import GitFailed
from core.mirror.markdown import FILES, Document
from core.mirror.sync_state import Mirror, SyncState
from core.storage.db import Tx
from core.types import Json, Status

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """Result of a write. `erased`: shown content was erased, so the history must be purged."""

    result: Json
    message: str = ""
    erased: bool = False


def write(tx: Tx, mirror: Mirror, now: datetime) -> WrittenFiles:
    """Write the current memories to the files, in this transaction.

    The owner's lock keeps other writers away during comparison and write. The file is written before the agreed state,
    so a crash in between leaves nothing that could look like a person's edit. Later: a file is being written.
    """
    writer.lock(tx, mirror.tenant_id, mirror.user_id)
    stands = sync_state.load(tx, mirror)
    findings = diff.compare(stands.then, stands.now, stands.memories, stands.versions)
    if findings.any:
        return _unread(tx, mirror, stands)
    documents = arrangement.arrange(findings.documents, stands.memories)
    lines = {
        file: _put(tx, mirror, file, documents[file], stands, now) for file in FILES if _is_to_be_written(file, stands)
    }
    changed = {file: summary for file, summary in lines.items() if summary}
    for file in stands.refused:
        log.warning("mirror.refused", user=mirror.user_id, file=file)
    result: Json = {"mirror": "written" if changed else "unchanged", "files": sorted(changed)}
    refused = {"refused": dict(stands.refused)} if stands.refused else {}
    message = "; ".join(f"{file} of {mirror.user_id}: {summary}" for file, summary in changed.items())
    return WrittenFiles(result | refused, message, _has_erased_lines(stands))


def record(mirror: Mirror, written: WrittenFiles) -> None:
    """Commit the written files to git; if content was erased, start a new history for this user.

    Errors of git are logged: the files remain, and the next sync commits them.
    """
    try:
        if written.erased:
            git.purge(mirror.root, mirror.folder)
        git.commit(mirror.root, mirror.folder, written.message or f"Edited by hand: files of {mirror.user_id}")
    except GitFailed as error:
        log.warning("mirror.git_failed", user=mirror.user_id, error=str(error))


def forget_user(settings: Settings, tenant_id: str, user_id: str) -> Json:
    """Remove a user's files, copies left by editors, and in git every commit of them.

    Called under the owner's lock before the rows are deleted, so that no writer recreates the files. `history` in the
    result: `none`, `purged`, or `kept` if the repository is shared with others, who have copies.
    """
    mirror = sync_state.of(settings, tenant_id, user_id)
    if mirror is None:
        return {"files": 0, "history": "none"}
    removed = files.remove(mirror.folder)
    history: str = "none"
    if settings.mirror_git:
        history = git.purge(mirror.root, mirror.folder)
        if history == "kept":
            git.commit(mirror.root, mirror.folder, "Removed a mirror")
    return {"files": removed, "history": history}


def count_files(settings: Settings, tenant_id: str, user_id: str) -> Json:
    """Return how many files `forget_user` would remove."""
    mirror = sync_state.of(settings, tenant_id, user_id)
    return {"files": 0 if mirror is None else files.count(mirror.folder)}


def _unread(tx: Tx, mirror: Mirror, stands: SyncState) -> WrittenFiles:
    """Announce that there are edits to read; reading them leads here again."""
    there = [(file, seen) for file in stands.readable if (seen := stands.seen[file])]
    edit_events.announce(tx, mirror.tenant_id, [FileEdit(mirror.user_id, file, seen) for file, seen in there])
    return WrittenFiles({"mirror": "unread"})


def _is_to_be_written(file: str, stands: SyncState) -> bool:
    """Return whether to write a file: never a refused one, and a new one only if a memory belongs there."""
    if file in stands.refused:
        return False
    if stands.seen[file] is not None or file in stands.agreed:
        return True
    standing = [memory for memory in stands.memories.values() if memory.standing and memory.group.category]
    return any(markdown.file_of(memory.group.category) == file for memory in standing if memory.group.category)


def _put(tx: Tx, mirror: Mirror, file: str, document: Document, stands: SyncState, now: datetime) -> str:
    """Write one file and agree on it; return the changes in words, empty if it is up to date."""
    seen, count = stands.seen[file], arrangement.memory_count(document)
    names = mirror.names(file) | {"memories": str(count)}
    document = replace(document, front=front_matter.update(document.front, names))
    text, summary = markdown.render(document), ""
    if seen is None or seen.text != text:
        dated = sync_state.names(mirror, file, count, now)
        text = markdown.render(replace(document, front=front_matter.update(document.front, dated)))
        files.replace(mirror.path(file), text, seen)
        summary = _difference(stands.now[file], document) if seen else f"{count} memories"
    versions = {line.id: stands.memories[line.id].version for _, line in document.lines() if line.id}
    agreed = stands.agreed.get(file)
    if agreed is None or (agreed.text, agreed.versions) != (text, versions):
        sync_state.agree(tx, mirror, file, text, versions)
    return summary


def _difference(before: Document, after: Document) -> str:
    old, new = _lines_by_memory(before), _lines_by_memory(after)
    changed = sum(old[memory_id] != line for memory_id, line in new.items() if memory_id in old)
    counts = {"added": len(new.keys() - old.keys()), "changed": changed, "removed": len(old.keys() - new.keys())}
    return ", ".join(f"{count} {label}" for label, count in counts.items() if count) or "as arranged"


def _lines_by_memory(document: Document) -> dict[UUID, str]:
    return {line.id: line.raw for _, line in document.lines() if line.id}


def _has_erased_lines(stands: SyncState) -> bool:
    """Return whether a memory shown in the files has been erased."""
    memory_ids = {line.id for document in stands.then.values() for _, line in document.lines() if line.id}
    return any(
        memory_id not in stands.memories or stands.memories[memory_id].status == Status.ERASED
        for memory_id in memory_ids
    )
