"""The record of erasures of a whole installation, and its repetition on a restored one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

from api.cli import preparation
from core.config import Settings
from core.erasure import ledger
from core.errors import Misconfigured
from core.storage import db
from core.tenancy import tenants


def lines(settings: Settings, since: datetime) -> Iterator[str]:
    """Yield the lines of what was erased since a day before this time, in all tenants."""
    with closing(db.connect(db.router_url(settings), 1)) as queue, queue.queue() as tx:
        names = sorted(tenants.names(tx))
    with closing(preparation.app_database(settings)) as database:
        yield from ledger.record(database, names, since)


def repeat(settings: Settings, record: Iterable[str], *, in_use: bool = False) -> Counter[str]:
    """Migrate the database and repeat the erasures of a record (`ledger.repeat`)."""
    preparation.upgrade(settings)
    with closing(preparation.app_database(settings)) as database:
        return ledger.repeat(database, settings, record, in_use=in_use)


def repeat_file(settings: Settings, file: Path, *, in_use: bool = False) -> Counter[str]:
    """Repeat the erasures of a record in a file (`ledger.repeat`). Misconfigured: it cannot be read."""
    try:
        with file.open(encoding="utf-8") as record:
            return repeat(settings, record, in_use=in_use)
    except OSError as error:
        raise Misconfigured(f"{file} cannot be read: {error.strerror}.") from error
