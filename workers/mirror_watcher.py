"""Notices edited mirror files and announces them. It looks at names and times alone, so it works on any file system."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import structlog
from sqlalchemy.exc import DBAPIError

from core import logs
from core.errors import Later
from core.mirror import edit_events, files
from core.mirror.edit_events import Edit
from core.mirror.files import Stamp
from core.mirror.front_matter import Unreadable
from core.storage.db import Database

log = structlog.get_logger()

LOOK_SECONDS = 1.0
"""How often to look. A file must stand unchanged from one look to the next, so this is what an editor has to save."""

SHARE = 0.1
"""Of the time at the most goes into looking, however many files there are."""


@dataclass(slots=True)
class _Known:
    """A file as it was seen at the last look, and whether that was compared already."""

    stamp: Stamp
    compared: bool = False


class Watch:
    """What is known of the files between two looks. Several watches announce each save once."""

    def __init__(self, db: Database, root: Path) -> None:
        self._db = db
        self._root = root.absolute()
        self._known: dict[str, _Known] = {}

    def look(self) -> int:
        """Look once; how many saves were announced that nobody had announced yet."""
        settled = self._settled()
        found = defaultdict[str, list[Edit]](list)
        for path in settled:
            tenant_id, edit = _edit(Path(path))
            if tenant_id is not None and edit is not None:
                found[tenant_id].append(edit)
        announced = 0
        for tenant_id, saves in found.items():
            with self._db.tenant(tenant_id) as tx:
                announced += edit_events.announce(tx, tenant_id, saves)
        for path in settled:
            self._known[path].compared = True
        return announced

    def _settled(self) -> list[str]:
        """The files that have changed, and then not from the last look to this one."""
        before, self._known = self._known, {}
        settled = []
        for path, stamp in files.stamps(self._root):
            known = before.get(path)
            same = known is not None and known.stamp == stamp
            self._known[path] = known if known is not None and same else _Known(stamp)
            if same and not self._known[path].compared:
                settled.append(path)
        return settled


class Watcher:
    """Looks from a thread of its own until closed."""

    def __init__(self, db: Database, root: Path) -> None:
        self._watch = Watch(db, root)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._thread.join(timeout=2)

    def _run(self) -> None:
        pause = 0.0
        while not self._closed.wait(pause):
            began = time.monotonic()
            try:
                announced = self._watch.look()
                if announced:
                    log.info("mirror.edited", files=announced)
            except DBAPIError as error:
                log.warning("watcher.blind", error=str(error).splitlines()[0])
            except Exception:
                # A fault of ours; a thread that ends would leave edits unseen until the next start.
                log.exception("watcher.broken")
            pause = max(LOOK_SECONDS, (time.monotonic() - began) / SHARE)


def _edit(path: Path) -> tuple[str | None, Edit | None]:
    """The file as an edit that someone may have made, and its tenant; nothing where it cannot be read just now."""
    try:
        seen = files.read(path)
    except (Later, Unreadable) as error:
        log.warning("mirror.unreadable", file=str(path), **logs.fault(error))
        return None, None
    tenant_id = files.named(path.parent.parent.name)
    user_id = edit_events.whose(path, seen) if seen else None
    if seen is None or user_id is None:
        return None, None
    return tenant_id, Edit(user_id, path.name, seen)
