"""`imprint backup` and `imprint restore`: dumps of a home, and archives from which any moment can be restored."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import SecretStr

from api.cli import erasure_record
from api.cli.client import AsJson, finish_if_json
from api.stack import archive, backups, recovery
from api.stack.recovery import Erasures, Recovered
from api.terminal import err, escape, out
from core.config import Settings
from core.errors import Misconfigured
from core.storage import schema_version

To = Annotated[Path, typer.Argument(help="A folder that does not exist yet; with --continuous also one begun before.")]
From = Annotated[Path, typer.Argument(help="A folder written by `imprint backup`.")]
Continuous = Annotated[
    bool, typer.Option("--continuous", help="Keep an archive up to date until Ctrl-C, while the service runs.")
]
At = Annotated[
    str | None,
    typer.Option(help="Of an archive: the last moment that counts, such as 2026-11-30T09:00:00Z. Default: all of it"),
]

Record = Annotated[
    Path | None, typer.Option("--erasures", help="Of a dump: a record of `imprint db erasures`, which is repeated.")
]

OWN_SERVER = (
    "IMPRINT_DATABASE_URL names a PostgreSQL of your own: copy it with `pg_dump` as a superuser, and keep the keys; "
    "docs/backups.md says how."
)


def backup(folder: To, continuous: Continuous = False, as_json: AsJson = False) -> None:
    """Back up this home: the database, the receipt key and the API key of the commands. The service may be running.

    Examples: imprint backup /mnt/backups/2026-11-21
    imprint backup /mnt/backups/archive --continuous
    """
    settings = _require_embedded()
    if continuous:
        _keep_archive(settings, folder)
    else:
        _write_dump(settings, folder, as_json=as_json)
    if settings.receipt_key is not None:
        err.print("IMPRINT_RECEIPT_KEY is set; keep it with the backup, it is not in it.", highlight=False)


def _write_dump(settings: Settings, folder: Path, *, as_json: bool) -> None:
    with err.status("Copying …"):
        copied = backups.write(settings.home, folder)
    finish_if_json(as_json, {"path": str(folder), "bytes": copied.database_bytes, "keys": list(copied.keys)})
    summary = f"{folder}: database ({copied.database_bytes:,} bytes), {', '.join(copied.keys) or 'no keys'}."
    out.print(escape(summary), soft_wrap=True, highlight=False)


def _keep_archive(settings: Settings, folder: Path) -> None:
    """Keep an archive until Ctrl-C or SIGTERM."""
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    archive.keep(settings.home, folder, lambda sentence: err.print(escape(sentence), highlight=False), over)
    err.print(escape(f"Ended; {folder} can be continued with the same command."), highlight=False)


def restore(folder: From, at: At = None, erasures: Record = None, as_json: AsJson = False) -> None:
    """Restore a backup into a home without data; then start it with `imprint up`.

    Examples: IMPRINT_HOME=/srv/imprint imprint restore /mnt/backups/2026-11-21
    IMPRINT_HOME=/srv/imprint imprint restore /mnt/backups/archive --at 2026-11-30T09:00:00Z
    """
    settings = _require_embedded()
    if archive.is_archive(folder):
        if erasures is not None:
            raise Misconfigured("--erasures is for dumps: an archive has its own record of what was erased.")
        _restore_archive(settings, folder, recovery.read_time(at) if at else None, as_json=as_json)
        return
    if at is not None:
        raise Misconfigured(f"{folder} is a dump of one moment; --at needs one of `imprint backup --continuous`.")
    _restore_dump(settings, folder, erasures, as_json=as_json)


def _restore_dump(settings: Settings, folder: Path, record: Path | None, *, as_json: bool) -> None:
    repeated: Counter[str] = Counter()

    def erase_again(url: str) -> None:
        if record is not None:
            repeated.update(erasure_record.repeat_file(_on(settings, url), record))

    with err.status("Restoring …"):
        copied = backups.restore(settings.home, folder, schema_version.migrations(), erase_again)
    home = settings.home.absolute()
    finish_if_json(as_json, {"home": str(home), "keys": list(copied.keys), "erasures_repeated": dict(repeated)})
    if repeated:
        out.print(escape(f"Erased again: {erasures_in_words(repeated.items())}."), soft_wrap=True, highlight=False)
    out.print(escape(f"{home} holds the data of {folder}. Start it: imprint up"), soft_wrap=True)


def _restore_archive(settings: Settings, folder: Path, at: datetime | None, *, as_json: bool) -> None:
    erasures = Erasures(
        lambda url, since: erasure_record.lines(_on(settings, url), since),
        lambda url, record: erasure_record.repeat(_on(settings, url), record),
    )
    with err.status("Restoring …"):
        recovered = recovery.restore(settings.home, folder, at, schema_version.migrations(), erasures)
    last = recovered.last_at.isoformat() if recovered.last_at else None
    report = {"home": str(settings.home.absolute()), "base": recovered.base, "last_transaction_at": last}
    finish_if_json(as_json, report | {"erasures_repeated": dict(recovered.repeated)})
    for sentence in _sentences(settings.home.absolute(), folder, recovered):
        out.print(escape(sentence), soft_wrap=True, highlight=False)


def _sentences(home: Path, folder: Path, recovered: Recovered) -> Iterator[str]:
    last = f", its last transaction at {recovered.last_at.isoformat()}" if recovered.last_at else ""
    yield f"{home} holds the data of {folder}{last}."
    if repeated := erasures_in_words(recovered.repeated.items()):
        yield f"Erased again: {repeated}."
    yield "Start it: imprint up"


def erasures_in_words(counts: Iterable[tuple[str, int]]) -> str:
    """Return what was erased again, such as `receipt: 3, session: 1`; empty if nothing was."""
    return ", ".join(f"{kind}: {count}" for kind, count in sorted(Counter(dict(counts)).items()))


def _on(settings: Settings, url: str) -> Settings:
    return settings.model_copy(update={"database_url": SecretStr(url)})


def _require_embedded() -> Settings:
    settings = Settings()
    if settings.database_url is not None:
        raise Misconfigured(OWN_SERVER)
    return settings
