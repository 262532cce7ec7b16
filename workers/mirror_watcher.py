"""Announces edited mirror files. It polls names and times alone, so it works on any file system."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import structlog
from sqlalchemy.exc import DBAPIError

from core import logs
from core.errors import Later
from core.loop import Loop
from core.mirror import edit_events, files
from core.mirror.edit_events import FileEdit
from core.mirror.files import Stamp
from core.mirror.front_matter import UnreadableFile
from core.storage.db import Database

log = structlog.get_logger()

POLL_SECONDS = 1.0
"""Interval of the polls. A file must be unchanged from one to the next, so an editor has this long to save."""

POLL_SHARE = 0.1
"""Share of the time that polling may take, however many files there are."""


@dataclass(slots=True)
class _SeenFile:
    """A file as it was at the last poll, and whether that state was compared."""

    stamp: Stamp
    compared: bool = False


class MirrorPoll:
    """State of the files between two polls. Several watches announce each save once."""

    def __init__(self, db: Database, root: Path) -> None:
        self._db = db
        self._root = root.absolute()
        self._known: dict[str, _SeenFile] = {}

    def look(self) -> int:
        """Poll once; return how many saves were announced that no other watch had announced."""
        settled = self._settled()
        edits = defaultdict[str, list[FileEdit]](list)
        for path in settled:
            tenant_id, edit = _edit_of(Path(path))
            if tenant_id is not None and edit is not None:
                edits[tenant_id].append(edit)
        announced = 0
        for tenant_id, saves in edits.items():
            with self._db.tenant(tenant_id) as tx:
                announced += edit_events.announce(tx, tenant_id, saves)
        for path in settled:
            self._known[path].compared = True
        return announced

    def _settled(self) -> list[str]:
        """Return the files that have changed, but not from the last poll to this one."""
        before, self._known = self._known, {}
        settled = []
        for path, stamp in files.stamps(self._root):
            seen = before.get(path)
            same = seen is not None and seen.stamp == stamp
            self._known[path] = seen if seen is not None and same else _SeenFile(stamp)
            if same and not self._known[path].compared:
                settled.append(path)
        return settled


class MirrorWatcher:
    """Polls from a thread of its own until closed."""

    def __init__(self, db: Database, root: Path) -> None:
        self._watch = MirrorPoll(db, root)
        self._loop = Loop("mirror watcher", self._look, expected=(DBAPIError,))
        self._loop.start()

    def close(self) -> None:
        self._loop.close()

    def _look(self) -> float:
        """Poll once; return the pause until the next poll."""
        began = time.monotonic()
        announced = self._watch.look()
        if announced:
            log.info("mirror.edited", files=announced)
        return max(POLL_SECONDS, (time.monotonic() - began) / POLL_SHARE)


def _edit_of(path: Path) -> tuple[str | None, FileEdit | None]:
    """Return the file as an edit that someone may have made, and its tenant; None for one that cannot be read now."""
    try:
        seen = files.read(path)
    except (Later, UnreadableFile) as error:
        log.warning("mirror.unreadable", file=str(path), **logs.fault(error))
        return None, None
    tenant_id = files.user_of_folder(path.parent.parent.name)
    user_id = edit_events.user_of(path, seen) if seen else None
    if seen is None or user_id is None:
        return None, None
    return tenant_id, FileEdit(user_id, path.name, seen)
