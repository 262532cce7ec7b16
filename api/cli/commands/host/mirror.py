"""`imprint mirror`: location and state of the Markdown files, and synchronizing them now."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import text
from uuid_utils import uuid7

from api.cli import database, lazy, tables
from api.cli.client import AsJson, finish_if_json, moment
from api.cli.tables import Column
from api.terminal import err, out
from core.config import Settings
from core.errors import Later, Misconfigured
from core.events import log
from core.events.log import Announcement
from core.mirror import arrangement, edit_events, sync_state
from core.mirror.edit_events import FileEdit
from core.mirror.markdown import FILES
from core.mirror.sync_state import Mirror, SyncState
from core.storage.db import Tx
from core.types import Json

commands = lazy.group("The Markdown mirror: location and state of its files.")

COLUMNS = (
    *(Column("user"), Column("file"), Column("memories", right=True), Column("level since", style="dim")),
    Column("state", flexible=True),
)

Tenant = Annotated[str, typer.Option(help="Tenant of the users.")]
User = Annotated[str | None, typer.Option("--user", help="One user; default: all with memories or files.")]


@commands.command("where")
def where(user: User = None, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Show where the files are: the folder of all users, or of one.

    Example: imprint mirror where --user ada
    """
    settings = Settings()
    root = _root(settings)
    path = root if user is None else Mirror(root, tenant, user).folder
    finish_if_json(as_json, {"path": str(path), "git": settings.mirror_git})
    out.print(str(path), soft_wrap=True, highlight=False, markup=False)


@commands.command("show")
def show(user: User = None, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Show the state of the files: level, edited, refused with a reason, missing, or none yet.

    Example: imprint mirror show
    """
    root = _root(Settings())
    with database.of_tenant(Settings(), tenant) as tx:
        rows = [row for user_id in _users(tx, user) for row in _file_states(tx, Mirror(root, tenant, user_id))]
    finish_if_json(as_json, {"items": rows, "next": None})
    tables.rows(
        COLUMNS, ([r["user_id"], r["file"], r["memories"], moment(r["synced_at"])[:16], r["stands"]] for r in rows)
    )


@commands.command("sync")
def sync(user: User = None, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Have the workers read edits and write the files now; edits are also noticed without this command.

    Example: imprint mirror sync --user ada
    """
    root = _root(Settings())
    with database.of_tenant(Settings(), tenant) as tx:
        users = _users(tx, user)
        saves = [save for user_id in users for save in _saves(tx, Mirror(root, tenant, user_id))]
        edited = edit_events.announce(tx, tenant, saves)
        log.announce(tx, tenant, [_request(user_id) for user_id in users])
    finish_if_json(as_json, {"users": users, "edited": edited})
    err.print(f"Asked for {len(users)} mirrors; edited files: {edited}.", highlight=False)


def _request(user_id: str) -> Announcement:
    payload: Json = {"user_id": user_id}
    return Announcement(str(uuid7()), "mirror.requested", datetime.now(UTC), payload, f"user:{user_id}")


def _saves(tx: Tx, mirror: Mirror) -> Iterator[FileEdit]:
    for file, seen in sync_state.load(tx, mirror).seen.items():
        if seen is not None:
            yield FileEdit(mirror.user_id, file, seen)


def _file_states(tx: Tx, mirror: Mirror) -> Iterator[Json]:
    synced = {row.file: row.synced_at.isoformat() for row in tx.execute(_SYNCED, {"user": mirror.user_id})}
    try:
        stands, problem = sync_state.load(tx, mirror), ""
    except Later as error:
        stands, problem = None, error.detail
    for file in FILES:
        entry = {"user_id": mirror.user_id, "file": file, "path": str(mirror.path(file))}
        memories = arrangement.memory_count(stands.now[file]) if stands else 0
        state = _word(stands, file) if stands else problem
        yield {**entry, "synced_at": synced.get(file), "memories": memories, "stands": state}


def _word(stands: SyncState, file: str) -> str:
    if file in stands.refused:
        return f"refused: {stands.refused[file]}"
    seen, agreed = stands.seen[file], stands.agreed.get(file)
    if seen is None:
        return "missing" if agreed else "none"
    return "level" if agreed and agreed.text == seen.text else "edited"


def _users(tx: Tx, user: str | None) -> list[str]:
    return [user] if user is not None else list(tx.execute(_USERS).scalars())


def _root(settings: Settings) -> Path:
    if settings.mirror_dir is None:
        raise Misconfigured("There is no mirror: set IMPRINT_MIRROR_DIR to a folder, for the workers as well.")
    return settings.mirror_dir.absolute()


_USERS = text("""
    SELECT user_id FROM memories WHERE status = 'active' UNION SELECT user_id FROM mirrors ORDER BY user_id
""")

_SYNCED = text("SELECT file, synced_at FROM mirrors WHERE user_id = :user")
